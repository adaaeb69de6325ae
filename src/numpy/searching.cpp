// Searching in sorted arrays, counting by value, interpolation.
#include <algorithm>
#include <bit>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Elements of the 1-d `a` at in-range `positions`.
Array elements_at(const Array& a, const Array& positions) {
  return ops::gather(a, indexing::index_vectors({positions}, positions.shape()),
                     {.offset_dims = {}, .collapsed_slice_dims = {0}, .start_index_map = {0}}, {1}, ops::mode_clip);
}

/// The order that sorting uses: NaN comes last.
Array sorts_before(const Array& a, const Array& b, bool or_equal) {
  const Array before = or_equal ? a <= b : a < b;
  if (!is_inexact(a.dtype())) return before;
  return or_equal ? before | isnan(b) : before | (isnan(b) & ~isnan(a));
}

}  // namespace

Array searchsorted(const ArrayLike& a, const ArrayLike& v, std::string_view side, const std::optional<Array>& sorter) {
  if (sorter) return searchsorted(take(a, *sorter, 0), v, side);
  if (a->ndim() != 1) raise<ShapeError>("[searchsorted] the sorted array is {}; it must have one axis.", a->aval());
  if (side != "left" && side != "right")
    raise<ValueError>("[searchsorted] side '{}' is unknown; use left or right.", side);
  const Array both[] = {a.array(), v.array()};
  const Arrays typed = cast_all(both, result_type(both));
  const Array sorted = bind1(ops::stop_gradient_p, {typed[0]}), wanted = bind1(ops::stop_gradient_p, {typed[1]});
  const std::int64_t n = a->size();
  const DType dtype = n > INT32_MAX / 2 ? i64 : i32;
  // How many elements come before: the bits of that number from the highest down, each by one comparison.
  Array count = ops::full(v->shape(), scalar(dtype, 0));
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0; step /= 2) {
    const Array more = count + scalar(dtype, step);
    const Array before = sorts_before(elements_at(sorted, more - scalar(dtype, 1)), wanted, side == "right");
    count = where((more <= scalar(dtype, n)) & before, more, count);
  }
  return count;
}

Array digitize(const ArrayLike& x, const ArrayLike& bins, bool right) {
  if (bins->ndim() != 1) raise<ShapeError>("[digitize] the bins are {}; they must have one axis.", bins->aval());
  const std::int64_t n = bins->size();
  const std::string_view side = right ? "left" : "right";
  const Array rising = searchsorted(bins, x, side);
  if (n < 2) return rising;
  const Array falling = scalar(rising.dtype(), n) - searchsorted(ops::rev(bins, {0}), x, side);
  const Array first = ops::reshape(ops::slice_axis(bins, 0, 0, 1), {}),
              last = ops::reshape(ops::slice_axis(bins, 0, n - 1, n), {});
  return where(last >= first, rising, falling);
}

namespace {

Array counted(const Array& x, std::int64_t length, const Array& weights) {
  if (!is_integer(x.dtype()) && x.dtype() != DType::bool_)
    raise<TypeError>("[bincount] {} does not hold integers; cast it with astype(i32).", x.aval());
  if (length < 0) raise<ValueError>("[bincount] length {} is negative; give 0 or more.", length);
  const Array flat = ops::reshape(x.dtype() == DType::bool_ ? ops::cast(x, i32) : x, {x.size()});
  // As in JAX negative values count as zeros, and values from `length` on are dropped.
  return ops::full({length}, scalar(weights.dtype(), 0)).at(maximum(flat, 0)).add(weights);
}

}  // namespace

Array bincount(const ArrayLike& x, std::int64_t length) { return counted(x, length, scalar(i32, 1)); }
Array bincount(const ArrayLike& x, const BincountOptions& options) {
  if (options.weights && options.weights->shape() != x->shape())
    raise<ShapeError>("[bincount] the weights are {} for elements {}; give one per element.", options.weights->aval(),
                      x->aval());
  const Array weights = options.weights ? ravel(*options.weights) : scalar(i32, 1);
  if (options.length) return counted(x, *options.length, weights);
  if (!indexing::has_value(x))
    raise<ConcretizationError>(
        "[bincount] {} has no value while the function is traced, so the largest element is not known; give `length`.",
        indexing::describe_value(x));
  std::int64_t length = options.minlength;
  if (x->size() > 0 && (is_integer(x->dtype()) || x->dtype() == DType::bool_))
    length = std::max(length, std::max<std::int64_t>(max(x).item<std::int64_t>(), 0) + 1);
  return counted(x, length, weights);
}

namespace {

bool extrapolates(const OutsideValue& outside) {
  if (outside.text().empty()) return false;
  if (outside.text() != "extrapolate")
    raise<ValueError>("[interp] '{}' is no value outside; give a number, or \"extrapolate\".", outside.text());
  return true;
}

/// A first and a last element, a period apart from the others of its kind.
Array with_neighbours(const Array& a, const Array& period) {
  const std::int64_t n = a.size();
  const Array parts[] = {ops::slice_axis(a, 0, n - 1, n) - period, a, ops::slice_axis(a, 0, 0, 1) + period};
  return ops::concatenate(parts, 0);
}

}  // namespace

Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp, const InterpOptions& options) {
  if (xp->ndim() != 1 || xp->shape() != fp->shape() || xp->size() == 0)
    raise<ShapeError>(
        "[interp] the points are {} and their values {}; both must have one axis, as long as the other, and "
        "not be empty.",
        xp->aval(), fp->aval());
  check_real("interp", x);
  check_real("interp", xp);
  const Array operands[] = {x.array(), xp.array(), fp.array()};
  ResultType type = inexact_result_type(operands);
  Array values = cast_to(fp, type);
  type.dtype = real_dtype(type.dtype);  // of complex values too the points are real
  Array at = cast_to(x, type), points = cast_to(xp, type);
  const bool to_the_left = extrapolates(options.left), to_the_right = extrapolates(options.right);
  if (options.period) {
    if (options.period->ndim() != 0)
      raise<ShapeError>("[interp] the period is {}; it must be a scalar.", options.period->aval());
    const Array period = ops::cast(abs(*options.period), at.dtype());
    at = mod(at, period);
    const std::vector<Array> sorted = lax::sort({mod(points, period), values}, 0);
    points = with_neighbours(sorted[0], period);
    values = with_neighbours(sorted[1], scalar(values.dtype(), 0));
  }
  const std::int64_t n = points.size();
  const Array first_value = ops::reshape(ops::slice_axis(values, 0, 0, 1), {});
  const auto side = [](const OutsideValue& outside, const Array& otherwise) {
    return outside.value() ? *outside.value() : otherwise;
  };
  if (n == 1)  // JAX's line through one point: a constant, also where it is extrapolated
    return where(at < points, to_the_left ? first_value : side(options.left, first_value),
                 where(at > points, to_the_right ? first_value : side(options.right, first_value), first_value));
  const Array upper = clip(searchsorted(points, at, "right"), 1, n - 1), lower = upper - 1;
  const Array x0 = elements_at(points, lower), f0 = elements_at(values, lower);
  const Array dx = elements_at(points, upper) - x0, df = elements_at(values, upper) - f0;
  // Points that coincide: no slope, and no division by zero in derivatives either.
  const double eps = at.dtype() == f64 ? 0x1p-52 : at.dtype() == f32 ? 0x1p-23 : at.dtype() == f16 ? 0x1p-10 : 0x1p-7;
  const Array flat = abs(dx) <= eps * eps;
  const Array inside = where(flat, f0, f0 + (at - x0) / where(flat, 1.0, dx) * df);
  const Array last_value = ops::reshape(ops::slice_axis(values, 0, n - 1, n), {});
  const Array start = ops::reshape(ops::slice_axis(points, 0, 0, 1), {}),
              end = ops::reshape(ops::slice_axis(points, 0, n - 1, n), {});
  if (options.period) return inside;
  const Array right = to_the_right ? inside : where(at > end, side(options.right, last_value), inside);
  return to_the_left ? right : where(at < start, side(options.left, first_value), right);
}

}  // namespace cotan::numpy
