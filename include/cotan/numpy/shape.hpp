// Shape and movement of elements: views, joining, splitting, repeating, padding.
#pragma once
#include <cotan/array.hpp>
#include <cotan/numpy/creation.hpp>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cotan::numpy {

/// @name Shape and movement
/// Elements keep their dtype; where arrays are joined they are promoted to one.
/// @{
/// The same elements, row-major, in another shape, of which one size may be -1: reshape(a, {-1, 3}). With `order` 'F'
/// elements are read and placed with the first index fastest.
Array reshape(const ArrayLike& a, const Shape& shape, char order = 'C');
Array ravel(const ArrayLike& a, char order = 'C');  ///< the elements as a vector, row-major, or with 'F' column-major
/// Axes in another order; reversed where none is given. Axis i of the result is axis axes[i] of `a`.
Array transpose(const ArrayLike& a, const std::vector<int>& axes = {});
/// The same as transpose with all axes given.
Array permute_dims(const ArrayLike& a, const std::vector<int>& axes);
Array matrix_transpose(const ArrayLike& a);  ///< the last two axes exchanged
/// Two axes exchanged.
Array swapaxes(const ArrayLike& a, int axis1, int axis2);
/// Axes `source` moved to the places `destination`; the others keep their order.
Array moveaxis(const ArrayLike& a, const Axes& source, const Axes& destination);
/// `axis` moved to the place before `start`; the others keep their order. moveaxis is easier.
Array rollaxis(const ArrayLike& a, int axis, int start = 0);
/// New axes of size 1, at these places of the result.
Array expand_dims(const ArrayLike& a, const Axes& axis);
/// Axes of size 1 taken away: those given, or all. Another size raises ShapeError.
Array squeeze(const ArrayLike& a, const Axes& axis = {});
/// `a` repeated along new and size-1 axes, as operators do it.
Array broadcast_to(const ArrayLike& a, const Shape& shape);
/// The shape that arrays of these shapes broadcast to.
Shape broadcast_shapes(const std::vector<Shape>& shapes, const std::source_location& where = COTAN_HERE);
/// All arrays in the shape they broadcast to.
std::vector<Array> broadcast_arrays(const ArrayList& arrays);
/// Joined along an axis that they have: concatenate({a, b}, 1). `dtype` is that of the result, here and in the
/// functions below; by default they are promoted to one.
Array concatenate(const ArrayList& arrays, int axis = 0, std::optional<DType> dtype = std::nullopt);
/// All elements of all arrays, flattened: axis=None.
Array concatenate(const ArrayList& arrays, None axis, std::optional<DType> dtype = std::nullopt);
inline Array concat(const ArrayList& arrays, int axis = 0) { return concatenate(arrays, axis); }  ///< as concatenate
inline Array concat(const ArrayList& arrays, None axis) { return concatenate(arrays, axis); }     ///< as concatenate
/// Joined along a new axis; all have one shape.
Array stack(const ArrayList& arrays, int axis = 0, std::optional<DType> dtype = std::nullopt);
/// Joined along axis 1, or axis 0 of vectors.
Array hstack(const ArrayList& arrays, std::optional<DType> dtype = std::nullopt);
/// Joined along axis 0; vectors are rows.
Array vstack(const ArrayList& arrays, std::optional<DType> dtype = std::nullopt);
/// Joined along axis 2; vectors have shape [1, n, 1], matrices [m, n, 1].
Array dstack(const ArrayList& arrays, std::optional<DType> dtype = std::nullopt);
/// Blocks put together: block({{a, b}, {c, d}}) joins the innermost lists along the last axis, those around them along
/// the one before, and so on. Scalars and vectors get axes in front.
Array block(const Nested& blocks, const std::source_location& where = COTAN_HERE);
/// The same of a list.
Array block(std::initializer_list<Nested> blocks, const std::source_location& where = COTAN_HERE);
/// Joined along axis 1; vectors are columns.
Array column_stack(const ArrayList& arrays);
/// Equal parts along an axis, which they must divide.
std::vector<Array> split(const ArrayLike& a, int sections, int axis = 0);
/// Parts that begin at the given indices: split(a, {2, 5}) is a[:2], a[2:5], a[5:]. {2} is one index, not two parts.
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& indices, int axis = 0);
/// The same for indices in braces.
std::vector<Array> split(const ArrayLike& a, std::initializer_list<std::int64_t> indices, int axis = 0);
/// How to cut an axis: into a number of parts, or at indices, as in split.
class Sections {
 public:
  Sections(int parts) : parts_(parts) {}
  Sections(std::vector<std::int64_t> indices) : indices_(std::move(indices)) {}
  Sections(std::initializer_list<std::int64_t> indices) : indices_(indices) {}
  /// How many parts; none where there are indices.
  const std::optional<int>& parts() const { return parts_; }
  /// Where parts begin, but the first.
  const std::vector<std::int64_t>& indices() const { return indices_; }

 private:
  std::optional<int> parts_;
  std::vector<std::int64_t> indices_;
};
/// As split, but a number of parts need not divide the axis: the first parts are longer by one.
std::vector<Array> array_split(const ArrayLike& a, const Sections& sections, int axis = 0);
std::vector<Array> vsplit(const ArrayLike& a, const Sections& sections);  ///< split along axis 0
std::vector<Array> hsplit(const ArrayLike& a, const Sections& sections);  ///< split along axis 1, or axis 0 of a vector
std::vector<Array> dsplit(const ArrayLike& a, const Sections& sections);  ///< split along axis 2
/// The slices along an axis, without that axis.
std::vector<Array> unstack(const ArrayLike& a, int axis = 0);
/// Reversed along an axis, several, or all.
Array flip(const ArrayLike& a, const Axes& axis = {});
Array fliplr(const ArrayLike& a);  ///< reversed along axis 1
Array flipud(const ArrayLike& a);  ///< reversed along axis 0
/// Turned by k · 90° from axis1 towards axis2.
Array rot90(const ArrayLike& a, int k = 1, int axis1 = 0, int axis2 = 1);
/// Elements moved on by `shift` along an axis, several, or in the flattened array; what leaves at the end comes in at
/// the start.
Array roll(const ArrayLike& a, std::int64_t shift, const Axes& axis = {});
/// The same with a shift per axis.
Array roll(const ArrayLike& a, const std::vector<std::int64_t>& shift, const Axes& axis);
/// The same with shifts that need not be known: an integer, or a vector of one per axis.
Array roll(const ArrayLike& a, const Array& shift, const Axes& axis = {});
/// `a` side by side, reps[i] times along axis i of the longer of both shapes.
Array tile(const ArrayLike& a, const std::vector<std::int64_t>& reps);
/// Each element `repeats` times along an axis, or in the flattened array. One number for all elements.
Array repeat(const ArrayLike& a, std::int64_t repeats, std::optional<int> axis = std::nullopt);
/// The same with a count per element. Needs values, unless `total_repeat_length` says how long the axis becomes: what
/// is more is left out, and what is missing is filled with the last element.
Array repeat(const ArrayLike& a, const Array& repeats, std::optional<int> axis = std::nullopt,
             std::optional<std::int64_t> total_repeat_length = std::nullopt);
/// The elements, flattened, over and over until `shape` is full, or as many as go into it.
Array resize(const ArrayLike& a, const Shape& shape);
/// Widths of padding: a pair (before, after) per axis.
using PadWidths = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Of pad. Values and lengths that are not scalars are per axis and side: they broadcast to [ndim, 2].
struct PadOptions {
  std::string_view mode = "constant";
  std::optional<Array> constant_values = {};     ///< of "constant"
  std::optional<Array> end_values = {};          ///< of "linear_ramp": what the ramps end with
  std::optional<std::int64_t> stat_length = {};  ///< of the statistics: over how many elements at the edge, or over all
  std::vector<std::pair<std::int64_t, std::int64_t>> stat_lengths = {};  ///< the same per axis and side
  std::string_view reflect_type = "even";  ///< of "reflect" and "symmetric"; "odd" reflects through the edge too
};
/// Widths per axis (before, after), or one pair for all; modes "constant" (`value`), "edge", "reflect", "symmetric",
/// "wrap", "linear_ramp", "maximum", "minimum", "mean", "median", "empty" (which is 0). Negative widths raise; lax::pad
/// crops.
Array pad(const ArrayLike& a, const PadWidths& width, std::string_view mode = "constant", const ArrayLike& value = 0);
/// The same with one width for all sides: pad(x, 2, "edge").
Array pad(const ArrayLike& a, std::int64_t width, std::string_view mode = "constant", const ArrayLike& value = 0);
/// The same with options.
template <class Options = PadOptions>
Array pad(const ArrayLike& a, const PadWidths& width, const std::type_identity_t<Options>& options);
/// The same with one width for all sides.
template <class Options = PadOptions>
Array pad(const ArrayLike& a, std::int64_t width, const std::type_identity_t<Options>& options);
Array atleast_1d(const ArrayLike& a);  ///< a, or of a scalar shape [1]
Array atleast_2d(const ArrayLike& a);  ///< a, or of fewer axes shape [1, n]
Array atleast_3d(const ArrayLike& a);  ///< a, or of a vector shape [1, n, 1], of a matrix [m, n, 1]
/// @}

}  // namespace cotan::numpy
