// Sorting, and searching in what is sorted.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

namespace cotan::numpy {

/// @name Sorting and searching
/// @{
/// Sorted along an axis; NaN last, or first where descending.
Array sort(const ArrayLike& a, int axis = -1, bool descending = false, bool stable = true);
/// All elements sorted, as a vector: axis=None.
Array sort(const ArrayLike& a, None axis, bool descending = false, bool stable = true);
/// i32, unless a dtype is given: the indices that sort. Equal elements keep their order, also where descending, unless
/// the sort need not be stable.
Array argsort(const ArrayLike& a, int axis = -1, bool descending = false, bool stable = true, DType dtype = i32);
/// The same of the flattened array.
Array argsort(const ArrayLike& a, None axis, bool descending = false, bool stable = true, DType dtype = i32);
/// i32: the indices that sort by the last key, where that is equal by the one before, and so on.
Array lexsort(const ArrayList& keys, int axis = -1);
/// The k-th smallest element at its place along an axis, those before it not larger, those behind it not smaller.
Array partition(const ArrayLike& a, int kth, int axis = -1);
/// i32: the indices that do so.
Array argpartition(const ArrayLike& a, int kth, int axis = -1);
/// Positions where elements of `v` go into the sorted vector `a`: before equal ones (side "left") or after them
/// ("right"). i32, or i64 for more than 2³⁰ elements. `sorter`: the indices that sort `a`.
Array searchsorted(const ArrayLike& a, const ArrayLike& v, std::string_view side = "left",
                   const std::optional<Array>& sorter = std::nullopt);
/// The number of the bin that each element is in, of `bins` that rise or fall; `right`: bins include their upper edge.
Array digitize(const ArrayLike& x, const ArrayLike& bins, bool right = false);
/// i32[length]: how often each integer below `length` is in `x`; negative ones count as 0, larger ones not at all.
Array bincount(const ArrayLike& x, std::int64_t length);
/// Of bincount.
struct BincountOptions {
  std::optional<Array> weights = {};        ///< by which each element counts
  std::int64_t minlength = 0;               ///< of the result, where `length` is not given
  std::optional<std::int64_t> length = {};  ///< by default one more than the largest element, which needs values
};
/// The same with options.
Array bincount(const ArrayLike& x, const BincountOptions& options = {});
/// The value of interp outside the points: a number, an Array, or "extrapolate", the line of the points next to it.
class OutsideValue {
 public:
  OutsideValue() = default;
  OutsideValue(const Array& value) : value_(value) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  OutsideValue(T value) : value_(Array(value)) {}
  template <HostComplex T>
  OutsideValue(T value) : value_(Array(value)) {}
  OutsideValue(const char* text) : text_(text) {}
  /// The value, where there is one.
  const std::optional<Array>& value() const { return value_; }
  /// "extrapolate", or empty.
  std::string_view text() const { return text_; }

 private:
  std::optional<Array> value_;
  std::string_view text_;
};
/// Of interp: values outside, by default the first and the last of `fp`, and the period of `x`.
struct InterpOptions {
  OutsideValue left = {};
  OutsideValue right = {};
  std::optional<Array> period = {};
};
/// The line through the points (xp, fp) at `x`: vectors, `xp` rising. Outside it is the first or the last of `fp`. With
/// a period `xp` need not rise. Values may be complex, also those outside.
Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp, const InterpOptions& options = {});
/// @}

}  // namespace cotan::numpy
