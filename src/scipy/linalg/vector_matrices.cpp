// Matrices that vectors describe: gathers and masks of their elements.
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg_matrices.hpp>

#include "core/error.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;

namespace {

/// Row and column numbers of an [m, n] matrix, as [m, 1] and [1, n].
struct Places {
  Array row, column;
  Places(std::int64_t m, std::int64_t n)
      : row(np::expand_dims(np::arange(m), -1)), column(np::expand_dims(np::arange(n), 0)) {}
};
/// A vector at least, with no fewer elements than `least`.
Array vector_of(std::string_view op, const Array& a, std::int64_t least = 0) {
  const Array x = a.ndim() == 0 ? np::reshape(a, {1}) : a;
  if (x.shape(-1) < least)
    raise<ShapeError>("[{}] {} is too short; its last axis needs at least {} elements.", op, a.aval(), least);
  return x;
}
Array from(const Array& a, std::int64_t start) {
  return ops::slice_axis(a, a.ndim() - 1, std::min(start, a.shape(-1)), a.shape(-1));
}
Array as_row(const Array& a) { return np::expand_dims(a, -2); }
/// c, then r without its first element, both with the batch axes of both.
Array joined(std::string_view op, const Array& c, const Array& r) {
  const Arrays x = np::cast_all(Arrays{c, r}, np::result_type(Arrays{c, r}));
  const auto batch_of = [](const Array& a) { return Shape(a.shape().begin(), a.shape().end() - 1); };
  const Shape batches[] = {batch_of(x[0]), batch_of(x[1])};
  Arrays parts{x[0], from(x[1], 1)};
  for (Array& part : parts) {
    Shape shape = np::broadcast_shapes(op, batches);
    shape.push_back(part.shape(-1));
    part = ops::broadcast_to(part, shape);
  }
  return np::concatenate(parts, -1);
}

}  // namespace

Array toeplitz(const ArrayLike& c, const std::optional<Array>& r) {
  const Array column = vector_of("toeplitz", c), row = r ? vector_of("toeplitz", *r) : ops::conj(column);
  const std::int64_t m = column.shape(-1), n = row.shape(-1);
  const Array elements = joined("toeplitz", np::flip(column, -1), row);
  const Places at(m, n);
  return np::take(elements, at.column - at.row + (m - 1), -1);
}

Array hankel(const ArrayLike& c, const std::optional<Array>& r) {
  if (c->ndim() == 0 || (r && r->ndim() == 0))
    raise<ShapeError>("[hankel] the column {} and the row must be vectors; use reshape.", c->aval());
  const Array row = r ? *r : np::zeros_like(c);
  const Places at(c->shape(-1), row.shape(-1));
  return np::take(joined("hankel", c, row), at.row + at.column, -1);
}

Array circulant(const ArrayLike& c) {
  const Array column = vector_of("circulant", c);
  const std::int64_t n = column.shape(-1);
  const Places at(n, n);
  return np::take(column, n == 0 ? at.row - at.column : (at.row - at.column) % n, -1);
}

Array leslie(const ArrayLike& f, const ArrayLike& s) {
  const Array first = vector_of("leslie", f, 2), below = vector_of("leslie", s);
  const std::int64_t n = first.shape(-1);
  if (below.shape(-1) != n - 1)
    raise<ShapeError>("[leslie] {} and {} do not fit; the second has one element less than the first.", f->aval(),
                      s->aval());
  const Places at(n, n);
  const Array padded = np::concatenate({below, ops::zeros_like(ops::slice_axis(below, below.ndim() - 1, 0, 1))}, -1);
  const Array zero = np::zeros({}, below.dtype());
  return np::where(at.row == 0, as_row(first), np::where(at.row == at.column + 1, as_row(padded), zero));
}

Array companion(const ArrayLike& a) {
  const Array x = vector_of("companion", np::to_inexact(a), 2);
  const std::int64_t n = x.shape(-1) - 1;
  const Array first = -from(x, 1) / ops::slice_axis(x, x.ndim() - 1, 0, 1);
  const Places at(n, n);
  return np::where(at.row == 0, as_row(first), (at.row == at.column + 1).astype(x.dtype()));
}

Array fiedler(const ArrayLike& a) {
  const Array x = vector_of("fiedler", a), column = np::expand_dims(x, -1), row = as_row(x);
  if (is_unsigned_integer(x.dtype())) return np::maximum(column, row) - np::minimum(column, row);
  return np::abs(column - row);
}

Array fiedler_companion(const ArrayLike& a) {
  const Array given = vector_of("fiedler_companion", np::to_inexact(a), 1);
  const std::int64_t n = given.shape(-1) - 1;
  const Array x = given / ops::slice_axis(given, given.ndim() - 1, 0, 1);
  if (n <= 1)
    return -np::reshape(from(x, 1), [&] {
      Shape shape = x.shape();
      shape.back() = n;
      shape.push_back(n);
      return shape;
    }());
  const Places at(n, n);
  const Array even = at.row % 2 == 0, apart = at.column - at.row;
  const auto coefficient = [&](std::int64_t ahead) {
    return -np::expand_dims(np::take(x, np::minimum(np::arange(n) + ahead, n), -1), -1);
  };
  const Array first = -np::expand_dims(ops::slice_axis(x, x.ndim() - 1, 1, 2), -1);
  const Array corner = (at.row == 0) & (at.column == 0);
  const Array ones = ((at.row == 1) & (at.column == 0)) | (even & (apart == 2)) | (~even & (apart == -2));
  const Array rest = np::where(even & (apart == -1), coefficient(1), ones.astype(x.dtype()));
  return np::where(corner, first, np::where(even & (apart == 1), coefficient(2), rest));
}

Array convolution_matrix(const ArrayLike& a, std::int64_t n, std::string_view mode) {
  if (n <= 0) raise<ValueError>("[convolution_matrix] n is {}; it must be positive.", n);
  if (mode != "full" && mode != "same" && mode != "valid")
    raise<ValueError>("[convolution_matrix] there is no mode '{}'; use \"full\", \"same\" or \"valid\".", mode);
  if (a->ndim() == 0) raise<ShapeError>("[convolution_matrix] {} is a scalar; give a vector.", a->aval());
  const Array x = vector_of("convolution_matrix", a, 1);
  const std::int64_t m = x.shape(-1), length = m + n - 1;
  const std::int64_t trimmed = mode == "full" ? 0 : mode == "same" ? std::min(n, m) - 1 : 2 * (std::min(n, m) - 1);
  const std::int64_t before = trimmed / 2, behind = trimmed - before;
  Shape shape = x.shape();
  shape.back() = n - 1;
  const Array zeros = np::zeros(shape, x.dtype());
  const int last = x.ndim() - 1;
  const Array column = ops::slice_axis(np::concatenate({x, zeros}, -1), last, before, length - behind);
  const Array row =
      ops::slice_axis(np::concatenate({np::flip(x, -1), zeros}, -1), last, m - 1 - before, length - before);
  return toeplitz(column, row);
}

Array block_diag(const ArrayList& arrays) {
  if (arrays.list().empty()) return np::zeros({1, 0});
  Arrays blocks = np::cast_all(arrays.list(), np::result_type(arrays.list()));
  std::int64_t columns = 0, at = 0;
  for (Array& b : blocks) {
    if (b.ndim() > 2) raise<ShapeError>("[block_diag] got {}; blocks have at most two axes.", b.aval());
    b = np::atleast_2d(b);
    columns += b.shape()[1];
  }
  for (Array& b : blocks) {
    const std::int64_t width = b.shape()[1];
    b = ops::pad(b, np::zeros({}, b.dtype()), {0, at}, {0, columns - at - width}, {0, 0});
    at += width;
  }
  return np::concatenate(blocks, 0);
}

}  // namespace cotan::scipy::linalg
