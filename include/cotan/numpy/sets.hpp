// Sets: different elements, and what arrays have in common.
#pragma once
#include <cotan/array.hpp>
#include <optional>

namespace cotan::numpy {

/// @name Sets
/// How many elements results have depends on values: without `size` they are exact, and need values, so not under jit
/// and vmap. With it they have as many places, and work everywhere; what is missing is filled.
/// @{
/// Of unique and its kin.
struct UniqueOptions {
  std::optional<int> axis = {};           ///< slices along it are compared, in place of elements
  std::optional<bool> equal_nan = {};     ///< NaNs are one element; the default of unique, not of the others
  std::optional<std::int64_t> size = {};  ///< how many places the result has
  std::optional<Array> fill_value = {};   ///< a scalar, or a slice; by default the smallest element
};
/// The different elements, sorted, as a vector, or slices along an axis.
Array unique(const ArrayLike& a, const UniqueOptions& options = {});
/// The same with NaNs that are all different.
Array unique_values(const ArrayLike& a, const UniqueOptions& options = {});
/// Different elements and, all i32: where each comes first, which one each element is, and how often each is there.
struct UniqueAll {
  Array values, indices, inverse_indices, counts;
};
/// All four: JAX's unique with return_index, return_inverse and return_counts.
UniqueAll unique_all(const ArrayLike& a, const UniqueOptions& options = {});
/// Different elements and how often they are there.
struct UniqueCounts {
  Array values, counts;
};
/// Both.
UniqueCounts unique_counts(const ArrayLike& a, const UniqueOptions& options = {});
/// Different elements and which one each element is.
struct UniqueInverse {
  Array values, inverse_indices;
};
/// Both.
UniqueInverse unique_inverse(const ArrayLike& a, const UniqueOptions& options = {});

/// bool: which elements are among `test_elements`, or with `invert` are not.
Array isin(const ArrayLike& element, const ArrayLike& test_elements, bool invert = false);
/// Of the functions below.
struct SetOptions {
  bool assume_unique = false;             ///< both arrays hold every element once
  std::optional<std::int64_t> size = {};  ///< how many places the result has
  std::optional<Array> fill_value = {};   ///< a scalar; by default the smallest element, of setdiff1d 0
};
/// Elements that are in one of both, sorted.
Array union1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options = {});
/// Elements that are in both, sorted.
Array intersect1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options = {});
/// Elements in both, and where in each they come first.
struct Intersection {
  Array values, indices_a, indices_b;
};
/// The same with indices: `jnp.intersect1d(…, return_indices=True)`. Places without an element have the array's size.
Intersection intersect1d_indices(const ArrayLike& a, const ArrayLike& b, const SetOptions& options = {});
/// Elements of `a` that are not in `b`, sorted.
Array setdiff1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options = {});
/// Elements that are in one of both, not in both, sorted.
Array setxor1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options = {});
/// @}

}  // namespace cotan::numpy
