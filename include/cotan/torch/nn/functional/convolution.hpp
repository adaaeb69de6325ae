// torch::nn::functional: products with matrices and kernels.
#pragma once
#include <cotan/torch/nn/functional/options.hpp>

namespace cotan::torch::nn::functional {

/// x weightᵀ + bias: x[…, in], weight[out, in], bias[out].
Tensor linear(const Input& x, const Tensor& weight, const Tensor& bias = {});
/// For each output o: x1 weight[o] x2 + bias[o]; x1[…, in1], x2[…, in2], weight[out, in1, in2].
Tensor bilinear(const Input& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {});

/// Of convolutions.
struct ConvOptions {
  PerAxis stride = 1;
  Padding padding = 0;  ///< zeros around x; "valid", "same"
  PerAxis dilation = 1;
  std::int64_t groups = 1;
};
/// Windows of x[N, C, L] (or without N) times weight[out, C / groups, k].
Tensor conv1d(const Input& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// The same of images [N, C, H, W].
Tensor conv2d(const Input& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// The same of volumes [N, C, D, H, W].
Tensor conv3d(const Input& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});

/// Of transposed convolutions.
struct ConvTransposeOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;         ///< of the convolution that this is the transpose of
  PerAxis output_padding = 0;  ///< more at the end of each axis
  std::int64_t groups = 1;
  PerAxis dilation = 1;
};
/// The transpose of conv1d: x[N, C, L], weight[C, out / groups, k].
Tensor conv_transpose1d(const Input& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
/// The same of images.
Tensor conv_transpose2d(const Input& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});
/// The same of volumes.
Tensor conv_transpose3d(const Input& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTransposeOptions& options = {});

/// Of unfold and fold.
struct UnfoldOptions {
  PerAxis dilation = 1, padding = 0, stride = 1;
};
/// The windows of images [N, C, H, W], as columns: [N, C · window, places].
Tensor unfold(const Input& x, const PerAxis& kernel_size, const UnfoldOptions& options = {});
/// Images of this size in which such columns are added where they came from.
Tensor fold(const Input& x, const PerAxis& output_size, const PerAxis& kernel_size, const UnfoldOptions& options = {});

}  // namespace cotan::torch::nn::functional
