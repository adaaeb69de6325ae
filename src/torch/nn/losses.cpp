// Losses of values and of distances.
#include <cmath>
#include <cotan/torch/nn/functional/losses.hpp>
#include <cotan/torch/nn/functional/normalization.hpp>

#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

/// What is negative becomes 0; at 0 the derivative is 0, as in PyTorch.
Array positive_part(const Array& x) { return np::where(x > 0.0, x, 0.0); }
/// 0 where the sum of squares is 0, with the derivative 0.
Array root(const Array& squares) {
  const Array is_zero = squares == 0.0;
  return np::where(is_zero, 0.0, np::sqrt(np::where(is_zero, 1.0, squares)));
}
Array norm(const Array& x, double p, int axis, bool keepdims) {
  if (p == 2) return root(np::sum(np::square(x), axis, keepdims));
  if (p == 1) return np::sum(np::abs(x), axis, keepdims);
  if (p == 0) return np::sum((x != 0.0).astype(x.dtype()), axis, keepdims);
  if (std::isinf(p)) return np::max(np::abs(x), axis, keepdims);
  const Array sum = np::sum(np::power(np::abs(x), p), axis, keepdims), is_zero = sum == 0.0;
  return np::where(is_zero, 0.0, np::power(np::where(is_zero, 1.0, sum), 1 / p));
}
Array distance(const Array& a, const Array& b, double p, double eps, bool keepdims = false) {
  return norm(a - b + eps, p, -1, keepdims);
}

/// A loss of two tensors that broadcast, elements of which `f` gives of wide operands and an attribute.
template <auto f>
struct Elementwise {
  static Array rule(const Array& x, const Array& y, double attribute, Reduction::Kind how) {
    const DType result = np::result_type({x, y});
    return reduced(f(widened(x), widened(y), attribute), how).astype(result);
  }
  Tensor operator()(const Tensor& x, const Tensor& y, double attribute, const Reduction& how) const {
    broadcast_shapes(x.sizes(), y.sizes(), op.name);
    return op(x, y, attribute, how.kind());
  }
  Op<Array, const Array&, const Array&, double, Reduction::Kind> op;
  explicit Elementwise(std::string_view name) : op(name, {.saves = Saves::operands, .cast = Cast::f32}, rule) {}
};

}  // namespace

Tensor mse_loss(const Input& input, const Tensor& target, const LossOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double) { return np::square(x - y); }> op("mse_loss");
  return op(*input, target, 0, o.reduction);
}
Tensor l1_loss(const Input& input, const Tensor& target, const LossOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double) { return np::abs(x - y); }> op("l1_loss");
  return op(*input, target, 0, o.reduction);
}
Tensor smooth_l1_loss(const Input& input, const Tensor& target, const SmoothL1LossOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double beta) {
    const Array d = x - y, size = np::abs(d);
    return np::where(size < beta, np::square(d) * (0.5 / beta), size - 0.5 * beta);
  }>
      op("smooth_l1_loss");
  if (o.beta < 0)
    throw_with_line<ValueError>(fmt::format("[smooth_l1_loss] beta is {}; it must not be negative.", o.beta));
  return o.beta == 0 ? l1_loss(*input, target, {o.reduction}) : op(*input, target, o.beta, o.reduction);
}
Tensor huber_loss(const Input& input, const Tensor& target, const HuberLossOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double delta) {
    const Array d = x - y, size = np::abs(d);
    return np::where(size <= delta, 0.5 * np::square(d), delta * (size - 0.5 * delta));
  }>
      op("huber_loss");
  if (!(o.delta > 0))
    throw_with_line<ValueError>(fmt::format("[huber_loss] delta is {}; it must be positive.", o.delta));
  return op(*input, target, o.delta, o.reduction);
}
Tensor kl_div(const Input& input, const Tensor& target, const KlDivOptions& o) {
  static const Elementwise<[](const Array& x, const Array& t, double log_target) {
    if (log_target != 0) return np::exp(t) * (t - x);
    const Array is_zero = t == 0.0;
    return np::where(is_zero, 0.0, t * np::log(np::where(is_zero, 1.0, t))) - t * x;
  }>
      op("kl_div");
  return op(*input, target, o.log_target, o.reduction);
}
Tensor soft_margin_loss(const Input& input, const Tensor& target, const LossOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double) { return rules::softplus(-y * x); }> op(
      "soft_margin_loss");
  return op(*input, target, 0, o.reduction);
}
Tensor hinge_embedding_loss(const Input& input, const Tensor& target, const MarginOptions& o) {
  static const Elementwise<[](const Array& x, const Array& y, double margin) {
    return np::where(y != 1.0, positive_part(margin - x), 0.0) + np::where(y != -1.0, x, 0.0);
  }>
      op("hinge_embedding_loss");
  return op(*input, target, o.margin, o.reduction);
}

Tensor poisson_nll_loss(const Input& input, const Tensor& target, const PoissonNllLossOptions& o) {
  static const auto op =
      define("poisson_nll_loss", {.saves = Saves::operands, .cast = Cast::f32},
             [](const Array& x, const Array& t, bool log_input, bool full, double eps, Reduction::Kind how) {
               Array y = log_input ? np::exp(x) - t * x : x - t * np::log(x + eps);
               if (full) {
                 const Array many = t > 1.0, n = np::where(many, t, 2.0);
                 y = y + np::where(many, n * np::log(n) - n + 0.5 * np::log(2 * np::pi * n), 0.0);
               }
               return reduced(y, how);
             });
  return op(*input, target, o.log_input, o.full, o.eps, o.reduction.kind());
}
Tensor gaussian_nll_loss(const Input& input, const Tensor& target, const Tensor& var, const GaussianNllLossOptions& o) {
  static const auto op = define(
      "gaussian_nll_loss", {.saves = Saves::operands},
      [](const Array& x, const Array& t, const Array& given, bool full, double eps, Reduction::Kind how) {
        Array variance = given;
        if (variance.shape() != x.shape() && variance.ndim() + 1 == x.ndim()) variance = np::expand_dims(variance, -1);
        variance = variance + stop_gradient(np::maximum(variance, eps) - variance);  // cut, with the derivative 1
        const Array y = 0.5 * (np::log(variance) + np::square(x - t) / variance);
        return reduced(full ? y + 0.5 * std::log(2 * np::pi) : y, how);
      });
  return op(*input, target, var, o.full, o.eps, o.reduction.kind());
}

Tensor margin_ranking_loss(const Input& x1, const Tensor& x2, const Tensor& target, const MarginOptions& o) {
  static const auto op = define("margin_ranking_loss", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& a, const Array& b, const Array& t, double margin, Reduction::Kind how) {
                                  return reduced(positive_part(-t * (a - b) + margin), how);
                                });
  return op(*x1, x2, target, o.margin, o.reduction.kind());
}
Tensor cosine_embedding_loss(const Input& x1, const Tensor& x2, const Tensor& target, const MarginOptions& o) {
  static const auto op =
      define("cosine_embedding_loss", {.saves = Saves::operands, .cast = Cast::f32},
             [](const Array& a, const Array& b, const Array& t, double margin, Reduction::Kind how) {
               const double eps = 1e-12;
               const Array cosine = np::sum(a * b, -1) /
                                    np::sqrt((np::sum(np::square(a), -1) + eps) * (np::sum(np::square(b), -1) + eps));
               return reduced(
                   np::where(t == 1.0, 1.0 - cosine, np::where(t == -1.0, positive_part(cosine - margin), 0.0)), how);
             });
  return op(*x1, x2, target, o.margin, o.reduction.kind());
}
Tensor triplet_margin_loss(const Input& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& o) {
  static const auto op = define("triplet_margin_loss", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& a, const Array& near, const Array& far, double margin, double p,
                                   double eps, bool swap, Reduction::Kind how) {
                                  Array away = distance(a, far, p, eps);
                                  if (swap) away = np::minimum(away, distance(near, far, p, eps));
                                  return reduced(positive_part(distance(a, near, p, eps) - away + margin), how);
                                });
  return op(*anchor, positive, negative, o.margin, o.p, o.eps, o.swap, o.reduction.kind());
}

Tensor cosine_similarity(const Input& x1, const Tensor& x2, const CosineSimilarityOptions& o) {
  static const auto op = define("cosine_similarity", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& a, const Array& b, int dim, double eps) {
                                  const Shape shape = np::broadcast_shapes({a.shape(), b.shape()});
                                  const int axis = dim < 0 ? dim + static_cast<int>(shape.size()) : dim;
                                  const auto unit = [&](const Array& x) {
                                    const Array whole = np::broadcast_to(x, shape);
                                    return whole / np::maximum(norm(whole, 2, axis, true), eps);
                                  };
                                  return np::sum(unit(a) * unit(b), axis);
                                });
  return op(*x1, x2, o.dim, o.eps);
}
Tensor pairwise_distance(const Input& x1, const Tensor& x2, const PairwiseDistanceOptions& o) {
  static const auto op = define("pairwise_distance", {.saves = Saves::operands},
                                [](const Array& a, const Array& b, double p, double eps, bool keepdim) {
                                  return distance(a, b, p, eps, keepdim);
                                });
  return op(*x1, x2, o.p, o.eps, o.keepdim);
}

Tensor normalize(const Input& x, const NormalizeOptions& o) {
  static const auto op = define(
      "normalize", {.saves = Saves::operands},
      [](const Array& a, double p, int axis, double eps) { return a / np::maximum(norm(a, p, axis, true), eps); });
  return op(*x, o.p, wrap_dim(o.dim, x->dim(), "normalize"), o.eps);
}

}  // namespace cotan::torch::nn::functional
