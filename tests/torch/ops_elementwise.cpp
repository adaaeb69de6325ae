// Elementwise ops of tests/torch/cases. Those that end in _ write into a copy of the first tensor.
#include "torch/ops.hpp"

namespace torch_ops {

namespace {

Function one(Tensor (*f)(const torch::Input&)) {
  return [f](Tensors x, const Params&) { return f(x[0]); };
}
Function two(Tensor (*f)(const torch::Operand&, const torch::Operand&)) {
  return [f](Tensors x, const Params& p) {
    return with_operand(x, 1, p, "other", [&](const auto& other) { return f(x[0], other); });
  };
}
/// The number comes first.
Function number_first(Tensor (*f)(const torch::Operand&, const torch::Operand&)) {
  return [f](Tensors x, const Params& p) {
    return with_operand(x, 1, p, "other", [&](const auto& other) { return f(other, x[0]); });
  };
}
Function scaled(Tensor (*f)(const torch::Operand&, const torch::Operand&, double)) {
  return [f](Tensors x, const Params& p) {
    return with_operand(x, 1, p, "other", [&](const auto& other) { return f(x[0], other, p.real("alpha", 1)); });
  };
}
Results divided(Tensors x, const Params& p) {
  return with_operand(x, 1, p, "other",
                      [&](const auto& other) { return torch::div(x[0], other, p.text("rounding_mode")); });
}

// A method that writes, on a copy that may be written.
#define WRITTEN(name) {#name, [](Tensors x, const Params&) { return torch::positive(x[0]).name(); }}
#define ONE(name) {#name, one(torch::name)}
#define TWO(name) {#name, two(torch::name)}

// clang-format off
const AddOps unary{
    ONE(abs), ONE(absolute), ONE(acos), ONE(acosh), ONE(arccos), ONE(arccosh), ONE(arcsin), ONE(arcsinh), ONE(arctan), ONE(arctanh),
    ONE(asin), ONE(asinh), ONE(atan), ONE(atanh), ONE(bitwise_not), ONE(ceil), ONE(cos), ONE(cosh), ONE(deg2rad), ONE(digamma),
    ONE(erf), ONE(erfc), ONE(erfinv), ONE(exp), ONE(exp2), ONE(expm1), ONE(fix), ONE(floor), ONE(frac), ONE(i0), ONE(isfinite),
    ONE(isinf), ONE(isnan), ONE(isneginf), ONE(isposinf), ONE(lgamma), ONE(log), ONE(log10), ONE(log1p), ONE(log2),
    ONE(logical_not), ONE(neg), ONE(negative), ONE(positive), ONE(rad2deg), ONE(reciprocal), ONE(relu), ONE(rsqrt), ONE(sgn),
    ONE(sigmoid), ONE(sign), ONE(signbit), ONE(sin), ONE(sinc), ONE(sinh), ONE(sqrt), ONE(square), ONE(tan), ONE(tanh), ONE(trunc),
    {"round", [](Tensors x, const Params& p) { return torch::round(x[0], p.axis("decimals", 0)); }},
    {"polygamma", [](Tensors x, const Params& p) { return torch::polygamma(p.axis("n"), x[0]); }},
    {"logit", [](Tensors x, const Params& p) { return torch::logit(x[0], p.has("eps") ? std::optional(p.real("eps")) : std::nullopt); }},
    {"nan_to_num", [](Tensors x, const Params& p) {
       if (!p.has("nan")) return torch::nan_to_num(x[0]);
       return torch::nan_to_num(x[0], p.real("nan"), p.real("posinf"), p.real("neginf"));
     }},
};
const AddOps written{
    WRITTEN(abs_), WRITTEN(bitwise_not_), WRITTEN(exp_), WRITTEN(floor_), WRITTEN(log_), WRITTEN(logical_not_), WRITTEN(neg_),
    WRITTEN(reciprocal_), WRITTEN(relu_), WRITTEN(round_), WRITTEN(sigmoid_), WRITTEN(sign_), WRITTEN(sin_), WRITTEN(sqrt_),
    WRITTEN(square_), WRITTEN(tanh_),
};
const AddOps binary{
    TWO(arctan2), TWO(atan2), TWO(bitwise_and), TWO(bitwise_left_shift), TWO(bitwise_or), TWO(bitwise_right_shift),
    TWO(bitwise_xor), TWO(copysign), TWO(divide), TWO(eq), TWO(floor_divide), TWO(fmax), TWO(fmin), TWO(fmod), TWO(gcd), TWO(ge),
    TWO(greater), TWO(greater_equal), TWO(gt), TWO(hypot), TWO(lcm), TWO(le), TWO(less), TWO(less_equal), TWO(logaddexp),
    TWO(logaddexp2), TWO(logical_and), TWO(logical_or), TWO(logical_xor), TWO(lt), TWO(maximum), TWO(minimum), TWO(mul),
    TWO(multiply), TWO(ne), TWO(nextafter), TWO(not_equal), TWO(pow), TWO(remainder), TWO(true_divide), TWO(xlogy),
    {"add", scaled(torch::add)}, {"sub", scaled(torch::sub)}, {"subtract", scaled(torch::subtract)}, {"div", divided},
    {"rsub", number_first([](const torch::Operand& a, const torch::Operand& b) { return a - b; })},
    {"rdiv", number_first(torch::true_divide)}, {"rpow", number_first(torch::pow)},
};
// clang-format on

}  // namespace

}  // namespace torch_ops
