// SciPy's linear systems: by factors that are given, by triangles, and Sylvester's.
#include <cotan/numpy.hpp>
#include <cotan/scipy/linalg.hpp>

#include "linalg/operands.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::scipy::linalg {

namespace np = cotan::numpy;
using cotan::linalg::batch_shape;
using cotan::linalg::broadcast_batch;
using cotan::linalg::square_operand;
using cotan::linalg::System;

namespace {

void check_trans(std::string_view op, const Trans& trans) {
  if (trans.number() < 0 || trans.number() > 2)
    raise<ValueError>("[{}] there is no system of that name; trans is 0, 1, 2, 'N', 'T' or 'C'.", op);
}

}  // namespace

Array solve(const ArrayLike& a, const ArrayLike& b, const SolveOptions& options) {
  const std::string_view kind = options.assume_a;
  if (kind == "gen" || kind == "sym" || kind == "her") return cotan::linalg::solve(a, b);
  if (kind != "pos")
    raise<ValueError>("[solve] nothing is known of matrices '{}'; use \"gen\", \"sym\", \"her\" or \"pos\".", kind);
  const System s = cotan::linalg::system_operands("solve", square_operand("solve", a), b);
  const bool lower = options.lower;
  const auto value = [lower](std::span<const Array> in) {
    return Arrays{cho_solve(cho_factor(in[0], {.lower = lower}), in[1])};
  };
  // As that of a solve by LU factors: one factorisation serves both.
  const auto rule = [lower](std::span<const Array> in) {
    const CholeskyFactor factor = cho_factor(in[0], {.lower = lower});
    const Array x = cho_solve(factor, in[1]);
    return Arrays{x, cho_solve(factor, in[3] - np::matmul(in[2], x))};
  };
  return s.result(flat::custom_jvp(value, rule, Arrays{s.a, s.b}, "solve")[0]);
}

Array solve_triangular(const ArrayLike& a, const ArrayLike& b, const SolveTriangularOptions& options) {
  constexpr std::string_view op = "solve_triangular";
  check_trans(op, options.trans);
  const System s = cotan::linalg::system_operands(op, square_operand(op, a), b);
  return s.result(cotan::linalg::triangular_solve(s.a, s.b,
                                                  {.lower = options.lower,
                                                   .transpose_a = options.trans.number() > 0,
                                                   .unit_diagonal = options.unit_diagonal,
                                                   .conjugate_a = options.trans.number() == 2}));
}

Array cho_solve(const CholeskyFactor& factor, const ArrayLike& b) {
  return cotan::linalg::cho_solve(factor.c, b, factor.lower);
}

Array lu_solve(const LUFactor& factor, const ArrayLike& b, Trans trans) {
  constexpr std::string_view op = "lu_solve";
  check_trans(op, trans);
  const System s = cotan::linalg::system_operands(op, square_operand(op, factor.lu), b);
  const Array permutation = cotan::linalg::lu_pivots_to_permutation(factor.piv, s.a.shape(-1));
  const Shape batches[] = {batch_shape(s.a), batch_shape(s.b)};
  const Shape batch = np::broadcast_shapes(op, batches);
  const auto solved = [&](const Array& rhs) {
    return ops::lu_solve(broadcast_batch(s.a, batch, 2), broadcast_batch(permutation, batch, 1),
                         broadcast_batch(rhs, batch, 2), trans.number() > 0);
  };
  return s.result(trans.number() == 2 ? ops::conj(solved(ops::conj(s.b))) : solved(s.b));
}

}  // namespace cotan::scipy::linalg
