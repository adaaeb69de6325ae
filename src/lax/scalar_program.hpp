// A user's function on scalars as a program that is applied to the elements of arrays: what reductions combine with.
#pragma once
#include <cotan/flat.hpp>

#include "core/jaxpr.hpp"
#include "core/primitive.hpp"

namespace cotan::lax {

class ScalarProgram {
 public:
  /// `f` on scalars of these dtypes, which gives as many of the dtypes `results`; raises as `op` where it does not.
  ScalarProgram(std::string_view op, const FlatFn& f, const std::vector<DType>& operands,
                const std::vector<DType>& results);
  /// On elements of arrays of one shape, or 0-d ones among them.
  Arrays operator()(std::span<const Array> args) const;
  /// The primitive that it is of its two operands in either order; nullptr: it is more than one.
  const Primitive* single() const;

 private:
  ClosedJaxpr program_;
  bool elementwise_;
};

}  // namespace cotan::lax
