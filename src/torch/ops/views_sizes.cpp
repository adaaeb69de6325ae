// Views that are other views in other words: sizes and orders of dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <cotan/torch/views.hpp>
#include <numeric>

#include "torch/graph/layout.hpp"

namespace cotan::torch {

using namespace detail;

Tensor view_as(const Input& x, const Tensor& other) { return view(x, other.sizes()); }
Tensor reshape_as(const Input& x, const Tensor& other) { return reshape(x, other.sizes()); }
Tensor expand_as(const Input& x, const Tensor& other) { return expand(x, other.sizes()); }
Tensor broadcast_to(const Input& x, const Shape& size) { return expand(x, size); }
Tensor ravel(const Input& x) { return reshape(x, {-1}); }

Tensor flatten(const Input& x, int first, int last) {
  const int a = wrap_dim(first, x->dim(), "flatten"), b = wrap_dim(last, x->dim(), "flatten");
  if (a > b)
    throw_with_line<ValueError>(
        fmt::format("[flatten] the first dimension, {}, comes after the last, {}; name them in order.", first, last));
  if (x->dim() == 0) return reshape(x, {1});
  if (a == b) return *x;
  Shape sizes = x->sizes();
  const auto from = sizes.begin() + a, to = sizes.begin() + b + 1;
  const std::int64_t joined = std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
  sizes.insert(sizes.erase(from, to), joined);
  return reshape(x, sizes);
}

Tensor unflatten(const Input& x, int dim, const Shape& sizes) {
  const int axis = wrap_dim(dim, x->dim(), "unflatten");
  if (sizes.empty() || x->dim() == 0)
    throw_with_line<ShapeError>(fmt::format("[unflatten] a dimension of {} becomes {}; both need one at least.",
                                            describe(x->sizes()), describe(sizes)));
  Shape out = x->sizes();
  const auto at = out.begin() + axis;
  const Shape parts = inferred_sizes(sizes, *at, "unflatten");
  out.insert(out.erase(at), parts.begin(), parts.end());
  return view(x, out);
}

Tensor swapaxes(const Input& x, int dim0, int dim1) { return transpose(x, dim0, dim1); }
Tensor swapdims(const Input& x, int dim0, int dim1) { return transpose(x, dim0, dim1); }
Tensor t(const Input& x) {
  if (x->dim() > 2)
    throw_with_line<ShapeError>(
        fmt::format("[t] the tensor has {} dimensions, {}, and must have at most two; use mT() or transpose().",
                    x->dim(), describe(x->sizes())));
  return transpose(x, 0, x->dim() < 2 ? 0 : 1);
}
Tensor mT(const Input& x) {
  if (x->dim() < 2)
    throw_with_line<ShapeError>(
        fmt::format("[mT] the tensor has shape {}, and must have two dimensions at least.", describe(x->sizes())));
  return transpose(x, -2, -1);
}

Tensor movedim(const Input& x, const std::vector<int>& from, const std::vector<int>& to) {
  const auto count = static_cast<std::size_t>(x->dim());
  std::vector<int> axes(count, -1);
  std::vector<bool> moved(count);
  if (from.size() != to.size())
    throw_with_line<ValueError>(
        fmt::format("[movedim] {} dimensions to {} places; there must be as many of both.", from.size(), to.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto a = static_cast<std::size_t>(wrap_dim(from[i], x->dim(), "movedim")),
               b = static_cast<std::size_t>(wrap_dim(to[i], x->dim(), "movedim"));
    if (count == 0) return view(x, {});
    if (moved[a] || axes[b] >= 0)
      throw_with_line<ValueError>(
          fmt::format("[movedim] dimension {} or place {} is named more than once; name each once.", from[i], to[i]));
    axes[b] = static_cast<int>(a);
    moved[a] = true;
  }
  std::size_t next = 0;
  for (int& axis : axes) {
    if (axis >= 0) continue;
    while (moved[next]) ++next;
    axis = static_cast<int>(next++);
  }
  return permute(x, axes);
}
Tensor movedim(const Input& x, int from, int to) { return movedim(x, std::vector{from}, std::vector{to}); }

}  // namespace cotan::torch
