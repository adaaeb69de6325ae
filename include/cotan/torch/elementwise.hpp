// Arithmetic, comparisons and elementary functions.
#pragma once
#include <cotan/torch/inputs.hpp>

namespace cotan::torch {

/// @name Operators
/// Operands broadcast; dtypes by PyTorch's rule: tensors with axes, then 0-d tensors, then C++ numbers.
/// @{
Tensor operator+(const Operand& a, const Operand& b);   ///< add
Tensor operator-(const Operand& a, const Operand& b);   ///< sub
Tensor operator*(const Operand& a, const Operand& b);   ///< mul
Tensor operator/(const Operand& a, const Operand& b);   ///< div
Tensor operator%(const Operand& a, const Operand& b);   ///< remainder
Tensor operator-(const Input& x);                       ///< neg
Tensor operator~(const Input& x);                       ///< bitwise_not
Tensor operator&(const Operand& a, const Operand& b);   ///< bitwise_and
Tensor operator|(const Operand& a, const Operand& b);   ///< bitwise_or
Tensor operator^(const Operand& a, const Operand& b);   ///< bitwise_xor
Tensor operator<<(const Operand& a, const Operand& b);  ///< bitwise_left_shift
Tensor operator>>(const Operand& a, const Operand& b);  ///< bitwise_right_shift
Tensor operator==(const Operand& a, const Operand& b);  ///< eq, element by element; of handles: is_same
Tensor operator!=(const Operand& a, const Operand& b);  ///< ne
Tensor operator<(const Operand& a, const Operand& b);   ///< lt
Tensor operator<=(const Operand& a, const Operand& b);  ///< le
Tensor operator>(const Operand& a, const Operand& b);   ///< gt
Tensor operator>=(const Operand& a, const Operand& b);  ///< ge
/// @}

/// @name Of one tensor
/// Where values are fractions, integers and bools become float32.
/// @{
Tensor abs(const Input& x);                                    ///< |x|
Tensor absolute(const Input& x);                               ///< the same as abs
Tensor acos(const Input& x);                                   ///< inverse cosine
Tensor arccos(const Input& x);                                 ///< the same as acos
Tensor acosh(const Input& x);                                  ///< inverse hyperbolic cosine
Tensor arccosh(const Input& x);                                ///< the same as acosh
Tensor asin(const Input& x);                                   ///< inverse sine
Tensor arcsin(const Input& x);                                 ///< the same as asin
Tensor asinh(const Input& x);                                  ///< inverse hyperbolic sine
Tensor arcsinh(const Input& x);                                ///< the same as asinh
Tensor atan(const Input& x);                                   ///< inverse tangent
Tensor arctan(const Input& x);                                 ///< the same as atan
Tensor atanh(const Input& x);                                  ///< inverse hyperbolic tangent
Tensor arctanh(const Input& x);                                ///< the same as atanh
Tensor bitwise_not(const Input& x);                            ///< ~x of integers and bools
Tensor ceil(const Input& x);                                   ///< rounded up
Tensor cos(const Input& x);                                    ///< cosine
Tensor cosh(const Input& x);                                   ///< hyperbolic cosine
Tensor deg2rad(const Input& x);                                ///< degrees to radians
Tensor digamma(const Input& x);                                ///< the derivative of lgamma
Tensor erf(const Input& x);                                    ///< the error function
Tensor erfc(const Input& x);                                   ///< 1 - erf(x), exact where it is small
Tensor erfinv(const Input& x);                                 ///< the inverse of erf
Tensor exp(const Input& x);                                    ///< eˣ
Tensor exp2(const Input& x);                                   ///< 2ˣ
Tensor expm1(const Input& x);                                  ///< eˣ - 1, exact near 0
Tensor fix(const Input& x);                                    ///< the same as trunc
Tensor floor(const Input& x);                                  ///< rounded down
Tensor frac(const Input& x);                                   ///< x - trunc(x)
Tensor i0(const Input& x);                                     ///< the modified Bessel function of order 0
Tensor isfinite(const Input& x);                               ///< neither infinite nor NaN
Tensor isinf(const Input& x);                                  ///< infinite
Tensor isnan(const Input& x);                                  ///< NaN
Tensor isneginf(const Input& x);                               ///< -∞
Tensor isposinf(const Input& x);                               ///< ∞
Tensor lgamma(const Input& x);                                 ///< log |Γ(x)|
Tensor log(const Input& x);                                    ///< the natural logarithm
Tensor log10(const Input& x);                                  ///< the logarithm to base 10
Tensor log1p(const Input& x);                                  ///< log(1 + x), exact near 0
Tensor log2(const Input& x);                                   ///< the logarithm to base 2
Tensor logical_not(const Input& x);                            ///< whether it is 0
Tensor neg(const Input& x);                                    ///< -x
Tensor negative(const Input& x);                               ///< the same as neg
Tensor positive(const Input& x);                               ///< x
Tensor rad2deg(const Input& x);                                ///< radians to degrees
Tensor reciprocal(const Input& x);                             ///< 1 / x
Tensor relu(const Input& x);                                   ///< max(x, 0)
Tensor rsqrt(const Input& x);                                  ///< 1 / √x
Tensor sgn(const Input& x);                                    ///< the same as sign
Tensor sigmoid(const Input& x);                                ///< 1 / (1 + e⁻ˣ)
Tensor sign(const Input& x);                                   ///< -1, 0 or 1
Tensor signbit(const Input& x);                                ///< whether the sign is negative; -0.0 has it too
Tensor sin(const Input& x);                                    ///< sine
Tensor sinc(const Input& x);                                   ///< sin(πx) / (πx); 1 at 0
Tensor sinh(const Input& x);                                   ///< hyperbolic sine
Tensor sqrt(const Input& x);                                   ///< √x; the gradient at 0 is infinite
Tensor square(const Input& x);                                 ///< x²
Tensor tan(const Input& x);                                    ///< tangent
Tensor tanh(const Input& x);                                   ///< hyperbolic tangent
Tensor trunc(const Input& x);                                  ///< rounded towards 0
Tensor round(const Input& x, int decimals = 0);                ///< half to even, to that many decimals
Tensor logit(const Input& x, std::optional<double> eps = {});  ///< log(x / (1 - x)), of x between eps and 1 - eps
Tensor polygamma(int n, const Input& x);                       ///< the n-th derivative of digamma
/// NaN becomes `nan`; infinities the largest numbers of the dtype, or what is said.
Tensor nan_to_num(const Input& x, double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {});
/// @}

/// @name Of two
/// @{
Tensor add(const Operand& a, const Operand& b, double alpha = 1);       ///< a + alpha b
Tensor sub(const Operand& a, const Operand& b, double alpha = 1);       ///< a - alpha b
Tensor subtract(const Operand& a, const Operand& b, double alpha = 1);  ///< the same as sub
/// a / b; of integers float32. With rounding_mode "trunc" or "floor" rounded, in the dtype of the operands.
Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode = "");
Tensor atan2(const Operand& a, const Operand& b);                ///< the angle of the point (b, a), in [-π, π]
Tensor arctan2(const Operand& a, const Operand& b);              ///< the same as atan2
Tensor bitwise_and(const Operand& a, const Operand& b);          ///< a & b of integers and bools
Tensor bitwise_or(const Operand& a, const Operand& b);           ///< a | b of integers and bools
Tensor bitwise_xor(const Operand& a, const Operand& b);          ///< a ^ b of integers and bools
Tensor bitwise_left_shift(const Operand& a, const Operand& b);   ///< a << b of integers
Tensor bitwise_right_shift(const Operand& a, const Operand& b);  ///< a >> b of integers
Tensor copysign(const Operand& a, const Operand& b);             ///< |a| with the sign of b
Tensor divide(const Operand& a, const Operand& b);               ///< the same as div
Tensor eq(const Operand& a, const Operand& b);                   ///< a == b
Tensor floor_divide(const Operand& a, const Operand& b);         ///< a / b rounded down
Tensor fmax(const Operand& a, const Operand& b);                 ///< the larger; a number comes before NaN
Tensor fmin(const Operand& a, const Operand& b);                 ///< the smaller; a number comes before NaN
Tensor fmod(const Operand& a, const Operand& b);                 ///< the remainder of a / b, with the sign of a
Tensor gcd(const Operand& a, const Operand& b);                  ///< the greatest common divisor
Tensor ge(const Operand& a, const Operand& b);                   ///< a >= b
Tensor greater(const Operand& a, const Operand& b);              ///< the same as gt
Tensor greater_equal(const Operand& a, const Operand& b);        ///< the same as ge
Tensor gt(const Operand& a, const Operand& b);                   ///< a > b
Tensor hypot(const Operand& a, const Operand& b);                ///< √(a² + b²)
Tensor lcm(const Operand& a, const Operand& b);                  ///< the least common multiple
Tensor le(const Operand& a, const Operand& b);                   ///< a <= b
Tensor less(const Operand& a, const Operand& b);                 ///< the same as lt
Tensor less_equal(const Operand& a, const Operand& b);           ///< the same as le
Tensor logaddexp(const Operand& a, const Operand& b);            ///< log(eᵃ + eᵇ)
Tensor logaddexp2(const Operand& a, const Operand& b);           ///< log₂(2ᵃ + 2ᵇ)
Tensor logical_and(const Operand& a, const Operand& b);          ///< whether neither is 0
Tensor logical_or(const Operand& a, const Operand& b);           ///< whether one is not 0
Tensor logical_xor(const Operand& a, const Operand& b);          ///< whether just one is not 0
Tensor lt(const Operand& a, const Operand& b);                   ///< a < b
Tensor maximum(const Operand& a,
               const Operand& b);  ///< the larger; NaN where one is. Where they are equal each has half of the gradient
Tensor minimum(
    const Operand& a,
    const Operand& b);  ///< the smaller; NaN where one is. Where they are equal each has half of the gradient
Tensor mul(const Operand& a, const Operand& b);          ///< a b
Tensor multiply(const Operand& a, const Operand& b);     ///< the same as mul
Tensor ne(const Operand& a, const Operand& b);           ///< a != b
Tensor not_equal(const Operand& a, const Operand& b);    ///< the same as ne
Tensor nextafter(const Operand& a, const Operand& b);    ///< the next number after a towards b
Tensor pow(const Operand& a, const Operand& b);          ///< a to the power b
Tensor remainder(const Operand& a, const Operand& b);    ///< the remainder of a / b, with the sign of b
Tensor true_divide(const Operand& a, const Operand& b);  ///< the same as div
Tensor xlogy(const Operand& a, const Operand& b);        ///< a log(b); 0 where a is
/// @}

/// @name Of three
/// @{
/// Between min and max, each a number or a tensor; the gradient at both ends is 1.
Tensor clamp(const Input& x, const Bound& min, const Bound& max = {});
Tensor clip(const Input& x, const Bound& min, const Bound& max = {});      ///< the same as clamp
Tensor clamp_min(const Input& x, const Bound& min);                        ///< clamp without an upper end
Tensor clamp_max(const Input& x, const Bound& max);                        ///< clamp without a lower end
Tensor where(const Input& condition, const Operand& a, const Operand& b);  ///< a where the condition holds, else b
Tensor lerp(const Input& start, const Input& end, const Operand& weight);  ///< start + weight (end - start)
Tensor addcmul(const Input& x, const Input& a, const Input& b, double value = 1);  ///< x + value a b
Tensor addcdiv(const Input& x, const Input& a, const Input& b, double value = 1);  ///< x + value a / b
/// @}

/// @name Comparisons of tensors as a whole
/// @{
Tensor isclose(const Input& a, const Input& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);  ///< |a - b| <= atol + rtol |b|
bool allclose(const Input& a, const Input& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);       ///< whether all are; runs what is recorded
bool equal(const Input& a, const Input& b);  ///< the same shape and elements; runs what is recorded
/// @}

/// Methods of a tensor: these functions of it, and with an underscore what is written into it.
template <class Self>
class ElementwiseMethods : public detail::Methods<Self, ElementwiseMethods<Self>> {
 public:
  /// The function of that name, of this tensor; with an underscore what it gives is written into it.
  /// @{
#define COTAN_TORCH_READ(name) \
  Self name(std::source_location where = COTAN_HERE) const { return torch::name(this->me(where)); }
#define COTAN_TORCH_UNARY(name)                                                        \
  COTAN_TORCH_READ(name)                                                               \
  const Self& name##_(std::source_location where = COTAN_HERE) const {                 \
    return this->overwrite(#name "_", where, [&] { return torch::name(this->me()); }); \
  }
#define COTAN_TORCH_READ_BINARY(name) \
  Self name(const Operand& other) const { return torch::name(this->operand(), other); }
#define COTAN_TORCH_BINARY(name)                                                                \
  COTAN_TORCH_READ_BINARY(name)                                                                 \
  const Self& name##_(const Operand& other) const {                                             \
    return this->overwrite(#name "_", {}, [&] { return torch::name(this->operand(), other); }); \
  }
  // clang-format off
  COTAN_TORCH_UNARY(abs) COTAN_TORCH_UNARY(absolute) COTAN_TORCH_UNARY(acos) COTAN_TORCH_UNARY(arccos)
  COTAN_TORCH_UNARY(acosh) COTAN_TORCH_UNARY(arccosh) COTAN_TORCH_UNARY(asin) COTAN_TORCH_UNARY(arcsin)
  COTAN_TORCH_UNARY(asinh) COTAN_TORCH_UNARY(arcsinh) COTAN_TORCH_UNARY(atan) COTAN_TORCH_UNARY(arctan)
  COTAN_TORCH_UNARY(atanh) COTAN_TORCH_UNARY(arctanh) COTAN_TORCH_UNARY(bitwise_not) COTAN_TORCH_UNARY(ceil)
  COTAN_TORCH_UNARY(cos) COTAN_TORCH_UNARY(cosh) COTAN_TORCH_UNARY(deg2rad) COTAN_TORCH_UNARY(digamma)
  COTAN_TORCH_UNARY(erf) COTAN_TORCH_UNARY(erfc) COTAN_TORCH_UNARY(erfinv) COTAN_TORCH_UNARY(exp)
  COTAN_TORCH_UNARY(exp2) COTAN_TORCH_UNARY(expm1) COTAN_TORCH_UNARY(fix) COTAN_TORCH_UNARY(floor)
  COTAN_TORCH_UNARY(frac) COTAN_TORCH_UNARY(i0) COTAN_TORCH_UNARY(lgamma) COTAN_TORCH_UNARY(log)
  COTAN_TORCH_UNARY(log10) COTAN_TORCH_UNARY(log1p) COTAN_TORCH_UNARY(log2) COTAN_TORCH_UNARY(logical_not)
  COTAN_TORCH_UNARY(neg) COTAN_TORCH_UNARY(negative) COTAN_TORCH_UNARY(rad2deg) COTAN_TORCH_UNARY(reciprocal)
  COTAN_TORCH_UNARY(relu) COTAN_TORCH_UNARY(rsqrt) COTAN_TORCH_UNARY(sgn) COTAN_TORCH_UNARY(sigmoid)
  COTAN_TORCH_UNARY(sign) COTAN_TORCH_UNARY(sin) COTAN_TORCH_UNARY(sinc) COTAN_TORCH_UNARY(sinh)
  COTAN_TORCH_UNARY(sqrt) COTAN_TORCH_UNARY(square) COTAN_TORCH_UNARY(tan) COTAN_TORCH_UNARY(tanh)
  COTAN_TORCH_UNARY(trunc) COTAN_TORCH_READ(isfinite) COTAN_TORCH_READ(isinf) COTAN_TORCH_READ(isnan)
  COTAN_TORCH_READ(isneginf) COTAN_TORCH_READ(isposinf) COTAN_TORCH_READ(positive) COTAN_TORCH_READ(signbit)
  COTAN_TORCH_BINARY(atan2) COTAN_TORCH_BINARY(arctan2) COTAN_TORCH_BINARY(bitwise_and) COTAN_TORCH_BINARY(bitwise_or)
  COTAN_TORCH_BINARY(bitwise_xor) COTAN_TORCH_BINARY(bitwise_left_shift) COTAN_TORCH_BINARY(bitwise_right_shift)
  COTAN_TORCH_BINARY(copysign) COTAN_TORCH_BINARY(divide) COTAN_TORCH_BINARY(eq) COTAN_TORCH_BINARY(floor_divide)
  COTAN_TORCH_BINARY(fmod) COTAN_TORCH_BINARY(gcd) COTAN_TORCH_BINARY(ge) COTAN_TORCH_BINARY(greater)
  COTAN_TORCH_BINARY(greater_equal) COTAN_TORCH_BINARY(gt) COTAN_TORCH_BINARY(hypot) COTAN_TORCH_BINARY(lcm)
  COTAN_TORCH_BINARY(le) COTAN_TORCH_BINARY(less) COTAN_TORCH_BINARY(less_equal) COTAN_TORCH_BINARY(logical_and)
  COTAN_TORCH_BINARY(logical_or) COTAN_TORCH_BINARY(logical_xor) COTAN_TORCH_BINARY(lt) COTAN_TORCH_BINARY(mul)
  COTAN_TORCH_BINARY(multiply) COTAN_TORCH_BINARY(ne) COTAN_TORCH_BINARY(not_equal) COTAN_TORCH_BINARY(nextafter)
  COTAN_TORCH_BINARY(pow) COTAN_TORCH_BINARY(remainder) COTAN_TORCH_BINARY(true_divide) COTAN_TORCH_BINARY(xlogy)
  COTAN_TORCH_READ_BINARY(fmax) COTAN_TORCH_READ_BINARY(fmin) COTAN_TORCH_READ_BINARY(logaddexp)
  COTAN_TORCH_READ_BINARY(logaddexp2) COTAN_TORCH_READ_BINARY(maximum) COTAN_TORCH_READ_BINARY(minimum)
  // clang-format on
#undef COTAN_TORCH_READ
#undef COTAN_TORCH_UNARY
#undef COTAN_TORCH_READ_BINARY
#undef COTAN_TORCH_BINARY

                                                                                          Self
      round(int decimals = 0, std::source_location where = COTAN_HERE) const {
    return torch::round(this->me(where), decimals);
  }
  const Self& round_(int decimals = 0, std::source_location where = COTAN_HERE) const {
    return this->overwrite("round_", where, [&] { return torch::round(this->me(), decimals); });
  }
  Self nan_to_num(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                  std::source_location where = COTAN_HERE) const {
    return torch::nan_to_num(this->me(where), nan, posinf, neginf);
  }
  const Self& nan_to_num_(double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                          std::source_location where = COTAN_HERE) const {
    return this->overwrite("nan_to_num_", where, [&] { return torch::nan_to_num(this->me(), nan, posinf, neginf); });
  }
  Self logit(std::optional<double> eps = {}, std::source_location where = COTAN_HERE) const {
    return torch::logit(this->me(where), eps);
  }
  Self add(const Operand& other, double alpha = 1) const { return torch::add(this->operand(), other, alpha); }
  const Self& add_(const Operand& other, double alpha = 1) const {
    return this->overwrite("add_", {}, [&] { return torch::add(this->operand(), other, alpha); });
  }
  Self sub(const Operand& other, double alpha = 1) const { return torch::sub(this->operand(), other, alpha); }
  const Self& sub_(const Operand& other, double alpha = 1) const {
    return this->overwrite("sub_", {}, [&] { return torch::sub(this->operand(), other, alpha); });
  }
  Self div(const Operand& other, std::string_view rounding_mode = "") const {
    return torch::div(this->operand(), other, rounding_mode);
  }
  const Self& div_(const Operand& other, std::string_view rounding_mode = "") const {
    return this->overwrite("div_", {}, [&] { return torch::div(this->operand(), other, rounding_mode); });
  }
  Self clamp(const Bound& min, const Bound& max = {}) const { return torch::clamp(this->me(), min, max); }
  Self clip(const Bound& min, const Bound& max = {}) const { return torch::clamp(this->me(), min, max); }
  Self clamp_min(const Bound& min) const { return torch::clamp(this->me(), min); }
  Self clamp_max(const Bound& max) const { return torch::clamp(this->me(), {}, max); }
  const Self& clamp_(const Bound& min, const Bound& max = {}) const {
    return this->overwrite("clamp_", {}, [&] { return torch::clamp(this->me(), min, max); });
  }
  const Self& clamp_min_(const Bound& min) const { return clamp_(min); }
  const Self& clamp_max_(const Bound& max) const { return clamp_({}, max); }
  Self where(const Input& condition, const Operand& other) const {
    return torch::where(condition, this->operand(), other);
  }
  Self lerp(const Input& end, const Operand& weight) const { return torch::lerp(this->me(), end, weight); }
  const Self& lerp_(const Input& end, const Operand& weight) const {
    return this->overwrite("lerp_", {}, [&] { return torch::lerp(this->me(), end, weight); });
  }
  Self addcmul(const Input& a, const Input& b, double value = 1) const {
    return torch::addcmul(this->me(), a, b, value);
  }
  const Self& addcmul_(const Input& a, const Input& b, double value = 1) const {
    return this->overwrite("addcmul_", {}, [&] { return torch::addcmul(this->me(), a, b, value); });
  }
  Self addcdiv(const Input& a, const Input& b, double value = 1) const {
    return torch::addcdiv(this->me(), a, b, value);
  }
  const Self& addcdiv_(const Input& a, const Input& b, double value = 1) const {
    return this->overwrite("addcdiv_", {}, [&] { return torch::addcdiv(this->me(), a, b, value); });
  }
  Self isclose(const Input& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const {
    return torch::isclose(this->me(), other, rtol, atol, equal_nan);
  }
  bool allclose(const Input& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const {
    return torch::allclose(this->me(), other, rtol, atol, equal_nan);
  }
  bool equal(const Input& other) const { return torch::equal(this->me(), other); }
  /// @}
  /// @name x += y
  /// As in PyTorch a write into x; of an index expression into what it is of.
  /// @{
  const Self& operator+=(const Operand& other) const& { return this->add_(other); }  ///< add_
  void operator+=(const Operand& other) && {                                         ///< add_
    detail::write_through(this->self(), "add_", [&] { return torch::add(this->operand(), other); });
  }
  const Self& operator-=(const Operand& other) const& { return this->sub_(other); }  ///< sub_
  void operator-=(const Operand& other) && {                                         ///< sub_
    detail::write_through(this->self(), "sub_", [&] { return torch::sub(this->operand(), other); });
  }
  const Self& operator*=(const Operand& other) const& { return this->mul_(other); }  ///< mul_
  void operator*=(const Operand& other) && {                                         ///< mul_
    detail::write_through(this->self(), "mul_", [&] { return torch::mul(this->operand(), other); });
  }
  const Self& operator/=(const Operand& other) const& { return this->div_(other); }  ///< div_
  void operator/=(const Operand& other) && {                                         ///< div_
    detail::write_through(this->self(), "div_", [&] { return torch::div(this->operand(), other); });
  }
  /// @}
};

}  // namespace cotan::torch
