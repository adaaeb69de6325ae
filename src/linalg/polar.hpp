// Polar decompositions with their derivative, which does not go through the way they were found.
#pragma once
#include <cotan/array.hpp>

namespace cotan::linalg {

struct PolarFactors {
  Array u, h;
};
/// x = u h, of x [..., m, n] with m >= n: the factors, which were found without derivatives, with that of x.
PolarFactors with_polar_derivative(const Array& x, const PolarFactors& found);

}  // namespace cotan::linalg
