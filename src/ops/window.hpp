// Windows that move over an array: where they are, which elements they meet. What reduce_window and its derivatives
// share.
#pragma once
#include "ops/ops.hpp"

namespace cotan::ops {

/// Lists have one entry per axis of the operand, which padding surrounds after base_dilation has spread it.
struct WindowParams {
  Ints dimensions, strides, padding_low, padding_high, base_dilation, window_dilation;

  WindowParams() = default;
  /// Windows that are not padded or dilated and move by one.
  explicit WindowParams(Ints sizes);
  explicit WindowParams(const Params& p);
  Params params() const;
  /// How many windows there are along each axis.
  Shape places(const Shape& operand) const;
  /// With an axis in front that windows do not span.
  WindowParams batched() const;
};

/// The element of each window that a derivative flows to: the largest (or smallest), the first of several. Its number
/// in the window, i32.
extern const Primitive window_argmax_p, window_argmin_p;
/// (t, number): of each window the element of that number, 0 where it is padding.
extern const Primitive window_gather_p;
/// Its transpose, (cotangent, number): elements are sums over the windows that chose them.
extern const Primitive window_scatter_add_p;
/// The transpose of reduce_window_sum: elements are sums over the windows they are in.
extern const Primitive window_spread_p;
/// (x, fill): all windows, [places…, dimensions…]; `fill` where they meet padding. Its transpose adds up.
extern const Primitive window_patches_p, window_patches_add_p;

Array reduce_window_sum(const Array& a, const WindowParams& w);
Array window_patches(const Array& a, const Array& fill, const WindowParams& w);

}  // namespace cotan::ops
