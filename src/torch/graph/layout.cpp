#include "torch/graph/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cotan::torch::detail {

namespace {

Shape contiguous_strides(const Shape& sizes) {
  Shape out(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    out[i] = stride;
    stride *= std::max<std::int64_t>(sizes[i], 1);
  }
  return out;
}

}  // namespace

Layout Layout::contiguous(const Shape& sizes) { return {sizes, contiguous_strides(sizes), 0}; }

std::int64_t Layout::numel() const {
  std::int64_t n = 1;
  for (const auto size : sizes) n *= size;
  return n;
}

bool Layout::is_contiguous() const {
  std::int64_t expected = 1;
  if (numel() == 0) return true;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool Layout::overlaps() const {
  if (numel() == 0) return false;
  // Sorted by stride, each axis must step over all that the smaller ones reach.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1) axes.emplace_back(strides[i], sizes[i]);
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  bool in_order = true;
  for (const auto& [stride, size] : axes) {
    in_order &= stride > reach;
    reach += stride * (size - 1);
  }
  if (in_order) return false;
  // Axes may also interleave, as after as_strided(): then every place is looked at.
  std::vector<bool> taken(static_cast<std::size_t>(reach) + 1);
  Shape at(axes.size());
  for (std::int64_t place = 0;;) {
    if (taken[static_cast<std::size_t>(place)]) return true;
    taken[static_cast<std::size_t>(place)] = true;
    std::size_t i = 0;
    for (; i < axes.size() && ++at[i] == axes[i].second; ++i) {
      at[i] = 0;
      place -= axes[i].first * (axes[i].second - 1);
    }
    if (i == axes.size()) return false;
    place += axes[i].first;
  }
}

std::pair<std::int64_t, std::int64_t> Layout::extent() const {
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return {offset, last + 1};
}

bool Layout::is_dense() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) axes.emplace_back(strides[i], sizes[i]);
  std::sort(axes.begin(), axes.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : axes) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

bool Layout::partly_covers(const Layout& other) const {
  if (numel() == 0 || other.numel() == 0 || !is_dense() || !other.is_dense()) return false;
  const auto [a, a_end] = extent();
  const auto [b, b_end] = other.extent();
  if (a == b && a_end == b_end) return strides != other.strides;
  return a < b_end && b < a_end;
}

int wrap_dim(int dim, int ndim, std::string_view op) {
  const int axes = std::max(ndim, 1);
  if (dim < -axes || dim >= axes)
    throw_with_line<IndexError>(
        fmt::format("[{}] dimension {} is out of range of a tensor of {} dimensions; expected {} to {}.", op, dim, ndim,
                    -axes, axes - 1));
  return dim < 0 ? dim + axes : dim;
}

Shape inferred_sizes(const Shape& sizes, std::int64_t numel, std::string_view op) {
  Shape out = sizes;
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0)
      known *= out[i];
    else if (out[i] == -1 && open < 0)
      open = static_cast<int>(i);
    else
      throw_with_line<ShapeError>(fmt::format(
          "[{}] shape {} is not possible; sizes are not negative, but one may be -1.", op, describe(sizes)));
  }
  if (open >= 0 && known == 0)
    throw_with_line<ShapeError>(
        fmt::format("[{}] -1 in shape {} may be any number, since the other sizes have a product of 0; write it out.",
                    op, describe(sizes)));
  if (open >= 0 && numel % known == 0) {
    out[static_cast<std::size_t>(open)] = numel / known;
    return out;
  }
  if (open >= 0 || known != numel)
    throw_with_line<ShapeError>(
        fmt::format("[{}] shape {} is invalid for an input of {} elements; the product of the sizes must be that.", op,
                    describe(sizes), numel));
  return out;
}

std::optional<Shape> view_strides(const Layout& layout, const Shape& sizes) {
  if (layout.numel() == 0) return sizes == layout.sizes ? layout.strides : contiguous_strides(sizes);
  // Runs of axes that are contiguous among themselves may be cut anew; axes of other runs may not be joined.
  Shape out(sizes.size());
  std::size_t to = sizes.size();
  for (std::size_t from = layout.sizes.size(); from-- > 0;) {
    const std::int64_t innermost = layout.strides[from];
    std::int64_t run = layout.sizes[from];
    while (from > 0 && (layout.sizes[from - 1] == 1 || layout.strides[from - 1] == innermost * run)) {
      run *= layout.sizes[from - 1];
      --from;
    }
    std::int64_t taken = 1;
    while (to > 0 && (taken < run || sizes[to - 1] == 1)) {
      --to;
      out[to] = innermost * taken;
      taken *= sizes[to];
    }
    if (taken != run) return std::nullopt;
  }
  while (to > 0) {
    if (sizes[--to] != 1) return std::nullopt;
    out[to] = 1;
  }
  return out;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view op) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t skipped = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = out[skipped + i];
    if (shorter[i] == size || shorter[i] == 1) continue;
    if (size != 1)
      throw_with_line<ShapeError>(fmt::format(
          "[{}] shapes {} and {} do not broadcast: {} against {} in dimension {}; sizes must be equal or 1.", op,
          describe(a), describe(b), size, shorter[i], skipped + i));
    size = shorter[i];
  }
  return out;
}

}  // namespace cotan::torch::detail
