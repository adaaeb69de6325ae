// What reductions share: walking over the reduced axes.
#pragma once
#include <algorithm>

#include "core/rows.hpp"
#include "expr/lowering.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

/// Calls f(output index, pointer-offset list) per output element: offsets of the reduced elements in order.
template <class F>
void for_each_reduced(const Array& x, const Ints& axes, F&& f) {
  const Ints strides = strides_of(x.shape());
  Shape kept_shape, kept_strides, axis_shape, axis_strides;
  for (std::int64_t i = 0; i < x.ndim(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    (reduced ? axis_shape : kept_shape).push_back(x.shape()[i]);
    (reduced ? axis_strides : kept_strides).push_back(strides[i]);
  }
  std::vector<std::int64_t> offsets;
  for_each_offset(axis_shape, axis_strides, axis_strides, [&](std::int64_t o, std::int64_t) { offsets.push_back(o); });
  for_each_offset(kept_shape, kept_strides, strides_of(kept_shape),
                  [&](std::int64_t base, std::int64_t out) { f(out, base, offsets); });
}

/// The term of a reduction of an array: its element.
inline expr::Expr reduced_element(const expr::Operands& x, std::span<const expr::Expr> i, const Params&) {
  return x.at(0, i);
}

}  // namespace cotan::ops
