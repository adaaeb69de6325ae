// Products of matrices, vectors and tensors.
#include <fmt/format.h>

#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/torch/products.hpp>
#include <limits>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

constexpr Traits product_traits{.saves = Saves::others, .cast = Cast::lower};

void check_dims(const Tensor& a, int dims_a, const Tensor& b, int dims_b, std::string_view op) {
  if (a.dim() != dims_a || b.dim() != dims_b)
    throw_with_line<ShapeError>(fmt::format("[{}] takes tensors of {} and {} dimensions; got shapes {} and {}.", op,
                                            dims_a, dims_b, describe(a.sizes()), describe(b.sizes())));
}
/// After autocast, which casts both.
void check_same_dtype(const Array& a, const Array& b, std::string_view op) {
  if (a.dtype() != b.dtype())
    throw_with_line<TypeError>(
        fmt::format("[{}] the tensors are {} and {}; cast one.", op, name(a.dtype()), name(b.dtype())));
}

/// beta x + alpha product. With beta 0 what is in x does not matter, NaN neither.
Tensor added(const Tensor& x, const Tensor& product, double beta, double alpha) {
  const Tensor scaled = alpha == 1 ? product : mul(product, alpha);
  static const auto op = define("broadcast", {}, [](const Array& a, const Array& b) {
    return numpy::broadcast_to(b, numpy::broadcast_shapes({a.shape(), b.shape()}));
  });
  if (beta == 0) return op(x, scaled);
  return add(beta == 1 ? x : mul(x, beta), scaled);
}

}  // namespace

Tensor matmul(const Input& a, const Input& b) {
  static const auto op = define("matmul", product_traits, [](const Array& x, const Array& y) {
    check_same_dtype(x, y, "matmul");
    return numpy::matmul(x, y);
  });
  return op(*a, *b);
}
Tensor mm(const Input& a, const Input& b) {
  check_dims(*a, 2, *b, 2, "mm");
  return matmul(*a, *b);
}
Tensor bmm(const Input& a, const Input& b) {
  check_dims(*a, 3, *b, 3, "bmm");
  if (a->size(0) != b->size(0))
    throw_with_line<ShapeError>(
        fmt::format("[bmm] stacks of {} and {} matrices; there must be as many.", a->size(0), b->size(0)));
  return matmul(*a, *b);
}
Tensor mv(const Input& a, const Input& b) {
  check_dims(*a, 2, *b, 1, "mv");
  return matmul(*a, *b);
}
Tensor dot(const Input& a, const Input& b) {
  check_dims(*a, 1, *b, 1, "dot");
  return matmul(*a, *b);
}
Tensor inner(const Input& a, const Input& b) {
  static const auto op = define("inner", product_traits, [](const Array& x, const Array& y) {
    check_same_dtype(x, y, "inner");
    return numpy::inner(x, y);
  });
  return op(*a, *b);
}
Tensor outer(const Input& a, const Input& b) {
  static const auto op = define("outer", {.saves = Saves::others}, [](const Array& x, const Array& y, DType t) {
    return numpy::outer(x.astype(t), y.astype(t));
  });
  check_dims(*a, 1, *b, 1, "outer");
  return op(*a, *b, result_type(std::vector<Tensor>{*a, *b}));
}

Tensor addmm(const Input& x, const Input& a, const Input& b, double beta, double alpha) {
  return added(*x, mm(*a, *b), beta, alpha);
}
Tensor addmv(const Input& x, const Input& a, const Input& b, double beta, double alpha) {
  return added(*x, mv(*a, *b), beta, alpha);
}
Tensor baddbmm(const Input& x, const Input& a, const Input& b, double beta, double alpha) {
  return added(*x, bmm(*a, *b), beta, alpha);
}
Tensor addbmm(const Input& x, const Input& a, const Input& b, double beta, double alpha) {
  check_dims(*a, 3, *b, 3, "addbmm");
  return added(*x, einsum("bij,bjk->ik", {*a, *b}, {}), beta, alpha);
}
Tensor addr(const Input& x, const Input& a, const Input& b, double beta, double alpha) {
  return added(*x, outer(*a, *b), beta, alpha);
}

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, std::source_location where) {
  static const auto op = define("einsum", {.saves = Saves::others, .cast = Cast::lower},
                                [](const std::string& subscripts, const Arrays& list, DType t) {
                                  Arrays same;
                                  for (const Array& a : list) same.push_back(a.astype(t));
                                  return numpy::einsum(subscripts, same);
                                });
  const At at(where);
  if (operands.empty()) throw_with_line<ValueError>("[einsum] needs at least one tensor.");
  return op(std::string(equation), operands, result_type(operands));
}

namespace {

Tensor contracted(const Tensor& a, const Tensor& b, const std::vector<int>& dims_a, const std::vector<int>& dims_b) {
  static const auto op = define("tensordot", product_traits,
                                [](const Array& x, const Array& y, const std::vector<int>& of_x,
                                   const std::vector<int>& of_y) { return numpy::tensordot(x, y, of_x, of_y); });
  return op(a, b, dims_a, dims_b);
}

}  // namespace

Tensor tensordot(const Input& a, const Input& b, int dims) {
  if (dims < 0 || dims > std::min(a->dim(), b->dim()))
    throw_with_line<ValueError>(fmt::format("[tensordot] shapes {} and {} do not have {} dimensions to sum over.",
                                            describe(a->sizes()), describe(b->sizes()), dims));
  std::vector<int> of_a, of_b;
  for (int i = 0; i < dims; ++i) {
    of_a.push_back(a->dim() - dims + i);
    of_b.push_back(i);
  }
  return contracted(*a, *b, of_a, of_b);
}
Tensor tensordot(const Input& a, const Input& b, const std::vector<int>& dims_a, const std::vector<int>& dims_b) {
  std::vector<int> of_a, of_b;
  for (const int d : dims_a) of_a.push_back(wrap_dim(d, a->dim(), "tensordot"));
  for (const int d : dims_b) of_b.push_back(wrap_dim(d, b->dim(), "tensordot"));
  return contracted(*a, *b, of_a, of_b);
}

Tensor kron(const Input& a, const Input& b) {
  static const auto op = define("kron", {.saves = Saves::others}, [](const Array& x, const Array& y, DType t) {
    return numpy::kron(x.astype(t), y.astype(t));
  });
  return op(*a, *b, result_type(std::vector<Tensor>{*a, *b}));
}

Tensor cross(const Input& a, const Input& b, int dim) {
  static const auto op =
      define("cross", {.saves = Saves::others}, [](const Array& x, const Array& y, int axis, DType t) {
        const Shape shape = numpy::broadcast_shapes({x.shape(), y.shape()});
        return numpy::cross(numpy::broadcast_to(x.astype(t), shape), numpy::broadcast_to(y.astype(t), shape),
                            {.axis = axis});
      });
  const Shape shape = broadcast_shapes(a->sizes(), b->sizes(), "cross");
  const int axis = wrap_dim(dim, static_cast<int>(shape.size()), "cross");
  if (shape.empty() || shape[static_cast<std::size_t>(axis)] != 3)
    throw_with_line<ShapeError>(fmt::format("[cross] shapes {} and {} do not have 3 elements along dimension {}.",
                                            describe(a->sizes()), describe(b->sizes()), axis));
  return op(*a, *b, axis, result_type(std::vector<Tensor>{*a, *b}));
}

Tensor trace(const Input& x) {
  static const auto op =
      define("trace", {}, [](const Array& a, DType t) { return numpy::trace(a.astype(t), 0, 0, 1, t); });
  if (x->dim() != 2)
    throw_with_line<ShapeError>(fmt::format("[trace] takes a matrix, got shape {}.", describe(x->sizes())));
  return op(*x, is_inexact(x->dtype()) ? x->dtype() : whole_type(*x));
}

Tensor cdist(const Input& a, const Input& b, double p) {
  static const auto op =
      define("cdist", {.saves = Saves::operands, .cast = Cast::f32}, [](const Array& x, const Array& y, double power) {
        const Array difference = numpy::abs(numpy::expand_dims(x, -2) - numpy::expand_dims(y, -3));
        if (power == std::numeric_limits<double>::infinity()) return numpy::max(difference, -1);
        if (power == 1) return numpy::sum(difference, -1);
        if (power == 0) return numpy::sum((difference != 0).astype(x.dtype()), -1);
        // Equal rows have no gradient.
        const Array zero = difference == 0, some = numpy::where(zero, numpy::ones_like(difference), difference);
        const Array powers = power == 2 ? some * some : numpy::power(some, power);
        const Array total = numpy::sum(numpy::where(zero, numpy::zeros_like(some), powers), -1), none = total == 0;
        const Array safe = numpy::where(none, numpy::ones_like(total), total);
        return numpy::where(none, numpy::zeros_like(total),
                            power == 2 ? numpy::sqrt(safe) : numpy::power(safe, 1 / power));
      });
  if (a->dim() < 2 || b->dim() < 2 || a->size(-1) != b->size(-1))
    throw_with_line<ShapeError>(fmt::format("[cdist] shapes {} and {} are no rows of the same length.",
                                            describe(a->sizes()), describe(b->sizes())));
  return op(*a, *b, p);
}

Tensor chain_matmul(const std::vector<Tensor>& matrices, std::source_location where) {
  static const auto op =
      define("chain_matmul", product_traits, [](const Arrays& list) { return cotan::linalg::multi_dot(list); });
  const At at(where);
  if (matrices.empty()) throw_with_line<ValueError>("[chain_matmul] needs at least one matrix.");
  return matrices.size() == 1 ? matrices[0] : op(matrices);
}

}  // namespace cotan::torch
