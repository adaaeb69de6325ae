// Kernels whose elements are written out one by one, their indices numbers.
#pragma once
#include "backend/gpu/codegen/loop_places.hpp"

namespace cotan::gpu {

/// Whether the kernel is written out in a shader of this plan.
bool is_written_out(const Kernel& kernel, const LoopPlan& plan, const Places& places);

/// f(element) for every index of the kept loops: the kernel with that index a number, and its reduced loops alone.
template <class F>
void each_element(const Kernel& kernel, F&& f) {
  std::vector<compiler::Loop> kept, reduced;
  for (const compiler::Loop& l : kernel.loops) (l.reduced ? reduced : kept).push_back(l);
  expr::Substitution map;
  each_index(kept, 0, map, [&](expr::Substitution& at) {
    Kernel element = kernel;
    element.loops = reduced;
    for (compiler::Pass& pass : element.passes) {
      for (compiler::Reduce& r : pass.reductions) {
        r.value = fresh(r.value, at);
        if (r.position) r.position = fresh(r.position, at);
      }
      for (auto* list : {&pass.stores, &pass.rows})
        for (compiler::Store& st : *list) {
          st.offset = fresh(st.offset, at);
          st.value = fresh(st.value, at);
        }
    }
    f(element);
  });
}

/// Whether the reductions of an element are sums whose terms are written out too.
bool has_written_sums(const Kernel& element);

/// f(term) for the terms of such a sum, but for zeros behind the first one.
template <class F>
void each_term(const Kernel& element, const compiler::Reduce& sum, F&& f) {
  expr::Substitution map;
  bool first = true;
  each_index(element.loops, 0, map, [&](expr::Substitution& at) {
    const Expr term = fresh(sum.value, at);
    if (const auto zero = expr::as_real(term); zero && *zero == 0 && !first) return;
    first = false;
    f(term);
  });
}

}  // namespace cotan::gpu
