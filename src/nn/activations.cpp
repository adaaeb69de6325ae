// Activations, leaf by leaf of jax.nn.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/transforms.hpp>

#include "nn/operands.hpp"

namespace cotan::nn {

namespace np = numpy;

namespace {

/// `value` with that derivative, a function of x.
template <class F, class D>
Array with_derivative(const Array& x, const F& value, const D& derivative, std::string name) {
  if (!is_floating(x.dtype())) return value(x);
  return custom_jvp(
      value,
      [value, derivative](const std::tuple<Array>& primals, const std::tuple<Array>& tangents) {
        const Array& at = std::get<0>(primals);
        return std::pair<Array, Array>{value(at), derivative(at, std::get<0>(tangents))};
      },
      std::move(name))(x);
}
Array where_or_zero(const Array& condition, const Array& t) { return np::where(condition, t, np::zeros_like(t)); }

}  // namespace

Array identity(const ArrayLike& x) { return np::positive(x); }
Array relu(const ArrayLike& x) {
  return with_derivative(
      x, [](const Array& a) { return np::maximum(a, 0); },
      [](const Array& a, const Array& t) { return where_or_zero(a > 0, t); }, "relu");
}
Array relu6(const ArrayLike& value) {
  return with_derivative(
      value, [](const Array& a) { return np::minimum(np::maximum(a, 0), 6.0); },
      [](const Array& a, const Array& t) { return where_or_zero((a > 0) & (a < 6), t); }, "relu6");
}
Array sigmoid(const ArrayLike& x) { return lax::logistic(x); }
Array softplus(const ArrayLike& x) { return np::logaddexp(x, 0.0); }
Array silu(const ArrayLike& value) {
  const Array x = inexact(value);
  return x * sigmoid(x);
}
Array swish(const ArrayLike& x) { return silu(x); }
Array mish(const ArrayLike& value) {
  const Array x = inexact(value);
  return x * np::tanh(softplus(x));
}
Array log_sigmoid(const ArrayLike& x) { return -softplus(-inexact(x)); }
Array soft_sign(const ArrayLike& x) { return x / (np::abs(x) + 1); }
Array tanh(const ArrayLike& x) { return np::tanh(x); }
Array hard_tanh(const ArrayLike& x) { return np::where(x > 1, 1, np::where(x < -1, -1, x)); }
Array hard_sigmoid(const ArrayLike& x) { return relu6(x + 3.0) / 6.0; }
Array hard_silu(const ArrayLike& x) { return x * hard_sigmoid(x); }
Array hard_swish(const ArrayLike& x) { return hard_silu(x); }
Array sparse_plus(const ArrayLike& value) {
  const Array x = inexact(value);
  return np::where(x <= -1.0, 0.0, np::where(x >= 1.0, x, lax::integer_pow(x + 1.0, 2) / 4));
}
Array sparse_sigmoid(const ArrayLike& x) { return 0.5 * np::clip(x + 1.0, 0.0, 2.0); }
Array elu(const ArrayLike& value, const ArrayLike& alpha) {
  const Array x = inexact(value), positive = x > 0;
  return np::where(positive, x, alpha * np::expm1(np::where(positive, 0.0, x)));
}
Array selu(const ArrayLike& x) { return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717); }
Array celu(const ArrayLike& x, const ArrayLike& alpha) {
  return np::maximum(x, 0.0) + alpha * np::expm1(np::minimum(x, 0.0) / alpha);
}
Array leaky_relu(const ArrayLike& x, const ArrayLike& negative_slope) {
  return np::where(x >= 0, x, negative_slope * x);
}
Array squareplus(const ArrayLike& x, const ArrayLike& b) { return (x + np::sqrt(np::square(x) + b)) / 2; }
Array gelu(const ArrayLike& value, bool approximate) {
  const Array x = inexact(value);
  if (approximate) return x * (0.5 * (1.0 + np::tanh(std::sqrt(2 / np::pi) * (x + 0.044715 * lax::integer_pow(x, 3)))));
  return 0.5 * x * lax::erfc(-x * std::sqrt(0.5));
}
Array glu(const ArrayLike& x, int axis) {
  if (x->ndim() == 0 || x->shape(axis) % 2)
    throw_with_line<ShapeError>("[glu] x is " + x->aval().str() + "; the axis must have an even size.");
  const auto halves = np::split(x, 2, axis);
  return halves[0] * sigmoid(halves[1]);
}
Array log1mexp(const ArrayLike& value) {
  return with_derivative(
      inexact(value),
      [](const Array& x) { return np::where(x < std::log(2.0), np::log(-np::expm1(-x)), np::log1p(-np::exp(-x))); },
      [](const Array& x, const Array& t) { return t / np::expm1(x); }, "log1mexp");
}

}  // namespace cotan::nn
