// The largest and the smallest, where they are, and elements by their rank.
#include <fmt/format.h>

#include <cotan/lax.hpp>
#include <cotan/torch/reductions.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

using Over = std::vector<int>;
using Found = std::pair<Array, Array>;
using TwoTensors = std::pair<Tensor, Tensor>;

/// The elements at `index`, one along the axis, and the index in dtype t. A 0-d array is one of one element.
Found at_index(const Array& a, const Array& index, int axis, bool keep, DType t) {
  const Array values = numpy::take_along_axis(a, index, axis);
  const auto fit = [&](const Array& v) { return keep ? v : numpy::squeeze(v, axis); };
  return {fit(values), fit(index).astype(t)};
}
/// Calls f with an axis to look along, also of a 0-d array.
template <class F>
Found along(const Array& a, int axis, bool keep, F f) {
  if (a.ndim() > 0) return f(a, axis, keep);
  return f(a.reshape({1}), 0, false);
}
void check_not_empty(const Tensor& x, std::optional<int> dim, std::string_view op) {
  const bool empty = dim && x.dim() > 0 ? x.size(*dim) == 0 : x.numel() == 0;
  if (empty)
    throw_with_line<ValueError>(
        fmt::format("[{}] a tensor of shape {} has no elements to choose from.", op, describe(x.sizes())));
}

template <bool largest>
TwoTensors extremum(const Tensor& x, int dim, bool keepdim, std::string_view name_of_op) {
  static const auto op =
      define(largest ? "max" : "min", {.saves = Saves::operands}, [](const Array& x0, int axis0, bool keep0, DType t) {
        return along(x0, axis0, keep0, [&](const Array& a, int axis, bool keep) {
          const Array index = largest ? numpy::argmax(a, axis, true) : numpy::argmin(a, axis, true);
          return at_index(a, index, axis, keep, t);
        });
      });
  check_not_empty(x, dim, name_of_op);
  return op(x, wrap_dim(dim, x.dim(), name_of_op), keepdim, whole_type(x));
}
template <bool largest>
Tensor reduced(const Tensor& x, const Over& dims, bool keepdim, std::string_view name_of_op) {
  static const auto op =
      define(largest ? "amax" : "amin", {.saves = Saves::operands}, [](const Array& a, const Over& axes, bool keep) {
        return largest ? numpy::max(a, over(axes), keep) : numpy::min(a, over(axes), keep);
      });
  for (const int d : dims) check_not_empty(x, d, name_of_op);
  if (dims.empty()) check_not_empty(x, {}, name_of_op);
  return op(x, axes_of(x, dims, name_of_op), keepdim);
}
template <bool largest>
Tensor place(const Tensor& x, std::optional<int> dim, bool keepdim, std::string_view name_of_op) {
  static const auto op =
      define(largest ? "argmax" : "argmin", {.differentiable = false},
             [](const Array& a, std::optional<int> axis, bool keep, DType t) {
               if (a.ndim() == 0) return numpy::zeros({}, t);
               return (largest ? numpy::argmax(a, axis, keep) : numpy::argmin(a, axis, keep)).astype(t);
             });
  check_not_empty(x, dim, name_of_op);
  if (dim) dim = wrap_dim(*dim, x.dim(), name_of_op);
  return op(x, dim, keepdim, whole_type(x));
}

/// The element of rank k along an axis, from 0 on; NaN comes last.
Found of_rank(const Array& a, std::int64_t k, int axis, bool keep, DType t) {
  const Array order = numpy::argsort(lax::stop_gradient(a), axis);
  return at_index(a, lax::slice_in_dim(order, k, k + 1, 1, axis), axis, keep, t);
}
/// The lower one in the middle; a NaN where there is one.
Found median_of(const Array& a, int axis, bool keep, DType t) {
  const Array order = numpy::argsort(lax::stop_gradient(a), axis);
  const std::int64_t n = a.shape(axis), middle = (n - 1) / 2;
  Array index = lax::slice_in_dim(order, middle, middle + 1, 1, axis);
  if (is_floating(a.dtype())) {
    const Array nan = numpy::isnan(a);
    index = numpy::where(numpy::any(nan, axis, true), numpy::argmax(nan.astype(i32), axis, true).astype(index.dtype()),
                         index);
  }
  return at_index(a, index, axis, keep, t);
}

}  // namespace

Tensor amax(const Input& x, const Dims& dims, bool keepdim) { return reduced<true>(*x, dims.list(), keepdim, "amax"); }
Tensor amin(const Input& x, const Dims& dims, bool keepdim) { return reduced<false>(*x, dims.list(), keepdim, "amin"); }
Tensor max(const Input& x) { return reduced<true>(*x, {}, false, "max"); }
Tensor min(const Input& x) { return reduced<false>(*x, {}, false, "min"); }
TwoTensors max(const Input& x, int dim, bool keepdim) { return extremum<true>(*x, dim, keepdim, "max"); }
TwoTensors min(const Input& x, int dim, bool keepdim) { return extremum<false>(*x, dim, keepdim, "min"); }
Tensor argmax(const Input& x, std::optional<int> dim, bool keepdim) { return place<true>(*x, dim, keepdim, "argmax"); }
Tensor argmin(const Input& x, std::optional<int> dim, bool keepdim) { return place<false>(*x, dim, keepdim, "argmin"); }
TwoTensors aminmax(const Input& x, std::optional<int> dim, bool keepdim) {
  const Dims dims = dim ? Dims(*dim) : Dims();
  return {amin(x, dims, keepdim), amax(x, dims, keepdim)};
}

Tensor median(const Input& x) {
  static const auto op = define("median", {.saves = Saves::operands}, [](const Array& a) {
    // Equal elements share the gradient, as PyTorch has it.
    const auto value = [](const Array& v) { return median_of(v.reshape({-1}), 0, false, i32).first; };
    if (!is_floating(a.dtype())) return value(a);
    const auto rule = [=](std::span<const Array> in) {
      const Array m = value(in[0]), chosen = (in[0] == m) | (numpy::isnan(in[0]) & numpy::isnan(m));
      const Array count = numpy::sum(chosen.astype(m.dtype()));
      return Arrays{m, numpy::sum(numpy::where(chosen, in[1], numpy::zeros_like(in[1]))) / count};
    };
    const Array args[] = {a};
    return flat::custom_jvp([=](std::span<const Array> in) { return Arrays{value(in[0])}; }, rule, args, "median")[0];
  });
  check_not_empty(*x, {}, "median");
  return op(*x);
}
TwoTensors median(const Input& x, int dim, bool keepdim) {
  static const auto op =
      define("median", {.saves = Saves::operands}, [](const Array& x0, int axis0, bool keep0, DType t) {
        return along(x0, axis0, keep0,
                     [&](const Array& a, int axis, bool keep) { return median_of(a, axis, keep, t); });
      });
  check_not_empty(*x, dim, "median");
  return op(*x, wrap_dim(dim, x->dim(), "median"), keepdim, whole_type(*x));
}
TwoTensors kthvalue(const Input& x, std::int64_t k, int dim, bool keepdim) {
  static const auto op = define(
      "kthvalue", {.saves = Saves::operands}, [](const Array& x0, std::int64_t rank, int axis0, bool keep0, DType t) {
        return along(x0, axis0, keep0,
                     [&](const Array& a, int axis, bool keep) { return of_rank(a, rank - 1, axis, keep, t); });
      });
  const std::int64_t n = x->dim() == 0 ? 1 : x->size(dim);
  if (k < 1 || k > n)
    throw_with_line<IndexError>(
        fmt::format("[kthvalue] k = {} is out of range of a dimension of {}; it is 1 to {}.", k, n, n));
  return op(*x, k, wrap_dim(dim, x->dim(), "kthvalue"), keepdim, whole_type(*x));
}

}  // namespace cotan::torch
