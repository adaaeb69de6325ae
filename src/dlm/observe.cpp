#include "dlm/observe.hpp"

#include <cmath>

namespace cotan::dlm {

namespace np = numpy;

namespace {

Array dot(const Array& a, const Array& b) { return np::matmul(a, b); }

/// What is seen, as values whose errors are independent of each other: L⁻¹ y, where the errors' covariance is L diag(h)
/// Lᵀ.
struct Independent {
  Array F, y, h;
};
Independent independent(const Matrices& m, const Array& y) {
  const std::int64_t p = y.shape(0);
  if (p == 1) return {m.F, y, np::reshape(m.V, {1})};
  // A variance of 0 leaves nothing to regress on.
  Array V = m.V, F = m.F, z = y, h = np::zeros_like(y);
  for (std::int64_t j = 0; j < p; ++j) {
    const Array pivot = V(j, j), later = np::arange(p) > j;
    const Array l = np::where(later & (pivot > 0), V(all, j) / np::where(pivot > 0, pivot, 1.0), 0.0);
    h = np::where(np::arange(p) == j, pivot, h);
    F = F - outer(l, F[j]);
    z = z - l * z[j];
    V = V - outer(l, V[j]);
  }
  return {F, z, h};
}

/// The rounding error that may remain of a direction that was found, relative to its size.
double rounding(const Array& a) { return a.dtype() == f32 ? 2e-6 : 1e-9; }

Array row_sizes(const Array& D) { return lax::stop_gradient(np::sqrt(np::sum(D * D, -1))); }

/// D with its columns reflected so that one of them is the observed direction, f = Dᵀ Z, and without that column.
Array without_direction(const Array& D, const Array& f, const Array& finds) {
  const Array length = np::sqrt(np::where(finds, dot(f, f), 1.0));
  const Array largest = np::arange(f.shape(0)) == np::argmax(np::abs(f));
  const Array sign = np::where(np::sum(np::where(largest, f, 0.0)) < 0, -1.0, 1.0).astype(f.dtype());
  const Array w = f + np::where(largest, sign * length, 0.0);
  const Array turned = D - outer(times(D, w), w) * np::where(finds, 2.0 / np::where(finds, dot(w, w), 1.0), 0.0);
  return np::where(finds, np::where(largest, 0.0, turned), D);
}

Look look_at(const Belief& b, const Array& Z, const Array& y, const Array& h, const Array& seen) {
  Look out;
  out.Z = Z;
  out.M = np::matmul(b.C, Z);
  out.S = dot(Z, out.M) + h;
  out.v = seen * (y - dot(Z, b.x));
  out.seen = seen;
  if (!b.D) {
    out.weight = seen / np::where(seen > 0, out.S, 1.0);
    out.K = out.weight * out.M;
    return out;
  }
  const Array f = np::matmul(Z, *b.D), variance = dot(f, f);
  const Array least = rounding(Z) * dot(np::abs(Z), *b.size);
  out.finds = (seen > 0) & (variance > least * least);
  out.infinite = np::where(out.finds, variance, 1.0);
  out.seen = np::where(out.finds, 0.0, seen);
  out.weight = out.seen / np::where(out.seen > 0, out.S, 1.0);
  out.K = np::where(out.finds, np::matmul(*b.D, f) / out.infinite, out.weight * out.M);
  return out;
}

}  // namespace

Belief first_belief(const StateSpace& model) {
  if (!model.D0) return {model.x0, model.C0};
  return {model.x0, model.C0, *model.D0, row_sizes(*model.D0)};
}

Observed observe(const Matrices& m, const Belief& before, const Array& y, const Array& seen) {
  // One value that is missing is left out by its weight of 0.
  const Independent i = independent(y.shape(0) == 1 ? m : only_seen(m, seen), y);
  Observed out{{}, before, {}};
  for (std::int64_t k = 0; k < y.shape(0); ++k) {
    Belief& b = out.after;
    const Look look = look_at(b, i.F[k], i.y[k], i.h[k], seen[k]);
    b.x = b.x + look.v * look.K;
    Array term = np::log(np::where(look.seen > 0, look.S, 1.0)) + look.weight * look.v * look.v;
    // Rounding leaves both symmetric.
    if (b.D) {
      const Array KM = outer(look.K, look.M - 0.5 * look.S * look.K);
      b.C = b.C - (KM + transposed(KM));
      term = term + np::log(look.infinite);
      b.D = without_direction(*b.D, np::matmul(look.Z, *b.D), look.finds);
    } else {
      b.C = b.C - look.weight * outer(look.M, look.M);
    }
    out.minus2_log = out.minus2_log.defined() ? out.minus2_log + term : term;
    out.looks.push_back(look);
  }
  return out;
}

Belief moved_on(const Transition& transition, const Matrices& m, const Belief& now) {
  Belief next{transition.times_vector(m.G, now.x), symmetric(transition.around(m.G, now.C)) + m.W};
  if (now.D) {
    next.D = transition.times(m.G, *now.D);
    next.size = np::maximum(*now.size, row_sizes(*next.D));
  }
  return next;
}

Adjoint nothing_after(const StateSpace& model) { return {np::zeros_like(model.x0), np::zeros_like(model.C0)}; }
Adjoint with_diffuse_terms(const Adjoint& a) {
  return {a.r, a.N, np::zeros_like(a.r), np::zeros_like(a.N), np::zeros_like(a.N)};
}

Adjoint moved_back(const Transition& transition, const Matrices& m, const Adjoint& after) {
  const auto vector = [&](const Array& r) { return transition.transposed_times_vector(m.G, r); };
  Adjoint out{vector(after.r), transition.around_transposed(m.G, after.N)};
  if (after.r1) {
    out.r1 = vector(*after.r1);
    // N1 is not symmetric.
    out.N1 = transposed(transition.times_transposed(m.G, transposed(transition.times_transposed(m.G, *after.N1))));
    out.N2 = transition.around_transposed(m.G, *after.N2);
  }
  return out;
}

Adjoint observed_back(const std::vector<Look>& looks, const Adjoint& after) {
  Adjoint a = after;
  for (auto look = looks.rbegin(); look != looks.rend(); ++look) {
    const Array &Z = look->Z, &K = look->K;
    const Array& weight = look->weight;
    const Array ZZ = outer(Z, Z);
    // (I - a Zᵀ)ᵀ N (I - b Zᵀ), one side after the other: where gains are near 1, less is lost.
    const auto through = [&](const Array& N, const Array& a, const Array& b) {
      const Array half = N - outer(np::matmul(N, b), Z);
      return half - outer(Z, np::matmul(a, half));
    };
    const Adjoint old = a;
    a.r = old.r + (weight * look->v - dot(K, old.r)) * Z;
    a.N = symmetric(through(old.N, K, K) + weight * ZZ);
    if (!old.r1) continue;
    // Where a direction is found, the second gain; otherwise D does not see Z, and its part of the state stays as it
    // is.
    const Array found = look->finds.astype(Z.dtype()), one = found / look->infinite;
    const Array K0 = found * K, K1 = one * (look->M - look->S * K);
    const Array NK1 = times(old.N, K1), N1K1 = times(*old.N1, K1);
    a.r1 = *old.r1 + (one * look->v - dot(K0, *old.r1) - dot(K1, old.r)) * Z;
    a.N1 = through(*old.N1, K0, K) - outer(Z, NK1) + (dot(NK1, K) + one) * ZZ;
    const Array cross = outer(N1K1, Z);
    a.N2 = through(*old.N2, K0, K0) - (cross + transposed(cross)) +
           (2.0 * dot(K0, N1K1) + dot(K1, NK1) - one * one * look->S) * ZZ;
  }
  return a;
}

Prediction smoothed(const Belief& b, const Adjoint& a) {
  const Array CN = np::matmul(b.C, a.N);
  Prediction out{b.x + times(b.C, a.r), symmetric(b.C - np::matmul(CN, b.C))};
  if (!b.D) return out;
  const Array &D = *b.D, DT = transposed(D);
  const Array DN1 = np::matmul(DT, *a.N1), first = np::matmul(D, np::matmul(DN1, b.C));
  out.x = out.x + times(D, times(DT, *a.r1));
  out.C = out.C - first - transposed(first) - sandwich(D, np::matmul(np::matmul(DT, *a.N2), D));
  // What is left of D after all was seen.
  const Array left = np::sum(D * (D - np::matmul(D, np::matmul(DN1, D))), -1);
  const Array unknown = left > rounding(D) * np::square(*b.size);
  out.C = np::where(identity_like(out.C) * np::expand_dims(unknown, -1) > 0, INFINITY, out.C);
  return out;
}

Combined combined(const Array& Z, const Belief& b, const Adjoint& a) {
  const auto rows_dot = [](const Array& x, const Array& y) { return np::sum(x * y, -1); };
  const Array ZC = np::matmul(Z, b.C);
  Combined out{times(Z, b.x) + times(ZC, a.r), rows_dot(ZC, Z) - rows_dot(np::matmul(ZC, a.N), ZC)};
  if (b.D) {
    const Array ZD = np::matmul(Z, *b.D), ZP = np::matmul(ZD, transposed(*b.D)), ZPN1 = np::matmul(ZP, *a.N1);
    out.mean = out.mean + times(ZP, *a.r1);
    out.variance = out.variance - 2.0 * rows_dot(ZPN1, ZC) - rows_dot(np::matmul(ZP, *a.N2), ZP);
    const Array left = rows_dot(ZD, ZD) - rows_dot(ZPN1, ZP), least = np::square(times(np::abs(Z), *b.size));
    out.variance = np::where(left > rounding(Z) * least, INFINITY, out.variance);
  }
  out.variance = np::maximum(out.variance, 0.0);
  return out;
}

Array with_infinite(const Belief& b) {
  if (!b.D) return b.C;
  const Array unknown = row_sizes(*b.D) > rounding(*b.D) * *b.size;
  return np::where(identity_like(b.C) * np::expand_dims(unknown, -1) > 0, INFINITY, b.C);
}

Array unknown_values(const Array& F, const Belief& b) {
  return row_sizes(np::matmul(F, *b.D)) > rounding(F) * times(np::abs(F), *b.size);
}

}  // namespace cotan::dlm
