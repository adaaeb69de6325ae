// Eigenvalues and singular values by Jacobi's rotations. The indices are drawn up as in a tournament: those
// of the first half meet those of the second, all at once, then everyone but the first moves on by one seat,
// until all have met. So a round is a few elementwise operations on whole matrices, and after a sweep of
// rounds all are back in their seats.
#include <cmath>
#include <limits>

#include "expansions/tools.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::expansions {

namespace {

constexpr int most_sweeps = 30;  // quadratic convergence: 15 were enough for all that was tried

double epsilon_of(DType dtype) {
  return dtype == f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}
/// An odd one has zeros added, and so plays against one that it is done with.
std::int64_t even(std::int64_t n) { return n + n % 2; }

/// Of n players, player i of the first half meets player i of the second.
struct Tournament {
  std::int64_t n;
  std::int64_t half() const { return n / 2; }
  std::int64_t rounds() const { return n - 1; }
  /// Rows (or columns) exchanged with those that they meet.
  Array partners(const Array& a, int axis) const {
    Shape split = a.shape();
    split[static_cast<std::size_t>(axis)] = 2;
    split.insert(split.begin() + axis + 1, half());
    return ops::reshape(ops::rev(ops::reshape(a, split), {axis}), a.shape());
  }
  /// Who sits where in the next round.
  Array moved(const Array& a, int axis) const {
    if (n == 2) return a;
    const auto h = static_cast<int>(half()), last = static_cast<int>(n) - 1;
    const Array seat = numbers(n);
    const Array upper = np::where(seat == 0, 0, np::where(seat == 1, h, seat - 1));
    const Array lower = np::where(seat == last, h - 1, seat + 1);
    return take(a, np::where(seat < h, upper, lower), axis);
  }
  /// A value per meeting for each of the two players.
  Array for_both(const Array& first, const Array& second) const {
    return ops::concatenate(std::vector{first, second}, 0);
  }
};

/// The rotations that make pairs orthogonal: (x, y) becomes (c x - s y, s x + c y).
struct Rotations {
  Array own, other;  ///< [n, 1]: what a player keeps of itself and takes from the other
};
/// From the products of the pair's members with themselves and with each other, [n / 2]. Pairs are left alone
/// where the last is not above `least`.
Rotations rotations_of(const Tournament& t, const Array& first, const Array& second, const Array& mixed,
                       const Array& least) {
  const Array zero = scalar(mixed.dtype(), 0), one = scalar(mixed.dtype(), 1);
  const Array turns = np::abs(mixed) > least;
  const Array zeta = (second - first) / ops::select(turns, 2 * mixed, ops::full(mixed.shape(), one));
  const Array size = np::abs(zeta) + np::sqrt(1 + zeta * zeta);
  const Array tangent = ops::select(turns, ops::select(zeta < zero, -1 / size, 1 / size), ops::zeros_like(mixed));
  const Array cosine = 1 / np::sqrt(1 + tangent * tangent), sine = tangent * cosine;
  return {ops::as_column(t.for_both(cosine, cosine)), ops::as_column(t.for_both(-sine, sine))};
}
Array rotated_rows(const Tournament& t, const Array& a, const Rotations& r) {
  return r.own * a + r.other * t.partners(a, 0);
}

/// round(state) -> state, whether a pair was far from done; in sweeps, until one has seen no such pair.
Arrays sweep_until_done(const Tournament& t, Arrays state, const FlatFn& round) {
  const std::size_t n = state.size();
  state.push_back(scalar(i32, 0));
  state.push_back(scalar(bool_, 1));
  const auto holds = [&](std::span<const Array> in) { return Arrays{in[n + 1] & (in[n] < most_sweeps)}; };
  const auto sweep = [&](std::span<const Array> in) {
    Arrays carries(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
    carries.push_back(scalar(bool_, 0));
    const auto step = [&](std::span<const Array> s) {
      Arrays next = round(s.subspan(0, n));
      next.back() = next.back() | s[n];
      return next;
    };
    Arrays out = loop(t.rounds(), carries, {}, step);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(n), in[n] + 1);
    return out;
  };
  Arrays out = loop_while(state, holds, sweep);
  out.resize(n);
  return out;
}
Array any(const Array& condition) { return bind1(ops::reduce_or_p, {condition}, {{"axes", Ints{0}}}); }

/// In units of the largest element, so that squares neither overflow nor vanish. What is not finite becomes
/// 0.
struct Scaled {
  Array matrix, unit, ok;
  explicit Scaled(const Array& a) : ok(all_of(bind1(ops::is_finite_p, {a}))) {
    const Array zero = scalar(a.dtype(), 0);
    const Array finite = np::where(ok, a, zero);
    const Array largest = ops::reduce_max(np::abs(finite), {0, 1});
    unit = ops::select(largest > zero, largest, scalar(a.dtype(), 1));
    matrix = finite / unit;
  }
};

/// Positions in ascending order.
Array order_of(const Array& values) {
  return bind(ops::sort_p, {values, numbers(values.size())},
              {{"dimension", std::int64_t{0}}, {"is_stable", true}, {"num_keys", std::int64_t{1}}})[1];
}

// Symmetric matrices --------------------------------------------------------------------------------------

/// Eigenvectors in columns, if wanted, and ascending eigenvalues of one matrix, from one of its triangles.
Arrays eigh_of_one(const Array& a, bool lower, bool with_vectors) {
  const std::int64_t n = rows(a);
  const DType dtype = a.dtype();
  const Array triangle = lower ? ops::lower_triangle(a) : ops::upper_triangle(a);
  const Array strict = lower ? ops::lower_triangle(a, -1) : ops::upper_triangle(a, 1);
  const Scaled s(triangle + ops::matrix_transpose(strict));
  const Tournament t{even(n)};
  const std::int64_t h = t.half();
  // Elements this small beside the whole are rounding errors. The rotations of the last sweep leave far less.
  const Array nothing = epsilon_of(dtype) * np::sqrt(ops::reduce_sum(s.matrix * s.matrix, {0, 1}));
  const auto round = [&](std::span<const Array> in) {
    const Array& m = in[0];
    const auto diagonal_from = [&](std::int64_t row, std::int64_t column) {
      const Array at = numbers(h) * scalar(i32, t.n + 1) + scalar(i32, row * t.n + column);
      return take(ops::reshape(m, {t.n * t.n}), at, 0);
    };
    const Array first = diagonal_from(0, 0), second = diagonal_from(h, h), mixed = diagonal_from(0, h);
    const Rotations r = rotations_of(t, first, second, mixed, scalar(dtype, 0));
    const Array half_done = rotated_rows(t, m, r);
    const Array own = ops::reshape(r.own, {1, t.n}), other = ops::reshape(r.other, {1, t.n});
    const Array next = own * half_done + other * t.partners(half_done, 1);
    Arrays after{t.moved(t.moved(next, 0), 1)};
    if (with_vectors) after.push_back(t.moved(rotated_rows(t, in[1], r), 0));
    after.push_back(any(np::abs(mixed) > nothing));
    return after;
  };
  Arrays state{padded(s.matrix, t.n, t.n)};
  if (with_vectors) state.push_back(ops::identity_matrix(dtype, t.n));
  const Arrays out = sweep_until_done(t, state, round);
  const Array values = ops::slice_axis(ops::diagonal_of(out[0]), 0, 0, n) * s.unit;
  const Array order = order_of(values), none = nan_of(dtype);
  const Array sorted = np::where(s.ok, take(values, order, 0), none);
  if (!with_vectors) return {sorted};
  const Array vectors = ops::slice(out[1], {0, 0}, {n, n});
  return {np::where(s.ok, ops::matrix_transpose(take(vectors, order, 0)), none), sorted};
}

// Singular values -----------------------------------------------------------------------------------------

/// Orthogonal columns of a V, as rows in descending order of their size; Vᵀ, and the sizes.
struct Orthogonalized {
  Array rows, vt, sizes;
};
/// Of aᵀ, which has no fewer columns than rows.
Orthogonalized orthogonalized(const Array& transposed, bool with_vectors) {
  const std::int64_t n = rows(transposed);
  const DType dtype = transposed.dtype();
  const Tournament t{even(n)};
  const std::int64_t h = t.half();
  // As good as sums of so many products can be; and what is that small beside the largest element is nothing.
  const double epsilon = epsilon_of(dtype);
  const Array tolerance = scalar(dtype, epsilon * std::sqrt(static_cast<double>(columns(transposed)))),
              nothing = scalar(dtype, epsilon * epsilon);
  const auto round = [&](std::span<const Array> in) {
    const Array top = ops::matrix_rows(in[0], 0, h), bottom = ops::matrix_rows(in[0], h, t.n);
    const auto products = [](const Array& a, const Array& b) { return ops::reduce_sum(a * b, {1}); };
    const Array first = products(top, top), second = products(bottom, bottom), mixed = products(top, bottom);
    const Array least = tolerance * np::sqrt(first) * np::sqrt(second) + nothing;
    const Rotations r = rotations_of(t, first, second, mixed, least);
    Arrays out;
    for (const Array& a : in) out.push_back(t.moved(rotated_rows(t, a, r), 0));
    out.push_back(any(np::abs(mixed) > least));
    return out;
  };
  Arrays state{padded(transposed, t.n, columns(transposed))};
  if (with_vectors) state.push_back(ops::identity_matrix(dtype, t.n));
  const Arrays out = sweep_until_done(t, state, round);
  const Array own = ops::matrix_rows(out[0], 0, n), sizes = np::sqrt(ops::reduce_sum(own * own, {1}));
  const Array order = order_of(-sizes);
  return {take(own, order, 0), with_vectors ? take(ops::slice(out[1], {0, 0}, {n, n}), order, 0) : Array(),
          take(sizes, order, 0)};
}

/// Singular values of one matrix with at least as many rows as columns; U and Vᵀ.
Arrays svd_of_tall(const Array& a, bool full, bool with_vectors) {
  const std::int64_t n = columns(a);
  const DType dtype = a.dtype();
  const Array none = nan_of(dtype), zero = scalar(dtype, 0);
  const Scaled s(a);
  const Orthogonalized o = orthogonalized(ops::matrix_transpose(s.matrix), with_vectors);
  const Array values = np::where(s.ok, o.sizes * s.unit, none);
  if (!with_vectors) return {values};
  // The columns of U are those of a V in units of their size. A QR factorisation finds them, but for signs,
  // and others where sizes are 0 or columns are missing.
  const Arrays qr = bind(ops::qr_p, {ops::matrix_transpose(o.rows)}, {{"full_matrices", full}});
  const std::int64_t width = columns(qr[0]);
  const Array diagonal = ops::diagonal_of(ops::matrix_rows(qr[1], 0, n));
  const Array signs = ops::select(diagonal < zero, ops::full({n}, scalar(dtype, -1)), ops::full({n}, scalar(dtype, 1)));
  const Array all_signs = ops::pad(signs, scalar(dtype, 1), {0}, {width - n}, {0});
  return {values, np::where(s.ok, qr[0] * ops::reshape(all_signs, {1, width}), none), np::where(s.ok, o.vt, none)};
}

Arrays eigh(const Primitive& p, std::span<const Array> x, const Params& params) {
  const bool lower = params.flag("lower"), with_vectors = !ops::eigh_gives_values_alone(params);
  if (x[0].size() == 0) {
    const Array values = ops::zeros_of(p.type(p, std::vector{x[0].aval()}, params).back());
    return with_vectors ? Arrays{x[0], values} : Arrays{values};
  }
  return for_each_matrix({x[0]}, [&](std::span<const Array> a) { return eigh_of_one(a[0], lower, with_vectors); });
}

Arrays svd(const Primitive& p, std::span<const Array> x, const Params& params) {
  const bool full = params.flag("full_matrices"), vectors = params.flag("compute_uv");
  if (x[0].size() == 0) {
    Arrays out;
    for (const AbstractValue& t : p.type(p, std::vector{x[0].aval()}, params))
      out.push_back(out.empty()
                        ? ops::zeros_of(t)
                        : ops::broadcast_to(
                              ops::identity_matrix(t.dtype, ops::rows_of(t.shape), ops::columns_of(t.shape)), t.shape));
    return out;
  }
  return for_each_matrix({x[0]}, [&](std::span<const Array> in) {
    const Array& a = in[0];
    if (rows(a) >= columns(a)) return svd_of_tall(a, full, vectors);
    Arrays out = svd_of_tall(ops::matrix_transpose(a), full, vectors);
    if (vectors) out = {out[0], ops::matrix_transpose(out[2]), ops::matrix_transpose(out[1])};
    return out;
  });
}

}  // namespace

const RuleFor<Expansion> expands_eigh{{&ops::eigh_p}, {eigh}};
const RuleFor<Expansion> expands_svd{{&ops::svd_p}, {svd}};

}  // namespace cotan::expansions
