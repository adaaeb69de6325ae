// Systems with three diagonals: elimination with row exchanges, which makes an upper triangle of three diagonals, and
// substitutions that are linear in the right-hand sides.
#include <cotan/numpy.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/ops.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;

namespace {

/// With rows along the first axis: the triangle's diagonals; per step, whether two rows were exchanged and how much of
/// the one was taken from the other.
struct Eliminated {
  Array diagonal, next, after;  ///< [n, ...]
  Array exchanged, factors;     ///< [n - 1, ...]
};

Array first_rows(const Array& a, std::int64_t from, std::int64_t to) { return ops::slice_axis(a, 0, from, to); }

/// A pivot that is not smaller than `least`, with its angle.
Array at_least(const Array& pivot, const Array& least) {
  const Array size = np::abs(pivot);
  const Array unit = np::where(size == 0, 1, pivot / np::where(size == 0, 1, size));
  return np::where(size < least, unit * least.astype(pivot.dtype()), pivot);
}

Eliminated eliminated(const Array& dl, const Array& d, const Array& du, bool perturb) {
  const Array below = np::moveaxis(dl, -1, 0), on = np::moveaxis(d, -1, 0), beside = np::moveaxis(du, -1, 0);
  const std::int64_t n = on.shape()[0];
  const Array zero = ops::zeros_like(first_rows(on, 0, 1));
  const Array above = n > 1 ? np::concatenate({first_rows(beside, 0, n - 1), zero}, 0) : zero;
  Array least = np::zeros({}, real_dtype(d.dtype()));
  if (perturb) {
    const Array sizes = np::maximum(np::abs(on), np::maximum(np::abs(above), np::abs(below)));
    const Array largest = np::max(sizes, 0);
    least = epsilon(d.dtype()) * np::where(largest == 0, 1, largest);
  }
  const auto step = [&](std::span<const Array> in) {
    const Array &p = in[0], &q = in[1], &l = in[2], &m = in[3], &u = in[4];
    const Array exchange = np::abs(l) > np::abs(p), none = ops::zeros_like(p);
    const Array chosen = np::where(exchange, l, p);
    const Array pivot = perturb ? at_least(chosen, least) : chosen;
    const Array next = np::where(exchange, m, q), after = np::where(exchange, u, none);
    const Array factor = np::where(exchange, p, l) / pivot;
    return Arrays{np::where(exchange, q, m) - factor * next,
                  np::where(exchange, none, u) - factor * after,
                  pivot,
                  next,
                  after,
                  exchange,
                  factor};
  };
  const Arrays out =
      scanned(step, {on[0], above[0]}, {first_rows(below, 1, n), first_rows(on, 1, n), first_rows(above, 1, n)});
  const Array last = perturb ? at_least(out[0], least) : out[0];
  const auto with_last = [&](const Array& rows, const Array& end) {
    return np::concatenate({rows, np::expand_dims(end, 0)}, 0);
  };
  const Array nothing = ops::zeros_like(last);
  return {with_last(out[2], last), with_last(out[3], nothing), with_last(out[4], nothing), out[5], out[6]};
}

/// x from the right-hand sides, [..., n, k].
Array substituted(const Eliminated& e, const Array& b) {
  const Array rows = np::moveaxis(b, -2, 0);
  const std::int64_t n = rows.shape()[0];
  const auto sides = [](const Array& a) { return np::expand_dims(a, -1); };
  const auto down = [](std::span<const Array> in) {
    const Array &row = in[0], &exchange = in[1], &factor = in[2], &next = in[3];
    const Array pivot = np::where(exchange, next, row);
    return Arrays{np::where(exchange, row, next) - factor * pivot, pivot};
  };
  const Arrays forward = scanned(down, {rows[0]}, {sides(e.exchanged), sides(e.factors), first_rows(rows, 1, n)});
  const Array y = np::concatenate({forward[1], np::expand_dims(forward[0], 0)}, 0);
  const auto up = [](std::span<const Array> in) {
    const Array x = (in[5] - in[3] * in[0] - in[4] * in[1]) / in[2];
    return Arrays{x, in[0], x};
  };
  const Array zero = ops::zeros_like(rows[0]);
  const Arrays back = scanned(up, {zero, zero}, {sides(e.diagonal), sides(e.next), sides(e.after), y}, true);
  return np::moveaxis(back[2], 0, -2);
}

/// The matrix with these diagonals times x.
Array product(const Array& dl, const Array& d, const Array& du, const Array& x) {
  const int axis = x.ndim() - 2;
  const std::int64_t n = x.shape(-2);
  const auto column = [](const Array& a) { return np::expand_dims(a, -1); };
  const Array zero = ops::zeros_like(ops::slice_axis(x, axis, 0, 1));
  const Array before = np::concatenate({zero, ops::slice_axis(x, axis, 0, n - 1)}, axis);
  const Array behind = np::concatenate({ops::slice_axis(x, axis, 1, n), zero}, axis);
  return column(d) * x + column(dl) * before + column(du) * behind;
}

}  // namespace

Array tridiagonal_solve(const ArrayLike& dl, const ArrayLike& d, const ArrayLike& du, const ArrayLike& b,
                        const TridiagonalSolveOptions& options) {
  constexpr std::string_view op = "tridiagonal_solve";
  const Array list[] = {dl, d, du, b};
  const DType dtype = np::inexact_result_type(list).dtype;
  Arrays x;
  for (const Array& a : list) x.push_back(ops::cast(a, dtype));
  check_lapack_dtype(op, x[3]);
  if (d->ndim() < 1 || dl->shape() != d->shape() || du->shape() != d->shape())
    raise<ShapeError>("[{}] the diagonals are {}, {} and {}; give them one shape, [..., n].", op, dl->aval(), d->aval(),
                      du->aval());
  if (b->ndim() != d->ndim() + 1 || Shape(b->shape().begin(), b->shape().end() - 1) != d->shape())
    raise<ShapeError>("[{}] {} and {} do not fit; b needs the axes of the diagonals and one more, of right-hand sides.",
                      op, d->aval(), b->aval());
  if (b->size() == 0) return x[3];
  const bool perturb = options.perturb_singular;
  const auto value = [=](std::span<const Array> in) {
    return Arrays{substituted(eliminated(in[0], in[1], in[2], perturb), in[3])};
  };
  const auto rule = [=](std::span<const Array> in) {
    const Eliminated e = eliminated(in[0], in[1], in[2], perturb);
    const Array solution = substituted(e, in[3]);
    return Arrays{solution, substituted(e, in[7] - product(in[4], in[5], in[6], solution))};
  };
  return flat::custom_jvp(value, rule, x, op)[0];
}

}  // namespace cotan::linalg
