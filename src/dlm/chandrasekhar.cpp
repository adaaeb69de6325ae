#include "dlm/chandrasekhar.hpp"

#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

Array dot(const Array& a, const Array& b) { return np::matmul(a, b); }

/// States of all series, [series, m], and how unsure they are. Rows are vectors: loops run along them.
struct Prepared {
  Array x, C;
};
/// The same by vectors: C Z, the variance of the next observation, and c above x, where the next covariance is C - c
/// cᵀ.
struct Vectors {
  Array M, S, cx;
};

class Recursion {
 public:
  explicit Recursion(const StateSpace& s)
      : transition_(s), G_(s.G), W_(s.W), Z_(np::reshape(s.F, {-1})), V_(np::reshape(s.V, {})) {}

  /// Covariances of states that were found, where stationary ones have C0.
  Array found(const Opening& o, const Array& C0) const {
    Array C = V_ * o.spread_of_errors;
    if (o.noise) {
      const Array often = np::sum(*o.noise * W_, {-2, -1}) / np::sum(*o.noise * *o.noise, {-2, -1});
      C = C + np::sum(np::reshape(often, {-1, 1, 1}) * *o.spread, 0);
    }
    if (!o.errors) return C;
    // What stationary states contribute: errors of all steps, with each other and with the current states.
    const std::int64_t k = o.errors->shape(1);
    const Array now = np::matmul(C0, Z_);
    const auto move_on = [&](const Array& u, None) { return std::pair{transition_.times_vector(G_, u), u}; };
    const Array later = lax::scan(move_on, now, lax::length(k + 1)).second;
    const Array steps = np::arange(k), apart = np::abs(np::expand_dims(steps, -1) - steps);
    const Array of_errors = np::take(np::matmul(later, Z_), apart), with_now = np::take(later, k - steps, 0);
    const Array cross = np::matmul(*o.errors, with_now);
    return C + C0 + sandwich(*o.errors, of_errors) + cross + transposed(cross);
  }
  /// With matrices.
  std::pair<Prepared, Innovations> settle(const Prepared& now, const Array& y) const {
    const Array M = np::matmul(now.C, Z_), S = variance(M), v = y - np::matmul(now.x, Z_);
    return {{rows_moved_on(now.x + outer(v, M / S)), moved_on(now.C, M, S)}, {v, S}};
  }
  /// `stationary`: does C stay as it is while nothing is seen?
  Vectors first_vectors(const Prepared& now, bool stationary) const {
    const Array M = np::matmul(now.C, Z_), S = variance(M);
    const Array c =
        stationary ? transition_.times_vector(G_, M / np::sqrt(S)) : root_of_change(now.C, moved_on(now.C, M, S));
    return {M, S, np::concatenate({np::expand_dims(c, 0), now.x}, 0)};
  }
  /// c moves like a state that observes zeros only, and is scaled by the variance.
  std::pair<Vectors, Innovations> step(const Vectors& now, const Array& y) const {
    const Array v = np::concatenate({np::zeros({1}, y.dtype()), y}, 0) - np::matmul(now.cx, Z_), f = -v[0];
    const Array c = now.cx[0], S = now.S - f * f;
    const Array moved = rows_moved_on(now.cx + outer(v, now.M / now.S)),
                of_c = np::expand_dims(np::arange(v.shape(0)) == 0, -1);
    const Array scaled = moved * np::where(of_c, np::sqrt(now.S / S), 1.0);
    // Once C has converged, c fades: what is too small to matter would be slow to compute with.
    const Array faded = of_c & (np::abs(scaled) < nothing * np::sqrt(S));
    return {{now.M - f * c, S, np::where(faded, 0.0, scaled)}, {v(range(1, none)), now.S}};
  }

 private:
  static constexpr double nothing = 1e-30;

  Array rows_moved_on(const Array& x) const { return transposed(transition_.times(G_, transposed(x))); }
  Array variance(const Array& M) const { return dot(Z_, M) + V_; }
  Array moved_on(const Array& C, const Array& M, const Array& S) const {
    return symmetric(transition_.around(G_, C - outer(M, M) / S)) + W_;
  }
  /// The vector whose square is C - next: taken from its column with the largest element.
  static Array root_of_change(const Array& C, const Array& next) {
    const Array change = C - next, diagonal = np::diagonal(change);
    const Array at = np::argmax(diagonal), largest = np::take(diagonal, at);
    const Array changes = largest > 1e-14 * np::take(np::diagonal(C), at);
    return np::where(changes, np::take(change, at, 1) / np::sqrt(np::where(changes, largest, 1.0)), 0.0);
  }

  Transition transition_;
  Array G_, W_, Z_, V_;
};

/// Of series of which all but the first are effects of unknown size.
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
  constexpr std::int64_t many = std::int64_t{1} << 17;  // a dozen arrays of them
  return steps * numbers > many ? sqrt_n : ScanCheckpoint();
}

}  // namespace

Innovations innovations(const StateSpace& s, const Opening& o) {
  const Recursion recursion(s);
  const std::int64_t n = o.y.shape(0), series = o.y.shape(1), m = s.x0.shape(0);
  Prepared start{o.x, s.D0 ? recursion.found(o, s.C0) : s.C0};
  Innovations settling;
  if (o.settling > 0) {
    const auto settle = [&](const Prepared& now, const Array& y) { return recursion.settle(now, y); };
    std::tie(start, settling) =
        lax::scan(settle, start, o.y(range(0, o.settling)), {.checkpoint = kept_steps(s, o.settling)});
  }
  const auto step = [&](const Vectors& now, const Array& y) { return recursion.step(now, y); };
  const Innovations rest = lax::scan(step, recursion.first_vectors(start, !s.D0), o.y(range(o.settling, n)),
                                     {.checkpoint = kept_vectors(n - o.settling, m * (series + 1))})
                               .second;
  if (o.settling == 0) return rest;
  return {np::concatenate({settling.v, rest.v}, 0), np::concatenate({settling.S, rest.S}, 0)};
}

Array minus2_log_likelihood(const StateSpace& s, const Opening& o) {
  const Innovations i = innovations(s, o);
  return o.minus2_log + minus2_log_of(i.v, i.S);
}

}  // namespace cotan::dlm
