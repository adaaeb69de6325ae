// Rules for complex operands: what operations are on real and imaginary parts. Memory of complex arrays is never looked
// at; programs are rewritten by these rules before a device sees them (passes/complex_parts.cpp).
#pragma once
#include "ops/ops.hpp"

namespace cotan::ops {

using PartsOf = std::span<const ComplexParts>;

/// The operation on all real parts and on all imaginary parts; real operands (indices, predicates) go to both.
PartsList on_each_part(const Primitive& self, PartsOf x, const Params& params);
/// Of operations that are linear in each of two operands: (ac - bd) + (ad + bc) i.
PartsList bilinear_on_parts(const Primitive& self, PartsOf x, const Params& params);

/// A rule of one value from one value, and from two.
template <auto f>
PartsList unary_on_parts(const Primitive&, PartsOf x, const Params&) {
  return {f(x[0])};
}
template <auto f>
PartsList binary_on_parts(const Primitive&, PartsOf x, const Params&) {
  return {f(x[0], x[1])};
}

// linalg/: what only complex matrices need.
extern const Primitive eig_p, complex_routine_p;
/// By LAPACK, on the memory of complex matrices (linalg/complex_routine.cpp).
PartsList by_complex_routine(const Primitive& self, PartsOf x, const Params& params);
/// Both parts along a last axis of size 2, as complex numbers lie in memory, and back.
Array interleaved(const ComplexParts& x);
ComplexParts parts_of_memory(const Array& both);

/// A real result.
inline PartsList real_result(const Array& a) { return {{a, {}}}; }

// Arithmetic and elementary functions (complex_math.cpp, complex_functions.cpp); results as accurate as those of the
// real functions they are made of.
namespace parts {

ComplexParts add(const ComplexParts& a, const ComplexParts& b);
ComplexParts sub(const ComplexParts& a, const ComplexParts& b);
ComplexParts mul(const ComplexParts& a, const ComplexParts& b);
ComplexParts div(const ComplexParts& a, const ComplexParts& b);
ComplexParts scaled(const ComplexParts& a, double by);
ComplexParts reciprocal(const ComplexParts& a);
ComplexParts where(const Array& predicate, const ComplexParts& a, const ComplexParts& b);
ComplexParts like(const ComplexParts& a, double re, double im = 0);
/// By real part, then by imaginary part.
Array less(const ComplexParts& a, const ComplexParts& b);
Array equal(const ComplexParts& a, const ComplexParts& b);

ComplexParts square(const ComplexParts& a);
ComplexParts integer_pow(const ComplexParts& a, std::int64_t n);
ComplexParts pow(const ComplexParts& a, const ComplexParts& b);
ComplexParts sign(const ComplexParts& a);
ComplexParts sqrt(const ComplexParts& a);
/// The same, but below the cut where the imaginary part is -0.
ComplexParts signed_sqrt(const ComplexParts& a);
ComplexParts rsqrt(const ComplexParts& a);
ComplexParts exp(const ComplexParts& a);
ComplexParts exp2(const ComplexParts& a);
ComplexParts expm1(const ComplexParts& a);
ComplexParts log(const ComplexParts& a);
ComplexParts log2(const ComplexParts& a);
ComplexParts log10(const ComplexParts& a);
ComplexParts log1p(const ComplexParts& a);
ComplexParts logistic(const ComplexParts& a);
ComplexParts sin(const ComplexParts& a);
ComplexParts cos(const ComplexParts& a);
ComplexParts tan(const ComplexParts& a);
ComplexParts asin(const ComplexParts& a);
ComplexParts acos(const ComplexParts& a);
ComplexParts atan(const ComplexParts& a);
ComplexParts sinh(const ComplexParts& a);
ComplexParts cosh(const ComplexParts& a);
ComplexParts tanh(const ComplexParts& a);
ComplexParts asinh(const ComplexParts& a);
ComplexParts acosh(const ComplexParts& a);
ComplexParts atanh(const ComplexParts& a);

/// y[i] = a[i] y[i-1] + b[i] along an axis, in a logarithmic number of steps.
ComplexParts recurrence(ComplexParts a, ComplexParts b, int axis, bool reverse);
ComplexParts running_product(ComplexParts a, int axis, bool reverse);

}  // namespace parts

}  // namespace cotan::ops
