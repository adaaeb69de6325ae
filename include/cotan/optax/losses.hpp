// Losses: of predictions and targets, per element or per row; take their mean.
#pragma once
#include <cotan/optax/hyperparameters.hpp>
#include <utility>

/// `optax.losses`; the same names are in optax itself.
namespace cotan::optax::losses {

/// What losses of rows sum over, and which elements count (a bool mask; empty: all).
struct Reduced {
  Axes axis = -1;
  Array where = {};
};

/// (predictions - targets)²; empty targets are zeros.
Array squared_error(const ArrayLike& predictions, const Array& targets = {});
/// Half of squared_error.
Array l2_loss(const ArrayLike& predictions, const Array& targets = {});
/// Quadratic up to `delta`, linear beyond.
Array huber_loss(const ArrayLike& predictions, const Array& targets = {}, const Hyperparameter& delta = 1.0);
/// log(cosh(predictions - targets)).
Array log_cosh(const ArrayLike& predictions, const Array& targets = {});
/// Of cosine_similarity and cosine_distance.
struct CosineOptions {
  Hyperparameter epsilon = 0.0;  ///< the least squared norm
  Axes axis = -1;
  Array where = {};
};
/// The cosine of the angle between rows.
Array cosine_similarity(const ArrayLike& predictions, const ArrayLike& targets, const CosineOptions& options = {});
/// 1 - cosine_similarity.
Array cosine_distance(const ArrayLike& predictions, const ArrayLike& targets, const CosineOptions& options = {});

/// Of logits of being 1 and labels in [0, 1], per element.
Array sigmoid_binary_cross_entropy(const ArrayLike& logits, const ArrayLike& labels);
/// The same, less of what is easy; alpha weighs the class 1.
Array sigmoid_focal_loss(const ArrayLike& logits, const ArrayLike& labels,
                         const std::optional<Hyperparameter>& alpha = std::nullopt, const Hyperparameter& gamma = 2.0);
/// Of logits of classes and their probabilities.
Array softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels, const Reduced& options = {});
/// Of logits of classes and the number of the right one.
Array softmax_cross_entropy_with_integer_labels(const ArrayLike& logits, const ArrayLike& labels,
                                                const Reduced& options = {});
/// As softmax_cross_entropy; classes of probability 0 count 0 also where their logit is -inf.
Array safe_softmax_cross_entropy(const ArrayLike& logits, const ArrayLike& labels);
/// softmax_cross_entropy + epsilon (1 - probability of the right class).
Array poly_loss_cross_entropy(const ArrayLike& logits, const ArrayLike& labels, const Hyperparameter& epsilon = 2.0,
                              const Reduced& options = {});
/// max(0, 1 - predictions targets), targets -1 or 1.
Array hinge_loss(const ArrayLike& predictor_outputs, const ArrayLike& targets);
/// max(0, -predictions targets), targets -1 or 1.
Array perceptron_loss(const ArrayLike& predictor_outputs, const ArrayLike& targets);
/// Of logits and labels 0 or 1.
Array sparsemax_loss(const ArrayLike& logits, const ArrayLike& labels);
/// Of scores [n, classes] and the numbers of the right ones [n].
Array multiclass_hinge_loss(const ArrayLike& scores, const ArrayLike& labels);
/// Of scores [n, classes] and the numbers of the right ones [n].
Array multiclass_perceptron_loss(const ArrayLike& scores, const ArrayLike& labels);
/// Of scores [n, classes] and the numbers of the right ones [n].
Array multiclass_sparsemax_loss(const ArrayLike& scores, const ArrayLike& labels);
/// Of the logarithms of predicted probabilities and the right ones.
Array kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets, const Reduced& options = {});
/// Of the logarithms of both.
Array kl_divergence_with_log_targets(const ArrayLike& log_predictions, const ArrayLike& log_targets,
                                     const Reduced& options = {});
/// kl_divergence of what need not have the sum 1.
Array generalized_kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets,
                                const Reduced& options = {});
/// The old name of generalized_kl_divergence.
Array convex_kl_divergence(const ArrayLike& log_predictions, const ArrayLike& targets, const Reduced& options = {});
/// (1 - alpha) labels + alpha / classes.
Array smooth_labels(const ArrayLike& labels, const Hyperparameter& alpha, const Reduced& options = {});

/// Of ctc_loss.
struct CtcOptions {
  std::int64_t blank_id = 0;
  double log_epsilon = -1e5;  ///< stands for log(0)
};
/// Of ctc_loss_with_forward_probs.
struct CtcResult {
  Array loss;                           ///< [B]
  Array logalpha_blank, logalpha_emit;  ///< [T, B, N + 1] and [T, B, N]
};
/// The loss of unaligned labels: logits [B, T, K], labels [B, N]; paddings, [B, T] and [B, N], are 1 behind the end.
Array ctc_loss(const ArrayLike& logits, const ArrayLike& logit_paddings, const ArrayLike& labels,
               const ArrayLike& label_paddings, const CtcOptions& options = {});
/// The same with the forward probabilities.
CtcResult ctc_loss_with_forward_probs(const ArrayLike& logits, const ArrayLike& logit_paddings, const ArrayLike& labels,
                                      const ArrayLike& label_paddings, const CtcOptions& options = {});

/// Of ranking_softmax_loss.
struct RankingOptions {
  Array where = {}, weights = {};
  std::string reduction = "mean";  ///< or "sum", "none"
};
/// Softmax cross entropy of lists, the last axis, by relevance.
Array ranking_softmax_loss(const ArrayLike& logits, const ArrayLike& labels, const RankingOptions& options = {});

/// Of dice_loss.
struct DiceOptions {
  Array class_weights = {};
  Hyperparameter smooth = 1.0, alpha = 0.5, beta = 0.5;
  bool apply_softmax = true;
  std::string reduction = "mean";  ///< over classes; or "sum", "none"
  bool ignore_background = false;
  Axes axis = {};  ///< by default all between the batch and the classes
};
/// Of segmentations [B, …, classes].
Array dice_loss(const ArrayLike& predictions, const ArrayLike& targets, const DiceOptions& options = {});
/// dice_loss with classes weighed by how rare they are.
Array multiclass_generalized_dice_loss(const ArrayLike& predictions, const ArrayLike& targets,
                                       const Hyperparameter& smooth = 1.0, bool apply_softmax = true,
                                       bool ignore_background = false);
/// dice_loss of two classes, [B, …] with or without a last axis of 1.
Array binary_dice_loss(const ArrayLike& predictions, const ArrayLike& targets, const Hyperparameter& smooth = 1.0,
                       bool apply_sigmoid = true);

/// Of embeddings [n, d]: those of one label near each other, the others apart.
Array ntxent(const ArrayLike& embeddings, const ArrayLike& labels, const Hyperparameter& temperature = 0.07);
/// Of triplet_margin_loss.
struct TripletOptions {
  int axis = -1;
  double norm_degree = 2;
  Hyperparameter margin = 1.0, eps = 1e-6;
};
/// Positives nearer to anchors than negatives, by a margin.
Array triplet_margin_loss(const ArrayLike& anchors, const ArrayLike& positives, const ArrayLike& negatives,
                          const TripletOptions& options = {});
/// max_fun(scores) - targets · scores along the last axis; max_fun is a function of a vector that gives a scalar.
std::function<Array(const Array& scores, const Array& targets)> make_fenchel_young_loss(
    std::function<Array(const Array&)> max_fun);

}  // namespace cotan::optax::losses

namespace cotan::optax {
using namespace losses;
}
