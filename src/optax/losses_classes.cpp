// Losses of classes.
#include <cotan/linalg.hpp>
#include <cotan/nn.hpp>
#include <cotan/optax/projections.hpp>

#include "optax/losses.hpp"

namespace cotan::optax::losses {

namespace {

void check_integers(const Array& a, const char* loss, const char* what) {
  if (!is_integer(a.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] {} are {}; they must be integers, the numbers of classes.", loss, what, a.aval().str()));
}
/// The mask with as many axes as the logits.
Array as_mask(const Array& where, const Array& like, const Axes& axis) {
  return where.defined() && where.ndim() != like.ndim() ? np::expand_dims(where, axis) : where;
}

}  // namespace

Array sigmoid_binary_cross_entropy(const ArrayLike& logits, const ArrayLike& given) {
  check_floats(logits, "sigmoid_binary_cross_entropy", "logits");
  const Array labels = given->astype(logits->dtype());
  return -labels * nn::log_sigmoid(logits) - (1.0 - labels) * nn::log_sigmoid(-logits);
}

Array sigmoid_focal_loss(const ArrayLike& logits, const ArrayLike& given, const std::optional<Hyperparameter>& alpha,
                         const Hyperparameter& gamma) {
  check_floats(logits, "sigmoid_focal_loss", "logits");
  const Array labels = given->astype(logits->dtype());
  const Array yes = nn::log_sigmoid(logits), no = nn::log_sigmoid(-logits);
  // The logarithm of how wrong the prediction is.
  const Array wrong = nn::logsumexp(np::stack({yes, no}, -1), {.axis = -1, .b = np::stack({1 - labels, labels}, -1)});
  const Array loss = sigmoid_binary_cross_entropy(logits, labels) * np::exp(gamma * wrong);
  return alpha ? Array((*alpha * labels + one_minus(*alpha) * Array(1.0 - labels)) * loss) : loss;
}

Array softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels, const Reduced& o) {
  check_floats(logits, "softmax_cross_entropy", "logits");
  const Array where = as_mask(o.where, logits, o.axis);
  return -masked_sum(labels * nn::log_softmax(logits, o.axis, where), o.axis, where);
}

Array softmax_cross_entropy_with_integer_labels(const ArrayLike& given, const ArrayLike& labels, const Reduced& o) {
  const char* name = "softmax_cross_entropy_with_integer_labels";
  check_floats(given, name, "logits");
  check_integers(labels, name, "labels");
  Array logits = given, where = as_mask(o.where, logits, o.axis);
  // Several axes of classes are one behind the others.
  std::vector<int> order, classes = o.axis.resolve(logits.ndim(), name);
  int axis = classes[0];
  if (o.axis.list().size() != 1) {
    for (int k = 0; k < logits.ndim(); ++k)
      if (std::find(classes.begin(), classes.end(), k) == classes.end()) order.push_back(k);
    axis = static_cast<int>(order.size());
    for (int k : o.axis.list()) order.push_back(k < 0 ? k + logits.ndim() : k);
    const auto joined = [&](const Array& x) {
      const Array t = np::transpose(x, order);
      Shape shape(t.shape().begin(), t.shape().begin() + axis);
      shape.push_back(-1);
      return np::reshape(t, shape);
    };
    logits = joined(logits);
    if (where.defined()) where = joined(np::broadcast_to(where, given->shape()));
  }
  const Array chosen = np::squeeze(np::take_along_axis(logits, np::expand_dims(labels, axis), axis), axis);
  const Array out = nn::logsumexp(logits, {.axis = axis, .where = where}) - chosen;
  return where.defined() ? np::where(np::any(where, axis), out, np::zeros_like(out)) : out;
}

Array safe_softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels) {
  check_floats(logits, "safe_softmax_cross_entropy", "logits");
  const auto value = [](const Array& x, const Array& w) {
    const Array y = nn::log_softmax(x, -1);
    return np::where(w != 0.0, w * y, np::zeros_like(y));
  };
  const auto weighted = custom_jvp(
      value,
      [value](const std::tuple<Array, Array>& primals, const std::tuple<Array, Array>& tangents) {
        const auto& [x, w] = primals;
        const auto& [tx, tw] = tangents;
        const Array mean = np::sum(tx * nn::softmax(x, -1), -1, true);
        return std::pair<Array, Array>{value(x, w), w * tx - w * mean + tw * nn::log_softmax(x, -1)};
      },
      "weighted_logsoftmax");
  return -np::sum(weighted(logits.array(), labels->astype(logits->dtype())), -1);
}

Array poly_loss_cross_entropy(const ArrayLike& logits, const ArrayLike& labels, const Hyperparameter& epsilon,
                              const Reduced& o) {
  check_floats(labels, "poly_loss_cross_entropy", "labels");
  const Array p = nn::softmax(logits, o.axis, o.where);
  return softmax_cross_entropy(logits, labels, o) + epsilon * masked_sum(labels * (1 - p), o.axis, o.where);
}

Array hinge_loss(const ArrayLike& predictor_outputs, const ArrayLike& targets) {
  return np::maximum(0, 1 - predictor_outputs * targets);
}
Array perceptron_loss(const ArrayLike& predictor_outputs, const ArrayLike& targets) {
  if (predictor_outputs->shape() != targets->shape())
    throw_with_line<ShapeError>(fmt::format("[perceptron_loss] outputs are {} and targets {}; give them one shape.",
                                            predictor_outputs->aval().str(), targets->aval().str()));
  return np::maximum(0, -predictor_outputs * targets);
}
Array sparsemax_loss(const ArrayLike& logits, const ArrayLike& labels) {
  return nn::sparse_plus(np::where(labels, -logits, logits));
}
Array multiclass_hinge_loss(const ArrayLike& scores, const ArrayLike& labels) {
  const Array right = nn::one_hot(labels, scores->shape(-1), scores->dtype());
  return np::max(scores + 1.0 - right, -1) - np::sum(scores * right, -1);
}
Array multiclass_perceptron_loss(const ArrayLike& scores, const ArrayLike& labels) {
  const Array right = nn::one_hot(labels, scores->shape(-1), scores->dtype());
  return np::max(scores, -1) - np::sum(scores * right, -1);
}
Array multiclass_sparsemax_loss(const ArrayLike& scores, const ArrayLike& labels) {
  return vmap([](const Array& all, const Array& label) {
    const Array p = projections::projection_simplex(all);
    const Array right = nn::one_hot(label, all.shape(0), all.dtype());
    const Array ahead = np::where(right > 0, np::zeros_like(all), all - np::take(all, label, 0));
    return np::sum(p * np::where(p != 0, ahead, np::zeros_like(ahead))) + 0.5 * (1.0 - np::sum(p * p));
  })(scores.array(), labels.array());
}

Array kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets, const Reduced& o) {
  check_floats(log_predictions, "kl_divergence", "log_predictions");
  check_floats(targets, "kl_divergence", "targets");
  const Array logs = np::where(targets == 0, np::zeros_like(targets), np::log(targets));
  return masked_sum(targets * (logs - log_predictions), o.axis, o.where);
}
Array kl_divergence_with_log_targets(const ArrayLike& log_predictions, const ArrayLike& log_targets, const Reduced& o) {
  check_floats(log_predictions, "kl_divergence_with_log_targets", "log_predictions");
  check_floats(log_targets, "kl_divergence_with_log_targets", "log_targets");
  return masked_sum(np::exp(log_targets) * (log_targets - log_predictions), o.axis, o.where);
}
Array generalized_kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets, const Reduced& o) {
  return kl_divergence(log_predictions, targets, o) + masked_sum(np::exp(log_predictions) - targets, o.axis, o.where);
}
Array convex_kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets, const Reduced& o) {
  return generalized_kl_divergence(log_predictions, targets, o);
}
Array smooth_labels(const ArrayLike& labels, const Hyperparameter& alpha, const Reduced& o) {
  check_floats(labels, "smooth_labels", "labels");
  Array count = np::ones_like(labels);
  if (o.where.defined()) count = np::where(o.where, count, np::zeros_like(count));
  return one_minus(alpha) * labels.array() + alpha.like(labels) / np::sum(count, o.axis, true);
}

Array ranking_softmax_loss(const ArrayLike& given, const ArrayLike& given_labels, const RankingOptions& o) {
  check_floats(given, "ranking_softmax_loss", "logits");
  if (o.reduction != "mean" && o.reduction != "sum" && o.reduction != "none")
    throw_with_line<ValueError>(fmt::format(
        "[ranking_softmax_loss] the reduction \"{}\"; it must be \"mean\", \"sum\" or \"none\".", o.reduction));
  Array logits = given, labels = given_labels->astype(logits.dtype());
  if (o.where.defined()) {
    labels = np::where(o.where, labels, np::zeros_like(labels));
    logits = np::where(o.where, logits, np::full_like(logits, -np::inf));
  }
  if (o.weights.defined()) labels = labels * o.weights;
  const Array loss = -masked_sum(labels * nn::log_softmax(logits, -1), -1, o.where);
  if (!o.where.defined()) return o.reduction == "none" ? loss : o.reduction == "sum" ? np::sum(loss) : np::mean(loss);
  const Array lists = np::any(o.where, -1), kept = np::where(lists, loss, np::zeros_like(loss));
  if (o.reduction != "mean") return o.reduction == "none" ? kept : np::sum(kept);
  // The mean over no lists is 0.
  const Array count = np::sum(lists.astype(loss.dtype())), mean = np::sum(kept) / np::maximum(count, 1);
  return np::where(np::any(np::isnan(loss)), np::sum(kept) / count, mean);
}

std::function<Array(const Array&, const Array&)> make_fenchel_young_loss(std::function<Array(const Array&)> max_fun) {
  return [max_fun](const Array& scores, const Array& targets) {
    const std::int64_t n = scores.shape(-1);
    Shape shape(scores.shape().begin(), scores.shape().end() - 1);
    const Array rows = np::reshape(scores, {-1, n});
    return np::reshape(vmap(max_fun)(rows), shape) - np::sum(targets * scores, -1);
  };
}

}  // namespace cotan::optax::losses
