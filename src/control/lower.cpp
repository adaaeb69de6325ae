// Control flow for compilers: what they do not know becomes what they do.
#include "control/control.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

/// The equation as a program of other equations, or nothing where it stays as it is.
JaxprPtr lowered_form(const Equation& e, const Types& types, bool keep_lanes) {
  if (e.primitive == &associative_scan_p) {
    const AssociativeScan s(e.params);
    return inline_all_calls(
        trace_to_jaxpr([&](std::span<const Array> in) { return associative_scan_in_steps(s, in); }, types, "jit").jaxpr);
  }
  if (e.primitive == &lanes_p) {
    const Lanes lanes(e.params);
    if (!keep_lanes || lanes.size == 0 || !runs_in_lanes(*lanes.program)) return batched_program(lanes);
  }
  return nullptr;
}

}  // namespace

bool runs_in_lanes(const Jaxpr& program) {
  for (const Equation& e : program.equations) {
    const Primitive& p = *e.primitive;
    if (e.primitive == &scan_p ? !fits_lanes(Scan(e.params)) : !(p.scalar || p.scalars || p.element)) return false;
  }
  return true;
}

JaxprPtr lower_control_flow(const JaxprPtr& jaxpr, bool keep_lanes) {
  const auto lower = [&](const JaxprPtr& j) { return lower_control_flow(j, keep_lanes); };
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    Types types;
    for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
    const JaxprPtr form = lowered_form(e, types, keep_lanes);
    if (!form) {
      // Lanes inside lanes are batches.
      Params params = e.primitive == &lanes_p
                          ? map_nested(e.params, [](const JaxprPtr& j) { return lower_control_flow(j, false); })
                          : map_nested(e.params, lower);
      rewriter.emit(e, rewriter.read(e.inputs), std::move(params));
      continue;
    }
    const std::vector<Atom> results = splice(*lower(form), rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "lowering control flow");
}

}  // namespace cotan
