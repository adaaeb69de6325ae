// Loops, branches and calls with checks inside: traced again, so that the state becomes one of their carries. And the
// checks of indices.
#include <cotan/control_flow.hpp>
#include <cotan/lax/reductions.hpp>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "lax/checked_program.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/ops.hpp"
#include "transforms/callback.hpp"

namespace cotan {

namespace {
const flat::Paths no_paths = [](std::size_t) { return std::string(); };
std::span<const Array> part_of(const Arrays& x, std::size_t from, std::size_t count) {
  return std::span(x).subspan(from, count);
}
}  // namespace

Arrays CheckedProgram::scan(const Equation& e, const Arrays& x) {
  const Scan s(e.params);
  const auto consts = part_of(x, 0, s.consts);
  const auto body = [&](std::span<const Array> in) { return run(*s.body, concat(consts, in)); };
  return flat::scan(body, part_of(x, s.consts, s.carries), part_of(x, s.consts + s.carries, s.xs()),
                    {.reverse = s.reverse, .unroll = s.unroll, .length = s.length}, no_paths, no_paths);
}

Arrays CheckedProgram::while_loop(const Equation& e, const Arrays& x) {
  const While w(e.params);
  const auto of_condition = part_of(x, 0, w.condition_consts), of_body = part_of(x, w.condition_consts, w.body_consts);
  return flat::while_loop([&](std::span<const Array> in) { return run(*w.condition, concat(of_condition, in)); },
                          [&](std::span<const Array> in) { return run(*w.body, concat(of_body, in)); },
                          part_of(x, w.condition_consts + w.body_consts, w.carries()), no_paths);
}

Arrays CheckedProgram::branches(const Equation& e, const Arrays& x) {
  std::vector<FlatFunction> functions;
  for (const JaxprPtr& b : e.params.jaxprs("branches"))
    functions.push_back([this, b](std::span<const Array> in) { return run(*b, in); });
  const std::vector<FlatFn> branches(functions.begin(), functions.end());
  return flat::switch_(x[0], branches, std::span(x).subspan(1), "switch_", no_paths);
}

Arrays CheckedProgram::call(const Equation& e, const Arrays& x) {
  const JaxprPtr& jaxpr = e.params.jaxpr("jaxpr");
  const auto program = [&](std::span<const Array> in) { return run(*jaxpr, in); };
  effects::Watched watched(program);
  trace_to_jaxpr(watched, types_of(x), e.primitive->name);
  if (!watched.found()) return bind(*e.primitive, x, e.params);
  // Of custom derivatives the state is the last constant, in the place of the token where there was one.
  const bool has_rule = e.params.has("num_consts"), has_token = e.params.has("has_token");
  if (has_token && has_callbacks(*jaxpr))
    raise<TransformError>(
        "[checkify] {} has callbacks, checks and a derivative of its own; leave its prints and callbacks out.",
        e.primitive->name);
  const auto at = (has_rule ? e.params.integer("num_consts") : 0) - (has_token ? 1 : 0);
  return effects::call(e.primitive->name, [&](const Array& state) {
    Arrays operands = x;
    if (has_token) operands.erase(operands.begin() + at);
    operands.insert(operands.begin() + at, state);
    const ClosedJaxpr closed = trace_to_jaxpr(
        [&](std::span<const Array> in) {
          Arrays given(in.begin(), in.end());
          given.erase(given.begin() + at);
          if (has_token) given.insert(given.begin() + at, effects::first_token());
          Arrays out = effects::Threaded(program)(effects::with_token(in[static_cast<std::size_t>(at)], given));
          if (has_token) out.erase(out.begin() + 1);
          return out;
        },
        types_of(operands), e.primitive->name);
    Params params = e.params.with("jaxpr", closed.jaxpr);
    if (has_rule)
      params =
          params.with("has_token", true).with("num_consts", static_cast<std::int64_t>(closed.consts.size()) + at + 1);
    Arrays out = bind(*e.primitive, concat(closed.consts, operands), params);
    // The token itself, which nothing has taken. In a batch all results have its axis.
    if (has_token)
      out.insert(out.begin() + 1, ops::broadcast_to(x[static_cast<std::size_t>(at)], jaxpr->output_types()[0].shape));
    return out;
  });
}

void CheckedProgram::check_index(const Equation& e, const Arrays& x) {
  if (!e.primitive->windows_by_index) return;
  const auto windows = e.primitive->windows_by_index(x, e.params);
  if (!windows) return;
  // Column by column, since limits are numbers; the first index that is outside is shown.
  const bool narrow = itemsize(windows->starts.dtype()) < 4;  // sizes may be larger than what it counts to
  const Array starts = narrow ? ops::cast(windows->starts, DType::i32) : windows->starts;
  const std::int64_t n = starts.shape()[0], components = starts.shape()[1];
  Arrays outside, sizes, axes;
  for (std::int64_t k = 0; k < components; ++k) {
    const Array column = ops::slice_axis(starts, 1, k, k + 1);
    const std::int64_t last = windows->last[static_cast<std::size_t>(k)];
    const Array above = bind1(ops::gt_p, {column, ops::full({n, 1}, scalar(column.dtype(), last))}),
                below = bind1(ops::lt_p, {column, ops::full({n, 1}, scalar(column.dtype(), 0))});
    outside.push_back(bind1(ops::or_p, {above, below}));
    const auto axis = windows->axes[static_cast<std::size_t>(k)];
    axes.push_back(ops::full({1}, scalar(DType::i32, axis)));
    sizes.push_back(ops::full({1}, scalar(DType::i32, x[0].shape()[axis])));
  }
  const Array mask = ops::reshape(ops::concatenate(outside, 1), {n * components});
  const Array first = lax::argmax({ops::cast(mask, DType::i32), {}}, 0);
  const auto at = [&](const Array& list, const Array& i) {
    return ops::reshape(bind1(ops::dynamic_slice_p, {list, i}, {{"slice_sizes", Ints{1}}}), {});
  };
  const Array component = bind1(ops::rem_p, {first, scalar(DType::i32, components)});
  const Array shown = ops::concatenate(
      Arrays{ops::reshape(ops::cast(at(ops::reshape(starts, {n * components}), first), DType::i32), {1}),
             ops::reshape(at(ops::concatenate(axes, 0), component), {1}),
             ops::reshape(at(ops::concatenate(sizes, 0), component), {1})},
      0);
  fail_where(bind1(ops::reduce_or_p, {mask}, {{"axes", Ints{0}}}), index_failure(x[0].aval()), {shown});
}

}  // namespace cotan
