// What a program computes and moves, counted: Compiled::cost_analysis.
#pragma once
#include "compiler/program.hpp"

namespace cotan::compiler {

struct Costs {
  double flops = 0;            ///< additions, multiplications and their like on floats, an element each
  double transcendentals = 0;  ///< elements of exp, sin and their like, which are not among the flops
};
/// Of a program as it is compiled. Loops count as often as they run, while loops once; of branches the most expensive.
Costs costs_of(const Jaxpr& program);
/// Bytes that its steps read and write: every array once per step that touches it.
double bytes_accessed(const Program& program);

}  // namespace cotan::compiler
