// What rules of torch::nn share: other dtypes to compute in, reductions of losses, checks of shapes.
#pragma once
#include <fmt/format.h>

#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/nn/functional/options.hpp>
#include <cotan/transforms/custom_rules.hpp>

#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::nn::functional {

using namespace torch::detail;
namespace np = cotan::numpy;
namespace rules = cotan::nn;
using Ints = std::vector<std::int64_t>;

/// f16 and bf16 are computed in f32.
inline DType computed_in(DType t) { return t == f16 || t == bf16 ? f32 : t; }
inline Array widened(const Array& x) { return x.astype(computed_in(x.dtype())); }

/// Elements of a loss as the option says; of batchmean `batch` is what they are divided by.
inline Array reduced(const Array& x, Reduction::Kind how) {
  switch (how) {
    case Reduction::none:
      return x;
    case Reduction::mean:
      return np::mean(x);
    case Reduction::sum:
      return np::sum(x);
    case Reduction::batchmean:
      return np::sum(x) / static_cast<double>(x.ndim() == 0 ? 1 : std::max<std::int64_t>(x.shape(0), 1));
  }
  return x;
}

/// x with a first axis of 1 where it lacks the one of samples: `axes` are the spatial ones.
struct Batched {
  Batched(const Array& x, int axes) : added(x.ndim() == axes + 1), array(added ? np::expand_dims(x, 0) : x) {}
  Array restored(const Array& y) const { return added ? np::squeeze(y, 0) : y; }
  bool added;
  Array array;
};
/// Raises unless x is [N, C, …] or [C, …] with that many spatial axes.
inline void check_image(const Tensor& x, int axes, std::string_view op) {
  if (x.dim() != axes + 1 && x.dim() != axes + 2)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input has shape {}; it needs {} dimensions, or {} without the one of samples.", op,
                    describe(x.sizes()), axes + 2, axes + 1));
}

}  // namespace cotan::torch::nn::functional
