// cotan::numpy on complex numbers: their parts, angles, predicates, and roots of polynomials.
#pragma once
#include <cotan/array.hpp>

namespace cotan::numpy {

/// @name Complex numbers
/// c64 and c128; `std::complex` is a weak scalar as other C++ numbers are. Functions of floats take them where JAX's
/// do.
/// @{
Array real(const ArrayLike& a);       ///< the real part, of real numbers themselves
Array imag(const ArrayLike& a);       ///< the imaginary part, of real numbers zeros
Array conj(const ArrayLike& a);       ///< re - i im, of real numbers themselves
Array conjugate(const ArrayLike& a);  ///< the same as conj
/// The angle in (-π, π]; in degrees where asked for. Of a negative real number it is π.
Array angle(const ArrayLike& a, bool deg = false);
Array iscomplex(const ArrayLike& a);    ///< element by element: the imaginary part is not 0
Array isreal(const ArrayLike& a);       ///< element by element: the imaginary part is 0
bool iscomplexobj(const ArrayLike& a);  ///< whether the dtype is complex
bool isrealobj(const ArrayLike& a);     ///< whether the dtype is not complex
/// Sorted along the last axis by real part, then by imaginary part; complex where it was not.
Array sort_complex(const ArrayLike& a);
/// The zeros of the polynomial p[0] xⁿ⁻¹ + … + p[n-1]: a vector, p[0] not 0. JAX's with strip_zeros = false.
Array roots(const ArrayLike& p);
/// @}

}  // namespace cotan::numpy
