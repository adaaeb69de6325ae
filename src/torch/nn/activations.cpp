// Activations. Derivatives at kinks are PyTorch's, which are not always JAX's: rules are written so that they come out.
#include <cmath>
#include <cotan/random.hpp>
#include <cotan/torch/nn/functional/activations.hpp>

#include "torch/nn/rules.hpp"
#include "torch/ops/promotion.hpp"

namespace cotan::torch::nn::functional {

namespace {

/// Where a condition on x holds x, else a number: constants have the derivative 0, bounds belong to them.
Array between(const Array& x, double low, double high) {
  return np::where(x <= low, low, np::where(x >= high, high, x));
}
Array exponential_below(const Array& x, double alpha, double scale) {
  const Array positive = x > 0;
  return np::where(positive, x, alpha * np::expm1(np::where(positive, 0.0, x) * scale));
}
Array softplus_of(const Array& x, double beta, double threshold) {
  const Array scaled = x * beta, linear = scaled > threshold;
  return np::where(linear, x, np::log1p(np::exp(np::where(linear, 0.0, scaled))) / beta);
}
/// A rule on wide floats whose result has x's dtype.
template <auto f, class... A>
Array in_wide(const Array& x, A... attributes) {
  return f(widened(x), attributes...).astype(x.dtype());
}

}  // namespace

Tensor relu6(const Input& x) { return hardtanh(*x, 0, 6); }
Tensor hardtanh(const Input& x, double min_val, double max_val) {
  static const auto op = define("hardtanh", {.saves = Saves::first},
                                [](const Array& a, double low, double high) { return between(a, low, high); });
  return op(*x, min_val, max_val);
}
Tensor hardsigmoid(const Input& x) {
  static const auto op =
      define("hardsigmoid", {.saves = Saves::first}, [](const Array& a) { return between(a, -3, 3) / 6.0 + 0.5; });
  return op(*x);
}
Tensor hardswish(const Input& x) {
  static const auto op = define("hardswish", {.saves = Saves::first}, [](const Array& a) {
    return np::where(a <= -3.0, 0.0, np::where(a >= 3.0, a, a * (a + 3.0) / 6.0));
  });
  return op(*x);
}

Tensor gelu(const Input& x, std::string_view approximate) {
  static const auto op = define("gelu", {.saves = Saves::first}, [](const Array& a, bool by_tanh) {
    return in_wide<[](const Array& wide, bool tanh) { return rules::gelu(wide, tanh); }>(a, by_tanh);
  });
  if (approximate != "none" && approximate != "tanh")
    throw_with_line<ValueError>(
        fmt::format("[gelu] approximate is \"{}\"; it must be \"none\" or \"tanh\".", approximate));
  return op(*x, approximate == "tanh");
}
Tensor silu(const Input& x) {
  static const auto op = define("silu", {.saves = Saves::first}, [](const Array& a) {
    return in_wide<[](const Array& wide) { return rules::silu(wide); }>(a);
  });
  return op(*x);
}
Tensor mish(const Input& x) {
  static const auto op = define("mish", {.saves = Saves::first}, [](const Array& a) {
    return in_wide<[](const Array& wide) { return rules::mish(wide); }>(a);
  });
  return op(*x);
}

Tensor elu(const Input& x, double alpha) {
  static const auto op = define("elu", {.saves = Saves::first}, [](const Array& a, double factor) {
    return in_wide<[](const Array& wide, double f) { return exponential_below(wide, f, 1); }>(a, factor);
  });
  return op(*x, alpha);
}
Tensor celu(const Input& x, double alpha) {
  static const auto op = define("celu", {.saves = Saves::first}, [](const Array& a, double factor) {
    return in_wide<[](const Array& wide, double f) { return exponential_below(wide, f, 1 / f); }>(a, factor);
  });
  return op(*x, alpha);
}
Tensor selu(const Input& x) {
  static const auto op = define("selu", {.saves = Saves::first}, [](const Array& a) {
    return in_wide<[](const Array& wide) { return rules::selu(wide); }>(a);
  });
  return op(*x);
}
Tensor leaky_relu(const Input& x, double negative_slope) {
  static const auto op = define("leaky_relu", {.saves = Saves::first},
                                [](const Array& a, double slope) { return np::where(a > 0, a, slope * a); });
  return op(*x, negative_slope);
}
Tensor prelu(const Input& x, const Tensor& weight) {
  static const auto op =
      define("prelu", {.saves = Saves::operands, .cast = Cast::lower}, [](const Array& a, const Array& slopes) {
        Shape along_channels(static_cast<std::size_t>(a.ndim()), 1);
        if (a.ndim() > 1) along_channels[1] = -1;
        const Array slope = slopes.size() == 1 ? slopes.reshape({}) : slopes.reshape(along_channels);
        return np::where(a > 0, a, slope * a);
      });
  const std::int64_t channels = x->dim() > 1 ? x->size(1) : 1;
  if (weight.numel() != 1 && weight.sizes() != Shape{channels})
    throw_with_line<ShapeError>(
        fmt::format("[prelu] weight has shape {} and the input {}; give one weight, or one for each channel.",
                    describe(weight.sizes()), describe(x->sizes())));
  return op(*x, weight);
}

Tensor hardshrink(const Input& x, double lambda) {
  static const auto op = define("hardshrink", {.saves = Saves::first}, [](const Array& a, double limit) {
    return np::where((a >= -limit) & (a <= limit), 0.0, a);
  });
  return op(*x, lambda);
}
Tensor softshrink(const Input& x, double lambda) {
  static const auto op = define("softshrink", {.saves = Saves::first}, [](const Array& a, double limit) {
    return np::where(a > limit, a - limit, np::where(a < -limit, a + limit, 0.0));
  });
  return op(*x, lambda);
}
Tensor tanhshrink(const Input& x) {
  static const auto op = define("tanhshrink", {.saves = Saves::first}, [](const Array& a) { return a - np::tanh(a); });
  return op(*x);
}
Tensor threshold(const Input& x, double threshold, double value) {
  static const auto op = define("threshold", {.saves = Saves::first}, [](const Array& a, double limit, double other) {
    return np::where(a > limit, a, other);
  });
  return op(*x, threshold, value);
}
Tensor softplus(const Input& x, double beta, double threshold) {
  static const auto op =
      define("softplus", {.saves = Saves::first, .cast = Cast::f32},
             [](const Array& a, double factor, double limit) { return in_wide<softplus_of>(a, factor, limit); });
  return op(*x, beta, threshold);
}
Tensor softsign(const Input& x) {
  static const auto op =
      define("softsign", {.saves = Saves::first}, [](const Array& a) { return a / (np::abs(a) + 1.0); });
  return op(*x);
}
Tensor logsigmoid(const Input& x) {
  static const auto op = define("logsigmoid", {.saves = Saves::first}, [](const Array& a) {
    return in_wide<[](const Array& wide) { return rules::log_sigmoid(wide); }>(a);
  });
  return op(*x);
}
Tensor glu(const Input& x, int dim) {
  static const auto op =
      define("glu", {.saves = Saves::first}, [](const Array& a, int axis) { return rules::glu(a, axis); });
  return op(*x, wrap_dim(dim, x->dim(), "glu"));
}
Tensor softmax(const Input& x, int dim, std::optional<DType> dtype) {
  static const auto op =
      define("softmax", {.saves = Saves::result, .cast = Cast::f32},
             [](const Array& a, int axis, DType t) { return rules::softmax(widened(a.astype(t)), axis).astype(t); });
  return op(*x, wrap_dim(dim, x->dim(), "softmax"), dtype.value_or(floating_type(x->dtype())));
}
Tensor log_softmax(const Input& x, int dim, std::optional<DType> dtype) {
  static const auto op = define(
      "log_softmax", {.saves = Saves::result, .cast = Cast::f32},
      [](const Array& a, int axis, DType t) { return rules::log_softmax(widened(a.astype(t)), axis).astype(t); });
  return op(*x, wrap_dim(dim, x->dim(), "log_softmax"), dtype.value_or(floating_type(x->dtype())));
}
Tensor softmin(const Input& x, int dim, std::optional<DType> dtype) {
  static const auto op =
      define("softmin", {.saves = Saves::result, .cast = Cast::f32},
             [](const Array& a, int axis, DType t) { return rules::softmax(-widened(a.astype(t)), axis).astype(t); });
  return op(*x, wrap_dim(dim, x->dim(), "softmin"), dtype.value_or(floating_type(x->dtype())));
}
Tensor gumbel_softmax(const Input& logits, const GumbelSoftmaxOptions& options) {
  static const auto op = define(
      "gumbel_softmax", {.saves = Saves::result}, [](const Array& a, double tau, bool hard, int axis, const Key& key) {
        const Array noise = random::gumbel(key.array, a.shape(), computed_in(a.dtype()));
        const Array soft = rules::softmax((widened(a) + noise) / tau, axis);
        if (!hard) return soft.astype(a.dtype());
        const Array chosen = rules::one_hot(np::argmax(soft, axis), a.shape(axis), soft.dtype(), axis);
        return (chosen + (soft - stop_gradient(soft))).astype(a.dtype());
      });
  return op(*logits, options.tau, options.hard, wrap_dim(options.dim, logits->dim(), "gumbel_softmax"));
}

}  // namespace cotan::torch::nn::functional
