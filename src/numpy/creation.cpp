// Arrays from nothing but a shape: constants, ranges, grids, triangles and diagonals.
#include <algorithm>
#include <cmath>
#include <cotan/numpy.hpp>
#include <memory>

#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

Array filled(std::string_view op, const Shape& shape, const Array& value) {
  checked_bytes({value.dtype(), shape, false}, op);
  return value.ndim() == 0 ? ops::full(shape, value) : ops::broadcast_to(value, shape);
}
std::int64_t checked_count(std::string_view op, double n) {
  if (!(n < 9.0e15)) raise<ValueError>("[{}] would make {} elements; check start, stop and step.", op, n);
  return n <= 0 ? 0 : static_cast<std::int64_t>(n);
}

}  // namespace

Array asarray(const ArrayLike& a, std::optional<DType> dtype) {
  a->aval();
  return dtype ? ops::cast(a, *dtype) : a.array();
}
Array zeros(const Shape& shape, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return filled("zeros", shape, scalar(dtype, 0));
}
Array ones(const Shape& shape, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return filled("ones", shape, scalar(dtype, 1));
}
Array empty(const Shape& shape, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return filled("empty", shape, scalar(dtype, 0));
}
Array full(const Shape& shape, const ArrayLike& value, std::optional<DType> dtype) {
  return filled("full", shape, dtype ? ops::cast(value, *dtype) : value.array());
}
Array zeros_like(const ArrayLike& a, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return zeros(shape.value_or(a->shape()), dtype.value_or(a->dtype()));
}
Array ones_like(const ArrayLike& a, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return ones(shape.value_or(a->shape()), dtype.value_or(a->dtype()));
}
Array full_like(const ArrayLike& a, const ArrayLike& value, std::optional<DType> dtype,
                const std::optional<Shape>& shape) {
  return full(shape.value_or(a->shape()), value, dtype.value_or(a->dtype()));
}
Array empty_like(const ArrayLike& a, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return zeros_like(a, dtype, shape);
}
Array frombuffer(std::span<const std::byte> buffer, DType dtype, std::int64_t count, std::int64_t offset,
                 const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  const auto width = static_cast<std::int64_t>(itemsize(dtype)), bytes = static_cast<std::int64_t>(buffer.size());
  if (offset < 0 || offset > bytes)
    raise<ValueError>("[frombuffer] offset {} is outside of a buffer of {} bytes; give 0 to its size.", offset, bytes);
  const std::int64_t rest = bytes - offset;
  if (count < 0 && rest % width != 0)
    raise<ValueError>("[frombuffer] {} bytes are no whole number of {}, which has {} bytes; give a count.", rest, dtype,
                      width);
  const std::int64_t n = count < 0 ? rest / width : count;
  if (n > rest / width)
    raise<ValueError>("[frombuffer] {} elements of {} are more than the {} bytes hold; give fewer.", n, dtype, rest);
  return Array::from_bytes(dtype, {n},
                           buffer.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(n * width)));
}

Array detail::integer_range(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype) {
  if (step == 0) raise<ValueError>("[arange] the step is 0; give one that leads from {} to {}.", start, stop);
  std::uint64_t count = 0;  // unsigned: the distance may not fit a signed integer
  if (step > 0 && stop > start)
    count =
        (static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start) - 1) / static_cast<std::uint64_t>(step) +
        1;
  if (step < 0 && stop < start)
    count = (static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop) - 1) /
                (0 - static_cast<std::uint64_t>(step)) +
            1;
  const Shape shape{checked_count("arange", static_cast<double>(count))};
  if (start == 0 && step == 1) return ops::iota(dtype, shape, 0);
  // Floats round once, from the exact integer.
  const std::int64_t last = start + static_cast<std::int64_t>(count) * step;
  const bool narrow = std::max(std::abs(start), std::abs(last)) < std::int64_t{1} << 31 && dtype != DType::f64;
  const DType exact = is_integer(dtype) ? dtype : narrow ? DType::i32 : DType::i64;
  return ops::cast(ops::iota(exact, shape, 0) * step + start, dtype);
}
Array detail::real_range(double start, double stop, double step, DType dtype) {
  if (step == 0 || std::isnan(start) || std::isnan(stop) || std::isnan(step))
    raise<ValueError>("[arange] cannot go from {} to {} in steps of {}; give finite bounds and a step that is not 0.",
                      start, stop, step);
  const std::int64_t n = checked_count("arange", std::ceil((stop - start) / step));
  if (dtype == DType::f64) return ops::iota(DType::f64, {n}, 0) * step + start;
  // In double as above, on the host: not every device has it.
  return dispatch_any(dtype, [&]<class T>() {
    const auto values = std::make_unique<T[]>(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const double product = static_cast<double>(i) * step;
      values[static_cast<std::size_t>(i)] = convert<T>(product + start);
    }
    return Array::from_host(std::span<const T>(values.get(), static_cast<std::size_t>(n)), {n});
  });
}

namespace {

/// The numbers, and where it is asked for how far they are apart.
Array even_steps(const Array& start, const Array& stop, std::int64_t num, bool endpoint, DType dtype, int axis,
                 Array* distance = nullptr) {
  if (num < 0) raise<ValueError>("[linspace] cannot make {} points; give 0 or more.", num);
  const DType computed = is_inexact(dtype) ? dtype : DType::f32;
  const Array bounds[] = {ops::cast(start, computed), ops::cast(stop, computed)};
  const Shape shape = broadcast_shapes("linspace", bounds);
  const Array first = ops::broadcast_to(bounds[0], shape), last = ops::broadcast_to(bounds[1], shape);
  const int at = resolve_axis(axis, static_cast<int>(shape.size()) + 1, "linspace");
  Shape row = shape;
  row.insert(row.begin() + at, 1);
  const std::int64_t steps = endpoint ? std::max<std::int64_t>(num - 1, 0) : num;
  if (distance) *distance = steps == 0 ? scalar(computed, nan) : (last - first) / steps;
  if (num == 0) {
    row[at] = 0;
    return zeros(row, dtype);
  }
  Array out = ops::reshape(first, row);
  if (num > 1) {
    Shape column(row.size(), 1);
    column[at] = steps;
    const Array t = ops::reshape(ops::iota(computed, {steps}, 0) / steps, column);
    out = out * (1 - t) + ops::reshape(last, row) * t;
    if (endpoint) {
      const Array parts[] = {out, ops::reshape(last, row)};
      out = ops::concatenate(parts, at);
    }
  }
  return ops::cast(is_inexact(dtype) ? out : floor(out), dtype);
}

}  // namespace

Array linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num, bool endpoint, DType dtype, int axis) {
  return even_steps(start, stop, num, endpoint, dtype, axis);
}
std::pair<Array, Array> linspace_with_step(const ArrayLike& start, const ArrayLike& stop, std::int64_t num,
                                           bool endpoint, DType dtype, int axis) {
  Array distance;
  const Array numbers = even_steps(start, stop, num, endpoint, dtype, axis, &distance);
  return {numbers, distance};
}
Array logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num, bool endpoint, const ArrayLike& base,
               DType dtype, int axis) {
  const DType computed = is_inexact(dtype) ? dtype : DType::f32;
  return ops::cast(power(ops::cast(base, computed), linspace(start, stop, num, endpoint, computed, axis)), dtype);
}
Array geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num, bool endpoint, DType dtype, int axis) {
  const DType computed = is_inexact(dtype) ? dtype : DType::f32;
  const Array first = ops::cast(start, computed), last = ops::cast(stop, computed);
  const Array flip = where((first < 0) & (last < 0), scalar(computed, -1), scalar(computed, 1));
  const Array out = flip * logspace(log10(flip * first), log10(flip * last), num, endpoint, 10.0, computed);
  return ops::cast(axis == 0 ? out : moveaxis(out, 0, axis), dtype);
}

// Triangles and diagonals -------------------------------------------------------------------------

namespace {

/// row + k compared with column, as a mask of shape (n, m).
Array band(const Primitive& comparison, std::string_view op, std::int64_t n, std::int64_t m, std::int64_t k) {
  checked_bytes({DType::i64, {n, m}, false}, op);
  k = std::clamp(k, -n, m);  // beyond that nothing changes, and row + k stays in range
  const Array row = ops::iota(DType::i32, {n, m}, 0), column = ops::iota(DType::i32, {n, m}, 1);
  return bind1(comparison, {k == 0 ? row : row + k, column});
}
/// Where the lower triangle of the last two axes is.
Array lower_mask(std::string_view op, const Array& a, std::int64_t k) {
  if (a.ndim() < 2) raise<ShapeError>("[{}] {} is not a matrix; it needs at least 2 axes.", op, a.aval());
  const Shape& s = a.shape();
  return ops::broadcast_to(band(ops::ge_p, op, s[s.size() - 2], s.back(), k), s);
}

}  // namespace

Array eye(std::int64_t n, std::optional<std::int64_t> m, int k, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return ops::cast(band(ops::eq_p, "eye", n, m.value_or(n), k), dtype);
}
Array identity(std::int64_t n, DType dtype, const std::source_location& where) { return eye(n, n, 0, dtype, where); }
Array tri(std::int64_t n, std::optional<std::int64_t> m, int k, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  return ops::cast(band(ops::ge_p, "tri", n, m.value_or(n), k), dtype);
}
Array tril(const ArrayLike& a, int k) { return ops::select(lower_mask("tril", a, k), a, scalar(a->dtype(), 0)); }
Array triu(const ArrayLike& a, int k) {
  return ops::select(lower_mask("triu", a, std::int64_t{k} - 1), scalar(a->dtype(), 0), a);
}

Array diag(const ArrayLike& a, int k) {
  if (a->ndim() == 2) return diagonal(a, k);
  if (a->ndim() != 1)
    raise<ShapeError>("[diag] {} is neither a vector nor a matrix; use diagonal for more axes.", a->aval());
  const std::int64_t right = std::max<std::int64_t>(k, 0), below = std::max<std::int64_t>(-std::int64_t{k}, 0);
  const std::int64_t n = a->shape()[0] + right + below;
  checked_bytes({a->dtype(), {n, n}, false}, "diag");
  const Array zero = scalar(a->dtype(), 0);
  const Array row = ops::pad(a, zero, {right}, {below}, {0});
  return ops::select(band(ops::eq_p, "diag", n, n, k), ops::broadcast_in_dim(row, {n, n}, {1}), zero);
}
Array diagflat(const ArrayLike& a, int k) { return diag(ravel(a), k); }
Array diagonal(const ArrayLike& a, int offset, int axis1, int axis2) {
  if (a->ndim() < 2) raise<ShapeError>("[diagonal] {} is not a matrix; it needs at least 2 axes.", a->aval());
  const Array x = moveaxis(a, {axis1, axis2}, {-2, -1});
  const int rows = a->ndim() - 2, columns = rows + 1;
  // Crop to the square whose main diagonal is wanted; then it is every (n + 1)-th element.
  const std::int64_t below = std::max<std::int64_t>(-std::int64_t{offset}, 0), right = std::max(offset, 0);
  const std::int64_t n = std::max<std::int64_t>(std::min(x.shape()[rows] - below, x.shape()[columns] - right), 0);
  Shape shape = x.shape();
  shape.resize(rows);
  shape.push_back(n * n);
  if (n == 0) {
    shape.back() = 0;
    return zeros(shape, x.dtype());
  }
  const Array square = ops::slice_axis(ops::slice_axis(x, rows, below, below + n), columns, right, right + n);
  return ops::slice_axis(ops::reshape(square, shape), rows, 0, n * n, n + 1);
}

std::vector<Array> meshgrid(const ArrayList& list, std::string_view indexing, bool sparse) {
  const std::vector<Array>& xs = list;
  if (indexing != "xy" && indexing != "ij")
    raise<ValueError>("[meshgrid] indexing is '{}'; use xy (columns first) or ij (rows first).", indexing);
  const std::size_t n = xs.size();
  const auto axis_of = [&](std::size_t i) { return indexing == "xy" && n >= 2 && i < 2 ? 1 - i : i; };
  Shape shape(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (xs[i].ndim() > 1) raise<ShapeError>("[meshgrid] {} is not a vector; give one vector per axis.", xs[i].aval());
    shape[axis_of(i)] = xs[i].size();
  }
  std::vector<Array> out;
  for (std::size_t i = 0; i < n; ++i) {
    Shape own = shape;
    if (sparse) {
      own.assign(n, 1);
      own[axis_of(i)] = xs[i].size();
    }
    out.push_back(ops::broadcast_in_dim(ravel(xs[i]), own, {static_cast<std::int64_t>(axis_of(i))}));
  }
  return out;
}

}  // namespace cotan::numpy
