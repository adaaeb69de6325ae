// What functions of nn do to their operands first.
#pragma once
#include "ops/promote.hpp"

namespace cotan::nn {

/// Integers as floats.
inline Array inexact(const Array& x) {
  const Array one[] = {x};
  return numpy::cast_to(x, numpy::inexact_result_type(one));
}

}  // namespace cotan::nn
