// What Stirling's formula leaves of log Γ.
#pragma once
#include <cotan/array.hpp>

namespace cotan::special {

/// log Γ(x) - (x - 1/2) log x + x - log(2 pi)/2, for x >= 10.
inline Array stirling_rest(const Array& x) {
  const Array inverse = 1.0 / x, square = inverse * inverse;
  Array sum = 43867.0 / 244188;
  for (const double c :
       {-3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12})
    sum = sum * square + c;
  return sum * inverse;
}

}  // namespace cotan::special
