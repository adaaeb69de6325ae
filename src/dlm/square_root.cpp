// The associative filter and smoother on square roots of covariances (Yaghoobi and others): nothing is subtracted from a
// covariance, so that none can lose its positivity. Square roots are lower triangular and come from QR.
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
  return {np::matmul(A, first.A),
          times(A, first.b + times(first.U, times(transposed(first.U), then.eta))) + then.b,
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
    // What is missing has no F, and an error of 1 that nothing else knows of. (A triangular V mixes what comes later
    // with what comes before: for several series the root is of what is seen.)
    const Array F = np::expand_dims(is_seen, -1) * F_all;
    const Array V = p == 1 ? is_seen * V_all + (1.0 - is_seen) : root_of(only_seen({G, F_all, W, square(V_all)}, is_seen).V);
    const Array above = beside({np::matmul(F, now.U), V, np::zeros({p, m}, V.dtype())});
    const Array below = beside({np::matmul(G, now.U), np::zeros({m, p}, V.dtype()), W});
    const Blocks b = triangle_blocks(np::concatenate({above, below}, 0), p);
    const Array v = y - times(F, now.x);
    const Array scaled = p == 1 ? v / b.a[0] : np::squeeze(solve_left(b.a, np::expand_dims(v, -1)), -1);
    return std::pair{PredictedRoots{times(G, now.x) + times(b.b, scaled), b.c}, now};
  };
  return lax::scan(step, PredictedRoots{s.x0, root_of(s.C0)}, in).second;
}

/// All steps at once, by associative_scan.
PredictedRoots predict_at_once(const StateSpace& s, const Observations& o) {
  const std::int64_t n = o.y.shape()[0], m = s.x0.shape()[0], p = o.y.shape()[1];
  const Matrices all_steps = only_seen({of_all(s.G, n), of_all(s.F, n), of_all(s.W, n), of_all(s.V, n)}, o.seen);
  const Array R0 = root_of(s.C0);
  if (n == 1) return {np::expand_dims(s.x0, 0), np::expand_dims(R0, 0)};
  const Seen first = seen(all_steps.F[0], all_steps.V[0], R0);
  const Array x1 = s.x0 + times(first.K, o.y[0] - times(all_steps.F[0], s.x0));
  const Array zero = np::zeros_like(s.C0);
  const FilterElement start = tree::map([](const Array& a) { return np::expand_dims(a, 0); },
                                        FilterElement{zero, x1, first.U, np::zeros_like(s.x0), zero});
  const Array RW = of_all(root_of(s.W), n)(range(0, n - 1)), G = all_steps.G(range(0, n - 1));
  const Array F = without_first(all_steps.F), y = without_first(o.y);
  const Seen rest = seen(F, without_first(all_steps.V), RW);
  const Array Z = transposed(solve_left(rest.S, np::matmul(F, G)));
  const Array eta = times(Z, np::squeeze(solve_left(rest.S, np::expand_dims(y, -1)), -1));
  // Roots of J are as wide as the state.
  const Array wide = p >= m ? triangle(Z) : beside({Z, np::zeros({n - 1, m, m - p}, Z.dtype())});
  const FilterElement others{np::matmul(identity_like(s.C0) - np::matmul(rest.K, F), G), times(rest.K, y), rest.U, eta, wide};
  const FilterElement states = lax::associative_scan(
      combine, tree::map([](const Array& a, const Array& b) { return np::concatenate({a, b}, 0); }, start, others));
  const Array U = states.U(range(0, n - 1));
  return {with_first(s.x0, times(G, states.b(range(0, n - 1)))), with_first(R0, triangle(beside({np::matmul(G, U), RW})))};
}

Smoothed smooth_roots(const StateSpace& s, const Observations& o, const PredictedRoots& f) {
  const std::int64_t n = o.y.shape()[0], m = s.x0.shape()[0];
  const Filtered predicted = with_innovations(s, o, f.x, square(f.U));
  const Matrices all_steps = only_seen({s.G, of_all(s.F, n), s.W, of_all(s.V, n)}, o.seen);
  const Seen now = seen(all_steps.F, all_steps.V, f.U);
  const Array x = f.x + times(now.K, predicted.v);
  if (n == 1) return {x, square(now.U), predicted};
  const auto but_last = range(0, n - 1), last = range(n - 1, n);
  const Array G = of_all(s.G, n)(but_last), RW = of_all(root_of(s.W), n)(but_last), U = now.U(but_last);
  const Blocks b = triangle_blocks(corner(np::matmul(G, U), RW, U), m);
  const Array E = solve_right(b.a, b.b);
  const auto with_last = [&](const Array& a, const Array& last) { return np::concatenate({a, last}, 0); };
  const SmootherElement steps{with_last(E, np::zeros({1, m, m}, s.G.dtype())),
                              with_last(x(but_last) - times(E, without_first(f.x)), x(last)), with_last(b.c, now.U(last))};
  const SmootherElement states = lax::associative_scan(compose, steps, {.reverse = true});
  return {states.g, square(states.D), predicted};
}

}  // namespace

Filtered filter_square_root(const StateSpace& s, const Observations& o, bool in_steps) {
  const PredictedRoots f = in_steps ? predict_in_steps(s, o) : predict_at_once(s, o);
  return with_innovations(s, o, f.x, square(f.U));
}
Smoothed smooth_square_root(const StateSpace& s, const Observations& o, bool in_steps) {
  return smooth_roots(s, o, in_steps ? predict_in_steps(s, o) : predict_at_once(s, o));
}

}  // namespace cotan::dlm
