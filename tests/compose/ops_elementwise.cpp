// The catalogue's elementwise operations. Operands are kept inside the smooth part of each function's domain.
#include "compose/random_program.hpp"

namespace compose {

namespace {

using Unary = Array (*)(const Array&);
using Binary = Array (*)(const Array&, const Array&);

bool broadcastable(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

Op unary(std::string name, Unary f) {
  return {std::move(name), 1, [f](Draw&, const Arrays&) { return Body{[f](const Arrays& v) { return f(v[0]); }}; }};
}
Op binary(std::string name, Binary f) {
  return {std::move(name), 2, [f](Draw&, const Arrays& like) -> std::optional<Body> {
            if (!broadcastable(like[0].shape(), like[1].shape())) return std::nullopt;
            return Body{[f](const Arrays& v) { return f(v[0], v[1]); }};
          }};
}
/// Smooth only where the operands differ.
Op binary_kink(std::string name, Binary f) {
  return {std::move(name), 2, [f](Draw&, const Arrays& like) -> std::optional<Body> {
            if (!broadcastable(like[0].shape(), like[1].shape())) return std::nullopt;
            return Body{[f](const Arrays& v) { return f(v[0], v[1]); }, nullptr,
                        [](const Arrays& v) { return smallest_magnitude(v[0] - v[1]); }};
          }};
}

}  // namespace

std::vector<Op> elementwise_ops() {
  std::vector<Op> ops{
      unary("exp", [](const Array& x) { return np::exp(0.5 * x); }),
      unary("exp2", [](const Array& x) { return np::exp2(0.5 * x); }),
      unary("expm1", [](const Array& x) { return np::expm1(0.3 * x); }),
      unary("log", [](const Array& x) { return np::log(1.5 + np::square(x)); }),
      unary("log1p", [](const Array& x) { return np::log1p(np::square(x)); }),
      unary("sin", [](const Array& x) { return np::sin(x); }),
      unary("cos", [](const Array& x) { return np::cos(x); }),
      unary("tan", [](const Array& x) { return np::tan(0.5 * np::sin(x)); }),
      unary("tanh", [](const Array& x) { return np::tanh(x); }),
      unary("sinh", [](const Array& x) { return np::sinh(0.5 * x); }),
      unary("cosh", [](const Array& x) { return np::cosh(0.5 * x); }),
      unary("arcsinh", [](const Array& x) { return np::arcsinh(x); }),
      unary("arccosh", [](const Array& x) { return np::arccosh(2.0 + np::square(x)); }),
      unary("arctanh", [](const Array& x) { return np::arctanh(0.5 * np::sin(x)); }),
      unary("arctan", [](const Array& x) { return np::arctan(x); }),
      unary("arcsin", [](const Array& x) { return np::arcsin(0.5 * np::sin(x)); }),
      unary("arccos", [](const Array& x) { return np::arccos(0.5 * np::sin(x)); }),
      unary("logistic", [](const Array& x) { return lax::logistic(x); }),
      unary("erf", [](const Array& x) { return lax::erf(x); }),
      unary("erfc", [](const Array& x) { return lax::erfc(x); }),
      unary("erf_inv", [](const Array& x) { return lax::erf_inv(0.5 * np::sin(x)); }),
      unary("lgamma", [](const Array& x) { return lax::lgamma(2.5 + np::sin(x)); }),
      unary("digamma", [](const Array& x) { return lax::digamma(2.5 + np::sin(x)); }),
      unary("sqrt", [](const Array& x) { return np::sqrt(1.0 + np::square(x)); }),
      unary("rsqrt", [](const Array& x) { return lax::rsqrt(1.0 + np::square(x)); }),
      unary("cbrt", [](const Array& x) { return np::cbrt(2.0 + np::sin(x)); }),
      unary("reciprocal", [](const Array& x) { return np::reciprocal(2.0 + np::tanh(x)); }),
      unary("cube", [](const Array& x) { return 0.5 * lax::integer_pow(x, 3); }),
      unary("inverse_square", [](const Array& x) { return lax::integer_pow(2.0 + np::sin(x), -2); }),
      unary("negative", [](const Array& x) { return -x; }),
      unary("double", [](const Array& x) { return x + x; }),
      unary("softplus", [](const Array& x) { return np::logaddexp(x, 0.0); }),
      // The shift has a derivative that cancels, so stopping it changes nothing.
      unary("stopped_shift",
            [](const Array& x) {
              const Array shift = ct::stop_gradient(0.3 * np::sum(x));
              return np::log(1.0 + np::exp(x - shift) * np::exp(shift));
            }),
      unary("through_f64_cast", [](const Array& x) { return x.astype(ct::f64) * 1.25; }),
      binary("add", [](const Array& x, const Array& y) { return x + y; }),
      binary("subtract", [](const Array& x, const Array& y) { return x - y; }),
      binary("multiply", [](const Array& x, const Array& y) { return x * y; }),
      binary("divide", [](const Array& x, const Array& y) { return x / (2.0 + np::sin(y)); }),
      binary("power", [](const Array& x, const Array& y) { return np::power(1.5 + np::square(x), 0.5 * y); }),
      binary("arctan2", [](const Array& x, const Array& y) { return np::arctan2(x, 1.5 + np::square(y)); }),
      binary("hypot", [](const Array& x, const Array& y) { return np::hypot(x, 1.0 + np::square(y)); }),
      binary("logaddexp", [](const Array& x, const Array& y) { return np::logaddexp(x, y); }),
      binary_kink("maximum", [](const Array& x, const Array& y) { return np::maximum(x, y); }),
      binary_kink("minimum", [](const Array& x, const Array& y) { return np::minimum(x, y); }),
      binary_kink("where_less", [](const Array& x, const Array& y) { return np::where(x < y, x * y, np::sin(x)); }),
  };
  ops.push_back({"abs", 1, [](Draw&, const Arrays&) {
                   return Body{[](const Arrays& v) { return np::abs(v[0]); }, nullptr,
                               [](const Arrays& v) { return smallest_magnitude(v[0]); }};
                 }});
  ops.push_back({"clip", 1, [](Draw& draw, const Arrays&) {
                   const double low = draw.uniform(-1, 0), high = draw.uniform(0.2, 1);
                   return Body{[=](const Arrays& v) { return np::clip(v[0], low, high); }, nullptr,
                               [=](const Arrays& v) {
                                 return std::min(smallest_magnitude(v[0] - low), smallest_magnitude(v[0] - high));
                               }};
                 }});
  ops.push_back({"where_constant", 2, [](Draw& draw, const Arrays& like) -> std::optional<Body> {
                   if (like[0].shape() != like[1].shape()) return std::nullopt;
                   std::vector<bool> mask;
                   for (std::int64_t i = 0; i < like[0].size(); ++i) mask.push_back(draw.one_in(2));
                   const Array condition = Array::from_host(mask, like[0].shape());
                   return Body{[=](const Arrays& v) { return np::where(condition, v[0], 0.5 * v[1]); }};
                 }});
  ops.push_back({"polynomial", 1, [](Draw& draw, const Arrays&) {
                   const double a = draw.uniform(-1, 1), b = draw.uniform(-1, 1);
                   return Body{[=](const Arrays& v) { return a * np::square(v[0]) + b * v[0] + 0.1; }};
                 }});
  return ops;
}

}  // namespace compose
