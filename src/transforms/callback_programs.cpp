// Effects of whole programs: whether there are any, and programs without them.
#include "core/error.hpp"
#include "passes/rewriter.hpp"
#include "transforms/callback.hpp"
#include "transforms/checks.hpp"

namespace cotan {

CallbackPtr callback_of(const Params& params) {
  return std::static_pointer_cast<const Callback>(params.get<OpaquePtr>("callback"));
}

namespace {
bool is_effect(const Primitive* p) { return p == &io_callback_p || p == &debug_callback_p || p == &check_p; }
}  // namespace

bool has_effects(const Equation& e) {
  bool found = is_effect(e.primitive);
  map_nested(e.params, [&](const JaxprPtr& j) {
    found = found || has_effects(*j);
    return j;
  });
  return found;
}
bool has_effects(const Jaxpr& jaxpr) {
  for (const Equation& e : jaxpr.equations)
    if (has_effects(e)) return true;
  return false;
}

bool has_callbacks(const Jaxpr& jaxpr) {
  bool found = false;
  for (const Equation& e : jaxpr.equations) {
    found = found || (is_effect(e.primitive) && e.primitive != &check_p);
    map_nested(e.params, [&](const JaxprPtr& j) {
      found = found || has_callbacks(*j);
      return j;
    });
  }
  return found;
}

JaxprPtr without_effects(const JaxprPtr& jaxpr) {
  if (!has_effects(*jaxpr)) return jaxpr;
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    if (!is_effect(e.primitive)) {
      rewriter.emit(e, rewriter.read(e.inputs), map_nested(e.params, without_effects));
      continue;
    }
    if (e.outputs.size() > 1)
      raise<TransformError>(
          "[{}] its results would be needed once more, in a loop that runs again for derivatives; use scan, or "
          "pure_callback.",
          callback_of(e.params)->name);
    rewriter.substitute(e.outputs[0], rewriter.read(e.inputs[0]));
  }
  return rewriter.finish(jaxpr->outputs, "leaving out effects");
}

}  // namespace cotan
