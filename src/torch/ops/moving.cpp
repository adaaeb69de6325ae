// Elements turned around and repeated; diagonals and triangles.
#include <fmt/format.h>

#include <algorithm>
#include <cotan/torch/creation.hpp>
#include <cotan/torch/joining.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

Tensor roll(const Input& x, const Shape& shifts, const std::vector<int>& dims) {
  static const auto op = define("roll", {}, [](const Array& a, const Shape& by, const std::vector<int>& axes) {
    if (axes.empty()) return numpy::roll(a, by.at(0));
    return numpy::roll(a, by, Axes(axes));
  });
  if (shifts.size() != std::max<std::size_t>(dims.size(), 1))
    throw_with_line<ValueError>(
        fmt::format("[roll] got {} shifts for {} dimensions; give one for each.", shifts.size(), dims.size()));
  std::vector<int> axes;
  for (const int d : dims) axes.push_back(wrap_dim(d, x->dim(), "roll"));
  return x->dim() == 0 ? op(*x, Shape{0}, std::vector<int>()) : op(*x, shifts, axes);
}

Tensor flip(const Input& x, const std::vector<int>& dims) {
  static const auto op = define(
      "flip", {}, [](const Array& a, const std::vector<int>& axes) { return axes.empty() ? a : numpy::flip(a, axes); });
  return op(*x, axes_of(*x, dims, "flip"));
}
Tensor fliplr(const Input& x) { return flip(*x, {1}); }
Tensor flipud(const Input& x) { return flip(*x, {0}); }

Tensor rot90(const Input& x, int k, const std::vector<int>& dims) {
  static const auto op = define("rot90", {}, [](const Array& a, int quarters, int first, int second) {
    return numpy::rot90(a, quarters, first, second);
  });
  if (dims.size() != 2)
    throw_with_line<ValueError>(fmt::format("[rot90] turns in the plane of two dimensions; got {}.", dims.size()));
  return op(*x, ((k % 4) + 4) % 4, wrap_dim(dims[0], x->dim(), "rot90"), wrap_dim(dims[1], x->dim(), "rot90"));
}

Tensor tile(const Input& x, const Shape& repeats) {
  static const auto op = define("repeat", {}, [](const Array& a, const Shape& times) { return numpy::tile(a, times); });
  for (const std::int64_t n : repeats)
    if (n < 0) throw_with_line<ValueError>(fmt::format("[repeat] {} times is not possible.", n));
  return op(*x, repeats);
}
Tensor repeat(const Input& x, const Shape& repeats) {
  if (static_cast<int>(repeats.size()) < x->dim())
    throw_with_line<ShapeError>(fmt::format("[repeat] got {} numbers for a tensor of shape {}; give one per dimension.",
                                            repeats.size(), describe(x->sizes())));
  return tile(*x, repeats);
}

Tensor repeat_interleave(const Input& x, std::int64_t repeats, std::optional<int> dim) {
  static const auto op =
      define("repeat_interleave", {}, [](const Array& a, std::int64_t times, std::optional<int> axis) {
        return numpy::repeat(axis ? a : a.reshape({-1}), times, axis.value_or(0));
      });
  if (repeats < 0) throw_with_line<ValueError>(fmt::format("[repeat_interleave] {} times is not possible.", repeats));
  if (dim) dim = wrap_dim(*dim, x->dim(), "repeat_interleave");
  return op(*x, repeats, x->dim() == 0 ? std::nullopt : dim);
}
Tensor repeat_interleave(const Input& x, const Input& repeats, std::optional<int> dim,
                         std::optional<std::int64_t> output_size) {
  static const auto op = define("repeat_interleave", {.saves = Saves::second},
                                [](const Array& a, const Array& times, std::optional<int> axis, std::int64_t total) {
                                  return numpy::repeat(axis ? a : a.reshape({-1}), times, axis.value_or(0), total);
                                });
  if (dim) dim = wrap_dim(*dim, x->dim(), "repeat_interleave");
  const std::int64_t slices = dim ? x->size(*dim) : x->numel();
  if (repeats->dim() > 1 || (repeats->numel() != slices && repeats->numel() != 1))
    throw_with_line<ShapeError>(fmt::format("[repeat_interleave] repeats of shape {} do not fit {} slices.",
                                            describe(repeats->sizes()), slices));
  if (!output_size) {
    std::int64_t total = 0;
    for (const std::int64_t n : repeats->to_vector<std::int64_t>({})) total += n;
    output_size = repeats->numel() == 1 ? total * slices : total;
  }
  return op(*x, *repeats, dim, *output_size);
}

Tensor tril(const Input& x, int diagonal) {
  static const auto op = define("tril", {}, [](const Array& a, int k) { return numpy::tril(a, k); });
  if (x->dim() < 2)
    throw_with_line<ShapeError>(fmt::format("[tril] needs matrices, got shape {}.", describe(x->sizes())));
  return op(*x, diagonal);
}
Tensor triu(const Input& x, int diagonal) {
  static const auto op = define("triu", {}, [](const Array& a, int k) { return numpy::triu(a, k); });
  if (x->dim() < 2)
    throw_with_line<ShapeError>(fmt::format("[triu] needs matrices, got shape {}.", describe(x->sizes())));
  return op(*x, diagonal);
}

Tensor diag(const Input& x, int diagonal) {
  static const auto op = define("diag", {}, [](const Array& a, int k) { return numpy::diag(a, k); });
  if (x->dim() != 1 && x->dim() != 2)
    throw_with_line<ShapeError>(fmt::format("[diag] needs a vector or a matrix, got shape {}.", describe(x->sizes())));
  return op(*x, diagonal);
}

Tensor diag_embed(const Input& x, int offset, int dim1, int dim2) {
  static const auto op = define("diag_embed", {}, [](const Array& a, int k, int first, int second) {
    const std::int64_t n = a.shape(-1), size = n + std::abs(k);
    Shape shape = a.shape();
    shape.back() = size;
    shape.push_back(size);
    const Array at = numpy::arange(n);
    std::vector<Index> indices(shape.size() - 2, Index(cotan::all));
    indices.emplace_back(k < 0 ? at - k : at);
    indices.emplace_back(k > 0 ? at + k : at);
    return numpy::moveaxis(IndexUpdate(numpy::zeros(shape, a.dtype()), indices).set(a), Axes(std::vector<int>{-2, -1}),
                           Axes(std::vector<int>{first, second}));
  });
  if (x->dim() == 0) throw_with_line<ShapeError>("[diag_embed] needs a vector, or several; got a 0-d tensor.");
  const int first = wrap_dim(dim1, x->dim() + 1, "diag_embed"), second = wrap_dim(dim2, x->dim() + 1, "diag_embed");
  if (first == second) throw_with_line<ValueError>(fmt::format("[diag_embed] dimension {} is named twice.", first));
  return op(*x, offset, first, second);
}

Tensor tril_indices(std::int64_t row, std::int64_t col, int offset, std::source_location where) {
  const auto [i, j] = numpy::tril_indices(row, offset, col);
  return made(numpy::stack({i, j}), {}, i64, where);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, int offset, std::source_location where) {
  const auto [i, j] = numpy::triu_indices(row, offset, col);
  return made(numpy::stack({i, j}), {}, i64, where);
}

}  // namespace cotan::torch
