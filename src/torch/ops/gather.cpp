// Elements by indices and masks.
#include <fmt/format.h>

#include <cotan/torch/gathering.hpp>

#include "torch/ops/families.hpp"
#include "torch/ops/indices.hpp"

namespace cotan::torch {

using namespace detail;

void detail::check_index(const Tensor& index, std::string_view op) {
  if (!is_integer(index.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] the index is {}; it must be int64 or int32.", op, name(index.dtype())));
}

Array detail::as_vector(const Array& a) { return a.ndim() == 0 ? a.reshape({1}) : a; }

std::vector<Index> detail::places(const Array& index, int axis) {
  std::vector<Index> out;
  for (int i = 0; i < index.ndim(); ++i) {
    if (i == axis) {
      out.emplace_back(index);
      continue;
    }
    Shape along(static_cast<std::size_t>(index.ndim()), 1);
    along[static_cast<std::size_t>(i)] = index.shape(i);
    out.emplace_back(numpy::arange(index.shape(i)).reshape(along));
  }
  return out;
}

Tensor gather(const Input& x, int dim, const Input& index) {
  static const auto op = define("gather", {.saves = Saves::second}, [](const Array& a, const Array& i, int axis) {
    // The index may be smaller in other dimensions.
    Array from = as_vector(a);
    const Array at = as_vector(i);
    for (int d = 0; d < from.ndim(); ++d)
      if (d != axis) from = lax::slice_in_dim(from, 0, at.shape(d), 1, d);
    return numpy::take_along_axis(from, at, axis).reshape(i.shape());
  });
  check_index(*index, "gather");
  const int axis = wrap_dim(dim, x->dim(), "gather");
  bool fits = std::max(x->dim(), 1) == std::max(index->dim(), 1);
  for (int d = 0; fits && d < x->dim() && d < index->dim(); ++d) fits = d == axis || index->size(d) <= x->size(d);
  if (!fits && index->numel() > 0)
    throw_with_line<ShapeError>(fmt::format(
        "[gather] an index of shape {} does not fit shape {}; it has as many dimensions, and none is larger "
        "but {}.",
        describe(index->sizes()), describe(x->sizes()), axis));
  return op(*x, *index, axis);
}

Tensor take_along_dim(const Input& x, const Input& index, std::optional<int> dim) {
  static const auto op =
      define("take_along_dim", {.saves = Saves::second}, [](const Array& a, const Array& i, std::optional<int> axis) {
        if (!axis) return numpy::take_along_axis(a.reshape({-1}), i.reshape({-1}), 0);
        return numpy::take_along_axis(a, i, *axis);
      });
  check_index(*index, "take_along_dim");
  if (dim) dim = wrap_dim(*dim, x->dim(), "take_along_dim");
  return op(*x, *index, dim);
}

Tensor index_select(const Input& x, int dim, const Input& index) {
  static const auto op = define("index_select", {.saves = Saves::second}, [](const Array& a, const Array& i, int axis) {
    return a.ndim() == 0 ? a : numpy::take(a, as_vector(i), axis);
  });
  check_index(*index, "index_select");
  if (index->dim() > 1)
    throw_with_line<ShapeError>(
        fmt::format("[index_select] the index has shape {}; it must be a vector.", describe(index->sizes())));
  return op(*x, *index, wrap_dim(dim, x->dim(), "index_select"));
}

Tensor take(const Input& x, const Input& index) {
  static const auto op = define("take", {.saves = Saves::second},
                                [](const Array& a, const Array& i) { return numpy::take(a.reshape({-1}), i, 0); });
  check_index(*index, "take");
  return op(*x, *index);
}

Tensor nonzero(const Input& x) { return from(numpy::argwhere(x->array({})).astype(whole_type(*x))); }
Tensor argwhere(const Input& x) { return nonzero(x); }

Tensor masked_select(const Input& x, const Input& mask) {
  static const auto op =
      define("masked_select", {.saves = Saves::second}, [](const Array& a, const Array& i, const Shape& shape) {
        return numpy::take(numpy::broadcast_to(a, shape).reshape({-1}), i, 0);
      });
  const Shape shape = broadcast_shapes(x->sizes(), mask->sizes(), "masked_select");
  const Array known = numpy::broadcast_to(mask->array({}), shape);
  return op(*x, from(numpy::flatnonzero(known)), shape);
}

Tensor masked_fill(const Input& x, const Input& mask, const Operand& value) {
  static const auto op =
      define("masked_fill", {.saves = Saves::second},
             [](const Array& a, const Array& m, const Array& v) { return numpy::where(m, v.astype(a.dtype()), a); });
  if (mask->dtype() != DType::bool_)
    throw_with_line<TypeError>(fmt::format("[masked_fill] the mask is {}; it must be bool.", name(mask->dtype())));
  return op(*x, *mask, as_tensor(value, x->dtype(), *x));
}

Tensor masked_scatter(const Input& x, const Input& mask, const Input& source) {
  static const auto op =
      define("masked_scatter", {.saves = Saves::second}, [](const Array& a, const Array& m, const Array& s) {
        const Shape shape = numpy::broadcast_shapes({a.shape(), m.shape()});
        const Array chosen = numpy::broadcast_to(m, shape);
        const Array place = numpy::cumsum(chosen.reshape({-1}).astype(i32), 0) - 1;
        const Array values = numpy::take(s.reshape({-1}), numpy::maximum(place, 0), 0, "clip").reshape(shape);
        return numpy::where(chosen, values, numpy::broadcast_to(a, shape));
      });
  if (mask->dtype() != DType::bool_)
    throw_with_line<TypeError>(fmt::format("[masked_scatter] the mask is {}; it must be bool.", name(mask->dtype())));
  return op(*x, *mask, *source);
}

}  // namespace cotan::torch
