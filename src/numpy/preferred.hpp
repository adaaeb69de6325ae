// Products that are summed in a wider dtype than that of their operands.
#pragma once
#include <cotan/numpy.hpp>
#include <span>

#include "ops/promote.hpp"

namespace cotan::numpy {

/// Raises where the name is none of JAX's. All of them mean the same here: all bits of the dtype.
void check_precision(std::string_view op, std::string_view precision);
/// The operands in a dtype that holds both theirs and the preferred one.
Arrays widened(std::span<const Array> operands, DType preferred);

/// f of both operands, as the options say.
template <class F>
Array preferred(std::string_view op, const Array& a, const Array& b, const ProductOptions& options, F&& f) {
  check_precision(op, options.precision.value_or("default"));
  if (!options.preferred_element_type) return f(a, b);
  const Array operands[] = {a, b};
  const Arrays x = widened(operands, *options.preferred_element_type);
  return f(x[0], x[1]).astype(*options.preferred_element_type);
}

}  // namespace cotan::numpy
