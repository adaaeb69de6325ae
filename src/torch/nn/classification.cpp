// Losses of classes: cross entropy and its kin.
#include <cotan/torch/nn/functional/losses.hpp>

#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

int class_axis(const Array& x) { return x.ndim() == 1 ? 0 : 1; }

/// The classes that count, where they count, and how much each.
struct Targets {
  Targets(const Array& x, const Array& target, const std::optional<Array>& weight, std::int64_t ignored)
      : axis(class_axis(x)), counts(target != ignored) {
    const Array chosen = np::where(counts, target, 0);
    classes = np::where(chosen < 0, x.shape(axis), chosen);  // in PyTorch negative ones name nothing
    weights =
        weight ? np::where(counts, np::take(weight->astype(x.dtype()), classes, 0), 0.0) : counts.astype(x.dtype());
  }
  /// The value of x at each class.
  Array of(const Array& x) const {
    return np::squeeze(np::take_along_axis(x, np::expand_dims(classes, axis), axis), axis);
  }
  /// Losses of elements, each times its weight, as the option says.
  Array reduced(const Array& loss, Reduction::Kind how) const {
    const Array weighted = np::where(counts, loss * weights, 0.0);
    if (how == Reduction::none) return weighted;
    return how == Reduction::sum ? np::sum(weighted) : np::sum(weighted) / np::sum(weights);
  }
  int axis;
  Array counts, classes, weights;
};

/// A weight[C] beside x[N, C, …].
Array beside(const Array& weight, const Array& x) {
  Shape shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[static_cast<std::size_t>(class_axis(x))] = -1;
  return weight.astype(x.dtype()).reshape(shape);
}

/// The logits are read, and nothing of their size is made: a sum of exponentials, one element, and their sum.
Array of_classes(const Array& given, const Array& target, const std::optional<Array>& weight, std::int64_t ignored,
                 Reduction::Kind how, double smoothing) {
  const Array x = widened(given);
  const Targets t(x, target, weight, ignored);
  const Array all = np::logsumexp(x, t.axis);
  const Array loss = t.reduced(all - t.of(x), how);
  if (smoothing == 0) return loss.astype(given.dtype());
  const auto classes = static_cast<double>(x.shape(t.axis));
  Array smooth = weight ? all * np::sum(weight->astype(x.dtype())) - np::sum(x * beside(*weight, x), t.axis)
                        : all * classes - np::sum(x, t.axis);
  smooth = np::where(t.counts, smooth, 0.0);
  if (how != Reduction::none) smooth = np::sum(smooth);
  if (how == Reduction::mean) smooth = smooth / np::sum(t.weights);
  return ((1 - smoothing) * loss + smoothing / classes * smooth).astype(given.dtype());
}
Array of_probabilities(const Array& given, const Array& target, const std::optional<Array>& weight, Reduction::Kind how,
                       double smoothing) {
  const Array x = widened(given);
  const int axis = class_axis(x);
  const auto classes = static_cast<double>(x.shape(axis));
  Array p = target.astype(x.dtype());
  if (smoothing > 0) p = p * (1 - smoothing) + smoothing / classes;
  if (weight) p = p * beside(*weight, x);
  const Array loss = np::logsumexp(x, axis) * np::sum(p, axis) - np::sum(p * x, axis);
  return reduced(loss, how).astype(given.dtype());
}

void check_targets(const Tensor& x, const Tensor& target, const Tensor& weight, std::string_view op) {
  if (x.dim() < 1)
    throw_with_line<ShapeError>(fmt::format("[{}] the input is 0-d; it needs a dimension of classes.", op));
  const int axis = x.dim() == 1 ? 0 : 1;
  Shape places = x.sizes();
  places.erase(places.begin() + axis);
  if (target.sizes() != places)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input has shape {} and the target {}; classes must have shape {}, without dimension {}.",
                    op, describe(x.sizes()), describe(target.sizes()), describe(places), axis));
  if (!is_integer(target.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] the target is {}; classes must be integers, such as i64.", op, name(target.dtype())));
  if (weight.defined() && weight.sizes() != Shape{x.size(axis)})
    throw_with_line<ShapeError>(fmt::format("[{}] weight has shape {}; it must have a number for each of {} classes.",
                                            op, describe(weight.sizes()), x.size(axis)));
}

}  // namespace

Tensor cross_entropy(const Input& input, const Tensor& target, const CrossEntropyOptions& o) {
  static const auto classes =
      define("cross_entropy", {.saves = Saves::second, .cast = Cast::f32},
             [](const Array& x, const Array& t, const std::optional<Array>& weight, std::int64_t ignored,
                Reduction::Kind how, double smoothing) { return of_classes(x, t, weight, ignored, how, smoothing); });
  static const auto probabilities =
      define("cross_entropy", {.saves = Saves::second, .cast = Cast::f32},
             [](const Array& x, const Array& t, const std::optional<Array>& weight, Reduction::Kind how,
                double smoothing) { return of_probabilities(x, t, weight, how, smoothing); });
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    throw_with_line<ValueError>(
        fmt::format("[cross_entropy] label_smoothing is {}; it must be from 0 to 1.", o.label_smoothing));
  if (is_floating(target.dtype()) && target.sizes() == input->sizes() && input->dim() > 0)
    return probabilities(*input, target, o.weight, o.reduction.kind(), o.label_smoothing);
  check_targets(*input, target, o.weight, "cross_entropy");
  return classes(*input, target, o.weight, o.ignore_index, o.reduction.kind(), o.label_smoothing);
}

Tensor nll_loss(const Input& input, const Tensor& target, const NllLossOptions& o) {
  static const auto op = define("nll_loss", {.saves = Saves::second, .cast = Cast::f32},
                                [](const Array& given, const Array& target, const std::optional<Array>& weight,
                                   std::int64_t ignored, Reduction::Kind how) {
                                  const Array x = widened(given);
                                  const Targets t(x, target, weight, ignored);
                                  return t.reduced(-t.of(x), how).astype(given.dtype());
                                });
  check_targets(*input, target, o.weight, "nll_loss");
  return op(*input, target, o.weight, o.ignore_index, o.reduction.kind());
}

Tensor binary_cross_entropy(const Input& input, const Tensor& target, const BinaryCrossEntropyOptions& o) {
  static const auto op =
      define("binary_cross_entropy", {.saves = Saves::operands},
             [](const Array& x, const Array& t, const std::optional<Array>& weight, Reduction::Kind how) {
               // Logarithms are cut at -100, as PyTorch does, and the derivative is that of the ones that are not cut.
               const auto logarithm = [](const Array& p) { return np::maximum(np::log(p), -100.0); };
               const auto loss = [logarithm](const Array& p, const Array& label) {
                 return (label - 1.0) * np::maximum(np::log1p(-p), -100.0) - label * logarithm(p);
               };
               const auto rule = [loss](const std::tuple<Array, Array>& at, const std::tuple<Array, Array>& tangents) {
                 const auto& [p, label] = at;
                 const Array by_p = (p - label) / np::maximum((1.0 - p) * p, 1e-12);
                 const Array by_label = np::log1p(-p) - np::log(p);
                 return std::pair<Array, Array>{loss(p, label),
                                                std::get<0>(tangents) * by_p + std::get<1>(tangents) * by_label};
               };
               const Array y = custom_jvp(loss, rule, "binary_cross_entropy")(x, t.astype(x.dtype()));
               return reduced(weight ? y * *weight : y, how);
             });
  if (target.sizes() != input->sizes())
    throw_with_line<ShapeError>(
        fmt::format("[binary_cross_entropy] the input has shape {} and the target {}; they must be equal.",
                    describe(input->sizes()), describe(target.sizes())));
  return op(*input, target, o.weight, o.reduction.kind());
}

Tensor binary_cross_entropy_with_logits(const Input& input, const Tensor& target, const BceWithLogitsOptions& o) {
  static const auto op = define("binary_cross_entropy_with_logits", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& x, const Array& t, const std::optional<Array>& weight,
                                   const std::optional<Array>& positive, Reduction::Kind how) {
                                  const Array minus_log = rules::softplus(-x);  // -log(sigmoid(x))
                                  Array y = (1.0 - t) * x;
                                  y = y + (positive ? minus_log * ((*positive - 1.0) * t + 1.0) : minus_log);
                                  return reduced(weight ? y * *weight : y, how);
                                });
  if (target.sizes() != input->sizes())
    throw_with_line<ShapeError>(
        fmt::format("[binary_cross_entropy_with_logits] the input has shape {} and the target {}; they must be equal.",
                    describe(input->sizes()), describe(target.sizes())));
  return op(*input, target, o.weight, o.pos_weight, o.reduction.kind());
}

}  // namespace cotan::torch::nn::functional
