// Linear systems, inverses and determinants. Their derivatives are given here as a whole, so that one
// factorisation serves the value and its tangent, and the determinant has a gradient where a solve has none.
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>

#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::linalg {

namespace np = cotan::numpy;
using ops::matrix_product;
using ops::matrix_transpose;

namespace {

/// A function of arrays with its derivative: rule takes primals and tangents and gives values and tangents.
Arrays with_derivative(std::string_view name, const FlatFunction& value, const FlatFunction& rule, const Arrays& args) {
  return flat::custom_jvp(value, rule, args, name);
}

struct Factored {
  Array lu, pivots, permutation;
};
Factored factor(const Array& a) {
  Arrays r = bind(ops::lu_p, {a});
  return {r[0], r[1], r[2]};
}
/// Factors and right-hand sides broadcast against each other, after the factorisation.
Array substitute(const Factored& f, const Array& b) {
  const Shape batches[] = {batch_shape(f.lu), batch_shape(b)};
  const Shape batch = np::broadcast_shapes("solve", batches);
  return ops::lu_solve(broadcast_batch(f.lu, batch, 2), broadcast_batch(f.permutation, batch, 1),
                       broadcast_batch(b, batch, 2));
}
Arrays solve_value(std::span<const Array> in) { return {substitute(factor(in[0]), in[1])}; }
/// d(a⁻¹ b) = a⁻¹ (db - da a⁻¹ b)
Arrays solve_rule(std::span<const Array> in) {
  const Array &a = in[0], &b = in[1], &da = in[2], &db = in[3];
  const Factored f = factor(a);
  const Array x = substitute(f, b);
  return {x, substitute(f, db - matrix_product(broadcast_batch(da, batch_shape(x), 2), x))};
}
Array sum_of_diagonal(const Array& a) { return np::sum(ops::diagonal_of(a), -1); }

Array inverse(const Array& a) {
  const auto value = [](std::span<const Array> in) {
    const std::int64_t n = ops::columns_of(in[0].shape());
    return Arrays{substitute(factor(in[0]), ops::identity_matrix(in[0].dtype(), n))};
  };
  const auto rule = [](std::span<const Array> in) {
    // inverse() again, so that higher derivatives do not go through the factorisation either.
    const Array y = inverse(in[0]);
    return Arrays{y, -matrix_product(matrix_product(y, in[1]), y)};
  };
  return with_derivative("inv", value, rule, {a})[0];
}

/// -1 where the number of row exchanges, plus `more`, is odd, else 1.
Array parity_sign(const Array& pivots, DType dtype, const Array& more = {}) {
  const Array rows = ops::iota(DType::i32, pivots.shape(), pivots.ndim() - 1);
  Array count = np::sum((pivots != rows).astype(DType::i32), -1);
  if (more.defined()) count = count + more;
  return (1 - 2 * (count & 1)).astype(dtype);
}

Arrays slogdet_from(const Factored& f) {
  const Array diagonal = ops::diagonal_of(f.lu);
  const Array singular = np::any(diagonal == 0, -1);
  if (is_complex(diagonal.dtype())) {
    const Array turns =
        np::prod(np::sign(np::where(diagonal == 0, 1, diagonal)), -1) * parity_sign(f.pivots, diagonal.dtype());
    return {np::where(singular, 0, turns), np::where(singular, -np::inf, np::sum(np::log(np::abs(diagonal)), -1))};
  }
  const Array sign = parity_sign(f.pivots, diagonal.dtype(), np::sum((diagonal < 0).astype(DType::i32), -1));
  return {np::where(singular, 0, sign), np::where(singular, -np::inf, np::sum(np::log(np::abs(diagonal)), -1))};
}
Arrays slogdet_value(std::span<const Array> in) { return slogdet_from(factor(in[0])); }
/// By QR: a reflection with a factor turns the sign.
Arrays slogdet_by_qr(std::span<const Array> in) {
  const Arrays r = bind(ops::geqrf_p, {in[0]});
  const Array diagonal = ops::diagonal_of(r[0]);
  const Array turns = np::prod(np::where(r[1] != 0, -1, 1), -1).astype(diagonal.dtype());
  return {np::prod(np::sign(diagonal), -1) * turns, np::sum(np::log(np::abs(diagonal)), -1)};
}
/// d log|det a| = trace(a⁻¹ da)
template <bool by_qr>
Arrays slogdet_rule(std::span<const Array> in) {
  const Factored f = factor(in[0]);
  const Arrays r = by_qr ? slogdet_by_qr(in) : slogdet_from(f);
  const Array d = sum_of_diagonal(substitute(f, in[1]));
  if (is_complex(d.dtype())) return {r[0], r[1], (d - ops::real(d)) * r[0], ops::real(d)};
  return {r[0], r[1], ops::zeros_like(r[0]), d};
}

Arrays det_value(std::span<const Array> in) {
  const Factored f = factor(in[0]);
  return {np::prod(ops::diagonal_of(f.lu), -1) * parity_sign(f.pivots, f.lu.dtype())};
}
/// d det a = trace(adj(a) da), also where a is singular. With U's last diagonal element left out of the
/// product and replaced by 1 / that product, det(a) U⁻¹ y is finite for rank n - 1; for lower ranks adj(a) is
/// zero.
Arrays det_rule(std::span<const Array> in) {
  const Array &a = in[0], &da = in[1];
  const std::int64_t n = ops::columns_of(a.shape());
  const DType dtype = a.dtype();
  const Factored f = factor(a);
  const Array diagonal = ops::diagonal_of(f.lu), sign = parity_sign(f.pivots, f.lu.dtype());
  const int last = diagonal.ndim() - 1;
  const Array minor = np::prod(ops::slice_axis(diagonal, last, 0, n - 1), -1) * sign;
  const Array det = np::prod(diagonal, -1) * sign;
  const auto as_matrix = [](const Array& v) { return np::expand_dims(v, {-1, -2}); };
  const Array row = ops::iota(DType::i32, {n, n}, 0), column = ops::iota(DType::i32, {n, n}, 1);
  const Array lu = np::where((row == n - 1) & (column == n - 1), as_matrix(1 / minor), f.lu);
  const Array ones = ops::full(ops::with_core(a.shape(), {n, 1}), scalar(dtype, 1));
  const Array low_rank = as_matrix(~np::all(np::isfinite(ops::triangular_solve(lu, ones, {})), {-2, -1}));

  Array x = np::where(low_rank, 0, da);
  x = ops::triangular_solve(lu, ops::permute_rows(x, f.permutation), {.lower = true, .unit_diagonal = true});
  x = x * np::where(row == n - 1, 1, as_matrix(det));
  x = np::where(low_rank, 0, ops::triangular_solve(lu, x, {}));
  return {det, sum_of_diagonal(x)};
}

Array element(const Array& a, std::int64_t row, std::int64_t column) {
  const Array one = ops::matrix_columns(ops::matrix_rows(a, row, row + 1), column, column + 1);
  return ops::reshape(one, batch_shape(a));
}
Array det_2x2(const Array& a) { return element(a, 0, 0) * element(a, 1, 1) - element(a, 0, 1) * element(a, 1, 0); }
Array det_3x3(const Array& a) {
  const auto e = [&](int i, int j) { return element(a, i, j); };
  return e(0, 0) * e(1, 1) * e(2, 2) + e(0, 1) * e(1, 2) * e(2, 0) + e(0, 2) * e(1, 0) * e(2, 1) -
         e(0, 2) * e(1, 1) * e(2, 0) - e(0, 0) * e(1, 2) * e(2, 1) - e(0, 1) * e(1, 0) * e(2, 2);
}

}  // namespace

Array solve(const ArrayLike& a, const ArrayLike& b) {
  const System s = system_operands("solve", square_operand("solve", a), b);
  return s.result(with_derivative("solve", solve_value, solve_rule, {s.a, s.b})[0]);
}

Array inv(const ArrayLike& a) { return inverse(square_operand("inv", a)); }

SignLogDet slogdet(const ArrayLike& a, std::string_view method) {
  const Array x = square_operand("slogdet", a, true);
  if (method != "lu" && method != "qr")
    raise<ValueError>("[slogdet] there is no method '{}'; use \"lu\" or \"qr\".", method);
  if (method == "qr") {
    check_lapack_dtype("slogdet", x);
    if (is_complex(x.dtype()))
      raise<TypeError>("[slogdet] the method \"qr\" is for real matrices, got {}; use \"lu\".", a->aval());
    const Arrays r = with_derivative("slogdet", slogdet_by_qr, slogdet_rule<true>, {x});
    return {r[0], r[1]};
  }
  const std::int64_t n = ops::columns_of(x.shape());
  if ((n == 1 || n == 2) && !is_complex(x.dtype())) {
    const Array d = n == 1 ? element(x, 0, 0) : det_2x2(x);
    return {np::sign(d), np::log(np::abs(d))};
  }
  check_lapack_dtype("slogdet", x);
  const Arrays r = with_derivative("slogdet", slogdet_value, slogdet_rule<false>, {x});
  return {r[0], r[1]};
}

Array det(const ArrayLike& a) {
  const Array x = square_operand("det", a, true);
  switch (ops::columns_of(x.shape())) {
    case 0:
      return ops::full(batch_shape(x), scalar(x.dtype(), 1));
    case 1:
      return element(x, 0, 0);
    case 2:
      return det_2x2(x);
    case 3:
      return det_3x3(x);
  }
  check_lapack_dtype("det", x);
  return with_derivative("det", det_value, det_rule, {x})[0];
}

}  // namespace cotan::linalg
