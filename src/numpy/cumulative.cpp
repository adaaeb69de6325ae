// Running sums and products.
#include <cotan/numpy.hpp>

#include "numpy/reduction_types.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// `a` along an axis, or flattened, in `dtype`: what a running sum is of.
Array cumulative(const Primitive& p, const Array& a, std::optional<int> axis, std::optional<DType> dtype) {
  const DType kept = a.dtype() == DType::bool_ ? DType::i32 : a.dtype();
  // A bool result says whether a running sum of truths is not 0.
  const bool to_bool = dtype == DType::bool_;
  const Array numeric = to_bool ? ops::cast(not_equal(a, 0), i32) : ops::cast(a, dtype.value_or(kept));
  const Array operand = axis ? numeric : ops::reshape(numeric, {numeric.size()});
  const int along = axis ? resolve_axis(*axis, a.ndim(), p.name) : 0;
  const Array out = bind1(p, {operand}, {{"axis", std::int64_t{along}}, {"reverse", false}});
  return to_bool ? ops::cast(out, DType::bool_) : out;
}
Array cumulative_with_start(const Primitive& p, std::string_view op, const Array& a, const CumulativeOptions& o,
                            DType dtype, int start) {
  if (a.ndim() == 0) raise<ShapeError>("[{}] a 0-d array has no axis to go along; use np::atleast_1d.", op);
  if (!o.axis && a.ndim() > 1)
    raise<ValueError>("[{}] {} has {} axes; say along which with `axis`.", op, a.aval(), a.ndim());
  const int at = resolve_axis(o.axis.value_or(0), a.ndim(), op);
  const Array running = cumulative(p, a, at, dtype);
  if (!o.include_initial) return running;
  Shape first = running.shape();
  first[at] = 1;
  const Array parts[] = {ops::full(first, scalar(running.dtype(), start)), running};
  return ops::concatenate(parts, at);
}

}  // namespace

Array cumsum(const ArrayLike& a, std::optional<int> axis, std::optional<DType> dtype) {
  return cumulative(ops::cumsum_p, a, axis, dtype);
}
Array cumprod(const ArrayLike& a, std::optional<int> axis, std::optional<DType> dtype) {
  return cumulative(ops::cumprod_p, a, axis, dtype);
}
Array nancumsum(const ArrayLike& a, std::optional<int> axis, std::optional<DType> dtype) {
  return cumulative(ops::cumsum_p, without_nan(a, 0.0), axis, dtype);
}
Array nancumprod(const ArrayLike& a, std::optional<int> axis, std::optional<DType> dtype) {
  return cumulative(ops::cumprod_p, without_nan(a, 1.0), axis, dtype);
}
Array cumulative_sum(const ArrayLike& a, const CumulativeOptions& options) {
  return cumulative_with_start(ops::cumsum_p, "cumulative_sum", a, options,
                               options.dtype.value_or(sum_type(a->dtype())), 0);
}
Array cumulative_prod(const ArrayLike& a, const CumulativeOptions& options) {
  const DType kept = a->dtype() == DType::bool_ ? i32 : a->dtype();
  return cumulative_with_start(ops::cumprod_p, "cumulative_prod", a, options, options.dtype.value_or(kept), 1);
}

}  // namespace cotan::numpy
