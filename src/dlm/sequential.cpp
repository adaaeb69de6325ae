// Filter and smoother one step after the other. The smoother is Durbin and Koopman's backward recursion, which inverts
// nothing but innovation covariances.
#include "dlm/steps.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// The covariance after a step. Rounding must not make it less symmetric from step to step.
Array next_covariance(const Matrices& m, const Array& C, const Array& K) {
  return symmetric(np::matmul(np::matmul(m.G, C), transposed(m.G - np::matmul(K, m.F))) + m.W);
}

std::vector<Array> inputs(const StateSpace& model, const Observations& o) {
  std::vector<Array> out{o.y, o.seen};
  for (const Array& a : StepMatrices(model).inputs(o.y.shape()[0])) out.push_back(a);
  return out;
}
Matrices matrices(const StateSpace& model, const std::vector<Array>& in) {
  return StepMatrices(model).of({in.begin() + 2, in.end()});
}

}  // namespace

Step sequential_step(const Matrices& matrices, const Prediction& now, const Array& y, const Array& seen) {
  const Matrices m = only_seen(matrices, seen);
  const Array CF = np::matmul(now.C, transposed(m.F)), S = np::matmul(m.F, CF) + m.V, v = y - times(m.F, now.x);
  const Array K = transposed(solve_positive(S, transposed(np::matmul(m.G, CF))));
  return {{times(m.G, now.x) + times(K, v), next_covariance(m, now.C, K)}, v, S, K};
}

Filtered filter_sequential(const StateSpace& model, const Observations& o) {
  const auto step = [&](const Prediction& now, const std::vector<Array>& in) {
    const Matrices m = matrices(model, in);
    const Step s = sequential_step(m, now, in[0], in[1]);
    return std::pair{s.next, Filtered{now.x, now.C, s.v, sandwich(m.F, now.C) + m.V, s.K}};
  };
  return lax::scan(step, Prediction{model.x0, model.C0}, inputs(model, o)).second;
}

Smoothed smooth_sequential(const StateSpace& model, const Observations& o) {
  const Filtered f = filter_sequential(model, o);
  struct Adjoint {
    Array r, N;
  };
  const auto step = [&](const Adjoint& after, const std::pair<Filtered, std::vector<Array>>& in) {
    const auto& [f, matrices_in] = in;
    const Matrices whole = matrices(model, matrices_in), m = only_seen(whole, matrices_in[1]);
    const Array L = m.G - np::matmul(f.K, m.F);
    const Array S = sandwich(m.F, f.C) + m.V;
    const Array FS = transposed(solve_positive(S, m.F));
    const Adjoint now{times(FS, f.v) + times(transposed(L), after.r),
                      np::matmul(FS, m.F) + sandwich(transposed(L), after.N)};
    return std::pair{now, std::pair{f.x + times(f.C, now.r), f.C - sandwich(f.C, now.N)}};
  };
  const Adjoint end{np::zeros_like(model.x0), np::zeros_like(model.C0)};
  const auto [x, C] = lax::scan(step, end, std::pair{f, inputs(model, o)}, {.reverse = true}).second;
  return {x, C, f};
}

}  // namespace cotan::dlm
