// Elementwise ops, comparison, casts and creation.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using cotan::ArrayLike;

namespace {

OpFunction unary(Array (*f)(const ArrayLike&)) {
  return [f](Args x, const Params&) { return Arrays{f(x[0])}; };
}
OpFunction binary(Array (*f)(const ArrayLike&, const ArrayLike&)) {
  return [f](Args x, const Params&) { return Arrays{f(x[0], x[1])}; };
}
OpFunction ternary(Array (*f)(const ArrayLike&, const ArrayLike&, const ArrayLike&)) {
  return [f](Args x, const Params&) { return Arrays{f(x[0], x[1], x[2])}; };
}
std::optional<double> maybe_real(const Params& p, const char* key) {
  return p.has(key) ? std::optional(p.real(key)) : std::nullopt;
}

Array arange(const Params& p) {
  if (!p.has("stop")) return np::arange(p.integer("start"), p.dtype());
  if (p["start"].is_number_float()) return np::arange(p.real("start"), p.real("stop"), p.real("step"), p.dtype());
  return np::arange(p.integer("start"), p.integer("stop"), p.integer("step"), p.dtype());
}

void add_creation_ops(OpTable& t) {
  t["zeros"] = one([](Args, const Params& p) { return np::zeros(p.shape(), p.dtype()); });
  t["ones"] = one([](Args, const Params& p) { return np::ones(p.shape(), p.dtype()); });
  t["empty"] = one([](Args, const Params& p) { return np::empty(p.shape(), p.dtype()); });
  t["full"] = one([](Args, const Params& p) { return np::full(p.shape(), p.scalar("fill_value"), p.dtype()); });
  t["zeros_like"] = one([](Args x, const Params&) { return np::zeros_like(x[0]); });
  t["ones_like"] = one([](Args x, const Params&) { return np::ones_like(x[0]); });
  t["full_like"] = one([](Args x, const Params& p) { return np::full_like(x[0], p.scalar("fill_value")); });
  t["eye"] = one([](Args, const Params& p) {
    return np::eye(p.integer("N"), p.has("M") ? std::optional(p.integer("M")) : std::nullopt, p.axis("k"), p.dtype());
  });
  t["identity"] = one([](Args, const Params& p) { return np::identity(p.integer("n"), p.dtype()); });
  t["tri"] = one([](Args, const Params& p) { return np::tri(p.integer("N"), p.integer("M"), p.axis("k"), p.dtype()); });
  t["arange"] = one([](Args, const Params& p) { return arange(p); });
  t["linspace"] = one([](Args, const Params& p) {
    return np::linspace(p.real("start"), p.real("stop"), p.integer("num"), p.flag("endpoint", true), p.dtype());
  });
  t["logspace"] = one([](Args, const Params& p) {
    return np::logspace(p.real("start"), p.real("stop"), p.integer("num"), true, 10, p.dtype());
  });
  t["geomspace"] = one([](Args, const Params& p) {
    return np::geomspace(p.real("start"), p.real("stop"), p.integer("num"), true, p.dtype());
  });
  t["lax.iota"] = one([](Args, const Params& p) { return lax::iota(p.dtype(), p.shape(), p.axis("dimension")); });
}

}  // namespace

void add_elementwise_ops(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&)> unaries[] = {
      {"sin", np::sin},
      {"cos", np::cos},
      {"tan", np::tan},
      {"arcsin", np::arcsin},
      {"arccos", np::arccos},
      {"arctan", np::arctan},
      {"sinh", np::sinh},
      {"cosh", np::cosh},
      {"tanh", np::tanh},
      {"arcsinh", np::arcsinh},
      {"arccosh", np::arccosh},
      {"arctanh", np::arctanh},
      {"exp", np::exp},
      {"exp2", np::exp2},
      {"expm1", np::expm1},
      {"log", np::log},
      {"log2", np::log2},
      {"log10", np::log10},
      {"log1p", np::log1p},
      {"square", np::square},
      {"sqrt", np::sqrt},
      {"cbrt", np::cbrt},
      {"reciprocal", np::reciprocal},
      {"negative", np::negative},
      {"positive", np::positive},
      {"sinc", np::sinc},
      {"deg2rad", np::deg2rad},
      {"rad2deg", np::rad2deg},
      {"abs", np::abs},
      {"absolute", np::absolute},
      {"fabs", np::fabs},
      {"sign", np::sign},
      {"floor", np::floor},
      {"ceil", np::ceil},
      {"rint", np::rint},
      {"trunc", np::trunc},
      {"isnan", np::isnan},
      {"isinf", np::isinf},
      {"isfinite", np::isfinite},
      {"signbit", np::signbit},
      {"logical_not", np::logical_not},
      {"bitwise_not", np::bitwise_not},
      {"bitwise_count", np::bitwise_count},
      {"lax.logistic", lax::logistic},
      {"lax.erf", lax::erf},
      {"lax.erfc", lax::erfc},
      {"lax.erf_inv", lax::erf_inv},
      {"lax.lgamma", lax::lgamma},
      {"lax.digamma", lax::digamma},
      {"lax.rsqrt", lax::rsqrt},
      {"lax.population_count", lax::population_count},
      {"lax.clz", lax::clz}};
  for (const auto& [name, f] : unaries) t[name] = unary(f);

  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&)> binaries[] = {
      {"add", np::add},
      {"subtract", np::subtract},
      {"multiply", np::multiply},
      {"divide", np::divide},
      {"true_divide", np::true_divide},
      {"floor_divide", np::floor_divide},
      {"remainder", np::remainder},
      {"mod", np::mod},
      {"fmod", np::fmod},
      {"power", np::power},
      {"maximum", np::maximum},
      {"minimum", np::minimum},
      {"fmax", np::fmax},
      {"fmin", np::fmin},
      {"arctan2", np::arctan2},
      {"hypot", np::hypot},
      {"logaddexp", np::logaddexp},
      {"logaddexp2", np::logaddexp2},
      {"copysign", np::copysign},
      {"nextafter", np::nextafter},
      {"heaviside", np::heaviside},
      {"ldexp", np::ldexp},
      {"gcd", np::gcd},
      {"lcm", np::lcm},
      {"lax.div", lax::div},
      {"lax.rem", lax::rem},
      {"equal", np::equal},
      {"not_equal", np::not_equal},
      {"less", np::less},
      {"less_equal", np::less_equal},
      {"greater", np::greater},
      {"greater_equal", np::greater_equal},
      {"logical_and", np::logical_and},
      {"logical_or", np::logical_or},
      {"logical_xor", np::logical_xor},
      {"bitwise_and", np::bitwise_and},
      {"bitwise_or", np::bitwise_or},
      {"bitwise_xor", np::bitwise_xor},
      {"left_shift", np::left_shift},
      {"right_shift", np::right_shift},
      {"lax.shift_right_logical", lax::shift_right_logical},
      {"lax.shift_right_arithmetic", lax::shift_right_arithmetic}};
  for (const auto& [name, f] : binaries) t[name] = binary(f);

  t["array_equal"] = one([](Args x, const Params& p) { return np::array_equal(x[0], x[1], p.flag("equal_nan")); });
  t["where"] = ternary(np::where);
  t["clip"] = ternary(np::clip);
  t["lax.select"] = ternary(lax::select);
  t["lax.clamp"] = ternary(lax::clamp);

  t["round"] = one([](Args x, const Params& p) { return np::round(x[0], p.axis("decimals")); });
  t["nan_to_num"] = one([](Args x, const Params& p) {
    return np::nan_to_num(x[0], p.real("nan", 0), maybe_real(p, "posinf"), maybe_real(p, "neginf"));
  });
  t["isclose"] = one([](Args x, const Params& p) {
    return np::isclose(x[0], x[1], p.real("rtol", 1e-5), p.real("atol", 1e-8), p.flag("equal_nan"));
  });
  t["allclose"] =
      one([](Args x, const Params& p) { return np::allclose(x[0], x[1], p.real("rtol", 1e-5), p.real("atol", 1e-8)); });
  t["lax.integer_pow"] = one([](Args x, const Params& p) { return lax::integer_pow(x[0], p.axis("y")); });
  t["lax.polygamma"] = one([](Args x, const Params& p) { return lax::polygamma(p.axis("n"), x[0]); });
  t["lax.stop_gradient"] = one([](Args x, const Params&) { return lax::stop_gradient(x[0]) * x[0]; });

  t["astype"] = one([](Args x, const Params& p) { return x[0].astype(p.dtype()); });
  t["lax.convert_element_type"] =
      one([](Args x, const Params& p) { return lax::convert_element_type(x[0], p.dtype("new_dtype")); });
  t["lax.bitcast_convert_type"] =
      one([](Args x, const Params& p) { return lax::bitcast_convert_type(x[0], p.dtype("new_dtype")); });

  t["scalar.add"] = one([](Args x, const Params& p) { return x[0] + p.scalar("scalar"); });
  t["scalar.subtract"] = one([](Args x, const Params& p) { return p.scalar("scalar") - x[0]; });
  t["scalar.multiply"] = one([](Args x, const Params& p) { return x[0] * p.scalar("scalar"); });
  t["scalar.divide"] = one([](Args x, const Params& p) { return x[0] / p.scalar("scalar"); });
  t["scalar.less"] = one([](Args x, const Params& p) { return x[0] < p.scalar("scalar"); });
  t["scalar.maximum"] = one([](Args x, const Params& p) { return np::maximum(x[0], p.scalar("scalar")); });

  add_creation_ops(t);
}

}  // namespace cases
