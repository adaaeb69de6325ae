// Jaxpr -> Jaxpr clean-ups that no device has a say in: small, each verified. lowering/pipeline.cpp has their order.
#pragma once
#include "core/jaxpr.hpp"

namespace cotan {

/// Drops equations whose results nobody reads, also inside nested programs.
JaxprPtr eliminate_dead_code(const JaxprPtr& jaxpr);
/// Keeps only the outputs where `used`, and what they need; inputs stay.
JaxprPtr restrict_outputs(const JaxprPtr& jaxpr, const std::vector<bool>& used);
/// Replaces jit calls by their programs. Checkpoints stay: inlining would undo them.
JaxprPtr inline_calls(const JaxprPtr& jaxpr);
/// For compilers, which run no further transforms: inlines calls of every other kind too, so that rules of custom
/// derivatives and policies of checkpoints are lost. Checkpoints stay calls while equal equations may still be merged:
/// what they compute again must not be merged with the first computation.
JaxprPtr inline_all_but_checkpoints(const JaxprPtr& jaxpr);
/// Inlines every call, checkpoints too.
JaxprPtr inline_all_calls(const JaxprPtr& jaxpr);
/// Literals through scalar arithmetic, identities that are exact in floating point, views that do nothing.
JaxprPtr fold_constants_and_identities(const JaxprPtr& jaxpr);
/// dot_general with exchanged operands where only its transpose is used.
JaxprPtr fold_transposed_products(const JaxprPtr& jaxpr);
/// Gathers of one element per computed row become sums that are computed with the row's others. For compilers only: a
/// zero may lose its sign.
JaxprPtr few_reads_as_sums(const JaxprPtr& jaxpr);
/// Equations on single numbers before all others, in their order.
JaxprPtr scalars_first(const JaxprPtr& jaxpr);
/// A sum of arrays that zeros pad to lie side by side as a concatenation.
JaxprPtr join_disjoint_pads(const JaxprPtr& jaxpr);
/// Invariants of loops before them; equal operands, carries and results of a loop once (Primitive::simplify).
JaxprPtr simplify_loops(const JaxprPtr& jaxpr);
/// Complex operands and results as real arrays with an axis of size 2 at the end; in between, parts.
JaxprPtr with_real_operands(const JaxprPtr& jaxpr);
/// For rules of nested programs: `jaxpr` with two inputs and outputs for each complex one, and lists to go with it.
JaxprPtr program_on_parts(const JaxprPtr& jaxpr);
Arrays flat_parts(const PartsList& parts);
PartsList grouped_parts(std::span<const Array> flat, const Types& types);
/// Applies the program to parts under the current trace.
PartsList eval_on_parts(const Jaxpr& jaxpr, const PartsList& args);
/// One equation for equal ones.
JaxprPtr eliminate_common_subexpressions(const JaxprPtr& jaxpr);
/// Splits off small arrays that depend on no input: the program `constants` computes them, and `rest` reads them as
/// further inputs. `constants` is empty where there are none.
struct SplitConstants {
  JaxprPtr constants, rest;
};
SplitConstants split_constants(const JaxprPtr& jaxpr);

}  // namespace cotan
