#include "dlm/chandrasekhar.hpp"

#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

Array dot(const Array& a, const Array& b) { return np::matmul(a, b); }

/// States of all series, [m, series], and how unsure they are.
struct Prepared {
  Array x, C;
};
/// The same by vectors: C Z, the variance of what is seen next, and [c, x], where the next covariance is C - c cᵀ.
struct Vectors {
  Array M, S, cx;
};
/// What one step says: innovations of all series, and their variance.
struct Innovations {
  Array v, S;
};

class Recursion {
 public:
  explicit Recursion(const StateSpace& s)
      : transition_(s), G_(s.G), W_(s.W), Z_(np::reshape(s.F, {-1})), V_(np::reshape(s.V, {})) {}

  /// With matrices, and gains that find what is diffuse.
  std::pair<Prepared, Innovations> prepare(const Prepared& now, const Array& y, const Array& gain, const Array& finds) const {
    const Array M = np::matmul(now.C, Z_), S = variance(M), v = y - np::matmul(Z_, now.x);
    const Array counted = np::where(finds, 1.0, S), K = np::where(finds, gain, M / counted);
    return {{transition_.times(G_, now.x + outer(K, v)), moved_on(now.C, M, S, K)}, {np::where(finds, 0.0, v), counted}};
  }
  /// `stationary`: does C stay as it is while nothing is seen?
  Vectors first_vectors(const Prepared& now, bool stationary) const {
    const Array M = np::matmul(now.C, Z_), S = variance(M);
    const Array c = stationary ? transition_.times_vector(G_, M / np::sqrt(S)) : root_of_change(now.C, moved_on(now.C, M, S, M / S));
    return {M, S, np::concatenate({np::expand_dims(c, -1), now.x}, 1)};
  }
  /// c moves on as a state does that sees nothing but zeros, and is as large as the variance allows.
  std::pair<Vectors, Innovations> step(const Vectors& now, const Array& y) const {
    const Array v = np::concatenate({np::zeros({1}, y.dtype()), y}, 0) - np::matmul(Z_, now.cx), f = -v[0];
    const Array c = now.cx(all, 0), S = now.S - f * f;
    const Array moved = transition_.times(G_, now.cx + outer(now.M / now.S, v)), of_c = np::arange(v.shape(0)) == 0;
    const Array scaled = moved * np::where(of_c, np::sqrt(now.S / S), 1.0);
    // Once C has converged, c fades: what is too small to matter would be slow to compute with.
    const Array faded = of_c & (np::abs(scaled) < nothing * np::sqrt(S));
    return {{now.M - f * c, S, np::where(faded, 0.0, scaled)}, {v(range(1, none)), now.S}};
  }

 private:
  static constexpr double nothing = 1e-30;

  Array variance(const Array& M) const { return dot(Z_, M) + V_; }
  Array moved_on(const Array& C, const Array& M, const Array& S, const Array& K) const {
    const Array KM = outer(K, M - 0.5 * S * K);
    return symmetric(transition_.around(G_, C - (KM + transposed(KM)))) + W_;
  }
  /// Of C - next, which is the square of a vector: of its column with the largest element.
  static Array root_of_change(const Array& C, const Array& next) {
    const Array change = C - next, diagonal = np::diagonal(change);
    const Array at = np::argmax(diagonal), largest = np::take(diagonal, at);
    const Array changes = largest > 1e-14 * np::take(np::diagonal(C), at);
    return np::where(changes, np::take(change, at, 1) / np::sqrt(np::where(changes, largest, 1.0)), 0.0);
  }

  Transition transition_;
  Array G_, W_, Z_, V_;
};

/// Of series of which all but the first are effects of size unknown.
Array minus2_log_of(const Array& v, const Array& S) {
  const Array products = np::matmul(transposed(v / np::expand_dims(S, -1)), v), terms = np::sum(np::log(S));
  if (v.shape(1) == 1) return terms + np::squeeze(products, {0, 1});
  const auto effects = range(1, none);
  const Array root = linalg::cholesky(products(effects, effects), false);
  const Array b = linalg::triangular_solve(root, products(effects, range(0, 1)), {.lower = true});
  return terms + products(0, 0) - np::sum(b * b) + 2.0 * np::sum(np::log(np::diagonal(root)));
}

/// Vectors of every step are kept for the backward pass where they are few.
ScanCheckpoint kept_vectors(std::int64_t steps, std::int64_t numbers) {
  constexpr std::int64_t many = std::int64_t{1} << 22;
  return steps * numbers > many ? sqrt_n : ScanCheckpoint();
}

}  // namespace

Array minus2_log_likelihood(const StateSpace& s, const Opening& o) {
  const Recursion recursion(s);
  const std::int64_t n = o.y.shape(0), series = o.y.shape(1), m = s.x0.shape(0), first = o.finds.shape(0);
  const Array x0 = np::expand_dims(s.x0, -1) * (np::arange(series) == 0).astype(s.x0.dtype());
  Prepared start{x0, s.C0};
  Innovations seen;
  if (first > 0) {
    const auto prepare = [&](const Prepared& now, const std::vector<Array>& in) { return recursion.prepare(now, in[0], in[1], in[2]); };
    std::tie(start, seen) = lax::scan(prepare, start, std::vector<Array>{o.y(range(0, first)), o.gains, o.finds},
                                      {.checkpoint = kept_steps(s, first)});
  }
  const auto step = [&](const Vectors& now, const Array& y) { return recursion.step(now, y); };
  const Innovations rest = lax::scan(step, recursion.first_vectors(start, !s.D0), o.y(range(first, n)),
                                     {.checkpoint = kept_vectors(n - first, m * (series + 1))})
                               .second;
  if (first > 0) seen = {np::concatenate({seen.v, rest.v}, 0), np::concatenate({seen.S, rest.S}, 0)};
  return o.minus2_log + (first > 0 ? minus2_log_of(seen.v, seen.S) : minus2_log_of(rest.v, rest.S));
}

}  // namespace cotan::dlm
