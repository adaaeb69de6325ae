// torch.linalg on cotan::linalg.
#include <fmt/format.h>

#include <cotan/linalg.hpp>
#include <cotan/torch/linalg.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

constexpr Traits keeps_operands{.saves = Saves::operands};
constexpr Traits keeps_result{.saves = Saves::result};

const Tensor& matrix(const Tensor& a, std::string_view op, bool square = true) {
  if (a.dim() < 2 || (square && a.size(-1) != a.size(-2)))
    throw_with_line<ShapeError>(
        fmt::format("[{}] takes {}matrices, got shape {}.", op, square ? "square " : "", describe(a.sizes())));
  if (!is_inexact(a.dtype()))
    throw_with_line<TypeError>(fmt::format("[{}] is of floats, not of {}; cast the tensor.", op, name(a.dtype())));
  return a;
}

}  // namespace

namespace linalg {

Tensor solve(const Input& a, const Input& b) {
  static const auto op = define("linalg.solve", keeps_operands, [](const Array& m, const Array& v) {
    if (v.ndim() == 1 || (v.ndim() == m.ndim() - 1 && v.shape() == Shape(m.shape().begin(), m.shape().end() - 1)))
      return numpy::squeeze(cotan::linalg::solve(m, numpy::expand_dims(v, -1)), -1);
    return cotan::linalg::solve(m, v);
  });
  return op(matrix(*a, "linalg.solve"), *b);
}
Tensor inv(const Input& a) {
  static const auto op = define("linalg.inv", keeps_result, [](const Array& m) { return cotan::linalg::inv(m); });
  return op(matrix(*a, "linalg.inv"));
}
Tensor pinv(const Input& a) {
  static const auto op = define("linalg.pinv", keeps_operands, [](const Array& m) { return cotan::linalg::pinv(m); });
  return op(matrix(*a, "linalg.pinv", false));
}
Tensor det(const Input& a) {
  static const auto op = define("linalg.det", keeps_operands, [](const Array& m) { return cotan::linalg::det(m); });
  return op(matrix(*a, "linalg.det"));
}
std::pair<Tensor, Tensor> slogdet(const Input& a) {
  static const auto op = define("linalg.slogdet", keeps_operands, [](const Array& m) {
    const auto found = cotan::linalg::slogdet(m);
    return std::pair{found.sign, found.logabsdet};
  });
  return op(matrix(*a, "linalg.slogdet"));
}
Tensor cholesky(const Input& a, bool upper) {
  static const auto op = define("linalg.cholesky", keeps_result, [](const Array& m, bool above) {
    return cotan::linalg::cholesky(m, {.upper = above, .symmetrize_input = true});
  });
  return op(matrix(*a, "linalg.cholesky"), upper);
}
std::pair<Tensor, Tensor> qr(const Input& a, std::string_view mode) {
  static const auto op = define("linalg.qr", keeps_operands, [](const Array& m, bool complete) {
    const auto found = cotan::linalg::qr(m, complete);
    return std::pair{found.q, found.r};
  });
  if (mode != "reduced" && mode != "complete")
    throw_with_line<ValueError>(fmt::format("[linalg.qr] mode is '{}'; it may be 'reduced' or 'complete'.", mode));
  return op(matrix(*a, "linalg.qr", false), mode == "complete");
}
std::tuple<Tensor, Tensor, Tensor> svd(const Input& a, bool full_matrices) {
  static const auto op = define("linalg.svd", keeps_operands, [](const Array& m, bool full) {
    const auto found = cotan::linalg::svd(m, full);
    return std::tuple{found.u, found.s, found.vh};
  });
  return op(matrix(*a, "linalg.svd", false), full_matrices);
}
Tensor svdvals(const Input& a) {
  static const auto op =
      define("linalg.svdvals", keeps_operands, [](const Array& m) { return cotan::linalg::svd(m, false).s; });
  return op(matrix(*a, "linalg.svdvals", false));
}
std::pair<Tensor, Tensor> eigh(const Input& a) {
  static const auto op = define("linalg.eigh", keeps_operands, [](const Array& m) {
    const auto found = cotan::linalg::eigh(m);
    return std::pair{found.eigenvalues, found.eigenvectors};
  });
  return op(matrix(*a, "linalg.eigh"));
}
Tensor eigvalsh(const Input& a) { return eigh(*a).first; }
Tensor solve_triangular(const Input& a, const Input& b, bool upper, bool left, bool unitriangular) {
  static const auto op = define(
      "linalg.solve_triangular", keeps_operands, [](const Array& m, const Array& v, bool above, bool first, bool unit) {
        return cotan::linalg::triangular_solve(m, v, {.left_side = first, .lower = !above, .unit_diagonal = unit});
      });
  return op(matrix(*a, "linalg.solve_triangular"), *b, upper, left, unitriangular);
}
Tensor matrix_power(const Input& a, int n) {
  static const auto op = define("linalg.matrix_power", keeps_operands,
                                [](const Array& m, int power) { return cotan::linalg::matrix_power(m, power); });
  return op(matrix(*a, "linalg.matrix_power"), n);
}
Tensor norm(const Input& x, double ord, const Dims& dims, bool keepdim) { return torch::norm(*x, ord, dims, keepdim); }
Tensor vector_norm(const Input& x, double ord, const Dims& dims, bool keepdim) {
  return torch::norm(*x, ord, dims, keepdim);
}
Tensor matrix_norm(const Input& x, std::string_view ord) {
  const Tensor& m = matrix(*x, "linalg.matrix_norm", false);
  if (ord == "fro") return torch::norm(m, 2, {-2, -1});
  if (ord == "nuc") return sum(svdvals(m), -1);
  throw_with_line<ValueError>(fmt::format("[linalg.matrix_norm] ord is '{}'; it may be 'fro' or 'nuc'.", ord));
}

}  // namespace linalg

Tensor det(const Input& a) { return linalg::det(*a); }
Tensor logdet(const Input& a) { return log(linalg::det(*a)); }
std::pair<Tensor, Tensor> slogdet(const Input& a) { return linalg::slogdet(*a); }
Tensor inverse(const Input& a) { return linalg::inv(*a); }
Tensor cholesky(const Input& a) { return linalg::cholesky(*a); }
Tensor matrix_power(const Input& a, int n) { return linalg::matrix_power(*a, n); }

}  // namespace cotan::torch
