// Loops of a kernel: split where an index is divided by a constant, merged where two are used as one.
#include <algorithm>

#include "compiler/kernels.hpp"
#include "expr/walk.hpp"

namespace cotan::compiler {

namespace {

template <class F>
void for_each_expression(Kernel& kernel, F&& f) {
  for (Pass& pass : kernel.passes) {
    for (Reduce& r : pass.reductions) {
      f(r.value);
      if (r.position) f(r.position);
    }
    for (std::vector<Store>* stores : {&pass.stores, &pass.rows})
      for (Store& s : *stores) {
        f(s.offset);
        f(s.value);
      }
  }
}
template <class F>
void for_each_node(Kernel& kernel, F&& f) {
  std::vector<Expr> all;
  for_each_expression(kernel, [&](Expr& e) { all.push_back(e); });
  expr::for_each_node(std::move(all), f);
}
void substitute_all(Kernel& kernel, expr::Substitution map) {
  for_each_expression(kernel, [&](Expr& e) { e = substitute(e, map); });
}
bool is_division(Expr e) { return e->op == expr::Op::floor_div || e->op == expr::Op::floor_mod; }

/// i = inner_extent * outer + inner, where i is divided by inner_extent somewhere.
bool split_one(Kernel& kernel) {
  for (std::size_t k = 0; k < kernel.loops.size(); ++k) {
    const Loop loop = kernel.loops[k];
    std::int64_t divisor = 0;
    for_each_node(kernel, [&](Expr e) {
      if (!is_division(e) || !(e->operands[0] == loop.variable)) return;
      const std::int64_t d = *expr::as_integer(e->operands[1]);
      if (d < loop.extent && loop.extent % d == 0) divisor = std::max(divisor, d);
    });
    if (divisor == 0) continue;
    const Loop outer{expr::variable(loop.extent / divisor), loop.extent / divisor, loop.reduced};
    const Loop inner{expr::variable(divisor), divisor, loop.reduced};
    substitute_all(kernel, {{loop.variable.get(), outer.variable * expr::integer(divisor) + inner.variable}});
    kernel.loops[k] = outer;
    kernel.loops.insert(kernel.loops.begin() + static_cast<std::ptrdiff_t>(k) + 1, inner);
    return true;
  }
  return false;
}

/// Merges two neighbouring loops, if no expression needs their variables apart.
bool merge_at(Kernel& kernel, std::size_t k) {
  const Loop &a = kernel.loops[k], &b = kernel.loops[k + 1];
  if (a.reduced != b.reduced || a.extent == 0 || b.extent == 0) return false;
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(a.extent, b.extent, &extent)) return false;
  Kernel merged = kernel;
  const Expr both = expr::variable(extent);
  substitute_all(merged, {{a.variable.get(), expr::floor_div(both, b.extent)},
                          {b.variable.get(), expr::floor_mod(both, b.extent)}});
  bool divided = false;
  for_each_node(merged, [&](Expr e) { divided |= is_division(e) && depends_on(e, both); });
  if (divided) return false;
  merged.loops[k] = {both, extent, a.reduced};
  merged.loops.erase(merged.loops.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  kernel = std::move(merged);
  return true;
}

}  // namespace

void simplify_loops(Kernel& kernel) {
  constexpr int most_splits = 16;
  for (int n = 0; n < most_splits && split_one(kernel); ++n) {
  }
  for (std::size_t k = kernel.loops.size(); k-- > 1;) merge_at(kernel, k - 1);
}

}  // namespace cotan::compiler
