// op(a) x = b or x op(a) = b for triangular a: linear in b. The other triangle of a is not read.
#include "ops/linalg/lapack_complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types solve_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const AbstractValue &a = x[0], &b = x[1];
  check_square_matrix(self, a);
  check_matrix(self, b);
  if (a.dtype != b.dtype)
    raise<TypeError>("[{}] operands are {} and {}; give them one dtype with astype.", self.name, a, b);
  if (with_core(a.shape, {}) != with_core(b.shape, {}))
    raise<ShapeError>("[{}] batch axes of {} and {} differ; broadcast one to the other.", self.name, a, b);
  const bool left = params.flag("left_side");
  if (columns_of(a.shape) != (left ? rows_of(b.shape) : columns_of(b.shape)))
    raise<ShapeError>("[{}] {} cannot be solved against {}; b needs {} {} with left_side={}.", self.name, a, b,
                      columns_of(a.shape), left ? "rows" : "columns", left);
  return {{b.dtype, b.shape, false}};
}

Arrays solve_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  Results out(self, x, params);
  const auto side = params.flag("left_side") ? CblasLeft : CblasRight;
  const auto uplo = params.flag("lower") ? CblasLower : CblasUpper;
  const auto trans = params.flag("transpose_a") ? CblasTrans : CblasNoTrans;
  const auto diag = params.flag("unit_diagonal") ? CblasUnit : CblasNonUnit;
  dispatch_matrix(x, [&]<class T>(T, std::int64_t count) {
    const std::int64_t n = columns_of(x[0].shape()), rows = rows_of(x[1].shape()), columns = columns_of(x[1].shape());
    std::copy_n(data<T>(x[1]), x[1].size(), out.as<T>(0));
    if (x[1].size() == 0) return;
    for (std::int64_t i = 0; i < count; ++i)
      lapack::trsm(side, uplo, trans, diag, static_cast<lapack::Int>(rows), static_cast<lapack::Int>(columns),
                   data<T>(x[0]) + i * n * n, lapack::leading(n), out.as<T>(0) + i * rows * columns);
  });
  return out.arrays;
}

/// -op(a)⁻¹ op(da) x, or its mirror image, in whichever order is cheaper.
Array solve_partial_a(const Partial& p) {
  const bool left = p.params.flag("left_side");
  const int k = p.params.flag("unit_diagonal") ? 1 : 0;
  Array da = p.params.flag("lower") ? lower_triangle(p.t, -k) : upper_triangle(p.t, k);
  if (p.params.flag("transpose_a")) da = matrix_transpose(da);
  da = -da;
  const auto a_inverse = [&](const Array& rhs) { return bind1(triangular_solve_p, {p.x[0], rhs}, p.params); };
  const std::int64_t m = rows_of(p.y.shape()), n = columns_of(p.y.shape());
  if (left) return m > n ? a_inverse(matrix_product(da, p.y)) : matrix_product(a_inverse(da), p.y);
  return m < n ? a_inverse(matrix_product(p.y, da)) : matrix_product(p.y, a_inverse(da));
}
Array solve_partial_b(const Partial& p) { return bind1(triangular_solve_p, {p.x[0], p.t}, p.params); }

Arrays solve_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                       const Params& params) {
  internal_check(!in[0].linear && in[1].linear, "triangular_solve is not linear in its matrix");
  return {Array(), bind1(self, {in[0].value, ct[0]}, params.with("transpose_a", !params.flag("transpose_a")))};
}

BatchResult solve_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  if (dims[0] != not_batched)
    return {bind(self, {batch_at_front(x[0], dims[0], size), batch_at_front(x[1], dims[1], size)}, params), {0}};
  // One matrix for the whole batch: the batch becomes further right-hand sides of a single solve.
  const int at = params.flag("left_side") ? x[1].ndim() - 1 : x[1].ndim() - 2;
  const Array moved = move_axis(x[1], dims[1], at);
  Shape merged = moved.shape();
  merged[at - 1] *= merged[at];
  merged.erase(merged.begin() + at);
  return {{reshape(bind1(self, {x[0], reshape(moved, merged)}, params), moved.shape())}, {at}};
}

}  // namespace

const Primitive triangular_solve_p{.name = "triangular_solve",
                                   .op_class = OpClass::routine,
                                   .type = solve_type,
                                   .eval = solve_eval,
                                   .partials = {solve_partial_a, solve_partial_b},
                                   .transpose = solve_transpose,
                                   .batch = solve_batch,
                                   .on_parts = by_complex_routine};
const Listed triangular_solve_listed{&triangular_solve_p};

}  // namespace cotan::ops
