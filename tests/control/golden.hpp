// What JAX gives for the cases (tests/golden/control.npz, written by tools/golden/control.py).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "control/support.hpp"

namespace control {

/// A leaf as it is stored: the width of an integer is not compared, as JAX's default is 64 bits in 64-bit
/// mode.
struct GoldenLeaf {
  enum Kind { boolean, integer, floating } kind;
  Shape shape;
  std::vector<double> values;
};
/// By what was computed: "out", "jvp", "jvp0", "grad", "vmap", "vmap0", "vmap_grad", "jvp_grad".
using Golden = std::map<std::string, std::vector<GoldenLeaf>>;

/// Of a case, or of its reverse; nothing where the file does not have it.
const Golden* golden(const std::string& name);

/// `got` is what JAX gives, floats of dtype `floats`.
testing::AssertionResult agrees(const Arrays& got, const std::vector<GoldenLeaf>& want, ct::DType floats,
                                double tolerance);

}  // namespace control
