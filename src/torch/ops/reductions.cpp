// Sums, products and truth over axes.
#include <fmt/format.h>

#include <cotan/nn.hpp>
#include <cotan/torch/reductions.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

using Over = std::vector<int>;
using Wanted = std::optional<DType>;

void check_floating(const Tensor& x, std::optional<DType> dtype, std::string_view op) {
  if (const DType t = dtype.value_or(x.dtype()); !is_inexact(t))
    throw_with_line<TypeError>(
        fmt::format("[{}] is of floats, not of {}; cast the tensor, or give a dtype.", op, name(t)));
}
/// Truth is bool, but of uint8 it is uint8.
Array truth(const Array& of, const Array& answer) {
  return of.dtype() == DType::u8 ? answer.astype(DType::u8) : answer;
}

}  // namespace

Tensor sum(const Input& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  static const auto op =
      define("sum", {.cast = Cast::f32}, [](const Array& a, const Over& axes, bool keep, Wanted wanted, DType whole) {
        const DType t = summed_type(a, wanted, whole);
        return numpy::sum(a.astype(t), {.axis = over(axes), .dtype = t, .keepdims = keep});
      });
  return op(*x, axes_of(*x, dims.list(), "sum"), keepdim, dtype, whole_type(*x));
}

Tensor mean(const Input& x, const Dims& dims, bool keepdim, std::optional<DType> dtype) {
  static const auto op = define("mean", {}, [](const Array& a, const Over& axes, bool keep, DType t) {
    return numpy::mean(a.astype(t), over(axes), keep);
  });
  check_floating(*x, dtype, "mean");
  return op(*x, axes_of(*x, dims.list(), "mean"), keepdim, dtype.value_or(x->dtype()));
}

Tensor nansum(const Input& x, const Dims& dims, bool keepdim) {
  static const auto op =
      define("nansum", {.saves = Saves::operands}, [](const Array& a, const Over& axes, bool keep, DType whole) {
        const DType t = summed_type(a, {}, whole);
        return numpy::sum(numpy::where(numpy::isnan(a), numpy::zeros_like(a), a).astype(t),
                          {.axis = over(axes), .dtype = t, .keepdims = keep});
      });
  return op(*x, axes_of(*x, dims.list(), "nansum"), keepdim, whole_type(*x));
}
Tensor nanmean(const Input& x, const Dims& dims, bool keepdim) {
  static const auto op = define("nanmean", {.saves = Saves::operands}, [](const Array& a, const Over& axes, bool keep) {
    const Array missing = numpy::isnan(a);
    const Array total = numpy::sum(numpy::where(missing, numpy::zeros_like(a), a), over(axes), keep);
    return total / numpy::sum(numpy::logical_not(missing).astype(a.dtype()), over(axes), keep);
  });
  check_floating(*x, {}, "nanmean");
  return op(*x, axes_of(*x, dims.list(), "nanmean"), keepdim);
}

namespace {

Tensor product(const Tensor& x, const Over& axes, bool keepdim, std::optional<DType> dtype) {
  static const auto op = define("prod", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& a, const Over& along, bool keep, Wanted wanted, DType whole) {
                                  const DType t = summed_type(a, wanted, whole);
                                  return numpy::prod(a.astype(t), {.axis = over(along), .dtype = t, .keepdims = keep});
                                });
  return op(x, axes, keepdim, dtype, whole_type(x));
}

}  // namespace

Tensor prod(const Input& x, std::optional<DType> dtype) { return product(*x, {}, false, dtype); }
Tensor prod(const Input& x, int dim, bool keepdim, std::optional<DType> dtype) {
  return product(*x, axes_of(*x, {dim}, "prod"), keepdim, dtype);
}

Tensor any(const Input& x, const Dims& dims, bool keepdim) {
  static const auto op = define("any", {.differentiable = false}, [](const Array& a, const Over& axes, bool keep) {
    return truth(a, numpy::any(a != 0, over(axes), keep));
  });
  return op(*x, axes_of(*x, dims.list(), "any"), keepdim);
}
Tensor all(const Input& x, const Dims& dims, bool keepdim) {
  static const auto op = define("all", {.differentiable = false}, [](const Array& a, const Over& axes, bool keep) {
    return truth(a, numpy::all(a != 0, over(axes), keep));
  });
  return op(*x, axes_of(*x, dims.list(), "all"), keepdim);
}
Tensor count_nonzero(const Input& x, const Dims& dims) {
  static const auto op =
      define("count_nonzero", {.differentiable = false}, [](const Array& a, const Over& axes, DType t) {
        return numpy::sum((a != 0).astype(t), {.axis = over(axes), .dtype = t});
      });
  return op(*x, axes_of(*x, dims.list(), "count_nonzero"), whole_type(*x));
}

Tensor logsumexp(const Input& x, const Dims& dims, bool keepdim) {
  static const auto op = define(
      "logsumexp", {.saves = Saves::operands, .cast = Cast::f32}, [](const Array& a, const Over& axes, bool keep) {
        return nn::logsumexp(a.astype(floating_type(a.dtype())), {.axis = over(axes), .keepdims = keep});
      });
  return op(*x, axes_of(*x, dims.list(), "logsumexp"), keepdim);
}

}  // namespace cotan::torch
