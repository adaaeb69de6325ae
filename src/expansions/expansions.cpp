#include "expansions/expansions.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "core/typed.hpp"
#include "expansions/tools.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"
#include "special/special.hpp"

namespace cotan {

namespace {

struct Entry {
  const Primitive* primitive;
  expansions::Expand expand;
};
constexpr Entry entries[] = {
    {&ops::cumsum_p, expansions::cumulative},
    {&ops::cumprod_p, expansions::cumulative},
    {&ops::cummax_p, expansions::cumulative},
    {&ops::cummin_p, expansions::cumulative},
    {&ops::cumlogsumexp_p, expansions::cumulative},
    {&ops::linear_recurrence_p, expansions::linear_recurrence},
    {&ops::cholesky_p, expansions::cholesky},
    {&ops::triangular_solve_p, expansions::triangular_solve},
    {&ops::lu_p, expansions::lu},
    {&ops::qr_p, expansions::qr},
    {&ops::sort_p, expansions::sort},
    {&ops::top_k_p, expansions::top_k},
    {&order_of_words_p, expansions::order_of_words},
    {&sum_of_runs_p, expansions::sum_of_runs},
    {&ops::scatter_p, expansions::scatter},
    {&ops::scatter_add_p, expansions::scatter},
    {&ops::scatter_mul_p, expansions::scatter},
    {&ops::scatter_min_p, expansions::scatter},
    {&ops::scatter_max_p, expansions::scatter},
    {&ops::eigh_p, expansions::eigh},
    {&ops::svd_p, expansions::svd},
    {&ops::polygamma_p, expansions::polygamma},
    {&ops::fft_p, expansions::fft},
    {&ops::attention_p, expansions::attention},
    {&ops::attention_tangent_p, expansions::attention},
    {&ops::attention_backward_p, expansions::attention},
};

const Entry* entry_of(const Primitive& p) {
  const auto* at =
      std::find_if(std::begin(entries), std::end(entries), [&](const Entry& e) { return e.primitive == &p; });
  return at == std::end(entries) ? nullptr : at;
}

bool is_zero(const Atom& a) {
  const Literal* literal = std::get_if<Literal>(&a);
  if (!literal) return false;
  return dispatch(literal->value.dtype(), [&]<class T>() {
    const T zero{};
    return std::memcmp(data<T>(literal->value), &zero, sizeof zero) == 0;
  });
}

}  // namespace

bool has_expansion(const Primitive& p) { return entry_of(p) != nullptr || special::is_composed(p); }

JaxprPtr expansion_of(const Primitive& p, const Types& types, const Params& params) {
  const Entry* const entry = entry_of(p);
  // What special functions are evaluated by is a program already.
  const expansions::Expand rule = entry ? entry->expand : special::is_composed(p) ? p.eval : nullptr;
  if (!rule) return nullptr;
  Types strong = types;
  for (AbstractValue& t : strong) t.weak_type = false;
  const auto expand = [&](std::span<const Array> x) { return rule(p, x, params); };
  const ClosedJaxpr closed = trace_to_jaxpr(expand, strong, "jit", std::string(p.name));
  internal_check(closed.consts.empty(), "an expansion captures an array");
  if (closed.jaxpr->outputs.empty()) return nullptr;
  const JaxprPtr program = eliminate_dead_code(inline_all_calls(closed.jaxpr));
  verify_if_enabled(*program, "expanding a routine");
  return program;
}

JaxprPtr expand_routines(const JaxprPtr& jaxpr, Wanted wanted, Wanted wanted_inside) {
  Rewriter rewriter(*jaxpr);
  std::vector<bool> zeros(jaxpr->types.size(), false);  // arrays that are
  for (const Equation& e : jaxpr->equations) {
    Types types;
    for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
    if (e.primitive == &ops::broadcast_in_dim_p)
      zeros[static_cast<std::size_t>(e.outputs[0].id)] = is_zero(e.inputs[0]);
    Params params = e.params;
    const Var* operand = e.primitive == &ops::scatter_add_p ? std::get_if<Var>(&e.inputs[0]) : nullptr;
    if (operand && zeros[static_cast<std::size_t>(operand->id)]) params = params.with("into_zeros", true);
    const JaxprPtr program =
        wanted(*e.primitive, types, e.params) ? expansion_of(*e.primitive, types, params) : nullptr;
    if (!program) {
      rewriter.emit(e, rewriter.read(e.inputs), map_nested(e.params, [&](const JaxprPtr& j) {
                      return expand_routines(j, wanted_inside, wanted_inside);
                    }));
      continue;
    }
    const std::vector<Atom> results =
        splice(*expand_routines(program, wanted, wanted_inside), rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "expanding routines");
}

}  // namespace cotan
