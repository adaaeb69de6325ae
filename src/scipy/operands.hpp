// What functions of scipy share: operands in one floating-point dtype.
#pragma once
#include <algorithm>
#include <array>

#include "ops/promote.hpp"

namespace cotan::scipy {

/// In their common floating-point dtype; shapes as they are. TypeError for complex numbers.
template <class... A>
std::array<Array, sizeof...(A)> promoted(const A&... a) {
  const Array list[] = {static_cast<const Array&>(a)...};
  for (const Array& operand : list) numpy::check_real("scipy", operand);
  const Arrays cast = numpy::cast_all(list, numpy::inexact_result_type(list));
  std::array<Array, sizeof...(A)> out;
  std::copy(cast.begin(), cast.end(), out.begin());
  return out;
}

}  // namespace cotan::scipy
