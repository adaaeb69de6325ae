// Small reductions as straight-line code: products of small matrices, norms of short vectors. All loops but one
// become expressions, in which what is shared is computed once and stays in registers.
#include <algorithm>

#include "compiler/definitions.hpp"
#include "compiler/kernels.hpp"
#include "compiler/memory.hpp"

namespace cotan::compiler {

namespace {

constexpr std::int64_t most_terms = 256;        ///< of all reductions together, where lanes run along a kept loop
constexpr std::int64_t most_scalar_terms = 32;  ///< where they cannot
constexpr std::int64_t longest = 32;            ///< of one reduction
/// Of one that is repeated along a kept loop in the body of a loop: longer ones, as of a filter with 25 states, ran no
/// faster as straight-line code and took seconds to compile.
constexpr std::int64_t longest_in_body = 16;
constexpr int most_operations = 1024;
constexpr std::int64_t fewest_lanes = 4;
constexpr std::int64_t most_elements = 512;         ///< that stay in registers where nothing is reduced
constexpr std::int64_t most_strided = 512;          ///< terms that are fetched one by one, row by row
constexpr std::int64_t most_gathered = 16;          ///< lanes that are put together one by one, in the body of a loop …
constexpr std::int64_t most_gathered_terms = 4096;  ///< … for so many terms in all

/// Every assignment of numbers to the variables of `loops`, as substitutions on top of `fixed`.
std::vector<expr::Substitution> assignments(const std::vector<Loop>& loops, const expr::Substitution& fixed) {
  std::vector<expr::Substitution> out{fixed};
  for (const Loop& l : loops) {
    std::vector<expr::Substitution> next;
    for (const auto& map : out)
      for (std::int64_t i = 0; i < l.extent; ++i) {
        next.push_back(map);
        next.back()[l.variable.get()] = expr::integer(i);
      }
    out = std::move(next);
  }
  return out;
}

Expr combine(expr::ReduceOp op, Expr sum, Expr term) {
  using expr::ReduceOp;
  const bool logical = term->dtype == DType::bool_;
  switch (op) {
    case ReduceOp::sum:
      if (!sum) return term;
      if (term->op == expr::Op::mul && is_floating(term->dtype)) return fma(term->operands[0], term->operands[1], sum);
      return sum + term;
    case ReduceOp::product:
      return sum ? sum * term : term;
    case ReduceOp::max:
      return !sum ? term : logical ? sum | term : max(sum, term);
    case ReduceOp::min:
      return !sum ? term : logical ? sum & term : min(sum, term);
    case ReduceOp::bit_and:
      return sum ? sum & term : term;
    case ReduceOp::bit_xor:
      return sum ? sum ^ term : term;
    default:
      return sum ? sum | term : term;
  }
}

/// An extremum so far, and its place; elements come in order, and the first of equal ones counts. NaN is the extremum.
struct Extremum {
  Expr value, position;
  void see(expr::ReduceOp op, Expr x, Expr at) {
    if (!value) {
      value = x;
      position = at;
      return;
    }
    Expr better = op == expr::ReduceOp::max ? gt(x, value) : lt(x, value);
    if (is_floating(x->dtype)) better = better | (ne(x, x) & eq(value, value));
    value = select(better, x, value);
    position = select(better, at, position);
  }
};

/// Rewrites sum + addend as a sum that starts from the addend, where that is known before the loop's step: nothing then
/// has to wait for the addition.
Expr started_from_addend(Expr value, Expr sum, const std::vector<Expr>& terms, const Program& program) {
  if (value->op != expr::Op::add || !is_floating(value->dtype) || value->dtype != sum->dtype) return value;
  const bool first = value->operands[0] == sum;
  if (!first && !(value->operands[1] == sum)) return value;
  Expr total = value->operands[first ? 1 : 0];
  std::vector<Expr> loads;
  collect_loads(total, loads);
  for (Expr l : loads)
    if (program.buffers[static_cast<std::size_t>(l->bits)].scope > 0) return value;
  for (Expr term : terms) total = combine(expr::ReduceOp::sum, total, term);
  return total;
}

std::int64_t row_of(const Buffer& b) {
  constexpr std::int64_t small = 1024;
  if (b.type.size() > small) return 0;
  for (std::size_t k = b.type.shape.size(); k-- > 0;)
    if (b.type.shape[k] != 1) return b.type.shape[k];
  return 0;
}

struct Plan {
  std::vector<Loop> kept, unrolled, reduced;  ///< loops that stay, kept ones that go, reduced ones that go
};

/// Whether all memory is read at each or every second place, and written at each, along the loop, or not at all.
bool suits_lanes(const Kernel& kernel, const Loop& loop) {
  std::vector<Expr> loads;
  const auto moves_by = [&](Expr offset, std::int64_t most) {
    const auto affine = affine_in(offset, loop.variable);
    return affine && affine->coefficient >= 0 && affine->coefficient <= most;
  };
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) {
        collect_loads(s.value, loads);
        if (!moves_by(s.offset, 1)) return false;
      }
  }
  return std::all_of(loads.begin(), loads.end(), [&](Expr l) { return moves_by(l->operands[0], 2); });
}

std::optional<Plan> plan_of(const Kernel& kernel, const Program& program, bool in_loop) {
  Plan plan;
  std::int64_t reduced = 1;
  int operations = 0;
  int per_row = 0;  // operations that are not repeated for each term
  bool reduces = false;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) {
      operations += (r.position ? 3 : 1) + cost_of(r.value);
      reduces = true;
    }
    for (const Store& s : pass.stores) operations += 1 + cost_of(s.value);
    for (const Store& s : pass.rows) per_row += 1 + cost_of(s.value);
  }
  const auto last_kept =
      std::find_if(kernel.loops.rbegin(), kernel.loops.rend(), [](const Loop& l) { return !l.reduced; });
  const std::int64_t row =
      in_loop && last_kept != kernel.loops.rend() ? shortest_row(kernel, program, last_kept->variable) : 0;
  const bool in_rows = row == 0 || row >= fewest_lanes;
  std::int64_t domain = 1;
  for (const Loop& l : kernel.loops) domain *= l.extent;
  if (!reduces && (!in_loop || (kernel.loops.size() < 2 && in_rows) || domain > most_elements)) return std::nullopt;
  for (const Loop& l : kernel.loops) {
    if (l.extent == 0) return std::nullopt;
    if (l.reduced) {
      plan.reduced.push_back(l);
      reduced *= l.extent;
    } else {
      plan.kept.push_back(l);
    }
  }
  if (reduced > (in_loop && !plan.kept.empty() ? longest_in_body : longest) || reduced * operations > most_operations)
    return std::nullopt;
  const bool lanes = !plan.kept.empty() && plan.kept.back().extent >= fewest_lanes && in_rows &&
                     (suits_lanes(kernel, plan.kept.back()) ||
                      (in_loop && plan.kept.back().extent <= most_gathered && domain <= most_gathered_terms));
  if (!lanes && domain > most_strided) return std::nullopt;
  const std::int64_t limit = lanes ? most_terms : most_scalar_terms;
  if (reduced > limit || (!lanes && reduced > (in_loop ? longest : 8))) return std::nullopt;
  // From the innermost loop outwards: kept loops are unrolled as long as the code stays small.
  std::int64_t terms = reduced;
  for (std::size_t k = plan.kept.size() - (lanes ? 1 : 0); k-- > 0;) {
    const std::int64_t extent = plan.kept[k].extent;
    if (terms * extent > limit || terms * extent * operations + terms / reduced * extent * per_row > most_operations)
      break;
    terms *= extent;
    plan.unrolled.insert(plan.unrolled.begin(), plan.kept[k]);
    plan.kept.erase(plan.kept.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return plan;
}

}  // namespace

std::int64_t shortest_row(const Kernel& kernel, const Program& program, Expr along) {
  std::vector<Expr> loads;
  std::int64_t shortest = 0;
  const auto see = [&](std::int64_t buffer, Expr offset) {
    if (!depends_on(offset, along)) return;  // all lanes read the same element
    const std::int64_t row = row_of(program.buffers[static_cast<std::size_t>(buffer)]);
    if (row > 0 && (shortest == 0 || row < shortest)) shortest = row;
  };
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) {
        collect_loads(s.value, loads);
        see(s.buffer, s.offset);
      }
  }
  for (Expr l : loads) see(l->bits, l->operands[0]);
  return shortest;
}

bool unroll_small(Kernel& kernel, const Program& program, bool in_loop) {
  const auto plan = plan_of(kernel, program, in_loop);
  if (!plan) return false;
  std::vector<Expr> loads;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) collect_loads(s.value, loads);
  }
  const auto dtype_of = [&](BufferId id) { return program.buffers[static_cast<std::size_t>(id)].type.dtype; };
  const bool apart =
      std::all_of(kernel.passes.begin(), kernel.passes.end(), [](const Pass& pass) { return pass.stores.empty(); }) &&
      !may_overwrite(program, Step(kernel));
  Pass straight;
  for (expr::Substitution& row : assignments(plan->unrolled, {})) {
    auto elements = assignments(plan->reduced, row);
    for (const Pass& pass : kernel.passes) {
      std::vector<Expr> results(pass.reductions.size());
      std::vector<Extremum> extrema(results.size());
      std::vector<std::vector<Expr>> terms(results.size());
      for (auto& at : elements) {
        for (std::size_t k = 0; k < results.size(); ++k) {
          terms[k].push_back(substitute(pass.reductions[k].value, at));
          const Reduce& r = pass.reductions[k];
          if (r.position)
            extrema[k].see(r.op, terms[k].back(), substitute(r.position, at));
          else
            results[k] = combine(r.op, results[k], terms[k].back());
        }
        for (const Store& s : pass.stores) {
          const Store placed{s.buffer, substitute(s.offset, at), substitute(s.value, at)};
          if (program.buffers[static_cast<std::size_t>(s.buffer)].storage != Storage::row)
            straight.stores.push_back(placed);
          // Later passes use the value instead of loading it.
          for (Expr load : loads)
            if (load->bits == s.buffer) at[load.get()] = expr::cast(placed.value, dtype_of(s.buffer));
        }
      }
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (extrema[k].value) results[k] = extrema[k].position;
        const BufferId id = pass.reductions[k].result;
        for (Expr load : loads)
          if (load->bits == id) {
            const Expr value = expr::cast(results[k], load->dtype);
            row[load.get()] = value;
            for (auto& at : elements) at[load.get()] = value;
          }
      }
      for (const Store& s : pass.rows) {
        Expr value = substitute(s.value, row);
        if (in_loop)
          for (std::size_t k = 0; k < results.size(); ++k)
            if (pass.reductions[k].op == expr::ReduceOp::sum)
              value = started_from_addend(value, results[k], terms[k], program);
        straight.stores.push_back({s.buffer, substitute(s.offset, row), value});
      }
    }
  }
  kernel.results_are_apart = apart;
  kernel.loops = plan->kept;
  kernel.passes = {std::move(straight)};
  kernel.row_buffers.clear();
  return true;
}

}  // namespace cotan::compiler
