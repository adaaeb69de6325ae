// torch::nn::functional: normalization, dropout, embedding.
#pragma once
#include <cotan/torch/nn/functional/options.hpp>

namespace cotan::torch::nn::functional {

/// (x - mean) / √(variance + eps) · weight + bias, over the last axes, which are normalized_shape.
Tensor layer_norm(const Input& x, const Shape& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / √(mean of squares + eps) · weight over the last axes; eps is by default the dtype's.
Tensor rms_norm(const Input& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});
/// Over groups of channels and all places of each sample: x[N, C, …].
Tensor group_norm(const Input& x, std::int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// Of batch_norm and instance_norm.
struct BatchNormOptions {
  bool training = false;  ///< by the statistics of the batch, else by the running ones
  double momentum = 0.1;  ///< how much of the batch's goes into the running ones, in place
  double eps = 1e-5;
  Tensor batches = {};  ///< how many there were: running statistics are then the mean of all, instead of momentum
};
/// Over samples and places of each channel: x[N, C, …]. While training, running_mean and running_var are written.
Tensor batch_norm(const Input& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, const BatchNormOptions& options = {});
/// Of instance_norm.
struct InstanceNormOptions {
  bool use_input_stats = true;  ///< else the running ones
  double momentum = 0.1, eps = 1e-5;
};
/// Over the places of each channel of each sample: x[N, C, …].
Tensor instance_norm(const Input& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, const InstanceNormOptions& options = {});
/// Of normalize.
struct NormalizeOptions {
  double p = 2;
  int dim = 1;
  double eps = 1e-12;  ///< the least norm
};
/// x by its norm along an axis.
Tensor normalize(const Input& x, const NormalizeOptions& options = {});

/// Random elements are 0, the others larger by 1 / (1 - p). The mask comes from the generator (manual_seed).
Tensor dropout(const Input& x, double p = 0.5, bool training = true);
Tensor dropout1d(const Input& x, double p = 0.5, bool training = true);       ///< whole channels of [N, C, L]
Tensor dropout2d(const Input& x, double p = 0.5, bool training = true);       ///< whole channels of [N, C, H, W]
Tensor alpha_dropout(const Input& x, double p = 0.5, bool training = false);  ///< keeps mean and variance after selu

/// Of embedding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row collects no gradient
};
/// The rows of `weight` that `indices` name. An index that names none gives NaN.
Tensor embedding(const Input& indices, const Tensor& weight, const EmbeddingOptions& options = {});
/// 1 at the class along a new last axis, else 0; i64, or i32 where the device has no more. Without num_classes the
/// largest index is read, which runs what is recorded.
Tensor one_hot(const Input& indices, std::int64_t num_classes = -1);

}  // namespace cotan::torch::nn::functional
