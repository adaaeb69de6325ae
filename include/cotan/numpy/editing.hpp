// Arrays with elements added, taken away or replaced. None changes its argument: what NumPy does in place gives a new
// Array here, as JAX's inplace=False does.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

namespace cotan::numpy {

/// @name Editing
/// @{
/// Both joined along an axis, or flattened.
Array append(const ArrayLike& a, const ArrayLike& values, std::optional<int> axis = std::nullopt);
/// What delete_ and insert take: an index, a range, or an Array of integers or (of delete_) bools.
class Places {
 public:
  template <class T>
    requires std::is_integral_v<T>
  Places(T index) : index_(static_cast<std::int64_t>(index)) {}
  Places(const Range& range) : range_(range) {}
  Places(const Array& indices) : array_(indices) {}
  /// One of the three.
  const std::optional<std::int64_t>& index() const { return index_; }
  /// One of the three.
  const std::optional<Range>& range() const { return range_; }
  /// One of the three.
  const Array& array() const { return array_; }

 private:
  std::optional<std::int64_t> index_;
  std::optional<Range> range_;
  Array array_;
};
/// Without these places along an axis, or of the flattened array; `jnp.delete`. Arrays of places need values, unless
/// each is there once and `assume_unique_indices` says so.
Array delete_(const ArrayLike& a, const Places& places, std::optional<int> axis = std::nullopt,
              bool assume_unique_indices = false);
/// With `values` before these places along an axis, or of the flattened array.
Array insert(const ArrayLike& a, const Places& places, const ArrayLike& values, std::optional<int> axis = std::nullopt);
/// Without zeros at the front ("f") and back ("b") of an axis, or all; needs values.
Array trim_zeros(const ArrayLike& a, std::string_view trim = "fb", const Axes& axis = {});
/// With `values`, over and over, at positions of the flattened array. Those outside are dropped, clipped ("clip") or
/// taken modulo ("wrap").
Array put(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, std::string_view mode = "drop");
/// With `values`, which broadcast to the indices, at an index per element along an axis; outside is dropped, or as the
/// mode says: "drop", "clip", "fill" or "promise_in_bounds".
Array put_along_axis(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, int axis,
                     std::string_view mode = "drop");
/// The same of the flattened array.
Array put_along_axis(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, None axis,
                     std::string_view mode = "drop");
/// With `values`, one after the other and over and over, where `mask` holds.
Array place(const ArrayLike& a, const ArrayLike& mask, const ArrayLike& values);
/// With `value`, a scalar or elements that are repeated, on the diagonal; more than two axes have one size.
Array fill_diagonal(const ArrayLike& a, const ArrayLike& value);
/// @}

}  // namespace cotan::numpy
