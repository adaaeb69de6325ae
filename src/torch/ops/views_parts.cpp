// Views of parts: pieces of a dimension, diagonals, windows, any strides.
#include <fmt/format.h>

#include <algorithm>
#include <cotan/torch/views.hpp>

#include "torch/graph/strided.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

std::vector<Tensor> of_several(std::vector<Tensor> parts) {
  for (const Tensor& part : parts)
    if (part.impl().creation == Creation::ordinary) part.impl().creation = Creation::one_of_several;
  return parts;
}

std::size_t dimension(const Tensor& x, int dim, std::string_view op) {
  if (x.dim() == 0)
    throw_with_line<ShapeError>(fmt::format("[{}] a 0-d tensor has no dimension to cut; use unsqueeze() first.", op));
  return static_cast<std::size_t>(wrap_dim(dim, x.dim(), op));
}

/// Parts that end at these indices.
std::vector<Tensor> cut(const Tensor& x, std::size_t axis, const Shape& ends) {
  std::vector<Tensor> out;
  std::int64_t start = 0;
  for (const std::int64_t end : ends) {
    out.push_back(slice(x, static_cast<int>(axis), start, end));
    start = end;
  }
  return out;
}

}  // namespace

Tensor diagonal(const Input& x, int offset, int dim1, int dim2) {
  const int a = wrap_dim(dim1, x->dim(), "diagonal"), b = wrap_dim(dim2, x->dim(), "diagonal");
  if (x->dim() < 2 || a == b)
    throw_with_line<ShapeError>(
        fmt::format("[diagonal] dimensions {} and {} of a tensor of shape {}; they must be two.", dim1, dim2,
                    describe(x->sizes())));
  const Layout& from = x->impl().layout;
  const Layout rows = Layout::contiguous(from.sizes);
  const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
  const std::int64_t down = std::max(-offset, 0), right = std::max(offset, 0);
  const std::int64_t size = std::max<std::int64_t>(std::min(from.sizes[i] - down, from.sizes[j] - right), 0);
  Layout layout{{}, {}, from.offset};
  Shape strides;
  for (std::size_t k = 0; k < from.sizes.size(); ++k) {
    if (k == i || k == j) continue;
    layout.sizes.push_back(from.sizes[k]);
    layout.strides.push_back(from.strides[k]);
    strides.push_back(rows.strides[k]);
  }
  layout.sizes.push_back(size);
  layout.strides.push_back(from.strides[i] + from.strides[j]);
  strides.push_back(rows.strides[i] + rows.strides[j]);
  if (size > 0) layout.offset += down * from.strides[i] + right * from.strides[j];
  return strided_view(*x, std::move(layout), strides, size > 0 ? down * rows.strides[i] + right * rows.strides[j] : 0);
}

Tensor unfold(const Input& x, int dim, std::int64_t size, std::int64_t step) {
  const int axis = wrap_dim(dim, x->dim(), "unfold");
  const Layout& from = x->impl().layout;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t length = x->dim() == 0 ? 1 : from.sizes[at];
  if (size < 0 || size > length || step < 1)
    throw_with_line<ValueError>(
        fmt::format("[unfold] windows of {} every {} indices of a dimension of {}; sizes are at most that, and steps "
                    "positive.",
                    size, step, length));
  Layout layout = from;
  Shape strides = Layout::contiguous(from.sizes).strides;
  const std::int64_t one = x->dim() == 0 ? 1 : from.strides[at], row = x->dim() == 0 ? 1 : strides[at];
  if (x->dim() > 0) {
    layout.sizes[at] = (length - size) / step + 1;
    layout.strides[at] *= step;
    strides[at] *= step;
  }
  layout.sizes.push_back(size);
  layout.strides.push_back(one);
  strides.push_back(row);
  return strided_view(*x, std::move(layout), strides, 0);
}

Tensor as_strided(const Input& x, const Shape& size, const Shape& stride, std::optional<std::int64_t> offset) {
  // It looks at what x is a view of, or at what x was detached from: their elements are row-major.
  std::shared_ptr<TensorImpl> base = x->shared_impl();
  bool detached = false;
  for (; base->parent && !(base->is_detached() && base->parent->parent == nullptr); base = base->parent)
    detached |= base->is_detached();
  const Tensor root(base);
  const std::int64_t first = offset.value_or(x->storage_offset());
  Layout layout{size, stride, first};
  if (size.size() != stride.size() || first < 0 ||
      std::any_of(
          size.begin(), size.end(), [](auto n) { return n < 0; }) ||
      std::any_of(stride.begin(), stride.end(), [](auto n) { return n < 0; }))
    throw_with_line<ValueError>(fmt::format(
        "[as_strided] sizes {}, strides {} and offset {}; there must be as many of both, and none negative.",
        describe(size), describe(stride), first));
  std::int64_t last = first;
  for (std::size_t i = 0; i < size.size(); ++i) last += (size[i] - 1) * stride[i];
  if (layout.numel() > 0 && last >= root.numel())
    throw_with_line<ShapeError>(fmt::format(
        "[as_strided] sizes {}, strides {} and offset {} reach element {} of a storage of {}; stay within it.",
        describe(size), describe(stride), first, last, root.numel()));
  if (detached && x->requires_grad())
    throw_with_line<ValueError>(
        "[as_strided] the tensor is a view of a part that was detached, and requires gradients; use slice() or "
        "clone().");
  return strided_view(detached ? root.detach() : root, std::move(layout), stride, layout.numel() > 0 ? first : 0);
}

std::vector<Tensor> split(const Input& x, std::int64_t size, int dim) {
  const std::size_t axis = dimension(*x, dim, "split");
  const std::int64_t length = x->sizes()[axis];
  if (size < 0 || (size == 0 && length != 0))
    throw_with_line<ValueError>(
        fmt::format("[split] parts of {} of a dimension of {}; sizes are positive.", size, length));
  Shape ends;
  for (std::int64_t end = size; end < length; end += size) ends.push_back(end);
  ends.push_back(length);
  return of_several(cut(*x, axis, ends));
}

std::vector<Tensor> split(const Input& x, const Shape& sizes, int dim) {
  const std::size_t axis = dimension(*x, dim, "split");
  Shape ends;
  std::int64_t end = 0;
  for (const std::int64_t size : sizes) ends.push_back(end += std::max<std::int64_t>(size, 0));
  if (end != x->sizes()[axis] || std::any_of(sizes.begin(), sizes.end(), [](auto n) { return n < 0; }))
    throw_with_line<ValueError>(fmt::format("[split] sizes {} of a dimension of {}; their sum must be that.",
                                            describe(sizes), x->sizes()[axis]));
  return of_several(cut(*x, axis, ends));
}

std::vector<Tensor> chunk(const Input& x, std::int64_t chunks, int dim) {
  const std::size_t axis = dimension(*x, dim, "chunk");
  if (chunks < 1) throw_with_line<ValueError>(fmt::format("[chunk] {} parts; there must be one at least.", chunks));
  const std::int64_t size = (x->sizes()[axis] + chunks - 1) / chunks;
  if (size == 0) return split(x, Shape(static_cast<std::size_t>(chunks), 0), dim);
  return split(x, size, dim);
}

std::vector<Tensor> unbind(const Input& x, int dim) {
  const std::size_t axis = dimension(*x, dim, "unbind");
  std::vector<Tensor> out;
  for (std::int64_t i = 0; i < x->sizes()[axis]; ++i) out.push_back(select(x, static_cast<int>(axis), i));
  return of_several(std::move(out));
}

std::vector<Tensor> tensor_split(const Input& x, std::int64_t parts, int dim) {
  const std::size_t axis = dimension(*x, dim, "tensor_split");
  if (parts < 1)
    throw_with_line<ValueError>(fmt::format("[tensor_split] {} parts; there must be one at least.", parts));
  const std::int64_t length = x->sizes()[axis], size = length / parts, larger = length % parts;
  Shape ends;
  for (std::int64_t i = 1; i <= parts; ++i) ends.push_back(i * size + std::min(i, larger));
  return cut(*x, axis, ends);
}

std::vector<Tensor> tensor_split(const Input& x, const Shape& indices, int dim) {
  const std::size_t axis = dimension(*x, dim, "tensor_split");
  std::vector<Tensor> out;
  std::int64_t start = 0;
  for (const std::int64_t end : indices) {
    out.push_back(slice(x, static_cast<int>(axis), start, end));
    start = end;
  }
  out.push_back(slice(x, static_cast<int>(axis), start, x->sizes()[axis]));
  return out;
}

}  // namespace cotan::torch
