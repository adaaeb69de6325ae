// Merges lanes that read the results of other lanes with those: two loops of the same lane become one program, so that
// the values between them stay in the cache of the thread that runs the lane.
#include "lowering/device_passes.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

class Merger {
 public:
  explicit Merger(const Jaxpr& jaxpr) : jaxpr_(jaxpr) {}

  /// Merges one pair; false if there was none.
  bool run() {
    for (std::size_t then = 0; then < jaxpr_.equations.size(); ++then) {
      if (jaxpr_.equations[then].primitive != &lanes_p) continue;
      for (std::size_t first = then; first-- > 0;)
        if (jaxpr_.equations[first].primitive == &lanes_p && merge(first, then)) return true;
    }
    return false;
  }
  Jaxpr take() { return std::move(jaxpr_); }

 private:
  bool merge(std::size_t first, std::size_t then) {
    const Equation &a = jaxpr_.equations[first], &b = jaxpr_.equations[then];
    const Lanes before(a.params), after(b.params);
    if (before.size != after.size || before.apart || after.apart || !runs_in_lanes(*before.program) ||
        !runs_in_lanes(*after.program))
      return false;
    // Where each operand of the second is among the results of the first; -1: elsewhere.
    const Mask given = depends_on(*before.program, before.mapped);
    std::vector<std::ptrdiff_t> from(b.inputs.size(), -1);
    bool any_from = false;
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      const Var* v = std::get_if<Var>(&b.inputs[i]);
      const auto at = v ? std::find(a.outputs.begin(), a.outputs.end(), *v) : a.outputs.end();
      if (at == a.outputs.end()) continue;
      from[i] = at - a.outputs.begin();
      if (given[static_cast<std::size_t>(from[i])] != after.mapped[i]) return false;
      any_from = any_from || after.mapped[i];
    }
    if (!any_from) return false;
    Mask direct;
    for (std::ptrdiff_t at : from) direct.push_back(at >= 0);
    auto around = brought_together(jaxpr_, first, then, direct);
    if (!around) return false;

    Equation both{&lanes_p, a.inputs, a.outputs, {}, b.where};
    Lanes merged;
    merged.size = before.size;
    merged.mapped = before.mapped;
    Types types = before.program->input_types();
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      if (from[i] >= 0) continue;
      both.inputs.push_back(b.inputs[i]);
      merged.mapped.push_back(after.mapped[i]);
      types.push_back(after.program->type(after.program->inputs[i]));
    }
    both.outputs.insert(both.outputs.end(), b.outputs.begin(), b.outputs.end());
    const auto run = [&](std::span<const Array> in) {
      const Arrays middle = eval_jaxpr(*before.program, in.subspan(0, before.program->inputs.size()));
      Arrays operands;
      std::size_t next = before.program->inputs.size();
      for (std::ptrdiff_t at : from) operands.push_back(at >= 0 ? middle[static_cast<std::size_t>(at)] : in[next++]);
      return concat(middle, eval_jaxpr(*after.program, operands));
    };
    merged.program = trace_to_jaxpr(run, types, "lanes").jaxpr;
    both.params = merged.params();
    jaxpr_.equations = std::move(around->before);
    jaxpr_.equations.push_back(std::move(both));
    append(jaxpr_.equations, around->after);
    return true;
  }

  Jaxpr jaxpr_;
};

}  // namespace

JaxprPtr merge_lanes(const JaxprPtr& jaxpr) {
  Merger merger(*jaxpr);
  bool changed = false;
  while (merger.run()) changed = true;
  if (!changed) return jaxpr;
  auto out = std::make_shared<const Jaxpr>(merger.take());
  verify_if_enabled(*out, "merging lanes");
  return out;
}

}  // namespace cotan
