// The exponential of matrices, by scaling, Padé's approximation and squaring (Higham 2005), and its derivative.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;
using ops::matrix_product;

namespace {

/// Padé's approximation p(a) / q(a) with p(a) = even + odd and q(a) = even - odd.
struct PadeParts {
  Array odd, even;
};
/// Of degree 7, for f32.
PadeParts pade_7(const Array& a, const Array& eye) {
  const Array a2 = matrix_product(a, a), a4 = matrix_product(a2, a2), a6 = matrix_product(a4, a2);
  return {matrix_product(a, a6 + 1512.0 * a4 + 277200.0 * a2 + 8648640.0 * eye),
          56.0 * a6 + 25200.0 * a4 + 1995840.0 * a2 + 17297280.0 * eye};
}
/// Of degree 13, for f64.
PadeParts pade_13(const Array& a, const Array& eye) {
  const Array a2 = matrix_product(a, a), a4 = matrix_product(a2, a2), a6 = matrix_product(a4, a2);
  const Array odd = matrix_product(a6, a6 + 16380.0 * a4 + 40840800.0 * a2) + 33522128640.0 * a6 +
                    10559470521600.0 * a4 + 1187353796428800.0 * a2 + 32382376266240000.0 * eye;
  const Array even = matrix_product(a6, 182.0 * a6 + 960960.0 * a4 + 1323241920.0 * a2) + 670442572800.0 * a6 +
                     129060195264000.0 * a4 + 7771770303897600.0 * a2 + 64764752532480000.0 * eye;
  return {matrix_product(a, odd), even};
}

Array over_matrices(const Array& each) { return np::expand_dims(each, {-1, -2}); }

}  // namespace

Array expm(const ArrayLike& A, const ExpmOptions& options) {
  const Array a = cotan::linalg::square_operand("expm", A);
  if (options.max_squarings < 0)
    raise<ValueError>("[expm] max_squarings is {}; give 0 or more.", options.max_squarings);
  if (a.size() == 0) return a;
  const bool wide = real_dtype(a.dtype()) == f64;
  const double largest_norm = wide ? 5.371920351148152 : 3.92572478313866;  // where the approximation is exact
  const Array norms = np::max(np::sum(np::abs(lax::stop_gradient(a)), -2), -1);
  const Array halvings = np::log2(norms / largest_norm), squarings = np::maximum(0, np::ceil(halvings));
  const Array scaled = a * over_matrices(np::exp2(-squarings));
  const Array eye = ops::identity_matrix(a.dtype(), a.shape(-1));
  const auto [odd, even] = wide ? pade_13(scaled, eye) : pade_7(scaled, eye);
  const Array p = even + odd, q = even - odd;
  const Array approximation = options.upper_triangular ? ops::triangular_solve(q, p, {}) : cotan::linalg::solve(q, p);
  const auto squared = [&](std::span<const Array> in) {
    const Array wanted = in[1] < squarings;
    const auto square = [](const Array& x, const Array& which) {
      return np::where(over_matrices(which), matrix_product(x, x), x);
    };
    const auto same = [](const Array& x, const Array&) { return x; };
    return Arrays{lax::cond(np::any(wanted), square, same, in[0], wanted)};
  };
  // JAX rounds the number down, and counts so; one more may be needed here.
  const Array steps = np::arange(options.max_squarings + 1, squarings.dtype());
  const Array result = cotan::linalg::scanned(squared, {approximation}, {steps})[0];
  const Array too_many = np::floor(halvings) > options.max_squarings;
  return np::where(over_matrices(too_many), np::nan, result);
}

ExpmFrechet expm_frechet(const ArrayLike& A, const ArrayLike& E, const ExpmFrechetOptions& options) {
  const Array both[] = {A, E};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Array a = cotan::linalg::square_operand("expm_frechet", ops::cast(A, dtype)), e = ops::cast(E, dtype);
  if (a.shape() != e.shape())
    raise<ShapeError>("[expm_frechet] {} and {} differ; give them one shape.", A->aval(), E->aval());
  const auto f = [](std::span<const Array> in) { return Arrays{expm(in[0])}; };
  const auto [value, tangent] = flat::jvp(f, Arrays{a}, Arrays{e}, [](std::size_t) { return "A"; });
  return {options.compute_expm ? value[0] : Array(), tangent[0]};
}

}  // namespace cotan::scipy::linalg
