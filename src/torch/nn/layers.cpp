// Constructors of layers: parameters with PyTorch's first values, in its order of draws.
#include "torch/nn/layers.hpp"

#include <cmath>
#include <cotan/torch/creation.hpp>
#include <cotan/torch/nn/activation.hpp>
#include <cotan/torch/nn/convolution.hpp>
#include <cotan/torch/nn/init.hpp>
#include <cotan/torch/nn/linear.hpp>
#include <cotan/torch/nn/normalization.hpp>
#include <cotan/torch/views.hpp>
#include <numeric>

#include "torch/graph/devices.hpp"
#include "torch/graph/layout.hpp"

namespace cotan::torch::nn {

Parameter detail::new_parameter(const Shape& size, std::optional<DType> dtype, const std::string& device) {
  return Parameter(zeros(size, {.dtype = dtype, .device = device}, torch::detail::line()));
}
Parameter detail::uniform_parameter(const Shape& size, double bound, std::optional<DType> dtype,
                                    const std::string& device) {
  Parameter out = new_parameter(size, dtype, device);
  init::uniform_(out, -bound, bound);
  return out;
}

namespace {

using torch::detail::At;

void check_positive(std::initializer_list<std::int64_t> sizes, std::string_view module) {
  for (const std::int64_t n : sizes)
    if (n < 1) throw_with_line<ValueError>(fmt::format("[{}] a size of {}; sizes are positive.", module, n));
}
/// 1 / √inputs of a weight[out, in, …]: what biases are drawn within, and, by kaiming_uniform_ with a = √5, weights.
double bound_of(const Shape& weight) {
  const std::int64_t inputs = std::accumulate(weight.begin() + 1, weight.end(), std::int64_t{1}, std::multiplies<>());
  return inputs > 0 ? 1 / std::sqrt(static_cast<double>(inputs)) : 0;
}
template <class Options>
void make_weights(Parameter& weight, Parameter& bias, const Shape& size, std::int64_t outputs, const Options& o) {
  const double bound = bound_of(size);
  weight = detail::uniform_parameter(size, bound, o.dtype, o.device);
  if (o.bias) bias = detail::uniform_parameter({outputs}, bound, o.dtype, o.device);
}
Shape kernel_shape(std::int64_t first, std::int64_t second, const PerAxis& kernel_size, int axes) {
  Shape out{first, second};
  const auto kernel = kernel_size.of(axes, "conv", "kernel_size");
  out.insert(out.end(), kernel.begin(), kernel.end());
  return out;
}
template <class Options>
void make_affine(Parameter& weight, Parameter* bias, const Shape& size, const Options& o) {
  weight = detail::new_parameter(size, o.dtype, o.device);
  init::ones_(weight);
  if (bias) *bias = detail::new_parameter(size, o.dtype, o.device);
}

}  // namespace

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options,
               std::source_location where) {
  const At at(where);
  make_weights(weight, bias, {out_features, in_features}, out_features, options);
}
Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   const LinearOptions& options, std::source_location where) {
  const At at(where);
  check_positive({in1_features}, "Bilinear");
  const double bound = 1 / std::sqrt(static_cast<double>(in1_features));
  weight = detail::uniform_parameter({out_features, in1_features, in2_features}, bound, options.dtype, options.device);
  if (options.bias) bias = detail::uniform_parameter({out_features}, bound, options.dtype, options.device);
}
Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingLayerOptions& options,
                     std::source_location where)
    : padding_idx(options.padding_idx) {
  const At at(where);
  weight = detail::new_parameter({num_embeddings, embedding_dim}, options.dtype, options.device);
  init::normal_(weight);
  if (padding_idx) init::zeros_(select(weight.detach(), 0, *padding_idx));
}
Tensor Flatten::operator()(const Input& x) const {
  const int first = torch::detail::wrap_dim(start_dim, x->dim(), "Flatten"),
            last = torch::detail::wrap_dim(end_dim, x->dim(), "Flatten");
  Shape size(x->sizes().begin(), x->sizes().begin() + first);
  std::int64_t joined = 1;
  for (int i = first; i <= last; ++i) joined *= x->size(i);
  size.push_back(joined);
  size.insert(size.end(), x->sizes().begin() + last + 1, x->sizes().end());
  return reshape(*x, size);
}
Tensor Unflatten::operator()(const Input& x) const {
  const int at = torch::detail::wrap_dim(dim, x->dim(), "Unflatten");
  Shape size = x->sizes();
  const Shape parts = torch::detail::inferred_sizes(sizes, x->size(at), "Unflatten");
  size.erase(size.begin() + at);
  size.insert(size.begin() + at, parts.begin(), parts.end());
  return reshape(*x, size);
}
PReLU::PReLU(std::int64_t num_parameters, double init, std::source_location where) {
  const At at(where);
  weight = detail::new_parameter({num_parameters}, {}, "");
  init::constant_(weight, init);
}

// Convolutions ------------------------------------------------------------------------------------

detail::Conv::Conv(int axes, std::int64_t in, std::int64_t out, const PerAxis& kernel_size, ConvLayerOptions given,
                   const std::source_location& where)
    : options(std::move(given)) {
  const At at(where);
  check_positive({in, out, options.groups}, "Conv");
  if (in % options.groups || out % options.groups)
    throw_with_line<ValueError>(fmt::format(
        "[Conv] {} groups of {} input and {} output channels; groups must divide both.", options.groups, in, out));
  make_weights(weight, bias, kernel_shape(out, in / options.groups, kernel_size, axes), out, options);
}
std::pair<Tensor, functional::ConvOptions> detail::Conv::padded(const Tensor& x, int axes) const {
  functional::ConvOptions o{options.stride, options.padding, options.dilation, options.groups};
  if (options.padding_mode == "zeros") return {x, o};
  std::vector<std::int64_t> around;
  const auto dilation = options.dilation.of(axes, "Conv", "dilation");
  const auto numbers = options.padding.numbers().of(axes, "Conv", "padding");
  for (int i = axes - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t all = options.padding.name() == "same" ? dilation[k] * (weight.size(i + 2) - 1) : 2 * numbers[k];
    around.push_back(all / 2);
    around.push_back(all - all / 2);
  }
  o.padding = 0;
  return {functional::pad(x, around, {.mode = options.padding_mode}), o};
}
Tensor Conv1d::operator()(const Input& x) const {
  const auto [image, how] = padded(*x, 1);
  return functional::conv1d(image, weight, bias, how);
}
Tensor Conv2d::operator()(const Input& x) const {
  const auto [image, how] = padded(*x, 2);
  return functional::conv2d(image, weight, bias, how);
}
detail::ConvTranspose::ConvTranspose(int axes, std::int64_t in, std::int64_t out, const PerAxis& kernel_size,
                                     const ConvTransposeLayerOptions& o, const std::source_location& where)
    : options{o.stride, o.padding, o.output_padding, o.groups, o.dilation} {
  const At at(where);
  check_positive({in, out, o.groups}, "ConvTranspose");
  if (in % o.groups || out % o.groups)
    throw_with_line<ValueError>(fmt::format(
        "[ConvTranspose] {} groups of {} input and {} output channels; groups must divide both.", o.groups, in, out));
  make_weights(weight, bias, kernel_shape(in, out / o.groups, kernel_size, axes), out, o);
}

// Normalization -----------------------------------------------------------------------------------

LayerNorm::LayerNorm(const NormalizedShape& shape, const LayerNormOptions& options, std::source_location where)
    : normalized_shape(shape.sizes()), eps(options.eps) {
  const At at(where);
  if (options.elementwise_affine) make_affine(weight, options.bias ? &bias : nullptr, normalized_shape, options);
}
RMSNorm::RMSNorm(const NormalizedShape& shape, const RMSNormOptions& options, std::source_location where)
    : normalized_shape(shape.sizes()), eps(options.eps) {
  const At at(where);
  if (options.elementwise_affine) make_affine(weight, nullptr, normalized_shape, options);
}
GroupNorm::GroupNorm(std::int64_t groups, std::int64_t num_channels, const GroupNormOptions& options,
                     std::source_location where)
    : num_groups(groups), eps(options.eps) {
  const At at(where);
  if (num_groups < 1 || num_channels % num_groups)
    throw_with_line<ValueError>(
        fmt::format("[GroupNorm] {} groups of {} channels; groups must divide them.", num_groups, num_channels));
  if (options.affine) make_affine(weight, &bias, {num_channels}, options);
}
detail::ChannelNorm::ChannelNorm(std::int64_t features, const BatchNormLayerOptions& o,
                                 const std::source_location& where)
    : eps(o.eps), momentum(o.momentum) {
  const At at(where);
  if (o.affine) make_affine(weight, &bias, {features}, o);
  if (!o.track_running_stats) return;
  running_mean = zeros({features}, {.dtype = o.dtype, .device = o.device}, where);
  running_var = ones({features}, {.dtype = o.dtype, .device = o.device}, where);
  const bool has_i64 = torch::detail::has_doubles(torch::detail::device_named(o.device));
  num_batches_tracked = zeros({}, {.dtype = has_i64 ? int64 : int32, .device = o.device}, where);
}
Tensor detail::ChannelNorm::batch_norm(const Tensor& x, std::initializer_list<int> dims, std::string_view op) const {
  if (std::find(dims.begin(), dims.end(), x.dim()) == dims.end())
    throw_with_line<ShapeError>(fmt::format("[{}] the input has shape {}; it needs {} dimensions.", op,
                                            describe(x.sizes()), fmt::join(dims, " or ")));
  const bool tracks = running_mean.defined();
  if (!tracks) return functional::batch_norm(x, {}, {}, weight, bias, {.training = true, .eps = eps});
  if (training) count_batch(num_batches_tracked);
  return functional::batch_norm(x, running_mean, running_var, weight, bias,
                                {.training = training,
                                 .momentum = momentum.value_or(0),
                                 .eps = eps,
                                 .batches = momentum ? Tensor() : Tensor(num_batches_tracked)});
}
Tensor detail::ChannelNorm::instance_norm(const Tensor& x, int dims, std::string_view op) const {
  if (x.dim() != dims && x.dim() != dims - 1)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input has shape {}; it needs {} dimensions, or {} without samples.", op,
                    describe(x.sizes()), dims, dims - 1));
  const Tensor many = x.dim() == dims ? x : unsqueeze(x, 0);
  const bool by_input = training || !running_mean.defined();
  const Tensor y =
      functional::instance_norm(many, running_mean, running_var, weight, bias,
                                {.use_input_stats = by_input, .momentum = momentum.value_or(0), .eps = eps});
  return x.dim() == dims ? y : squeeze(y, {0});
}

}  // namespace cotan::torch::nn
