#include "backend/native/codegen/cost.hpp"

#include <algorithm>

#include "compiler/kernels.hpp"

namespace cotan::native {

namespace {

double operations_of(const compiler::Kernel& kernel) {
  double elements = 1, each = 0;
  for (const compiler::Loop& l : kernel.loops) elements *= static_cast<double>(l.extent);
  for (const compiler::Pass& pass : kernel.passes) {
    for (const compiler::Reduce& r : pass.reductions) each += 1 + compiler::cost_of(r.value);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const compiler::Store& s : *stores) each += 1 + compiler::cost_of(s.value);
  }
  return elements * each;
}

/// `until_better`: outer loops with long steps count one step only.
double count(const std::vector<compiler::Step>& steps, bool until_better) {
  constexpr double unknown_steps = 100;
  double all = 0;
  for (const compiler::Step& step : steps) {
    compiler::visit_step(step, Overloaded{[&](const compiler::Kernel& kernel) { all += operations_of(kernel); },
                                          [&](const compiler::Repeat& loop) {
                                            const double one = count(loop.steps, false) + count(loop.condition, false);
                                            const double times =
                                                loop.length < 0 ? unknown_steps : static_cast<double>(loop.length);
                                            all += until_better && has_long_steps(loop) ? one : times * one;
                                          },
                                          [&](const compiler::Choice& choice) {
                                            double most = 0;
                                            for (const auto& branch : choice.branches)
                                              most = std::max(most, count(branch, until_better));
                                            all += most;
                                          },
                                          [](const compiler::Routine&) {}});
  }
  return all;
}

}  // namespace

double operations_of(const std::vector<compiler::Step>& steps) { return count(steps, false); }
double operations_before_better_code(const std::vector<compiler::Step>& steps) { return count(steps, true); }
bool has_long_steps(const compiler::Repeat& loop) {
  constexpr double long_step = 50000;
  if (loop.parallel || loop.length == 0 || loop.length == 1) return false;
  return count(loop.steps, false) + count(loop.condition, false) > long_step;
}

}  // namespace cotan::native
