// What reduces matrices by reflections from one side or both, in LAPACK's form, and which columns QR factorisation with
// pivoting takes: loops of reflections of real matrices.
#include <cotan/lax.hpp>

#include "expansions/reflections.hpp"

namespace cotan::expansions {

Reflection reflection_of(const Array& column, const Array& start) {
  const DType dtype = column.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1);
  const Array first = element_at(column, start, scalar(i32, 0));
  const Grid at(column);
  // In units of the largest element, so that squares neither overflow nor vanish.
  const Array part = np::where(at.row >= start, column, zero);
  const Array largest = ops::reduce_max(np::abs(part), {0, 1});
  const Array unit = ops::select(largest > zero, largest, one);
  const Array scaled = part / unit;
  const Array rest = np::where(at.row > start, scaled, zero), head = first / unit;
  const Array below = ops::reduce_sum(rest * rest, {0, 1});
  const Array size = np::sqrt(below + head * head);
  const Array moves = below > zero;
  const Array beta = ops::select(moves, ops::select(head < zero, size, -size), head);
  const Array divisor = ops::select(moves, head - beta, one);
  const Array vector = np::where(at.row == start, one, rest / divisor);
  const Array factor = ops::select(moves, (beta - head) / ops::select(moves, beta, one), zero);
  return {vector, factor};
}
Array reflected(const Array& a, const Reflection& h) {
  return a - (h.factor * h.vector) * ops::reshape(ops::reduce_sum(h.vector * a, {0}), {1, columns(a)});
}

namespace {

/// What a loop of reflections leaves: the matrix, the vectors in columns, and the factors.
struct Reflections {
  Array matrix, vectors, factors;
};
/// Vectors of `steps` reflections as the first columns of a matrix like a; zeros right of them.
Reflections collected(const Arrays& out, const Array& a, std::int64_t steps) {
  const Array vectors = ops::matrix_transpose(ops::reshape(out[1], {steps, rows(a)}));
  return {out[0], padded(vectors, rows(a), columns(a)), out[2]};
}
Reflections from_the_left(const Array& a, std::int64_t steps) {
  const auto step = [](std::span<const Array> in) {
    const Reflection h = reflection_of(column_at(in[0], in[1]), in[1]);
    return Arrays{reflected(in[0], h), h.vector, h.factor};
  };
  return collected(loop(steps, {a}, {numbers(steps)}, step), a, steps);
}
/// Zeros below the diagonal under the main one, by n - 1 reflections.
Reflections from_both_sides(const Array& a) {
  const std::int64_t steps = rows(a) - 1;
  if (steps == 0) return {a, ops::zeros_like(a), ops::zeros_of({a.dtype(), {0}, false})};
  const auto step = [](std::span<const Array> in) {
    const Reflection h = reflection_of(column_at(in[0], in[1]), in[1] + scalar(i32, 1));
    const Array right = ops::matrix_transpose(reflected(ops::matrix_transpose(reflected(in[0], h)), h));
    return Arrays{right, h.vector, h.factor};
  };
  return collected(loop(steps, {a}, {numbers(steps)}, step), a, steps);
}
/// NaN in all results where there is one, or an infinity, in `a`.
Arrays where_finite(const Array& a, Arrays results) {
  const Array ok = all_of(bind1(ops::is_finite_p, {a}));
  for (Array& r : results) r = np::where(ok, r, nan_of(r.dtype()));
  return results;
}

Arrays geqrf_of_one(const Array& a) {
  const Reflections r = from_the_left(a, std::min(rows(a), columns(a)));
  const Grid at(a);
  return where_finite(a, {np::where(at.row > at.column, r.vectors, r.matrix), r.factors});
}
Arrays hessenberg_of_one(const Array& a) {
  const Reflections r = from_both_sides(a);
  const Grid at(a);
  return where_finite(a, {np::where(at.row > at.column + scalar(i32, 1), r.vectors, r.matrix), r.factors});
}
/// The upper triangle is the lower one from the other end.
Arrays tridiagonal_of_one(const Array& a, bool lower) {
  if (!lower) {
    Arrays out = tridiagonal_of_one(ops::rev(a, {0, 1}), true);
    for (Array& r : out) r = ops::rev(r, r.ndim() == 2 ? Ints{0, 1} : Ints{0});
    return out;
  }
  const std::int64_t n = rows(a);
  const Reflections r = from_both_sides(ops::lower_triangle(a) + ops::matrix_transpose(ops::lower_triangle(a, -1)));
  const Grid at(a);
  const Array below = np::where(at.row > at.column + scalar(i32, 1), r.vectors, r.matrix);
  const Array e = ops::diagonal_of(ops::slice(r.matrix, {1, 0}, {n, n - 1}));
  return where_finite(a, {np::where(at.row >= at.column, below, a), ops::diagonal_of(r.matrix), e, r.factors});
}

/// The order of columns. They are not moved: the permutation says which one is next.
Array pivots_of_one(const Array& a) {
  const std::int64_t m = rows(a), n = columns(a);
  const DType dtype = a.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1), seat = numbers(n);
  const Array largest = ops::reduce_max(np::abs(a), {0, 1});
  const auto step = [&](std::span<const Array> in) {
    const Array &x = in[0], &order = in[1], &j = in[2];
    const Array rest = np::where(Grid(x).row >= j, x, zero);
    const Array sizes = np::where(seat >= j, take(ops::reduce_sum(rest * rest, {0}), order, 0), scalar(dtype, -1));
    const Array best = lax::argmax(sizes, 0), chosen = element_at(order, best);
    const Array next = np::where(seat == j, chosen, np::where(seat == best, element_at(order, j), order));
    return Arrays{reflected(x, reflection_of(column_at(x, chosen), j)), next};
  };
  const std::int64_t steps = std::min(m, n);
  const Array start = a / ops::select(largest > zero, largest, one);
  const Array order = loop(steps, {start, numbers(n)}, {numbers(steps)}, step)[1];
  return np::where(all_of(bind1(ops::is_finite_p, {a})), order, numbers(n));
}

/// What there is of no matrix, or of one without elements.
bool of_nothing(const Primitive& p, std::span<const Array> x, const Params& params, Arrays& out) {
  if (x[0].size() > 0) return false;
  for (const AbstractValue& t : p.type(p, std::vector{x[0].aval()}, params)) out.push_back(ops::zeros_of(t));
  return true;
}
Arrays geqrf(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (Arrays out; of_nothing(p, x, params, out)) return out;
  return for_each_matrix({x[0]}, [](std::span<const Array> a) { return geqrf_of_one(a[0]); });
}
Arrays hessenberg(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (Arrays out; of_nothing(p, x, params, out)) return out;
  return for_each_matrix({x[0]}, [](std::span<const Array> a) { return hessenberg_of_one(a[0]); });
}
Arrays tridiagonal(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (Arrays out; of_nothing(p, x, params, out)) return out;
  const bool lower = params.flag("lower");
  return for_each_matrix({x[0]}, [=](std::span<const Array> a) { return tridiagonal_of_one(a[0], lower); });
}
Arrays column_pivots(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) {
    const AbstractValue type = p.type(p, std::vector{x[0].aval()}, params)[0];
    return {ops::iota(i32, type.shape, type.ndim() - 1)};
  }
  return for_each_matrix({x[0]}, [](std::span<const Array> a) { return Arrays{pivots_of_one(a[0])}; });
}

}  // namespace

const RuleFor<Expansion> expands_geqrf{{&ops::geqrf_p}, {geqrf}};
const RuleFor<Expansion> expands_hessenberg{{&ops::hessenberg_p}, {hessenberg}};
const RuleFor<Expansion> expands_tridiagonal{{&ops::tridiagonal_p}, {tridiagonal}};
const RuleFor<Expansion> expands_column_pivots{{&ops::column_pivots_p}, {column_pivots}};

}  // namespace cotan::expansions
