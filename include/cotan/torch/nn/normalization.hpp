// torch::nn: normalization and dropout.
#pragma once
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

/// Of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true, bias = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// The last axes of an input: their sizes, or the one size of the last.
class NormalizedShape {
 public:
  using IsSetting = void;  ///< nothing of it is trained
  template <std::integral T>
  NormalizedShape(T size) : sizes_{static_cast<std::int64_t>(size)} {}
  NormalizedShape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  NormalizedShape(Shape sizes) : sizes_(std::move(sizes)) {}
  const Shape& sizes() const { return sizes_; }  ///< of the axes

 private:
  Shape sizes_;
};
/// functional::layer_norm.
class LayerNorm {
 public:
  LayerNorm() = default;
  LayerNorm(const NormalizedShape& normalized_shape, const LayerNormOptions& options = {},
            std::source_location where = COTAN_HERE);
  /// Over the last axes.
  Tensor operator()(const Input& x) const { return functional::layer_norm(*x, normalized_shape, weight, bias, eps); }
  Parameter weight, bias;
  Shape normalized_shape;
  double eps = 1e-5;
  COTAN_TREE(weight, bias)
};
/// Of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = {};
  bool elementwise_affine = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// functional::rms_norm.
class RMSNorm {
 public:
  RMSNorm() = default;
  RMSNorm(const NormalizedShape& normalized_shape, const RMSNormOptions& options = {},
          std::source_location where = COTAN_HERE);
  /// Over the last axes.
  Tensor operator()(const Input& x) const { return functional::rms_norm(*x, normalized_shape, weight, eps); }
  Parameter weight;
  Shape normalized_shape;
  std::optional<double> eps;
  COTAN_TREE(weight)
};
/// Of GroupNorm.
struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// functional::group_norm.
class GroupNorm {
 public:
  GroupNorm() = default;
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& options = {},
            std::source_location where = COTAN_HERE);
  /// Of x[N, C, …].
  Tensor operator()(const Input& x) const { return functional::group_norm(*x, num_groups, weight, bias, eps); }
  Parameter weight, bias;
  std::int64_t num_groups = 1;
  double eps = 1e-5;
  COTAN_TREE(weight, bias)
};

/// Of BatchNorm.
struct BatchNormLayerOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< none: running statistics are the mean of all batches
  bool affine = true, track_running_stats = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};
namespace detail {
/// What norms of channels have.
class ChannelNorm {
 public:
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;
  Training training;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  COTAN_TREE(weight, bias, running_mean, running_var, num_batches_tracked, training)

 protected:
  ChannelNorm() = default;
  ChannelNorm(std::int64_t features, const BatchNormLayerOptions& options, const std::source_location& where);
  Tensor batch_norm(const Tensor& x, std::initializer_list<int> dims, std::string_view op) const;
  Tensor instance_norm(const Tensor& x, int dims, std::string_view op) const;
};
}  // namespace detail
/// functional::batch_norm with running statistics.
class BatchNorm1d : public detail::ChannelNorm {
 public:
  BatchNorm1d() = default;
  BatchNorm1d(std::int64_t num_features, const BatchNormLayerOptions& options = {},
              std::source_location where = COTAN_HERE)
      : ChannelNorm(num_features, options, where) {}
  Tensor operator()(const Input& x) const { return batch_norm(*x, {2, 3}, "BatchNorm1d"); }  ///< x[N, C] or [N, C, L]
};
/// functional::batch_norm of images.
class BatchNorm2d : public detail::ChannelNorm {
 public:
  BatchNorm2d() = default;
  BatchNorm2d(std::int64_t num_features, const BatchNormLayerOptions& options = {},
              std::source_location where = COTAN_HERE)
      : ChannelNorm(num_features, options, where) {}
  Tensor operator()(const Input& x) const { return batch_norm(*x, {4}, "BatchNorm2d"); }  ///< x[N, C, H, W]
};
/// functional::instance_norm of images; affine and running statistics only where asked for.
class InstanceNorm2d : public detail::ChannelNorm {
 public:
  InstanceNorm2d() = default;
  InstanceNorm2d(std::int64_t num_features,
                 const BatchNormLayerOptions& options = {.affine = false, .track_running_stats = false},
                 std::source_location where = COTAN_HERE)
      : ChannelNorm(num_features, options, where) {}
  Tensor operator()(const Input& x) const { return instance_norm(*x, 4, "InstanceNorm2d"); }  ///< x[N, C, H, W]
};

/// functional::dropout while training.
struct Dropout {
  double p = 0.5;
  Training training = {};
  Tensor operator()(const Input& x) const { return functional::dropout(*x, p, training); }  ///< x, some elements 0
};
/// functional::dropout2d while training.
struct Dropout2d {
  double p = 0.5;
  Training training = {};
  Tensor operator()(const Input& x) const { return functional::dropout2d(*x, p, training); }  ///< x, some channels 0
};

}  // namespace cotan::torch::nn
