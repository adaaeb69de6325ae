// Kernels of resampling, and the weights of samples: for numbers of the host and for Arrays alike.
#pragma once
#include <cmath>
#include <cotan/image.hpp>
#include <cotan/numpy.hpp>

namespace cotan::image {

namespace of {
// What kernels are made of, for double and for Array.
inline double choose(bool condition, double a, double b) { return condition ? a : b; }
inline Array choose(const Array& condition, const Array& a, const Array& b) { return numpy::where(condition, a, b); }
inline double largest(double a, double b) { return std::max(a, b); }
inline Array largest(const Array& a, const Array& b) { return numpy::maximum(a, b); }
inline double smallest(double a, double b) { return std::min(a, b); }
inline Array smallest(const Array& a, const Array& b) { return numpy::minimum(a, b); }
inline double sine(double a) { return std::sin(a); }
inline Array sine(const Array& a) { return numpy::sin(a); }
inline double distance(double a) { return std::abs(a); }
inline Array distance(const Array& a) { return numpy::abs(a); }
}  // namespace of

/// The weight of a sample at distance x >= 0; 0 from `reach` on.
template <class V>
V kernel_weight(ResizeMethod::Kind kind, const V& x) {
  const V zero = x * 0.0;
  const auto cubic = [&](double a) {
    const V near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0, far = ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
    return of::choose(x >= 2.0, zero, of::choose(x >= 1.0, far, near));
  };
  const auto lanczos = [&](double radius) {
    const V other = of::choose(x != 0.0, x, zero + 1.0);  // so that no derivative is NaN
    const V y =
        radius * of::sine(numpy::pi * x) * of::sine(numpy::pi * x / radius) / (numpy::pi * numpy::pi * other * other);
    return of::choose(x > radius, zero, of::choose(x > 1e-3, y, zero + 1.0));
  };
  switch (kind) {
    case ResizeMethod::lanczos3:
      return lanczos(3.0);
    case ResizeMethod::lanczos5:
      return lanczos(5.0);
    case ResizeMethod::cubic:
      return cubic(-0.5);
    case ResizeMethod::cubic_pytorch:
      return cubic(-0.75);
    default:
      return of::largest(zero, 1.0 - x);
  }
}

/// What one element of the result takes of one sample, before weights are divided by their sum. `place` is where the
/// element's middle is among the samples, `inverse` how many samples it is wide, `wide` what the kernel is stretched
/// by.
template <class V>
V sample_weight(ResizeMethod::Kind kind, const V& place, const V& sample, const V& inverse, const V& wide) {
  if (kind != ResizeMethod::area) return kernel_weight(kind, V(of::distance(place - sample) / wide));
  const V left = place + 0.5 - 0.5 * inverse;
  return of::largest(place * 0.0, of::smallest(left + inverse, sample + 1.0) - of::largest(left, sample));
}

/// Sums of weights that are no larger count as 0.
inline constexpr double least_sum = 1000.0 * 1.1920928955078125e-7;
/// How far samples are repeated at the edges, on either side.
inline std::int64_t repeated_edges(ResizeMethod::Kind kind) { return kind == ResizeMethod::cubic_pytorch ? 2 : 0; }

}  // namespace cotan::image
