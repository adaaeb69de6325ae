// What losses share: checks of dtypes, sums over what a mask keeps.
#pragma once
#include <cotan/optax/losses.hpp>

#include "optax/core.hpp"

namespace cotan::optax::losses {

inline void check_floats(const Array& a, const char* loss, const char* what) {
  if (!is_floating(a.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] {} are {}; convert them to a float dtype with astype.", loss, what, a.aval().str()));
}
inline Array masked_sum(const Array& x, const Axes& axis, const Array& where, bool keepdims = false) {
  return np::sum(where.defined() ? np::where(where, x, np::zeros_like(x)) : x, axis, keepdims);
}

}  // namespace cotan::optax::losses
