// Functions along axes: softmax and its kin, standardize, one_hot, products of scaled blocks.
#include <algorithm>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/transforms.hpp>

#include "nn/operands.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::nn {

namespace np = numpy;

namespace {

void check_mask(const Array& where, const char* name) {
  if (where.defined() && where.dtype() != bool_)
    raise<TypeError>("[{}] where is {}; it must be bool.", name, where.aval());
}
/// What the mask leaves out is `other`; it may broadcast.
Array masked(const Array& x, const Array& where, double other) {
  return where.defined() ? np::where(where, x, np::full_like(x, other)) : x;
}
Array largest(const Array& x, const Axes& axis) {
  const std::vector<int> axes = axis.resolve(x.ndim(), "softmax");
  Shape shape = x.shape();
  bool empty = false;
  for (int a : axes) {
    empty = empty || shape[static_cast<std::size_t>(a)] == 0;
    shape[static_cast<std::size_t>(a)] = 1;
  }
  return empty ? np::full(shape, -np::inf, x.dtype()) : np::max(x, axis, true);
}
Array softmax_value(const Array& x, const Axes& axis, const Array& where) {
  const Array safe = masked(x, where, -np::inf), terms = np::exp(safe - largest(safe, axis));
  return masked(terms / np::sum(masked(terms, where, 0), axis, true), where, 0);
}
/// How many elements of x the mask keeps along the axes.
Array count(const Array& x, const Axes& axis, const Array& where, bool keepdims) {
  return np::sum(masked(np::ones_like(x), where, 0), axis, keepdims);
}

}  // namespace

Array softmax(const ArrayLike& value, const Axes& axis, const Array& where) {
  check_mask(where, "softmax");
  // The derivative is in terms of the result, so that nothing else is kept.
  const auto f = custom_jvp(
      [axis](const Array& x, const std::vector<Array>& mask) {
        return softmax_value(x, axis, mask.empty() ? Array() : mask[0]);
      },
      [axis](const std::tuple<Array, std::vector<Array>>& primals, const auto& tangents) {
        const auto& [x, mask] = primals;
        const Array w = mask.empty() ? Array() : mask[0], y = softmax_value(x, axis, w), t = std::get<0>(tangents);
        return std::pair<Array, Array>{y, y * (t - np::sum(masked(y * t, w, 0), axis, true))};
      },
      "softmax");
  return f(inexact(value), where.defined() ? std::vector<Array>{where} : std::vector<Array>{});
}

Array log_softmax(const ArrayLike& value, const Axes& axis, const Array& where) {
  check_mask(where, "log_softmax");
  const Array x = inexact(value), safe = masked(x, where, -np::inf);
  const Array shifted = safe - stop_gradient(largest(safe, axis));
  const Array sum = np::sum(masked(np::exp(shifted), where, 0), axis, true);
  return masked(shifted - np::log(sum), where, -np::inf);
}

Array logsumexp(const ArrayLike& value, const LogSumExpOptions& o) {
  check_mask(o.where, "logsumexp");
  if (!o.b.defined() && !o.where.defined()) return np::logsumexp(value, o.axis, o.keepdims);
  Array x = inexact(masked(value, o.where, 0)), b;
  if (o.b.defined()) {
    const Arrays both = np::promote_inexact("logsumexp", {x, o.b});
    b = both[1];
    x = np::where(b != 0, both[0], -np::inf);
  }
  const Array most = largest(masked(x, o.where, -np::inf), o.axis);
  const Array shift = stop_gradient(np::where(np::isfinite(most), most, 0.0));
  Array terms = np::exp(x - shift);
  if (b.defined()) terms = terms * b;
  const Array sum = np::sum(masked(terms, o.where, 0), o.axis, true);
  Array out = np::log(np::abs(sum)) + shift;
  if (b.defined()) out = np::where(sum < 0, np::nan, out);
  return o.keepdims ? out : np::squeeze(out, Axes(o.axis.resolve(x.ndim(), "logsumexp")));
}
Array logmeanexp(const ArrayLike& value, const LogSumExpOptions& o) {
  const Array sum = logsumexp(value, o);
  const Array x = inexact(value);
  return sum - np::log(count(x, o.axis, o.where, o.keepdims));
}

Array standardize(const ArrayLike& value, const StandardizeOptions& o) {
  check_mask(o.where, "standardize");
  if (o.algorithm != "fast" && o.algorithm != "stable")
    raise<ValueError>("[standardize] the algorithm \"{}\"; it must be \"fast\" or \"stable\".", o.algorithm);
  const Array x = inexact(value);
  const auto average = [&](const Array& a) {
    return o.where.defined() ? np::sum(masked(a, o.where, 0), o.axis, true) / count(x, o.axis, o.where, true)
                             : np::mean(a, o.axis, true);
  };
  const Array mean = o.mean.defined() ? o.mean : average(x);
  Array variance = o.variance;
  if (!variance.defined())
    variance = o.algorithm == "stable" ? average(np::square(x - mean))
                                       : np::maximum(average(np::square(x)) - np::square(mean), 0);
  return (x - mean) * lax::rsqrt(variance + o.epsilon);
}

Array one_hot(const ArrayLike& value, std::int64_t num_classes, DType dtype, int axis) {
  const Array& x = value.array();
  if (num_classes < 0) raise<ValueError>("[one_hot] {} classes; there must be 0 or more.", num_classes);
  const int at = np::resolve_axis(axis, x.ndim() + 1, "one_hot");
  Shape classes(static_cast<std::size_t>(x.ndim()) + 1, 1);
  classes[static_cast<std::size_t>(at)] = num_classes;
  const DType type = x.dtype() == bool_ ? i32 : x.dtype();
  return (np::expand_dims(x.astype(type), at) == lax::iota(type, classes, at)).astype(dtype);
}

Array scaled_matmul(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& lhs_scales,
                    const ArrayLike& rhs_scales, DType preferred) {
  const auto whole = [&](const Array& a, const Array& scales, const char* name) {
    const bool fits = a.ndim() == 3 && scales.ndim() == 3 && scales.shape(0) == a.shape(0) &&
                      scales.shape(1) == a.shape(1) && scales.shape(2) > 0 && a.shape(2) % scales.shape(2) == 0;
    if (!fits)
      raise<ShapeError>("[scaled_matmul] {} is {} and its scales {}; give [B, M, K] and [B, M, K / block].", name,
                        a.aval(), scales.aval());
    return a.astype(preferred) * np::repeat(scales.astype(preferred), a.shape(2) / scales.shape(2), 2);
  };
  const Array a = whole(lhs, lhs_scales, "lhs"), b = whole(rhs, rhs_scales, "rhs");
  if (a.shape(0) != b.shape(0) || a.shape(2) != b.shape(2))
    raise<ShapeError>("[scaled_matmul] lhs is {} and rhs {}; they need the same B and K.", a.aval(), b.aval());
  return np::matmul(a, np::matrix_transpose(b));
}
Array scaled_dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const lax::DotDimensionNumbers& dimension_numbers,
                         DType preferred) {
  return lax::dot_general(lhs->astype(preferred), rhs->astype(preferred), dimension_numbers);
}

}  // namespace cotan::nn
