// Elementwise operations with loops, such as samplers by rejection and series, in blocks: all elements of a loop take
// the steps of the slowest, so that a CPU is done sooner where few elements share one. What is in a block stays in the
// cache, and blocks run on threads.
#include <algorithm>
#include <cotan/control_flow.hpp>

#include "control/control.hpp"
#include "core/error.hpp"
#include "expansions/expansions.hpp"
#include "ops/elementwise.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

bool has_loop(const Jaxpr& program) {
  return std::any_of(program.equations.begin(), program.equations.end(),
                     [](const Equation& e) { return e.primitive == &while_p; });
}

/// [blocks, block]; behind the last element it is repeated.
Array cut_in_blocks(const Array& x, std::int64_t blocks, std::int64_t block) {
  const std::int64_t n = x.size(), rest = blocks * block - n;
  Array flat = ops::reshape(x, {n});
  if (rest > 0) {
    const Array parts[] = {flat, ops::broadcast_to(ops::slice_axis(flat, 0, n - 1, n), {rest})};
    flat = ops::concatenate(parts, 0);
  }
  return ops::reshape(flat, {blocks, block});
}

}  // namespace

JaxprPtr expansion_in_blocks(const Primitive& p, const Types& types, const Params& params, std::int64_t block) {
  if (!p.is_composed || p.batch != ops::elementwise_batch) return nullptr;
  const Shape shape = ops::elementwise_shape(p, types);
  const std::int64_t n = ops::product(shape), blocks = (n + block - 1) / block;
  if (blocks < 2) return nullptr;
  Types block_types = types, whole = types;
  for (AbstractValue& t : block_types)
    if (!t.shape.empty()) t.shape = {block};
  const JaxprPtr program = expansion_of(p, block_types, params);
  if (!program || !has_loop(*program)) return nullptr;
  for (AbstractValue& t : whole) t.weak_type = false;
  const auto in_blocks = [&](std::span<const Array> x) {
    Arrays cut;
    for (const Array& a : x)
      if (a.ndim() > 0) cut.push_back(cut_in_blocks(a, blocks, block));
    const auto on_block = [&](std::span<const Array> part) {
      Arrays operands(x.begin(), x.end());
      for (std::size_t i = 0, k = 0; i < operands.size(); ++i)
        if (x[i].ndim() > 0) operands[i] = part[k++];
      return eval_jaxpr(*program, operands);
    };
    Arrays out = flat::map(on_block, cut, std::nullopt, [](std::size_t) { return std::string("block"); });
    for (Array& y : out) y = ops::reshape(ops::slice_axis(ops::reshape(y, {blocks * block}), 0, 0, n), shape);
    return out;
  };
  const ClosedJaxpr closed = trace_to_jaxpr(in_blocks, whole, "jit", std::string(p.name));
  internal_check(closed.consts.empty(), "an expansion captures an array");
  const JaxprPtr out = eliminate_dead_code(inline_all_calls(closed.jaxpr));
  verify_if_enabled(*out, "expanding a routine in blocks");
  return out;
}

}  // namespace cotan
