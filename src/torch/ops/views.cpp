// The views of torch: layouts as PyTorch has them, elements by operations that cost nothing inside a program.
#include "torch/ops/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cotan/numpy.hpp>
#include <cotan/torch/views.hpp>
#include <numeric>

namespace cotan::torch {

using namespace detail;

namespace {

Tensor reshaped(const Tensor& x, const Shape& sizes, Shape strides) {
  static const auto read = define("view", {}, [](const Array& a, const Shape& to) { return a.reshape(to); });
  static const auto write =
      define("view_write", {}, [](const Array& a, const Array& b, const Shape&) { return b.reshape(a.shape()); });
  return view_by(x, {sizes, std::move(strides), x.storage_offset()}, read, write, sizes);
}

}  // namespace

Tensor view(const Input& x, const Shape& size) {
  const Shape sizes = inferred_sizes(size, x->numel(), "view");
  auto strides = view_strides(x->impl().layout, sizes);
  if (!strides)
    throw_with_line<ShapeError>(fmt::format(
        "[view] a tensor of shape {} and strides {} is no view of shape {}, since axes that do not follow each other "
        "would be joined; use reshape().",
        describe(x->sizes()), describe(x->strides()), describe(sizes)));
  return reshaped(*x, sizes, std::move(*strides));
}

Tensor reshape(const Input& x, const Shape& size) {
  static const auto copy = define("reshape", {}, [](const Array& a, const Shape& to) { return a.reshape(to); });
  const Shape sizes = inferred_sizes(size, x->numel(), "reshape");
  if (auto strides = view_strides(x->impl().layout, sizes)) return reshaped(*x, sizes, std::move(*strides));
  return copy(*x, sizes);
}

Tensor permute(const Input& x, const std::vector<int>& dims) {
  static const auto read =
      define("permute", {}, [](const Array& a, const std::vector<int>& axes) { return a.transpose(axes); });
  static const auto write = define("permute_write", {}, [](const Array&, const Array& b, const std::vector<int>& axes) {
    std::vector<int> back(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) back[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
    return b.transpose(back);
  });
  const Layout& from = x->impl().layout;
  std::vector<int> axes;
  for (const int d : dims) axes.push_back(wrap_dim(d, x->dim(), "permute"));
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<int>(axes.size()) != x->dim() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw_with_line<ValueError>(
        fmt::format("[permute] got {} dimensions for a tensor of {}; name each of them once.", dims.size(), x->dim()));
  Layout layout{{}, {}, from.offset};
  for (const int a : axes) {
    layout.sizes.push_back(from.sizes[static_cast<std::size_t>(a)]);
    layout.strides.push_back(from.strides[static_cast<std::size_t>(a)]);
  }
  return view_by(*x, std::move(layout), read, write, axes);
}

Tensor transpose(const Input& x, int dim0, int dim1) {
  std::vector<int> axes(static_cast<std::size_t>(x->dim()));
  std::iota(axes.begin(), axes.end(), 0);
  const int a = wrap_dim(dim0, x->dim(), "transpose"), b = wrap_dim(dim1, x->dim(), "transpose");
  if (!axes.empty()) std::swap(axes[static_cast<std::size_t>(a)], axes[static_cast<std::size_t>(b)]);
  return permute(*x, axes);
}

Tensor select(const Input& x, int dim, std::int64_t index) {
  static const auto read = define("select", {}, [](const Array& a, int axis, std::int64_t i) {
    std::vector<Index> indices(static_cast<std::size_t>(axis), Index(cotan::all));
    indices.push_back(i);
    return cotan::detail::get_index(a, indices);
  });
  static const auto write = define("select_write", {}, [](const Array& a, const Array& b, int axis, std::int64_t i) {
    std::vector<Index> indices(static_cast<std::size_t>(axis), Index(cotan::all));
    indices.push_back(i);
    return IndexUpdate(a, indices).set(b);
  });
  if (x->dim() == 0) throw_with_line<IndexError>("[select] a 0-d tensor has no elements to choose from; use item().");
  const int axis = wrap_dim(dim, x->dim(), "select");
  const auto at = static_cast<std::size_t>(axis);
  Layout layout = x->impl().layout;
  const std::int64_t size = layout.sizes[at];
  if (index < -size || index >= size)
    throw_with_line<IndexError>(
        fmt::format("[select] index {} is out of range of dimension {}, which has {} indices.", index, axis, size));
  if (index < 0) index += size;
  layout.offset += index * layout.strides[at];
  layout.sizes.erase(layout.sizes.begin() + axis);
  layout.strides.erase(layout.strides.begin() + axis);
  return view_by(*x, std::move(layout), read, write, axis, index);
}

Tensor slice(const Input& x, int dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  static const auto indices = [](int axis, std::int64_t first, std::int64_t last, std::int64_t by) {
    std::vector<Index> out(static_cast<std::size_t>(axis), Index(cotan::all));
    out.push_back(range(first, last, by));
    return out;
  };
  static const auto read =
      define("slice", {}, [](const Array& a, int axis, std::int64_t first, std::int64_t last, std::int64_t by) {
        return cotan::detail::get_index(a, indices(axis, first, last, by));
      });
  static const auto write =
      define("slice_write", {},
             [](const Array& a, const Array& b, int axis, std::int64_t first, std::int64_t last, std::int64_t by) {
               return IndexUpdate(a, indices(axis, first, last, by)).set(b);
             });
  if (step < 1)
    throw_with_line<ValueError>(fmt::format("[slice] the step must be positive, not {}; use flip().", step));
  if (x->dim() == 0) throw_with_line<IndexError>("[slice] a 0-d tensor has no dimension to cut.");
  const int axis = wrap_dim(dim, x->dim(), "slice");
  const auto at = static_cast<std::size_t>(axis);
  Layout layout = x->impl().layout;
  const std::int64_t size = layout.sizes[at];
  const auto cut = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size); };
  const std::int64_t first = cut(start), last = std::max(cut(end), first);
  layout.offset += first * layout.strides[at];
  layout.sizes[at] = (last - first + step - 1) / step;
  layout.strides[at] *= step;
  return view_by(*x, std::move(layout), read, write, axis, first, last, step);
}

Tensor narrow(const Input& x, int dim, std::int64_t start, std::int64_t length) {
  const std::int64_t size = x->size(dim);
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || length < 0 || first + length > size)
    throw_with_line<IndexError>(
        fmt::format("[narrow] {} indices from {} on are out of range of a dimension of {}.", length, start, size));
  return slice(*x, dim, first, first + length);
}

Tensor expand(const Input& x, const Shape& size) {
  static const auto read =
      define("expand", {}, [](const Array& a, const Shape& to) { return numpy::broadcast_to(a, to); });
  static const auto write = define("expand_write", {}, [](const Array& a, const Array& b, const Shape&) {
    return b.reshape(a.shape());  // nothing was repeated: overlapping tensors are not written
  });
  const Layout& from = x->impl().layout;
  if (size.size() < from.sizes.size())
    throw_with_line<ShapeError>(fmt::format("[expand] shape {} has fewer dimensions than the tensor, {}.",
                                            describe(size), describe(from.sizes)));
  const std::size_t added = size.size() - from.sizes.size();
  Layout layout{size, Shape(size.size(), 0), from.offset};
  for (std::size_t i = 0; i < from.sizes.size(); ++i) {
    std::int64_t& to = layout.sizes[added + i];
    if (to == -1) to = from.sizes[i];
    if (to == from.sizes[i])
      layout.strides[added + i] = from.strides[i];
    else if (from.sizes[i] != 1)
      throw_with_line<ShapeError>(
          fmt::format("[expand] size {} of dimension {} is not 1, so it does not become {}; shapes {} and {}.",
                      from.sizes[i], i, to, describe(from.sizes), describe(size)));
  }
  for (std::size_t i = added; i-- > 0;) {
    if (layout.sizes[i] < 0)
      throw_with_line<ShapeError>(
          fmt::format("[expand] -1 keeps the size of a dimension; dimension {} of {} is new.", i, describe(size)));
    if (layout.sizes[i] == 1 && !from.sizes.empty())
      layout.strides[i] = i + 1 < size.size() ? layout.sizes[i + 1] * layout.strides[i + 1] : 1;
  }
  const Shape to = layout.sizes;
  return view_by(*x, std::move(layout), read, write, to);
}

Tensor unsqueeze(const Input& x, int dim) {
  const int axis = wrap_dim(dim, x->dim() + 1, "unsqueeze");
  Layout layout = x->impl().layout;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t stride = at < layout.sizes.size() ? layout.sizes[at] * layout.strides[at] : 1;
  layout.sizes.insert(layout.sizes.begin() + axis, 1);
  layout.strides.insert(layout.strides.begin() + axis, stride);
  return reshaped(*x, layout.sizes, layout.strides);
}

Tensor squeeze(const Input& x, const std::vector<int>& dims) {
  const Layout& from = x->impl().layout;
  std::vector<bool> goes(from.sizes.size(), dims.empty());
  for (const int d : dims) {
    const int axis = wrap_dim(d, x->dim(), "squeeze");
    if (!goes.empty()) goes[static_cast<std::size_t>(axis)] = true;
  }
  Shape sizes, strides;
  for (std::size_t i = 0; i < from.sizes.size(); ++i) {
    if (goes[i] && from.sizes[i] == 1) continue;
    sizes.push_back(from.sizes[i]);
    strides.push_back(from.strides[i]);
  }
  return reshaped(*x, sizes, std::move(strides));
}

}  // namespace cotan::torch
