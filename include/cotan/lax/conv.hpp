// cotan::lax: convolutions with any layout, padding, dilation and groups.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax/padding.hpp>
#include <cotan/lax/products.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cotan::lax {

/// @name Convolutions
/// @{
/// Layouts of a convolution, a letter per axis: N batch, C features; O and I the kernel's output and input
/// features; any other letters are spatial axes. Left empty: {"NCHW", "OIHW", "NCHW"} and alike.
struct ConvDimensionNumbers {
  std::string lhs = {}, rhs = {}, out = {};
};
/// Lists have one entry per spatial axis, in the order of the kernel's layout; empty ones are all 1.
struct ConvOptions {
  std::vector<std::int64_t> window_strides = {};
  ConvPadding padding = "VALID";
  std::vector<std::int64_t> lhs_dilation = {}, rhs_dilation = {};
  ConvDimensionNumbers dimension_numbers = {};
  /// Input and output features, or images and output features, are divided into groups that do not meet.
  std::int64_t feature_group_count = 1, batch_group_count = 1;
  /// What products and sums are computed in, and the dtype of the result.
  std::optional<DType> preferred_element_type = {};
};
/// The products of `rhs`, a kernel, with the windows of `lhs`, summed over input features and window; with
/// any number of spatial axes. (The kernel is not turned round: mathematicians call this correlation.)
Array conv_general_dilated(const ArrayLike& lhs, const ArrayLike& rhs, const ConvOptions& options = {});
/// conv_general_dilated of lhs[N, C, …] with rhs[O, I, …].
Array conv(const ArrayLike& lhs, const ArrayLike& rhs, const std::vector<std::int64_t>& window_strides,
           const ConvPadding& padding);
/// The same with pairs of padding and dilations.
Array conv_with_general_padding(const ArrayLike& lhs, const ArrayLike& rhs,
                                const std::vector<std::int64_t>& window_strides, const ConvPadding& padding,
                                const std::vector<std::int64_t>& lhs_dilation,
                                const std::vector<std::int64_t>& rhs_dilation);
/// Of conv_transpose. Lists have one entry per spatial axis; empty ones are all 1.
struct ConvTransposeOptions {
  std::vector<std::int64_t> strides = {};
  /// A name means the padding of the convolution that this is the transpose of; pairs are put around lhs.
  ConvPadding padding = "SAME";
  std::vector<std::int64_t> rhs_dilation = {};
  /// Left empty: {"NHWC", "HWIO", "NHWC"} and alike.
  ConvDimensionNumbers dimension_numbers = {};
  /// Turns the kernel round and swaps its features, which makes this the gradient of a convolution.
  bool transpose_kernel = false;
  /// Pairs too mean the padding of the convolution that this is the transpose of.
  bool use_consistent_padding = false;
};
/// A convolution that makes lhs longer by the strides ("fractionally strided").
Array conv_transpose(const ArrayLike& lhs, const ArrayLike& rhs, const ConvTransposeOptions& options = {});

/// Of the following two.
struct ConvPatchesOptions {
  std::vector<std::int64_t> window_strides = {};
  ConvPadding padding = "VALID";
  std::vector<std::int64_t> lhs_dilation = {}, rhs_dilation = {};
  ConvDimensionNumbers dimension_numbers = {};
};
/// The windows of `lhs` that a kernel of this shape would meet, one after the other in the features: lhs[N, C, …] gives
/// [N, C · window, …], features slowest.
Array conv_general_dilated_patches(const ArrayLike& lhs, const std::vector<std::int64_t>& filter_shape,
                                   const ConvPatchesOptions& options = {});
/// A convolution with a kernel of its own at each place: rhs[O, C · window, places…], in the layout of a kernel.
Array conv_general_dilated_local(const ArrayLike& lhs, const ArrayLike& rhs,
                                 const std::vector<std::int64_t>& filter_shape, const ConvPatchesOptions& options = {});
/// @}

}  // namespace cotan::lax
