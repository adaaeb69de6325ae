// Order and search.
#include <fmt/format.h>

#include <cotan/torch/gathering.hpp>

#include "torch/ops/families.hpp"
#include "torch/ops/indices.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

/// Indices that sort; of equal elements the earlier one comes first, NaN counts as the largest.
Array order_of(const Array& a, int axis, bool descending) {
  const Array known = lax::stop_gradient(a);
  if (!descending) return numpy::argsort(known, axis);
  // Backwards twice: equal ones keep their order.
  const std::int64_t last = a.shape(axis) - 1;
  const Array order = numpy::argsort(numpy::flip(known, axis), axis);
  return static_cast<std::int32_t>(last) - numpy::flip(order, axis);
}

}  // namespace

std::pair<Tensor, Tensor> sort(const Input& x, int dim, bool descending) {
  static const auto op = define("sort", {.saves = Saves::result}, [](const Array& a, int axis, bool falling, DType t) {
    if (a.ndim() == 0) return std::pair{a, numpy::zeros({}, t)};
    const Array order = order_of(a, axis, falling);
    return std::pair{numpy::take_along_axis(a, order, axis), order.astype(t)};
  });
  return op(*x, wrap_dim(dim, x->dim(), "sort"), descending, whole_type(*x));
}
Tensor argsort(const Input& x, int dim, bool descending) { return sort(x, dim, descending).second; }

std::pair<Tensor, Tensor> topk(const Input& x, std::int64_t k, int dim, bool largest, bool) {
  static const auto op =
      define("topk", {.saves = Saves::result}, [](const Array& a, std::int64_t n, int axis, bool from_top, DType t) {
        if (a.ndim() == 0) return std::pair{a, numpy::zeros({}, t)};
        const Array order = lax::slice_in_dim(order_of(a, axis, from_top), 0, n, 1, axis);
        return std::pair{numpy::take_along_axis(a, order, axis), order.astype(t)};
      });
  const std::int64_t n = x->dim() == 0 ? 1 : x->size(dim);
  if (k < 0 || k > n)
    throw_with_line<IndexError>(
        fmt::format("[topk] k = {} is out of range of a dimension of {}; it is 0 to {}.", k, n, n));
  return op(*x, k, wrap_dim(dim, x->dim(), "topk"), largest, whole_type(*x));
}

Tensor searchsorted(const Input& sorted_sequence, const Operand& values, bool right) {
  static const auto op =
      define("searchsorted", {.differentiable = false}, [](const Array& sequence, const Array& v, bool after, DType t) {
        if (sequence.ndim() == 1) return numpy::searchsorted(sequence, v, after ? "right" : "left").astype(t);
        const Array s = numpy::expand_dims(sequence, -2), w = numpy::expand_dims(v, -1);
        return numpy::sum((after ? s <= w : s < w).astype(t), {.axis = -1, .dtype = t});
      });
  bool fits = sorted_sequence->dim() == 1;
  const Tensor v = as_tensor(values, sorted_sequence->dtype(), *sorted_sequence);
  if (!fits) {
    fits = v.dim() == sorted_sequence->dim();
    for (int d = 0; fits && d + 1 < v.dim(); ++d) fits = v.size(d) == sorted_sequence->size(d);
  }
  if (!fits)
    throw_with_line<ShapeError>(fmt::format(
        "[searchsorted] values of shape {} do not fit sequences of shape {}; all but the last sizes are equal.",
        describe(v.sizes()), describe(sorted_sequence->sizes())));
  return op(*sorted_sequence, v, right, whole_type(*sorted_sequence));
}
Tensor bucketize(const Operand& x, const Input& boundaries, bool right) { return searchsorted(*boundaries, x, right); }

std::tuple<Tensor, Tensor, Tensor> unique(const Input& x) {
  const Array a = x->array({}).reshape({-1});
  const DType t = whole_type(*x);
  const auto found = numpy::unique_all(a);
  return {from(found.values), from(found.inverse_indices.reshape(x->sizes()).astype(t)), from(found.counts.astype(t))};
}

Tensor bincount(const Input& x, std::int64_t minlength) {
  check_index(*x, "bincount");
  return from(numpy::bincount(x->array({}), {.minlength = minlength}).astype(whole_type(*x)));
}

}  // namespace cotan::torch
