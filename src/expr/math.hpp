// Elementary functions as expressions of basic operations, so that back ends vectorise them inside fused
// loops. Operands and results are f32 or f64; f32 functions never go through f64. Results are within 1 to 2
// ulp of the exact value, erfc and a few others within 3.5, with the special values of ops/scalar_math.hpp:
// tests/accuracy/expr_math_test.cpp measures every function.
#pragma once
#include <utility>

#include "expr/expr.hpp"

namespace cotan::expr::math {

Expr exp(Expr x);
Expr exp2(Expr x);
Expr expm1(Expr x);
Expr log(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);
Expr log1p(Expr x);
Expr logistic(Expr x);

Expr rsqrt(Expr x);
Expr cbrt(Expr x);
Expr hypot(Expr x, Expr y);
Expr pow(Expr x, Expr y);
/// x to a static power; any numeric dtype but halves. n >= 0 for integers.
Expr integer_pow(Expr x, std::int64_t n);
/// C's fmod: exact, with the sign of x.
Expr fmod(Expr x, Expr y);
/// Also f16 and bf16.
Expr nextafter(Expr x, Expr y);

Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);

Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);

Expr erf(Expr x);
Expr erfc(Expr x);
Expr erf_inv(Expr x);
Expr lgamma(Expr x);
Expr digamma(Expr x);
/// The n-th derivative of digamma, n >= 1.
Expr polygamma(std::int64_t n, Expr x);

/// The two words of the cipher of a counter under a key; all u32.
std::pair<Expr, Expr> threefry2x32(Expr key0, Expr key1, Expr counter0, Expr counter1);
// Bit for bit what ops/sampler_math.cpp and sampler_exp.cpp compute.
Expr sampler_exp(Expr x);
Expr sampler_log(Expr x);
Expr sampler_log1p(Expr x);
Expr sampler_erf_inv(Expr x);

// Functions of the run-time library: scalar_math's, for rare arguments and for what is too long to be written
// out wherever it is used.
extern const Function sin_function, cos_function, tan_function, log_function, fmod_function, lgamma_function,
    digamma_function;
/// Operands: the order as a float, x.
extern const Function polygamma_function;
/// What such a function is of these operands, for back ends that compile it once instead of calling the library,
/// element by element; nothing where only the library has it. Not for arguments that expressions never give it.
Expr expansion(const Function& function, std::span<const Expr> operands);
/// Whether there is one for some operands.
bool has_expansion(const Function& function);

}  // namespace cotan::expr::math
