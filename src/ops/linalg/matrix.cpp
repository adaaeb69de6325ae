#include "ops/linalg/matrix.hpp"

#include <numeric>

#include "ops/gather_scatter.hpp"

namespace cotan::ops {

void check_matrix(const Primitive& self, const AbstractValue& x) {
  if (const DType part = real_dtype(x.dtype); part != DType::f32 && part != DType::f64)
    raise<TypeError>("[{}] needs f32, f64 or complex numbers, got {}; cast with astype.", self.name, x.dtype);
  if (x.ndim() < 2)
    raise<ShapeError>("[{}] needs matrices, got {}; give it at least two axes with reshape.", self.name, x);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows_of(x.shape) > most || columns_of(x.shape) > most)
    raise<ShapeError>("[{}] {} has an axis longer than {}; LAPACK cannot count that far.", self.name, x, most);
}
void check_square_matrix(const Primitive& self, const AbstractValue& x) {
  check_matrix(self, x);
  if (rows_of(x.shape) != columns_of(x.shape))
    raise<ShapeError>("[{}] needs square matrices, got {}; the last two axes must be equal.", self.name, x);
}
Shape with_core(const Shape& shape, const Shape& core) {
  Shape out(shape.begin(), shape.end() - 2);
  out.insert(out.end(), core.begin(), core.end());
  return out;
}

namespace {

Ints range(std::int64_t n) {
  Ints out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}
/// row + k >= column, as bool[m, n].
Array triangle_mask(std::int64_t m, std::int64_t n, int k) {
  const Array row = iota(DType::i32, {m, n}, 0), column = iota(DType::i32, {m, n}, 1);
  return bind1(ge_p, {bind1(add_p, {row, scalar(DType::i32, k)}), column});
}
Array diagonal_mask(std::int64_t m, std::int64_t n) {
  return bind1(eq_p, {iota(DType::i32, {m, n}, 0), iota(DType::i32, {m, n}, 1)});
}

}  // namespace

Array matrix_product(const Array& a, const Array& b) {
  const int n = a.ndim();
  const Ints batch = range(n - 2);
  return dot_general(a, b, {n - 1}, {n - 2}, batch, batch);
}
Array matrix_transpose(const Array& a) { return move_axis(a, a.ndim() - 1, a.ndim() - 2); }
Array adjoint(const Array& a) { return conj(matrix_transpose(a)); }
Array lower_triangle(const Array& a, int k) {
  const Array mask = triangle_mask(rows_of(a.shape()), columns_of(a.shape()), k);
  return select(broadcast_to(mask, a.shape()), a, zeros_like(a));
}
Array upper_triangle(const Array& a, int k) {
  const Array mask = triangle_mask(rows_of(a.shape()), columns_of(a.shape()), k - 1);
  return select(broadcast_to(mask, a.shape()), zeros_like(a), a);
}
Array identity_matrix(DType dtype, std::int64_t m, std::int64_t n) { return cast(diagonal_mask(m, n), dtype); }
Array diagonal_of(const Array& a) {
  const Array mask = diagonal_mask(rows_of(a.shape()), columns_of(a.shape()));
  return reduce_sum(select(broadcast_to(mask, a.shape()), a, zeros_like(a)), {a.ndim() - 1});
}
Array as_column(const Array& v) {
  Shape shape = v.shape();
  shape.push_back(1);
  return reshape(v, shape);
}
Array as_row(const Array& v) {
  Shape shape = v.shape();
  shape.insert(shape.end() - 1, 1);
  return reshape(v, shape);
}
Array matrix_rows(const Array& a, std::int64_t start, std::int64_t limit) {
  return slice_axis(a, a.ndim() - 2, start, limit);
}
Array matrix_columns(const Array& a, std::int64_t start, std::int64_t limit) {
  return slice_axis(a, a.ndim() - 1, start, limit);
}
Array permute_rows(const Array& a, const Array& permutation) {
  const int n = a.ndim();
  Ints sizes(n, 1);
  sizes.back() = a.shape().back();
  const WindowDims dims{.offset_dims = {n - 1},
                        .collapsed_slice_dims = {n - 2},
                        .start_index_map = {n - 2},
                        .operand_batching_dims = range(n - 2),
                        .start_indices_batching_dims = range(n - 2)};
  return gather(a, as_column(permutation), dims, sizes, mode_promise_in_bounds);
}
Array triangular_solve(const Array& a, const Array& b, Triangular options) {
  return bind1(triangular_solve_p, {a, b},
               {{"left_side", options.left_side},
                {"lower", options.lower},
                {"transpose_a", options.transpose_a},
                {"unit_diagonal", options.unit_diagonal}});
}
Array lu_solve(const Array& lu, const Array& permutation, const Array& b, bool transposed) {
  if (!transposed) {
    const Array y = triangular_solve(lu, permute_rows(b, permutation), {.lower = true, .unit_diagonal = true});
    return triangular_solve(lu, y, {});
  }
  const Array y = triangular_solve(lu, b, {.transpose_a = true});
  const Array z = triangular_solve(lu, y, {.lower = true, .transpose_a = true, .unit_diagonal = true});
  // Row permutation[i] of the result is row i of z: the inverse permutation, where permutation[j] == i.
  const std::int64_t n = rows_of(lu.shape());
  const Shape square = with_core(lu.shape(), {n, n});
  const Array at = bind1(eq_p, {iota(DType::i32, square, lu.ndim() - 2), broadcast_to(as_row(permutation), square)});
  const Array index = iota(DType::i32, square, lu.ndim() - 1);
  return permute_rows(z, reduce_sum(select(at, index, zeros_like(index)), {lu.ndim() - 1}));
}

BatchResult matrix_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                         const Params& params) {
  Arrays results = bind(self, {move_axis(x[0], dims[0], 0)}, params);
  std::vector<int> at_front(results.size(), 0);
  return {std::move(results), std::move(at_front)};
}

Results::Results(const Primitive& self, std::span<const Array> x, const Params& params) {
  for (const AbstractValue& type : self.type(self, types_of(x), params)) {
    auto [array, buffer] = allocate_like(x, type);
    arrays.push_back(std::move(array));
    buffers.push_back(std::move(buffer));
  }
}

}  // namespace cotan::ops
