// Tensors put together.
#include <fmt/format.h>

#include <cotan/torch/joining.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

using Tensors = std::vector<Tensor>;

void check_list(const Tensors& tensors, std::string_view op) {
  if (tensors.empty())
    throw_with_line<ValueError>(fmt::format("[{}] needs at least one tensor; the list is empty.", op));
}
void check_sizes(const Tensor& a, const Tensor& b, std::optional<int> but, std::string_view op) {
  bool fits = a.dim() == b.dim();
  for (int i = 0; fits && i < a.dim(); ++i) fits = i == but || a.size(i) == b.size(i);
  if (!fits)
    throw_with_line<ShapeError>(fmt::format("[{}] shapes {} and {} do not fit; sizes must be equal{}.", op,
                                            describe(a.sizes()), describe(b.sizes()),
                                            but ? fmt::format(" but in dimension {}", *but) : ""));
}
Tensor reshaped_for(const Tensor& x, Shape shape) {
  static const auto op = define("reshape", {}, [](const Array& a, const Shape& to) { return a.reshape(to); });
  return x.sizes() == shape ? x : op(x, std::move(shape));
}
Tensor joined(const Tensors& tensors, int dim, std::string_view name_of_op) {
  static const auto op = define("cat", {.cast = Cast::widest}, [](const Arrays& list, int axis, DType t) {
    // An empty vector fits everywhere.
    Arrays same;
    for (const Array& a : list)
      if (a.shape() != Shape{0}) same.push_back(a.astype(t));
    return same.empty() ? list[0].astype(t) : numpy::concatenate(same, axis);
  });
  check_list(tensors, name_of_op);
  const DType t = result_type(tensors);
  Tensors parts;
  for (const Tensor& x : tensors)
    if (x.sizes() != Shape{0}) parts.push_back(x);
  if (parts.empty()) parts = tensors;
  if (parts[0].dim() == 0)
    throw_with_line<ShapeError>(
        fmt::format("[{}] 0-d tensors have no dimension to join along; use stack().", name_of_op));
  const int axis = wrap_dim(dim, parts[0].dim(), name_of_op);
  for (const Tensor& x : parts) check_sizes(parts[0], x, axis, name_of_op);
  return op(tensors, axis, t);
}

}  // namespace

Tensor cat(const Tensors& tensors, int dim, std::source_location where) {
  const At at(where);
  return joined(tensors, dim, "cat");
}
Tensor concat(const Tensors& tensors, int dim, std::source_location where) { return cat(tensors, dim, where); }

Tensor stack(const Tensors& tensors, int dim, std::source_location where) {
  static const auto op = define("stack", {.cast = Cast::widest}, [](const Arrays& list, int axis, DType t) {
    Arrays same;
    for (const Array& a : list) same.push_back(a.astype(t));
    return numpy::stack(same, axis);
  });
  const At at(where);
  check_list(tensors, "stack");
  for (const Tensor& x : tensors) check_sizes(tensors[0], x, {}, "stack");
  return op(tensors, wrap_dim(dim, tensors[0].dim() + 1, "stack"), result_type(tensors));
}

Tensor hstack(const Tensors& tensors, std::source_location where) {
  const At at(where);
  Tensors parts;
  for (const Tensor& x : tensors) parts.push_back(x.dim() == 0 ? reshaped_for(x, {1}) : x);
  check_list(parts, "hstack");
  return joined(parts, parts[0].dim() == 1 ? 0 : 1, "hstack");
}
Tensor vstack(const Tensors& tensors, std::source_location where) {
  const At at(where);
  Tensors parts;
  for (const Tensor& x : tensors) parts.push_back(x.dim() < 2 ? reshaped_for(x, {1, x.numel()}) : x);
  return joined(parts, 0, "vstack");
}
Tensor dstack(const Tensors& tensors, std::source_location where) {
  const At at(where);
  Tensors parts;
  for (const Tensor& x : tensors) {
    Shape shape = x.dim() < 2 ? Shape{1, x.numel()} : x.sizes();
    if (shape.size() == 2) shape.push_back(1);
    parts.push_back(reshaped_for(x, std::move(shape)));
  }
  return joined(parts, 2, "dstack");
}

std::vector<Tensor> meshgrid(const Tensors& tensors, std::string_view indexing, std::source_location where) {
  static const auto op = define("meshgrid", {}, [](const Array& a, int axis, const Shape& shape) {
    Shape along(shape.size(), 1);
    along[static_cast<std::size_t>(axis)] = a.size();
    return numpy::broadcast_to(a.reshape(along), shape);
  });
  const At at(where);
  check_list(tensors, "meshgrid");
  const bool exchanged = indexing == "xy" && tensors.size() > 1;
  if (indexing != "ij" && indexing != "xy")
    throw_with_line<ValueError>(fmt::format("[meshgrid] indexing is '{}'; it may be 'ij' or 'xy'.", indexing));
  const auto axis_of = [&](std::size_t i) { return exchanged && i < 2 ? 1 - i : i; };
  Shape shape(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() > 1)
      throw_with_line<ShapeError>(
          fmt::format("[meshgrid] takes vectors; tensor {} has shape {}.", i, describe(tensors[i].sizes())));
    shape[axis_of(i)] = tensors[i].numel();
  }
  Tensors out;
  for (std::size_t i = 0; i < tensors.size(); ++i) out.push_back(op(tensors[i], static_cast<int>(axis_of(i)), shape));
  return out;
}

}  // namespace cotan::torch
