// The associative filter and smoother on square roots of covariances (Yaghoobi and others): nothing is subtracted from
// a covariance, so that none can lose its positivity. Square roots are lower triangular and come from QR.
#include "dlm/roots.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// As in associative.cpp, with C = U Uᵀ and J = Z Zᵀ.
struct FilterElement {
  Array A, b, U, eta, Z;
};
FilterElement combine(const FilterElement& first, const FilterElement& then) {
  const std::int64_t m = first.U.shape().back();
  const Array one = np::broadcast_to(identity_like(first.U), first.U.shape());
  const Blocks x = triangle_blocks(corner(np::matmul(transposed(first.U), then.Z), one, then.Z), m);
  const Array UX = transposed(solve_left(x.a, transposed(first.U)));  // U Ξ11⁻ᵀ
  const Array keep = identity_like(first.U) - np::matmul(UX, transposed(x.b));
  const Array A = np::matmul(then.A, keep), B = transposed(np::matmul(keep, first.A));
  return {np::matmul(A, first.A), times(A, first.b + times(first.U, times(transposed(first.U), then.eta))) + then.b,
          triangle(beside({np::matmul(then.A, UX), then.U})),
          times(B, then.eta - times(then.Z, times(transposed(then.Z), first.b))) + first.eta,
          triangle(beside({np::matmul(transposed(first.A), x.c), first.Z}))};
}

/// x ← E x + g, with covariance D Dᵀ.
struct SmootherElement {
  Array E, g, D;
};
SmootherElement compose(const SmootherElement& later, const SmootherElement& now) {
  return {np::matmul(now.E, later.E), times(now.E, later.g) + now.g,
          triangle(beside({np::matmul(now.E, later.D), now.D}))};
}

Array of_all(const Array& matrix, std::int64_t n) {
  return matrix.ndim() == 3 ? matrix : np::broadcast_to(matrix, {n, matrix.shape(0), matrix.shape(1)});
}

/// What seeing y makes of a state with the covariance R Rᵀ: the gain, and the root of what is left.
struct Seen {
  Array S, K, U;  ///< the root of the innovation covariance
};
Seen seen(const Array& F, const Array& V, const Array& R) {
  const std::int64_t p = F.shape(-2);
  const Blocks b = triangle_blocks(corner(np::matmul(F, R), root_of(V), R), p);
  // The lower right block is as wide as F has states more than rows of it: its root is m x m.
  return {b.a, solve_right(b.a, b.b), b.c};
}

struct PredictedRoots {
  Array x, U;
};
/// One step after the other.
PredictedRoots predict_in_steps(const StateSpace& s, const Observations& o) {
  const StepMatrices matrices(s);
  // Constant roots are the same in every step: before the loop.
  const Array RW = root_of(s.W), RV = root_of(s.V);
  std::vector<Array> in{o.y, o.seen};
  const auto per_step = [&](const Array& a) { return a.ndim() == 3; };
  for (const Array* a : {&s.G, &s.F, &RW, &RV})
    if (per_step(*a)) in.push_back(*a);
  const auto step = [&](const PredictedRoots& now, const std::vector<Array>& slices) {
    std::size_t k = 2;
    const auto of = [&](const Array& a) { return per_step(a) ? slices[k++] : a; };
    const Array G = of(s.G), F_all = of(s.F), W = of(RW), V_all = of(RV);
    const Array &y = slices[0], &is_seen = slices[1];
    const std::int64_t p = F_all.shape(0), m = G.shape(0);
    // A missing value has no F, and an independent error of variance 1. (A triangular V would mix later values with
    // earlier ones: for several series the root is taken of what is observed.)
    const Array F = np::expand_dims(is_seen, -1) * F_all;
    const Array V =
        p == 1 ? is_seen * V_all + (1.0 - is_seen) : root_of(only_seen({G, F_all, W, square(V_all)}, is_seen).V);
    const Array above = beside({np::matmul(F, now.U), V, np::zeros({p, m}, V.dtype())});
    const Array below = beside({np::matmul(G, now.U), np::zeros({m, p}, V.dtype()), W});
    const Blocks b = triangle_blocks(np::concatenate({above, below}, 0), p);
    const Array v = y - times(F, now.x);
    const Array scaled = p == 1 ? v / b.a[0] : np::squeeze(solve_left(b.a, np::expand_dims(v, -1)), -1);
    return std::pair{PredictedRoots{times(G, now.x) + times(b.b, scaled), b.c}, now};
  };
  return lax::scan(step, PredictedRoots{s.x0, root_of(s.C0)}, in).second;
}

/// All steps at once, by associative_scan; the first state is zero. Every element is computed in the same way: what is
/// before the first step has no G, and the first covariance in the place of W.
PredictedRoots predict_at_once(const StateSpace& s, const Observations& before) {
  const std::int64_t n = before.y.shape()[0], m = s.x0.shape()[0], p = before.y.shape()[1];
  const Array t = np::arange(n)(all, newaxis, newaxis), R0 = root_of(s.C0), RW = root_of(s.W);
  // Element t is what is known after step t - 1; scans give what is known after all of those.
  const Matrices now = only_seen({s.G, matrix_a_step_later(s.F), s.W, matrix_a_step_later(s.V)}, before.seen);
  const Array &y = before.y, G = np::where(t > 1, matrix_a_step_later(matrix_a_step_later(s.G)), 0.0);
  const Array R = np::where(t > 1, matrix_a_step_later(matrix_a_step_later(RW)), np::where(t > 0, R0, 0.0));
  const Seen what = seen(now.F, now.V, R);
  const Array Z = transposed(solve_left(what.S, np::matmul(now.F, G)));
  const Array eta = times(Z, np::squeeze(solve_left(what.S, np::expand_dims(y, -1)), -1));
  // Roots of J are as wide as the state.
  const Array wide = p >= m ? triangle(Z) : beside({Z, np::zeros({n, m, m - p}, Z.dtype())});
  const FilterElement elements{np::matmul(identity_like(s.C0) - np::matmul(what.K, now.F), G), times(what.K, y), what.U,
                               eta, wide};
  const FilterElement states = lax::associative_scan(combine, elements);
  const Array G_to = np::where(t > 0, matrix_a_step_later(s.G), 0.0),
              R_to = np::where(t > 0, matrix_a_step_later(RW), R0);
  return {times(G_to, states.b), triangle(beside({np::matmul(G_to, states.U), R_to}))};
}

Smoothed smooth_roots(const StateSpace& s, const Observations& o, const PredictedRoots& f, bool in_steps) {
  const std::int64_t n = o.y.shape()[0], m = s.x0.shape()[0];
  const Filtered predicted = with_innovations(s, o, f.x, square(f.U));
  const Matrices all_steps = only_seen({s.G, of_all(s.F, n), s.W, of_all(s.V, n)}, o.seen);
  const Seen now = seen(all_steps.F, all_steps.V, f.U);
  const Array x = f.x + times(now.K, predicted.v), RW = of_all(root_of(s.W), n);
  const Blocks b = triangle_blocks(corner(np::matmul(s.G, now.U), RW, now.U), m);
  // After the last step nothing is known.
  const Array last = np::arange(n)(all, newaxis, newaxis) == n - 1, E = np::where(last, 0.0, solve_right(b.a, b.b));
  const SmootherElement steps{E, x - times(E, times(s.G, x)), np::where(last, now.U, b.c)};
  if (in_steps) {
    struct State {
      Array g, D;
    };
    const auto step = [](const State& later, const SmootherElement& now) {
      const State next{times(now.E, later.g) + now.g, triangle(beside({np::matmul(now.E, later.D), now.D}))};
      return std::pair{next, next};
    };
    const State states =
        lax::scan(step, State{np::zeros_like(s.x0), np::zeros_like(s.C0)}, steps, {.reverse = true}).second;
    return {states.g, square(states.D), predicted};
  }
  const SmootherElement states = lax::associative_scan(compose, steps, {.reverse = true});
  return {states.g, square(states.D), predicted};
}

}  // namespace

Filtered filter_square_root(const StateSpace& s, const Observations& o, const Observations* before) {
  const PredictedRoots f = before ? predict_at_once(s, *before) : predict_in_steps(s, o);
  return with_innovations(s, o, f.x, square(f.U));
}
Smoothed smooth_square_root(const StateSpace& s, const Observations& o, const Observations* before) {
  return smooth_roots(s, o, before ? predict_at_once(s, *before) : predict_in_steps(s, o), !before);
}

}  // namespace cotan::dlm
