// The checks that every case of the table goes through.
#pragma once
#include <vector>

#include "cases/case_ops.hpp"

namespace cases {

struct Check {
  const char* name;
  bool (*applies)(const Case&);
  void (*run)(const Case&);  ///< reports by gtest assertions
};
/// Values and gradients against JAX, jit against eager, vmap against a loop, jvp against vjp and finite
/// differences.
const std::vector<Check>& all_checks();

/// The arrays of tests/golden/cases/*.npz, held between these two calls.
void load_goldens();
void drop_goldens();

}  // namespace cases
