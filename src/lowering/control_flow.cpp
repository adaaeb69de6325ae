// Rewrites control flow that a device does not know as control flow that it does.
#include "lowering/associative.hpp"
#include "lowering/device_passes.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

JaxprPtr lower(const JaxprPtr& jaxpr, const ControlLowering& how, bool in_loop);

/// Chunks compute every step twice. That pays where steps are chains of dependent operations, whose latency lanes can
/// hide, where arithmetic and not memory takes the time, and where there are threads enough.
std::int64_t chunks_for(const AssociativeScan& s, std::int64_t length, const ControlLowering& how) {
  constexpr std::int64_t side_by_side = 256, least_steps = 16;
  constexpr double much_work = 4;  // operations per byte
  if (how.chunk_always) return std::min(how.chunks, (length - 1) / 2);
  double bytes = 0;
  bool scalars = true;
  for (const Atom& a : s.combine->outputs) {
    const AbstractValue& type = s.combine->type(a);
    bytes += static_cast<double>(type.size()) * static_cast<double>(itemsize(type.dtype));
    scalars = scalars && type.size() == 1;
  }
  std::int64_t chunks = 1;
  if (scalars && runs_in_lanes(*s.combine))
    chunks = side_by_side;
  else if (work_of(*s.combine) >= much_work * bytes)
    chunks = how.chunks;
  return length > chunks * least_steps ? chunks : 1;
}

/// The equation as a program of other equations, or nothing where it stays as it is.
JaxprPtr lowered_form(const Equation& e, const Types& types, const ControlLowering& how, bool in_loop) {
  if (e.primitive == &associative_scan_p) {
    const AssociativeScan s(e.params);
    const std::int64_t length = types[s.consts].shape[0];
    if (how.in_levels && how.keep_lanes && !in_loop) {
      const auto scan = [&](std::span<const Array> in) { return associative_scan_in_levels(s, in); };
      return inline_all_calls(trace_to_jaxpr(scan, types, "jit").jaxpr);
    }
    const std::int64_t chunks = how.keep_lanes && !in_loop ? chunks_for(s, length, how) : 1;
    const auto scan = [&](std::span<const Array> in) {
      return chunks > 1 ? associative_scan_in_chunks(s, in, chunks) : associative_scan_in_steps(s, in);
    };
    return inline_all_calls(trace_to_jaxpr(scan, types, "jit").jaxpr);
  }
  if (e.primitive == &lanes_p) {
    const Lanes lanes(e.params);
    const bool stays = how.keep_lanes && lanes.size > 0 && (lanes.apart || runs_in_lanes(*lanes.program));
    if (!stays) return batched_program(lanes);
  }
  return nullptr;
}

JaxprPtr lower(const JaxprPtr& jaxpr, const ControlLowering& how, bool in_loop) {
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    Types types;
    for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
    const JaxprPtr form = lowered_form(e, types, how, in_loop);
    if (!form) {
      ControlLowering inside = how;
      if (e.primitive == &lanes_p) inside.keep_lanes = false;  // lanes inside lanes are batches
      rewriter.emit(e, rewriter.read(e.inputs),
                    map_nested(e.params, [&](const JaxprPtr& j) { return lower(j, inside, true); }));
      continue;
    }
    const std::vector<Atom> results = splice(*lower(form, how, in_loop), rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "lowering control flow");
}

JaxprPtr lower_rests(const JaxprPtr& jaxpr, bool in_levels) {
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    if (e.primitive != &associative_rest_p) {
      // Inside lanes and loops every thread has work already.
      rewriter.emit(e, rewriter.read(e.inputs),
                    map_nested(e.params, [](const JaxprPtr& j) { return lower_rests(j, false); }));
      continue;
    }
    const JaxprPtr form =
        inline_all_calls(in_levels ? associative_rest_in_levels(AssociativeRest(e.params)) : e.params.jaxpr("jaxpr"));
    const std::vector<Atom> results = splice(*form, rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "lowering associative scans");
}

}  // namespace

JaxprPtr lower_associative_rests(const JaxprPtr& jaxpr, bool in_levels) {
  return eliminate_dead_code(lower_rests(jaxpr, in_levels));
}

JaxprPtr lower_control_flow(const JaxprPtr& jaxpr, const ControlLowering& how) { return lower(jaxpr, how, false); }

}  // namespace cotan
