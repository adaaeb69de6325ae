// Variances and norms.
#include <fmt/format.h>

#include <cmath>
#include <cotan/torch/reductions.hpp>
#include <limits>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

using Over = std::vector<int>;

/// Variance and mean, with the axes kept.
std::pair<Array, Array> moments(const Array& a, const Over& axes, double correction) {
  const Array mean = numpy::mean(a, over(axes), true), from_mean = a - mean;
  double count = 1;
  for (const int axis : over(axes).resolve(a.ndim(), "var")) count *= static_cast<double>(a.shape(axis));
  return {numpy::sum(from_mean * from_mean, over(axes), true) / std::max(0.0, count - correction), mean};
}
/// The root, with the gradient 0 at 0.
Array root(const Array& v) {
  const Array zero = v == 0;
  return numpy::where(zero, numpy::zeros_like(v), numpy::sqrt(numpy::where(zero, numpy::ones_like(v), v)));
}
Array without(const Array& kept, const Over& axes, bool keep) {
  return keep ? kept : numpy::squeeze(kept, axes.empty() ? over(over({}).resolve(kept.ndim(), "var")) : over(axes));
}
std::pair<Tensor, Tensor> spread(const Tensor& x, const Dims& dims, double correction, bool keepdim, bool rooted,
                                 std::string_view name_of_op) {
  static const auto op = define(
      "var_mean", {.saves = Saves::operands}, [](const Array& a, const Over& axes, double by, bool keep, bool roots) {
        const auto [variance, mean] = moments(a, axes, by);
        return std::pair{without(roots ? root(variance) : variance, axes, keep), without(mean, axes, keep)};
      });
  if (!is_inexact(x.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] is of floats, not of {}; cast the tensor.", name_of_op, name(x.dtype())));
  return op(x, axes_of(x, dims.list(), name_of_op), correction, keepdim, rooted);
}

Array norm_of(const Array& a, double p, const Over& axes, bool keep) {
  const auto infinite = std::numeric_limits<double>::infinity();
  const Axes dims = over(axes);
  if (p == infinite) return numpy::max(numpy::abs(a), dims, keep);
  if (p == -infinite) return numpy::min(numpy::abs(a), dims, keep);
  if (p == 0) return numpy::sum((a != 0).astype(a.dtype()), dims, keep) + numpy::sum(0.0 * a, dims, keep);
  if (p == 1) return numpy::sum(numpy::abs(a), dims, keep);
  if (p == 2) return root(numpy::sum(a * a, dims, keep));
  // Elements that are 0 have no part in the gradient, nor has anything where all are.
  const Array zero = a == 0, nonzero = numpy::where(zero, numpy::ones_like(a), numpy::abs(a));
  const Array total = numpy::sum(numpy::where(zero, numpy::zeros_like(a), numpy::power(nonzero, p)), dims, keep);
  const Array none = total == 0;
  return numpy::where(none, numpy::zeros_like(total),
                      numpy::power(numpy::where(none, numpy::ones_like(total), total), 1 / p));
}

}  // namespace

Tensor var(const Input& x, const Dims& dims, double correction, bool keepdim) {
  return spread(*x, dims, correction, keepdim, false, "var").first;
}
Tensor std(const Input& x, const Dims& dims, double correction, bool keepdim) {
  return spread(*x, dims, correction, keepdim, true, "std").first;
}
std::pair<Tensor, Tensor> var_mean(const Input& x, const Dims& dims, double correction, bool keepdim) {
  return spread(*x, dims, correction, keepdim, false, "var_mean");
}
std::pair<Tensor, Tensor> std_mean(const Input& x, const Dims& dims, double correction, bool keepdim) {
  return spread(*x, dims, correction, keepdim, true, "std_mean");
}

Tensor norm(const Input& x, double p, const Dims& dims, bool keepdim) {
  static const auto op =
      define("norm", {.saves = Saves::operands, .cast = Cast::f32},
             [](const Array& a, double power, const Over& axes, bool keep) { return norm_of(a, power, axes, keep); });
  if (!is_inexact(x->dtype()))
    throw_with_line<TypeError>(fmt::format("[norm] is of floats, not of {}; cast the tensor.", name(x->dtype())));
  return op(*x, p, axes_of(*x, dims.list(), "norm"), keepdim);
}

}  // namespace cotan::torch
