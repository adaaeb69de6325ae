// Functions that look elements up: take and its kin, searches in sorted arrays, and what needs values
// (nonzero, unique).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void check_integers(const Array& indices, std::string_view op) {
  if (!is_integer(indices.dtype()))
    raise<TypeError>("[{}] the indices are {}; they must be integers, cast with astype(i32).", op, indices.aval());
}

/// Elements of the 1-d `a` at in-range `positions`.
Array elements_at(const Array& a, const Array& positions) {
  return ops::gather(a, indexing::index_vectors({positions}, positions.shape()),
                     {.offset_dims = {}, .collapsed_slice_dims = {0}, .start_index_map = {0}}, {1}, ops::mode_clip);
}

/// As indexing::wrap_negative, but without a comparison. Compilers would keep the result of that in memory, although
/// readers that compare every element of a row with its label could compute it again more cheaply.
Array wrapped_by_bits(const Array& indices, std::int64_t size, DType dtype) {
  if (indices.ndim() == 0 || is_unsigned_integer(indices.dtype())) return indexing::wrap_negative(indices, size, dtype);
  const Array wide = ops::cast(indices, dtype);
  const auto bits = static_cast<std::int64_t>(8 * itemsize(dtype));
  const Array sign = bind1(ops::shift_right_arithmetic_p, {wide, scalar(dtype, bits - 1)});
  return bind1(ops::add_p, {wide, bind1(ops::and_p, {sign, scalar(dtype, size)})});
}

/// The order that sorting uses: NaN comes last.
Array sorts_before(const Array& a, const Array& b, bool or_equal) {
  const Array before = or_equal ? a <= b : a < b;
  if (!is_floating(a.dtype())) return before;
  return or_equal ? before | isnan(b) : before | (isnan(b) & ~isnan(a));
}

}  // namespace

Array take(const ArrayLike& a, const ArrayLike& indices, std::optional<int> axis, std::string_view mode) {
  check_integers(indices, "take");
  const Array source = axis ? a.array() : ops::reshape(a, {a->size()});
  const int along = axis ? resolve_axis(*axis, source.ndim(), "take") : 0;
  const std::int64_t size = source.shape()[along];
  const Shape& where = indices->shape();
  if (size == 0 && indices->size() != 0)
    raise<IndexError>(
        "[take] axis {} of {} is empty: indices {} have nothing to select; index an axis that has elements.", along,
        source.aval(), indices->aval());
  const DType dtype = indexing::index_dtype({&indices.array(), 1}, source.shape());
  Array positions;
  if (mode == "fill")
    positions = indexing::wrap_negative(indices, size, dtype);
  else if (mode == "clip")
    positions = ops::cast(indices, dtype);
  else if (mode == "wrap")
    positions = mod(ops::cast(indices, dtype), scalar(dtype, std::max<std::int64_t>(size, 1)));
  else
    raise<ValueError>("[take] mode '{}' is unknown; use fill, clip or wrap.", mode);

  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {along}, .start_index_map = {along}};
  Ints sizes = source.shape();
  sizes[along] = 1;
  const int inserted = static_cast<int>(where.size());
  for (int i = 0; i < source.ndim() - 1 + inserted; ++i)
    if (i < along || i >= along + inserted) dims.offset_dims.push_back(i);
  return ops::gather(source, indexing::index_vectors({positions}, where), dims, sizes,
                     mode == "fill" ? ops::mode_fill_or_drop : ops::mode_clip);
}

Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, int axis) {
  check_integers(indices, "take_along_axis");
  if (a->ndim() != indices->ndim())
    raise<ShapeError>(
        "[take_along_axis] {} and the indices {} have different numbers of axes; reshape the indices with "
        "expand_dims.",
        a->aval(), indices->aval());
  const int along = resolve_axis(axis, a->ndim(), "take_along_axis");
  Shape source_shape = a->shape(), index_shape = indices->shape();
  for (int i = 0; i < a->ndim(); ++i) {
    if (i == along) continue;
    if (source_shape[i] != index_shape[i] && source_shape[i] != 1 && index_shape[i] != 1)
      raise<ShapeError>(
          "[take_along_axis] {} and the indices {} differ on axis {}; they must broadcast everywhere but on "
          "axis {}.",
          a->aval(), indices->aval(), i, along);
    source_shape[i] = index_shape[i] = source_shape[i] == 1 ? index_shape[i] : source_shape[i];
  }
  if (source_shape[along] == 0 && ops::product(index_shape) != 0)
    raise<IndexError>(
        "[take_along_axis] axis {} of {} is empty: indices {} have nothing to select; index an axis that has "
        "elements.",
        along, a->aval(), indices->aval());
  const Array source = ops::broadcast_to(a, source_shape);
  const DType dtype = indexing::index_dtype({&indices.array(), 1}, source_shape);
  const Array positions = ops::broadcast_to(wrapped_by_bits(indices, source_shape[along], dtype), index_shape);
  // All other axes of the array and of the indices go along together.
  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {along}, .start_index_map = {along}};
  Ints sizes;
  for (int i = 0; i < a->ndim(); ++i) {
    sizes.push_back(i == along ? 1 : std::min<std::int64_t>(source_shape[i], 1));
    if (i == along) continue;
    dims.operand_batching_dims.push_back(i);
    dims.start_indices_batching_dims.push_back(i);
  }
  return ops::gather(source, indexing::index_vectors({positions}, index_shape), dims, sizes, ops::mode_fill_or_drop);
}

Array choose(const ArrayLike& index, const ArrayList& list) {
  const std::vector<Array>& choices = list;
  check_integers(index, "choose");
  if (choices.empty()) raise<ValueError>("[choose] there is nothing to choose from; give at least one array.");
  std::vector<Shape> shapes{index->shape()};
  for (const Array& c : choices) shapes.push_back(c.shape());
  Shape shape = broadcast_shapes("choose", shapes);
  const Arrays typed = cast_all(choices, result_type(choices));
  Shape row = shape;
  row.insert(row.begin(), 1);
  Arrays rows;
  for (const Array& c : typed) rows.push_back(ops::reshape(ops::broadcast_to(c, shape), row));
  const auto last = static_cast<std::int64_t>(choices.size()) - 1;
  const Array clipped = clip(index, 0, last);
  return ops::reshape(
      take_along_axis(ops::concatenate(rows, 0), ops::reshape(ops::broadcast_to(clipped, shape), row), 0), shape);
}

Array searchsorted(const ArrayLike& a, const ArrayLike& v, std::string_view side) {
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

Array bincount(const ArrayLike& x, std::int64_t length) {
  if (!is_integer(x->dtype()) && x->dtype() != DType::bool_)
    raise<TypeError>("[bincount] {} does not hold integers; cast it with astype(i32).", x->aval());
  if (length < 0) raise<ValueError>("[bincount] length {} is negative; give 0 or more.", length);
  const Array flat = ops::reshape(x->dtype() == DType::bool_ ? ops::cast(x, i32) : x.array(), {x->size()});
  // As in JAX negative values count as zeros, and values from `length` on are dropped.
  return ops::full({length}, scalar(i32, 0)).at(maximum(flat, 0)).add(scalar(i32, 1));
}

Array interp(const ArrayLike& x, const ArrayLike& xp, const ArrayLike& fp) {
  if (xp->ndim() != 1 || xp->shape() != fp->shape() || xp->size() == 0)
    raise<ShapeError>(
        "[interp] the points are {} and their values {}; both must have one axis, as long as the other, and "
        "not be empty.",
        xp->aval(), fp->aval());
  const Array operands[] = {x.array(), xp.array(), fp.array()};
  const Arrays typed = cast_all(operands, inexact_result_type(operands));
  const Array &at = typed[0], &points = typed[1], &values = typed[2];
  const std::int64_t n = points.size();
  const Array first_value = ops::reshape(ops::slice_axis(values, 0, 0, 1), {});
  if (n == 1) return ops::broadcast_to(first_value, at.shape());
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
  return where(at < start, first_value, where(at > end, last_value, inside));
}

std::vector<Array> nonzero(const ArrayLike& a) {
  if (a->ndim() == 0) raise<ShapeError>("[nonzero] a scalar has no axes to index; use np::atleast_1d.");
  return indexing::nonzero_positions(a, "nonzero");
}

Array unique(const ArrayLike& a) {
  if (!indexing::has_value(a))
    raise<ConcretizationError>(
        "[unique] {} has no value while the function is traced, so the number of distinct elements is not "
        "known; call it outside jit and vmap.",
        indexing::describe_value(a));
  return dispatch(a->dtype(), [&]<class T>() {
    using C = Compute<T>;
    std::vector<T> values = a->to_vector<T>();
    // NaNs last, and one of them.
    const auto before = [](T x, T y) {
      if constexpr (is_real<T>)
        if (std::isnan(static_cast<C>(x)) || std::isnan(static_cast<C>(y))) return !std::isnan(static_cast<C>(x));
      return static_cast<C>(x) < static_cast<C>(y);
    };
    std::stable_sort(values.begin(), values.end(), before);
    values.erase(std::unique(values.begin(), values.end(), [&](T x, T y) { return !before(x, y); }), values.end());
    return Array::from_host(values);
  });
}

}  // namespace cotan::numpy
