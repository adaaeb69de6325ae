// torch::nn: convolutions.
#pragma once
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

/// Of convolutions.
struct ConvLayerOptions {
  PerAxis stride = 1;
  Padding padding = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  std::string padding_mode = "zeros";  ///< or "reflect", "replicate", "circular"
  std::optional<DType> dtype = {};
  std::string device = "";
};
namespace detail {
/// What convolutions of any number of axes have.
class Conv {
 public:
  Conv() = default;
  Parameter weight, bias;
  ConvLayerOptions options;
  COTAN_TREE(weight, bias)

 protected:
  Conv(int axes, std::int64_t in, std::int64_t out, const PerAxis& kernel_size, ConvLayerOptions options,
       const std::source_location& where);
  /// What functional::conv takes, of an input that is padded where that is not with zeros.
  std::pair<Tensor, functional::ConvOptions> padded(const Tensor& x, int axes) const;
};
}  // namespace detail
/// functional::conv1d; weight[out, in / groups, k].
class Conv1d : public detail::Conv {
 public:
  Conv1d() = default;
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, const PerAxis& kernel_size,
         const ConvLayerOptions& options = {}, std::source_location where = COTAN_HERE)
      : Conv(1, in_channels, out_channels, kernel_size, options, where) {}
  Tensor operator()(const Input& x) const;  ///< x[N, C, L]
};
/// functional::conv2d; weight[out, in / groups, k, k].
class Conv2d : public detail::Conv {
 public:
  Conv2d() = default;
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, const PerAxis& kernel_size,
         const ConvLayerOptions& options = {}, std::source_location where = COTAN_HERE)
      : Conv(2, in_channels, out_channels, kernel_size, options, where) {}
  Tensor operator()(const Input& x) const;  ///< x[N, C, H, W]
};

/// Of transposed convolutions.
struct ConvTransposeLayerOptions {
  PerAxis stride = 1, padding = 0, output_padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
  PerAxis dilation = 1;
  std::optional<DType> dtype = {};
  std::string device = "";
};
namespace detail {
/// What transposed convolutions have.
class ConvTranspose {
 public:
  ConvTranspose() = default;
  Parameter weight, bias;
  functional::ConvTransposeOptions options;
  COTAN_TREE(weight, bias)

 protected:
  ConvTranspose(int axes, std::int64_t in, std::int64_t out, const PerAxis& kernel_size,
                const ConvTransposeLayerOptions& options, const std::source_location& where);
};
}  // namespace detail
/// functional::conv_transpose1d; weight[in, out / groups, k].
class ConvTranspose1d : public detail::ConvTranspose {
 public:
  ConvTranspose1d() = default;
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, const PerAxis& kernel_size,
                  const ConvTransposeLayerOptions& options = {}, std::source_location where = COTAN_HERE)
      : ConvTranspose(1, in_channels, out_channels, kernel_size, options, where) {}
  /// x[N, C, L].
  Tensor operator()(const Input& x) const { return functional::conv_transpose1d(*x, weight, bias, options); }
};
/// functional::conv_transpose2d; weight[in, out / groups, k, k].
class ConvTranspose2d : public detail::ConvTranspose {
 public:
  ConvTranspose2d() = default;
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, const PerAxis& kernel_size,
                  const ConvTransposeLayerOptions& options = {}, std::source_location where = COTAN_HERE)
      : ConvTranspose(2, in_channels, out_channels, kernel_size, options, where) {}
  /// x[N, C, H, W].
  Tensor operator()(const Input& x) const { return functional::conv_transpose2d(*x, weight, bias, options); }
};

}  // namespace cotan::torch::nn
