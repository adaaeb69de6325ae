// Losses of numbers, of unaligned labels, of segmentations and of embeddings.
#include <cmath>
#include <cotan/nn.hpp>

#include "optax/losses.hpp"

namespace cotan::optax::losses {

namespace {

Array errors_of(const ArrayLike& predictions, const Array& targets, const char* loss) {
  check_floats(predictions, loss, "predictions");
  return targets.defined() ? predictions - targets : predictions.array();
}

}  // namespace

Array squared_error(const ArrayLike& predictions, const Array& targets) {
  if (targets.defined() && targets.shape() != predictions->shape())
    throw_with_line<ShapeError>(fmt::format("[squared_error] predictions are {} and targets {}; give them one shape.",
                                            predictions->aval().str(), targets.aval().str()));
  const Array e = errors_of(predictions, targets, "squared_error");
  return e * e;
}
Array l2_loss(const ArrayLike& predictions, const Array& targets) { return 0.5 * squared_error(predictions, targets); }
Array huber_loss(const ArrayLike& predictions, const Array& targets, const Hyperparameter& delta) {
  const Array size = np::abs(errors_of(predictions, targets, "huber_loss")), near = min(size, delta);
  return 0.5 * near * near + delta * Array(size - near);
}
Array log_cosh(const ArrayLike& predictions, const Array& targets) {
  const Array e = errors_of(predictions, targets, "log_cosh");
  return np::logaddexp(e, -e) - std::log(2.0);
}
Array cosine_similarity(const ArrayLike& predictions, const ArrayLike& targets, const CosineOptions& o) {
  check_floats(predictions, "cosine_similarity", "predictions");
  check_floats(targets, "cosine_similarity", "targets");
  const auto unit = [&](const Array& x) {
    return x / np::sqrt(max(masked_sum(x * x, o.axis, o.where, true), o.epsilon));
  };
  return masked_sum(unit(predictions) * unit(targets), o.axis, o.where, false);
}
Array cosine_distance(const ArrayLike& predictions, const ArrayLike& targets, const CosineOptions& options) {
  return 1.0 - cosine_similarity(predictions, targets, options);
}

CtcResult ctc_loss_with_forward_probs(const ArrayLike& logits, const ArrayLike& logit_paddings, const ArrayLike& labels,
                                      const ArrayLike& label_paddings, const CtcOptions& o) {
  if (logits->ndim() != 3 || labels->ndim() != 2 || label_paddings->shape() != labels->shape() ||
      logit_paddings->shape() != Shape{logits->shape(0), logits->shape(1)} || labels->shape(0) != logits->shape(0))
    throw_with_line<ShapeError>(fmt::format(
        "[ctc_loss] logits are {}, their paddings {}, labels {} and their paddings {}; give [B, T, K], [B, T], [B, N] "
        "and [B, N].",
        logits->aval().str(), logit_paddings->aval().str(), labels->aval().str(), label_paddings->aval().str()));
  const std::int64_t batch = logits->shape(0), classes = logits->shape(2), most = labels->shape(1);
  const DType dtype = logits->dtype();
  const Array logs = nn::log_softmax(logits, -1);
  const Array lengths = most - np::sum(label_paddings, 1).astype(i32);
  const Array& l = labels.array();
  const Array same = l(all, range(none, -1)) == l(all, range(1, none));
  const Array repeat = np::pad(same.astype(dtype), {{0, 0}, {0, 1}});
  const Array blank = np::transpose(logs(all, all, range(o.blank_id, o.blank_id + 1)), {1, 0, 2});
  const Array emit = np::transpose(np::einsum("btk,bnk->btn", {logs, nn::one_hot(labels, classes, dtype)}), {1, 0, 2});
  const Array first_blank =
      np::where(np::arange(most + 1) == 0, 0.0, np::full({batch, most + 1}, o.log_epsilon, dtype));
  const auto taken_in = [](const Array& phi, const Array& score) {
    return np::concatenate({phi(all, range(1)), np::logaddexp(phi(all, range(1, none)), score)}, -1);
  };
  struct Step {
    Array emit, blank, pad;
  };
  using Alphas = std::pair<Array, Array>;  // that a blank comes last, or a label
  const auto step = [&](const Alphas& before, const Step& x) {
    const auto& [last_blank, last_emit] = before;
    const Array phi = taken_in(last_blank, last_emit + o.log_epsilon * repeat);
    const Array next_emit = np::logaddexp(phi(all, range(none, -1)) + x.emit, last_emit + x.emit);
    const Array next_blank = taken_in(phi + x.blank, last_emit + x.blank + o.log_epsilon * (1.0 - repeat));
    const Array pad = np::expand_dims(x.pad, 1);
    const Alphas next{pad * last_blank + (1.0 - pad) * next_blank, pad * last_emit + (1.0 - pad) * next_emit};
    return std::pair{next, next};
  };
  const Alphas alphas = lax::scan(step, Alphas{first_blank, np::full({batch, most}, o.log_epsilon, dtype)},
                                  Step{emit, blank, logit_paddings->astype(dtype).T()})
                            .second;
  const Array last = taken_in(alphas.first[-1], alphas.second[-1]);
  const Array loss = -np::sum(last * nn::one_hot(lengths, most + 1, dtype), 1);
  return {loss, alphas.first.at(-1).set(last), alphas.second};
}
Array ctc_loss(const ArrayLike& logits, const ArrayLike& logit_paddings, const ArrayLike& labels,
               const ArrayLike& label_paddings, const CtcOptions& options) {
  return ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, options).loss;
}

Array dice_loss(const ArrayLike& given_predictions, const ArrayLike& given_targets, const DiceOptions& o) {
  Array predictions = given_predictions, targets = given_targets;
  if (predictions.ndim() == targets.ndim() - 1) predictions = np::expand_dims(predictions, -1);
  if (targets.ndim() == predictions.ndim() - 1) targets = np::expand_dims(targets, -1);
  if (predictions.shape() != targets.shape())
    throw_with_line<ShapeError>(fmt::format("[dice_loss] predictions are {} and targets {}; give them one shape.",
                                            predictions.aval().str(), targets.aval().str()));
  const auto reduced = [&](const Array& x) {
    if (o.reduction == "mean") return np::mean(x, -1);
    if (o.reduction == "sum") return np::sum(x, -1);
    if (o.reduction == "none") return x;
    throw_with_line<ValueError>(
        fmt::format("[dice_loss] the reduction \"{}\"; it must be \"mean\", \"sum\" or \"none\".", o.reduction));
  };
  const bool one_class = predictions.shape(-1) == 1;
  const Array p = !o.apply_softmax ? predictions : one_class ? nn::sigmoid(predictions) : nn::softmax(predictions, -1);
  std::vector<int> between;
  for (int k = 1; k + 1 < p.ndim(); ++k) between.push_back(k);
  const auto total = [&](const Array& x) {
    return o.axis.given() || !between.empty() ? np::sum(x, o.axis.given() ? o.axis : Axes(between)) : x;
  };
  const Array both = total(p * targets), predicted = total(p), wanted = total(targets);
  const Array size = both + o.alpha * Array(predicted - both) + o.beta * Array(wanted - both) + o.smooth;
  Array loss = 1.0 - (both + o.smooth) / size;
  if (o.class_weights.defined()) loss = loss * o.class_weights;
  if (o.ignore_background && p.shape(-1) > 1) loss = loss(ellipsis, range(1, none));
  return reduced(loss);
}
Array multiclass_generalized_dice_loss(const ArrayLike& predictions, const ArrayLike& targets,
                                       const Hyperparameter& smooth, bool apply_softmax, bool ignore_background) {
  std::vector<int> axes;
  for (int k = 0; k + 1 < targets->ndim(); ++k) axes.push_back(k);
  const Array often = np::sum(targets, axes), rare = 1.0 / (often * often + 1e-7);
  const Array weights = rare / np::sum(rare) * static_cast<double>(rare.size());
  return np::mean(dice_loss(predictions, targets,
                            {.class_weights = weights,
                             .smooth = smooth,
                             .apply_softmax = apply_softmax,
                             .reduction = "none",
                             .ignore_background = ignore_background}));
}
Array binary_dice_loss(const ArrayLike& predictions, const ArrayLike& targets, const Hyperparameter& smooth,
                       bool apply_sigmoid) {
  const DiceOptions o{.smooth = smooth, .apply_softmax = apply_sigmoid};
  if (predictions->ndim() == targets->ndim() && predictions->shape(-1) != 1)
    return dice_loss(np::expand_dims(predictions, -1), np::expand_dims(targets, -1), o);
  return dice_loss(predictions, targets, o);
}

Array ntxent(const ArrayLike& embeddings, const ArrayLike& labels, const Hyperparameter& temperature) {
  check_floats(embeddings, "ntxent", "embeddings");
  if (labels->shape(0) != embeddings->shape(0))
    throw_with_line<ShapeError>(fmt::format("[ntxent] embeddings are {} and labels {}; give a label for each.",
                                            embeddings->aval().str(), labels->aval().str()));
  const double least = embeddings->dtype() == f64   ? 0x1p-52
                       : embeddings->dtype() == f32 ? 0x1p-23
                       : embeddings->dtype() == f16 ? 0x1p-10
                                                    : 0x1p-7;
  const Array near =
      cosine_similarity(np::expand_dims(embeddings, 0), np::expand_dims(embeddings, 1), {.epsilon = least}) /
      temperature;
  const std::int64_t n = labels->shape(0);
  const Array same = np::expand_dims(labels, 1) == np::expand_dims(labels, 0);
  const Array match = same & ~np::eye(n, {}, 0, bool_);
  const Array others = np::where(same, -np::inf, near), alike = np::where(match, near, -np::inf);
  const Array most = lax::stop_gradient(np::max(np::concatenate({others, alike}, -1), 1, true));
  const Array shifted = alike - most;
  const Array sum = np::sum(np::exp(others - most), 1, true) + np::exp(shifted);
  const Array logs = np::where(match, shifted - np::log(sum), np::zeros_like(near));
  return -np::sum(logs) / np::sum(match.astype(near.dtype()));
}

Array triplet_margin_loss(const ArrayLike& anchors, const ArrayLike& positives, const ArrayLike& negatives,
                          const TripletOptions& o) {
  check_floats(anchors, "triplet_margin_loss", "anchors");
  check_floats(positives, "triplet_margin_loss", "positives");
  check_floats(negatives, "triplet_margin_loss", "negatives");
  const bool whole = o.norm_degree == std::floor(o.norm_degree) && o.norm_degree > 0 && o.norm_degree < 64;
  const auto distance = [&](const Array& other) {
    const Array d = anchors - other;
    const Array p = whole ? lax::integer_pow(d, static_cast<int>(o.norm_degree)) : np::power(d, o.norm_degree);
    return np::power(np::sum(p, o.axis) + o.eps, 1 / o.norm_degree);
  };
  const Array behind = distance(positives) - distance(negatives) + o.margin;
  return np::maximum(behind, 0);
}

}  // namespace cotan::optax::losses
