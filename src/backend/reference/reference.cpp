// The reference back end: every primitive's own evaluation rule, one at a time. Correct before fast.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "core/backend.hpp"

namespace cotan {

namespace {

std::size_t physical_memory() {
  static const auto bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::byte* allocate(std::size_t bytes) override {
    constexpr std::size_t alignment = 64;
    const std::size_t rounded = (bytes + alignment) / alignment * alignment;  // never zero
    // Linux promises memory it does not have: refuse what can never fit instead of being killed later.
    if (rounded < bytes || rounded > physical_memory()) return nullptr;
    return static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  }
  void release(std::byte* data, std::size_t) override { std::free(data); }
  bool evaluates_rules() const override { return true; }
  Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) override {
    return p.eval(p, args, params);
  }
  Arrays run_program(const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>*) override {
    return eval_jaxpr(*jaxpr, args);
  }
  void explain(const JaxprPtr& jaxpr, const std::vector<bool>*, Explanation& out) override {
    out.dispatches = out.routines = static_cast<int>(jaxpr->equations.size());
    out.steps = "one primitive after another, each by its evaluation rule\n";
    // Everything that is alive at an equation.
    std::vector<int> last(jaxpr->types.size(), -1);
    for (int i = 0; i < static_cast<int>(jaxpr->equations.size()); ++i)
      for (const Atom& a : jaxpr->equations[static_cast<std::size_t>(i)].inputs)
        if (const Var* v = std::get_if<Var>(&a)) last[static_cast<std::size_t>(v->id)] = i;
    for (const Atom& a : jaxpr->outputs)
      if (const Var* v = std::get_if<Var>(&a)) last[static_cast<std::size_t>(v->id)] = INT_MAX;
    const auto bytes = [&](Var v) {
      return jaxpr->type(v).size() * static_cast<std::int64_t>(itemsize(jaxpr->type(v).dtype));
    };
    std::int64_t live = out.argument_bytes, peak = live;
    for (int i = 0; i < static_cast<int>(jaxpr->equations.size()); ++i) {
      const Equation& e = jaxpr->equations[static_cast<std::size_t>(i)];
      for (Var v : e.outputs) live += bytes(v);
      peak = std::max(peak, live);
      std::vector<Var> ended(e.outputs);
      for (const Atom& a : e.inputs)
        if (const Var* v = std::get_if<Var>(&a))
          if (std::find(ended.begin(), ended.end(), *v) == ended.end()) ended.push_back(*v);
      for (Var v : ended)
        if (last[static_cast<std::size_t>(v.id)] <= i &&
            std::find(jaxpr->inputs.begin(), jaxpr->inputs.end(), v) == jaxpr->inputs.end())
          live -= bytes(v);
    }
    out.peak_bytes = peak;
    out.temporary_bytes = std::max<std::int64_t>(0, peak - out.argument_bytes - out.result_bytes);
  }
};

Backend& backend() {
  static ReferenceBackend& made = *new ReferenceBackend;
  return made;
}
const RegisterBackend registered(20, backend);

}  // namespace

}  // namespace cotan
