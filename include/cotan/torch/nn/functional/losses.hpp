// torch::nn::functional: losses and distances.
#pragma once
#include <cotan/torch/nn/functional/options.hpp>

namespace cotan::torch::nn::functional {

/// Of losses that have no option of their own.
struct LossOptions {
  Reduction reduction = Reduction::mean;
};
/// Of cross_entropy.
struct CrossEntropyOptions {
  Tensor weight = {};  ///< of classes
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;
};
/// Of logits [N, C, …] and classes [N, …], or probabilities of them [N, C, …]. A class that there is not gives NaN.
Tensor cross_entropy(const Input& input, const Tensor& target, const CrossEntropyOptions& options = {});
/// Of nll_loss.
struct NllLossOptions {
  Tensor weight = {};  ///< of classes
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};
/// Of logarithms of probabilities, and classes.
Tensor nll_loss(const Input& input, const Tensor& target, const NllLossOptions& options = {});
Tensor mse_loss(const Input& input, const Tensor& target, const LossOptions& options = {});  ///< (input - target)²
Tensor l1_loss(const Input& input, const Tensor& target, const LossOptions& options = {});   ///< |input - target|
/// Of smooth_l1_loss.
struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;
};
/// Quadratic up to beta, then linear with slope 1.
Tensor smooth_l1_loss(const Input& input, const Tensor& target, const SmoothL1LossOptions& options = {});
/// Of huber_loss.
struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;
};
/// Quadratic up to delta, then linear with slope delta.
Tensor huber_loss(const Input& input, const Tensor& target, const HuberLossOptions& options = {});
/// Of binary_cross_entropy.
struct BinaryCrossEntropyOptions {
  Tensor weight = {};  ///< of elements
  Reduction reduction = Reduction::mean;
};
/// Of probabilities and labels in [0, 1].
Tensor binary_cross_entropy(const Input& input, const Tensor& target, const BinaryCrossEntropyOptions& options = {});
/// Of binary_cross_entropy_with_logits.
struct BceWithLogitsOptions {
  Tensor weight = {};  ///< of elements
  Reduction reduction = Reduction::mean;
  Tensor pos_weight = {};  ///< of the label 1
};
/// Of logits and labels in [0, 1].
Tensor binary_cross_entropy_with_logits(const Input& input, const Tensor& target,
                                        const BceWithLogitsOptions& options = {});
/// Of kl_div.
struct KlDivOptions {
  Reduction reduction = Reduction::mean;  ///< "batchmean" is the mathematical one
  bool log_target = false;                ///< the target too is a logarithm
};
/// target (log target - input), input a logarithm of probabilities.
Tensor kl_div(const Input& input, const Tensor& target, const KlDivOptions& options = {});
/// Of poisson_nll_loss.
struct PoissonNllLossOptions {
  bool log_input = true, full = false;
  double eps = 1e-8;
  Reduction reduction = Reduction::mean;
};
/// Of counts and the rate, or its logarithm.
Tensor poisson_nll_loss(const Input& input, const Tensor& target, const PoissonNllLossOptions& options = {});
/// Of gaussian_nll_loss.
struct GaussianNllLossOptions {
  bool full = false;
  double eps = 1e-6;
  Reduction reduction = Reduction::mean;
};
/// Of values and the normal distribution's mean and variance.
Tensor gaussian_nll_loss(const Input& input, const Tensor& target, const Tensor& var,
                         const GaussianNllLossOptions& options = {});
/// Of losses with a margin.
struct MarginOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
/// max(0, -target (x1 - x2) + margin), target -1 or 1.
Tensor margin_ranking_loss(const Input& x1, const Tensor& x2, const Tensor& target, const MarginOptions& options = {});
/// 1 - cosine where target is 1; max(0, cosine - margin) where it is -1.
Tensor cosine_embedding_loss(const Input& x1, const Tensor& x2, const Tensor& target,
                             const MarginOptions& options = {});
/// x where target is 1; max(0, margin - x) where it is -1. PyTorch's margin is 1.
Tensor hinge_embedding_loss(const Input& input, const Tensor& target, const MarginOptions& options = {.margin = 1});
/// log(1 + e^(-target x)), target -1 or 1.
Tensor soft_margin_loss(const Input& input, const Tensor& target, const LossOptions& options = {});
/// Of triplet_margin_loss.
struct TripletMarginLossOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;  ///< the negative's distance from the positive, where it is less
  Reduction reduction = Reduction::mean;
};
/// max(0, |anchor - positive| - |anchor - negative| + margin).
Tensor triplet_margin_loss(const Input& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options = {});
/// Of cosine_similarity.
struct CosineSimilarityOptions {
  int dim = 1;
  double eps = 1e-8;
};
/// The cosine of the angle between x1 and x2 along an axis.
Tensor cosine_similarity(const Input& x1, const Tensor& x2, const CosineSimilarityOptions& options = {});
/// Of pairwise_distance.
struct PairwiseDistanceOptions {
  double p = 2, eps = 1e-6;
  bool keepdim = false;
};
/// The norm of x1 - x2 + eps along the last axis.
Tensor pairwise_distance(const Input& x1, const Tensor& x2, const PairwiseDistanceOptions& options = {});

}  // namespace cotan::torch::nn::functional
