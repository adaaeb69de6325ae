// Schur's complex form from the real one: a rotation for each block on the diagonal, from the last to the first.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>

#include "linalg/loops.hpp"
#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;

namespace {

/// [2, 2], from the block in rows and columns m - 1 and m: what makes it triangular; the identity where it is already.
Array rotation_of(const Array& block) {
  const Array a = block(0, 0), b = block(0, 1), c = block(1, 0), d = block(1, 1);
  const Array there = np::abs(c) > cotan::linalg::epsilon(block.dtype()) * (np::abs(a) + np::abs(d));
  const Array half = 0.5 * (a - d), root = np::sqrt(half * half + b * c);
  // The eigenvalue that is farther from d, without cancellation.
  const Array far = np::where(np::abs(half + root) < np::abs(half - root), half - root, half + root);
  const Array size = np::hypot(np::abs(far), np::abs(c)), unit = np::where(there, size, 1);
  const Array cosine = np::where(there, far / unit, 1), sine = np::where(there, c / unit, 0);
  return np::stack({np::stack({ops::conj(cosine), sine}, 0), np::stack({-sine, cosine}, 0)}, 0);
}

Arrays triangular_of_one(const Array& t, const Array& z) {
  const std::int64_t n = t.shape(-1);
  if (n < 2) return {t, z};
  const Array numbers = np::arange(n), row = np::expand_dims(numbers, -1);
  const auto step = [&](std::span<const Array> in) {
    const Array &m = in[2], first = m - 1;
    const Array g = rotation_of(lax::dynamic_slice(in[0], {first, first}, {2, 2})), gh = ops::adjoint(g);
    const auto turn_columns = [&](const Array& a) {
      const Array turned = np::matmul(lax::dynamic_slice_in_dim(a, first, 2, 1), gh);
      return lax::dynamic_update_slice_in_dim(a, turned, first, 1);
    };
    const Array rows = np::matmul(g, lax::dynamic_slice_in_dim(in[0], first, 2, 0));
    const Array turned = turn_columns(lax::dynamic_update_slice_in_dim(in[0], rows, first, 0));
    return Arrays{np::where((row == m) & (numbers == first), 0, turned), turn_columns(in[1])};
  };
  return cotan::linalg::scanned(step, {t, z}, {np::arange(n - 1, 0, -1)});
}

}  // namespace

cotan::linalg::Schur rsf2csf(const ArrayLike& T, const ArrayLike& Z) {
  const Array both[] = {T, Z};
  const DType dtype = complex_dtype(np::inexact_result_type(both).dtype);
  const Array t = cotan::linalg::square_operand("rsf2csf", ops::cast(T, dtype)),
              z = cotan::linalg::square_operand("rsf2csf", ops::cast(Z, dtype));
  if (t.shape(-1) != z.shape(-1))
    raise<ShapeError>("[rsf2csf] {} and {} do not fit; give T and Z as many rows.", T->aval(), Z->aval());
  const Arrays out = np::vectorize([](const Array& a, const Array& b) { return triangular_of_one(a, b); },
                                   {.signature = "(n,n),(n,n)->(n,n),(n,n)"})(t, z);
  return {out[0], out[1]};
}

}  // namespace cotan::scipy::linalg
