// Normalization: by statistics of rows, of groups of channels, of batches.
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/nn/functional/normalization.hpp>
#include <limits>

#include "torch/nn/layers.hpp"
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

struct Normalized {
  Array y, mean, variance;  ///< the mean and variance keep their axes
};
Normalized normalized(const Array& x, const Axes& axes, double eps) {
  const Array mean = np::mean(x, axes, true), centred = x - mean;
  const Array variance = np::mean(np::square(centred), axes, true);
  return {centred * lax::rsqrt(variance + eps), mean, variance};
}
/// y weight + bias in y's dtype; either may be missing, and their shape is `shape`.
Array scaled(Array y, const std::optional<Array>& weight, const std::optional<Array>& bias, const Shape& shape) {
  if (weight) y = y * weight->astype(y.dtype()).reshape(shape);
  if (bias) y = y + bias->astype(y.dtype()).reshape(shape);
  return y;
}
Shape along_channels(const Array& x) {
  Shape out(static_cast<std::size_t>(x.ndim()), 1);
  out[1] = x.shape(1);
  return out;
}
/// All axes of x but the first `kept`; of batch_norm all but the one of channels.
Axes axes_behind(const Array& x, int kept) {
  std::vector<int> out;
  for (int i = kept; i < x.ndim(); ++i) out.push_back(i);
  return out;
}
Axes axes_but_channels(const Array& x) {
  std::vector<int> out{0};
  for (int i = 2; i < x.ndim(); ++i) out.push_back(i);
  return out;
}

void check_rows(const Tensor& x, const Shape& shape, const Tensor& weight, const Tensor& bias, std::string_view op) {
  const bool fits = !shape.empty() && shape.size() <= x.sizes().size() &&
                    std::equal(shape.rbegin(), shape.rend(), x.sizes().rbegin());
  if (!fits)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input has shape {}, whose last dimensions are not normalized_shape, {}.", op,
                    describe(x.sizes()), describe(shape)));
  for (const Tensor* t : {&weight, &bias})
    if (t->defined() && t->sizes() != shape)
      throw_with_line<ShapeError>(fmt::format("[{}] weight or bias has shape {}; it must have normalized_shape, {}.",
                                              op, describe(t->sizes()), describe(shape)));
}
void check_channels(const Tensor& x, std::initializer_list<const Tensor*> of_channels, std::string_view op) {
  if (x.dim() < 2)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input has shape {}; it needs the dimensions [N, C, …].", op, describe(x.sizes())));
  for (const Tensor* t : of_channels)
    if (t->defined() && t->sizes() != Shape{x.size(1)})
      throw_with_line<ShapeError>(fmt::format(
          "[{}] weight, bias or running statistics have shape {}, the input {}; they need a number for each "
          "of {} channels.",
          op, describe(t->sizes()), describe(x.sizes()), x.size(1)));
}

/// running = (1 - momentum) running + momentum batch, where nothing is recorded for gradients.
void track(const Tensor& running, const Tensor& batch, double momentum) {
  static const auto op =
      define("running_statistics", {.differentiable = false}, [](const Array& former, const Array& now, Number part) {
        const Array weight = part.like(former);
        return former * (1 - weight) + now.astype(former.dtype()) * weight;
      });
  const no_grad off;
  running.copy_(op(running, batch, momentum), line());
}
/// The same of the mean of all batches, of which this is the last.
void average(const Tensor& running, const Tensor& batch, const Tensor& batches) {
  static const auto op = define("running_statistics", {.differentiable = false},
                                [](const Array& former, const Array& now, const Array& count) {
                                  return former + (now.astype(former.dtype()) - former) / count.astype(former.dtype());
                                });
  const no_grad off;
  running.copy_(op(running, batch, batches), line());
}

double least(DType t) {
  switch (t) {
    case f64:
      return std::numeric_limits<double>::epsilon();
    case f16:
      return 0x1p-10;
    case bf16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

Tensor layer_norm(const Input& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  static const auto op = define(
      "layer_norm", {.saves = Saves::operands, .cast = Cast::f32},
      [](const Array& a, const std::optional<Array>& w, const std::optional<Array>& b, const Shape& rows, double e) {
        const Array y = normalized(widened(a), axes_behind(a, a.ndim() - static_cast<int>(rows.size())), e).y;
        return scaled(y, w, b, rows).astype(a.dtype());
      });
  check_rows(*x, normalized_shape, weight, bias, "layer_norm");
  return op(*x, weight, bias, normalized_shape, eps);
}

Tensor rms_norm(const Input& x, const Shape& normalized_shape, const Tensor& weight, std::optional<double> eps) {
  static const auto op = define("rms_norm", {.saves = Saves::operands},
                                [](const Array& a, const std::optional<Array>& w, const Shape& rows, double e) {
                                  const Array wide = widened(a);
                                  const Axes axes = axes_behind(a, a.ndim() - static_cast<int>(rows.size()));
                                  const Array y = wide * lax::rsqrt(np::mean(np::square(wide), axes, true) + e);
                                  return scaled(y, w, std::nullopt, rows).astype(a.dtype());
                                });
  check_rows(*x, normalized_shape, weight, {}, "rms_norm");
  return op(*x, weight, normalized_shape, eps.value_or(least(computed_in(x->dtype()))));
}

Tensor group_norm(const Input& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  static const auto op = define(
      "group_norm", {.saves = Saves::operands, .cast = Cast::f32},
      [](const Array& a, const std::optional<Array>& w, const std::optional<Array>& b, std::int64_t groups, double e) {
        const Array rows = widened(a).reshape({a.shape(0), groups, -1});
        return scaled(normalized(rows, -1, e).y.reshape(a.shape()), w, b, along_channels(a)).astype(a.dtype());
      });
  check_channels(*x, {&weight, &bias}, "group_norm");
  if (num_groups < 1 || x->size(1) % num_groups)
    throw_with_line<ShapeError>(
        fmt::format("[group_norm] {} groups of {} channels; groups must divide them.", num_groups, x->size(1)));
  return op(*x, weight, bias, num_groups, eps);
}

Tensor batch_norm(const Input& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& o) {
  static const auto by_batch =
      define("batch_norm", {.saves = Saves::operands},
             [](const Array& a, const std::optional<Array>& w, const std::optional<Array>& b, double e) {
               const Normalized n = normalized(widened(a), axes_but_channels(a), e);
               const double count = static_cast<double>(a.size() / std::max<std::int64_t>(a.shape(1), 1));
               const Shape channels{a.shape(1)};
               return std::tuple<Array, Array, Array>{
                   scaled(n.y, w, b, along_channels(a)).astype(a.dtype()), n.mean.reshape(channels),
                   n.variance.reshape(channels) * (count / std::max(count - 1, 1.0))};
             });
  static const auto by_running = define(
      "batch_norm", {.saves = Saves::operands},
      [](const Array& a, const Array& mean, const Array& variance, const std::optional<Array>& w,
         const std::optional<Array>& b, double e) {
        const Array wide = widened(a);
        const Shape channels = along_channels(a);
        const Array factor = lax::rsqrt(variance.astype(wide.dtype()) + e).reshape(channels);
        return scaled((wide - mean.astype(wide.dtype()).reshape(channels)) * factor, w, b, channels).astype(a.dtype());
      });
  check_channels(*x, {&running_mean, &running_var, &weight, &bias}, "batch_norm");
  if (!o.training) {
    if (!running_mean.defined() || !running_var.defined())
      throw_with_line<ValueError>("[batch_norm] without training = true it needs running_mean and running_var.");
    return by_running(*x, running_mean, running_var, weight, bias, o.eps);
  }
  if (x->numel() / std::max<std::int64_t>(x->size(1), 1) <= 1)
    throw_with_line<ValueError>(fmt::format(
        "[batch_norm] while training there must be more than one value for each channel; the input has shape {}.",
        describe(x->sizes())));
  const auto [y, mean, variance] = by_batch(*x, weight, bias, o.eps);
  const auto follow = [&](const Tensor& running, const Tensor& batch) {
    if (running.defined() && o.batches.defined())
      average(running, batch, o.batches);
    else if (running.defined())
      track(running, batch, o.momentum);
  };
  follow(running_mean, mean);
  follow(running_var, variance);
  return y;
}

Tensor instance_norm(const Input& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, const InstanceNormOptions& o) {
  static const auto op =
      define("instance_norm", {.saves = Saves::operands},
             [](const Array& a, const std::optional<Array>& w, const std::optional<Array>& b, double e) {
               const Normalized n = normalized(widened(a), axes_behind(a, 2), e);
               const double count = static_cast<double>(a.size() / std::max<std::int64_t>(a.shape(0) * a.shape(1), 1));
               const Shape samples{a.shape(0), a.shape(1)};
               return std::tuple<Array, Array, Array>{
                   scaled(n.y, w, b, along_channels(a)).astype(a.dtype()), np::mean(n.mean.reshape(samples), 0),
                   np::mean(n.variance.reshape(samples), 0) * (count / std::max(count - 1, 1.0))};
             });
  check_channels(*x, {&running_mean, &running_var, &weight, &bias}, "instance_norm");
  if (!o.use_input_stats)
    return batch_norm(*x, running_mean, running_var, weight, bias, {.momentum = o.momentum, .eps = o.eps});
  const auto [y, mean, variance] = op(*x, weight, bias, o.eps);
  if (running_mean.defined()) track(running_mean, mean, o.momentum);
  if (running_var.defined()) track(running_var, variance, o.momentum);
  return y;
}

}  // namespace cotan::torch::nn::functional

void cotan::torch::nn::detail::count_batch(const Tensor& batches) {
  static const auto op =
      torch::detail::define("count_batch", {.differentiable = false}, [](const Array& n) { return n + 1; });
  const no_grad off;
  batches.copy_(op(batches), torch::detail::line());
}
