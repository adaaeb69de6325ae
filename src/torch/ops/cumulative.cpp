// Running sums, products and extrema, and differences.
#include <fmt/format.h>

#include <cotan/lax.hpp>
#include <cotan/torch/reductions.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

template <bool largest>
std::pair<Tensor, Tensor> running_extremum(const Tensor& x, int dim, std::string_view name_of_op) {
  static const auto op =
      define(largest ? "cummax" : "cummin", {.saves = Saves::operands}, [](const Array& a, int axis, DType t) {
        if (a.ndim() == 0) return std::pair{a, numpy::zeros({}, t)};
        const Array known = lax::stop_gradient(a);
        const Array best = largest ? lax::cummax(known, axis) : lax::cummin(known, axis);
        // The last place so far that has what is best so far.
        Array here = known == best;
        if (is_floating(a.dtype())) here = here | numpy::isnan(known);
        const Array place = lax::iota(i32, a.shape(), axis);
        const Array index = lax::cummax(numpy::where(here, place, numpy::zeros_like(place)), axis);
        return std::pair{numpy::take_along_axis(a, index, axis), index.astype(t)};
      });
  return op(x, wrap_dim(dim, x.dim(), name_of_op), whole_type(x));
}

}  // namespace

Tensor cumsum(const Input& x, int dim, std::optional<DType> dtype) {
  static const auto op =
      define("cumsum", {.cast = Cast::f32}, [](const Array& a, int axis, std::optional<DType> wanted, DType whole) {
        const Array x = a.astype(summed_type(a, wanted, whole));
        return x.ndim() == 0 ? x : lax::cumsum(x, axis);
      });
  return op(*x, wrap_dim(dim, x->dim(), "cumsum"), dtype, whole_type(*x));
}
Tensor cumprod(const Input& x, int dim, std::optional<DType> dtype) {
  static const auto op = define("cumprod", {.saves = Saves::operands, .cast = Cast::f32},
                                [](const Array& a, int axis, std::optional<DType> wanted, DType whole) {
                                  const Array x = a.astype(summed_type(a, wanted, whole));
                                  return x.ndim() == 0 ? x : lax::cumprod(x, axis);
                                });
  return op(*x, wrap_dim(dim, x->dim(), "cumprod"), dtype, whole_type(*x));
}
Tensor logcumsumexp(const Input& x, int dim) {
  static const auto op = define("logcumsumexp", {.saves = Saves::operands}, [](const Array& a, int axis) {
    return a.ndim() == 0 ? a : lax::cumlogsumexp(a, axis);
  });
  return op(*x, wrap_dim(dim, x->dim(), "logcumsumexp"));
}
std::pair<Tensor, Tensor> cummax(const Input& x, int dim) { return running_extremum<true>(*x, dim, "cummax"); }
std::pair<Tensor, Tensor> cummin(const Input& x, int dim) { return running_extremum<false>(*x, dim, "cummin"); }

Tensor diff(const Input& x, int n, int dim) {
  static const auto op = define("diff", {}, [](const Array& a, int times, int axis) {
    Array out = a;
    for (int i = 0; i < times && out.shape(axis) > 0; ++i) {
      const std::int64_t size = out.shape(axis);
      const Array after = lax::slice_in_dim(out, 1, size, 1, axis),
                  before = lax::slice_in_dim(out, 0, size - 1, 1, axis);
      out = a.dtype() == DType::bool_ ? after != before : after - before;
    }
    return out;
  });
  if (x->dim() == 0) throw_with_line<ShapeError>("[diff] a 0-d tensor has no neighbours to take differences of.");
  return op(*x, n, wrap_dim(dim, x->dim(), "diff"));
}

}  // namespace cotan::torch
