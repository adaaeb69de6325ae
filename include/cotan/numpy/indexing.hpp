// Reading elements by index or condition, and indices themselves.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace cotan::numpy {

/// @name Elements by index
/// @{
/// Elements along an axis, or of the flattened array. Negative indices count from the end. An index outside the axis
/// reads `fill_value`, by default NaN (of integers the smallest, of unsigned ones the largest), silently, as in JAX: a
/// token that is not in an embedding's table makes a NaN, which debug_bounds(true) or COTAN_DEBUG_BOUNDS=1 traces to
/// its line. The modes "clip" (the nearest element; negative ones are the first) and "wrap" allow it.
Array take(const ArrayLike& a, const ArrayLike& indices, std::optional<int> axis = std::nullopt,
           std::string_view mode = "fill", std::optional<double> fill_value = std::nullopt);
/// Elements at an index per element; outside the axis as take. "clip" counts negative indices from the end first.
Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, int axis = -1, std::string_view mode = "fill",
                      std::optional<double> fill_value = std::nullopt);
/// The same of the flattened array: axis=None. The indices are a vector.
Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, None axis, std::string_view mode = "fill",
                      std::optional<double> fill_value = std::nullopt);
/// choices[index], element by element: all broadcast. An index outside is clipped to the choices there are, with "wrap"
/// taken modulo their number, and with "raise" (JAX's default, which needs values) a ValueError.
Array choose(const ArrayLike& index, const ArrayList& choices, std::string_view mode = "clip");
/// @}

/// @name Elements by condition
/// How many elements results have depends on values: without `size` they are exact, and need values, so not under jit
/// and vmap. With it they have as many places, and work everywhere; places that are left have `fill_value`.
/// @{
/// Of nonzero and its kin.
struct NonzeroOptions {
  std::optional<std::int64_t> size = {};
  std::optional<Array> fill_value = {};  ///< an index, or a vector of one per axis; 0 by default
};
/// i32: indices of the elements that are not zero, one array per axis.
std::vector<Array> nonzero(const ArrayLike& a, const NonzeroOptions& options = {});
/// The same as nonzero.
std::vector<Array> where(const ArrayLike& condition, const NonzeroOptions& options = {});
/// [count, ndim]: the same as rows.
Array argwhere(const ArrayLike& a, const NonzeroOptions& options = {});
/// Their indices in the flattened array.
Array flatnonzero(const ArrayLike& a, const NonzeroOptions& options = {});
/// Of compress and extract.
struct CompressOptions {
  std::optional<int> axis = {};  ///< of compress; none flattens
  std::optional<std::int64_t> size = {};
  Array fill_value = 0;
};
/// Slices along an axis where the vector `condition` holds, or elements of the flattened array.
Array compress(const ArrayLike& condition, const ArrayLike& a, const CompressOptions& options = {});
/// Elements where `condition` holds, as a vector.
Array extract(const ArrayLike& condition, const ArrayLike& a, const CompressOptions& options = {});
/// Element by element the choice of the first condition that holds, or `default_value`.
Array select(const ArrayList& conditions, const ArrayList& choices, const ArrayLike& default_value = 0);
/// A function of an element, or a constant: what piecewise puts together.
class Piece {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Piece(T value) : value_(value) {}
  Piece(const Array& value) : value_(value) {}
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, const Array&>
  Piece(F f) : f_(std::move(f)) {}
  /// The function; empty of a constant.
  const std::function<Array(const Array&)>& function() const { return f_; }
  /// The constant.
  const Array& value() const { return value_; }

 private:
  std::function<Array(const Array&)> f_;
  Array value_;
};
/// Element by element the piece of the last condition that holds; a piece more than conditions is for the others, which
/// else become 0. Results have the dtype of `x`.
Array piecewise(const ArrayLike& x, const ArrayList& conditions, const std::vector<Piece>& pieces);
/// @}

/// @name Indices
/// i32 unless a dtype is given. Lists have an array per axis, which as indices of `a(…)` broadcast.
/// @{
/// [ndim, sizes…]: the index along each axis of every element.
Array indices(const Shape& dimensions, DType dtype = i32, const std::source_location& where = COTAN_HERE);
/// The same per axis, with size 1 along the others: `jnp.indices(…, sparse=True)`.
std::vector<Array> indices_sparse(const Shape& dimensions, DType dtype = i32,
                                  const std::source_location& where = COTAN_HERE);
/// Vectors along one axis each, so that a(ix[0], ix[1]) is the block of those rows and columns; bool ones are masks.
std::vector<Array> ix_(const ArrayList& arrays);
/// The diagonal of an array with `ndim` axes of size n.
std::vector<Array> diag_indices(std::int64_t n, int ndim = 2, const std::source_location& where = COTAN_HERE);
/// That of `a`, whose axes have one size.
std::vector<Array> diag_indices_from(const ArrayLike& a);
/// Rows and columns of the triangle on and below the k-th diagonal of an [n, m] matrix; `m` is `n` unless given.
std::pair<Array, Array> tril_indices(std::int64_t n, int k = 0, std::optional<std::int64_t> m = std::nullopt,
                                     const std::source_location& where = COTAN_HERE);
/// The same of a matrix.
std::pair<Array, Array> tril_indices_from(const ArrayLike& a, int k = 0);
/// Rows and columns of the triangle on and above the k-th diagonal.
std::pair<Array, Array> triu_indices(std::int64_t n, int k = 0, std::optional<std::int64_t> m = std::nullopt,
                                     const std::source_location& where = COTAN_HERE);
/// The same of a matrix.
std::pair<Array, Array> triu_indices_from(const ArrayLike& a, int k = 0);
/// Rows and columns where mask(ones, k) is not 0, of an [n, n] matrix: mask_indices(3, np::triu).
std::pair<Array, Array> mask_indices(std::int64_t n, const std::function<Array(const Array&, int)>& mask, int k = 0,
                                     std::optional<std::int64_t> size = std::nullopt,
                                     const std::source_location& where = COTAN_HERE);
/// Positions in the flattened array of shape `dims` ("C" row-major, "F" column-major). An index outside its axis raises
/// ValueError ("raise", which needs values), is clipped ("clip"), taken modulo ("wrap"), or as it is ("ignore").
Array ravel_multi_index(const ArrayList& multi_index, const Shape& dims, std::string_view mode = "raise",
                        char order = 'C', DType dtype = i32);
/// Indices along each axis of positions in the flattened array; positions outside are clipped.
std::vector<Array> unravel_index(const ArrayLike& indices, const Shape& shape);
/// @}

}  // namespace cotan::numpy
