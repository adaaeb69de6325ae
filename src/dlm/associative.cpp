// Filter and smoother by associative_scan (Särkkä and García-Fernández): a step is an element, and elements combine in
// any grouping. The smoother's elements are the affine maps of the backward recursion, which need no inverse.
#include "dlm/steps.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// A run of steps: given the state before it, the state after it is N(A x + b, C), and its observations have the
/// likelihood of x with information η, J.
struct FilterElement {
  Array A, b, C, eta, J;
};
FilterElement combine(const FilterElement& first, const FilterElement& then) {
  const Array inverse = linalg::inv(identity_like(first.C) + np::matmul(first.C, then.J));
  const Array A = np::matmul(then.A, inverse), B = transposed(np::matmul(inverse, first.A));
  return {np::matmul(A, first.A), times(A, first.b + times(first.C, then.eta)) + then.b,
          symmetric(np::matmul(np::matmul(A, first.C), transposed(then.A)) + then.C),
          times(B, then.eta - times(then.J, first.b)) + first.eta,
          symmetric(np::matmul(np::matmul(B, then.J), first.A) + first.J)};
}

/// r ← A r + b and N ← A N Aᵀ + S.
struct SmootherElement {
  Array A, b, S;
};
SmootherElement compose(const SmootherElement& first, const SmootherElement& then) {
  return {np::matmul(then.A, first.A), times(then.A, first.b) + then.b, sandwich(then.A, first.S) + then.S};
}

/// The elements from `from` on; matrices that do not change from step to step stay as they are.
Matrices matrices_from(const StateSpace& m, std::int64_t from, std::int64_t n) {
  return {of_steps(m.G, from, n), of_steps(m.F, from, n), of_steps(m.W, from, n), of_steps(m.V, from, n)};
}

/// The update of a prediction x, C by what is seen.
struct Updated {
  Array x, C;
};
Updated updated(const Matrices& m, const Array& y, const Array& x, const Array& C) {
  const Array CF = np::matmul(C, transposed(m.F)), S = np::matmul(m.F, CF) + m.V;
  const Array K = transposed(solve_positive(S, transposed(CF)));
  return {x + times(K, y - times(m.F, x)), symmetric(C - np::matmul(K, transposed(CF)))};
}

/// The first element is the first state, whatever comes before it.
FilterElement first_element(const StateSpace& s, const Observations& o) {
  const Matrices m = only_seen(matrices_from(s, 0, 1), o.seen(range(0, 1)));
  const Updated u = updated(m, o.y(range(0, 1)), s.x0, s.C0);
  const Array none_x = np::zeros_like(u.x), none_C = np::zeros_like(u.C);
  return {none_C, u.x, u.C, none_x, none_C};
}
FilterElement other_elements(const StateSpace& s, const Observations& o) {
  const std::int64_t n = o.y.shape()[0];
  const Matrices m = only_seen(matrices_from(s, 1, n), without_first(o.seen));
  const Array y = without_first(o.y), G = of_steps(s.G, 0, n - 1);
  const Array W = np::broadcast_to(of_steps(s.W, 0, n - 1), {n - 1, s.W.shape(-1), s.W.shape(-1)});
  const Array S = sandwich(m.F, W) + m.V, FS = transposed(solve_positive(S, m.F));
  const Array K = np::matmul(W, FS), keep = identity_like(s.W) - np::matmul(K, m.F);
  const Array GF = np::matmul(transposed(G), FS);
  return {np::matmul(keep, G), times(K, y), np::matmul(keep, W), times(GF, y), np::matmul(np::matmul(GF, m.F), G)};
}

}  // namespace

Filtered filter_associative(const StateSpace& s, const Observations& o) {
  const std::int64_t n = o.y.shape()[0];
  FilterElement elements = first_element(s, o);
  if (n > 1)
    elements = tree::map([](const Array& first, const Array& rest) { return np::concatenate({first, rest}, 0); },
                         elements, other_elements(s, o));
  const FilterElement states = lax::associative_scan(combine, elements);
  if (n == 1) return with_innovations(s, o, np::expand_dims(s.x0, 0), np::expand_dims(s.C0, 0));
  const Array G = of_steps(s.G, 0, n - 1), W = of_steps(s.W, 0, n - 1);
  return with_innovations(s, o, with_first(s.x0, times(G, states.b(range(0, n - 1)))),
                          with_first(s.C0, symmetric(sandwich(G, states.C(range(0, n - 1))) + W)));
}

Smoothed smooth_associative(const StateSpace& s, const Observations& o) {
  const Filtered f = filter_associative(s, o);
  const Matrices m = only_seen({s.G, s.F, s.W, s.V}, o.seen);
  const Array L = transposed(m.G - np::matmul(f.K, m.F));
  const Array FS = transposed(solve_positive(sandwich(m.F, f.C) + m.V, m.F));
  const SmootherElement steps{L, times(FS, f.v), np::matmul(FS, m.F)};
  const SmootherElement adjoints = lax::associative_scan(compose, steps, {.reverse = true});
  return {f.x + times(f.C, adjoints.b), f.C - sandwich(f.C, adjoints.S), f};
}

}  // namespace cotan::dlm
