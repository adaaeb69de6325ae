// Running sums, products, extrema, log-sum-exps and linear recurrences as associative scans. Halves are
// computed in f32. Sums and products are formed in another order than one after the other: results are as
// good, but where a product overflows on the way to a finite one they may differ.
#include "expansions/tools.hpp"

namespace cotan::expansions {

namespace {

/// `elements` combined along the axis that the parameters name, in the direction that they name.
Arrays along_axis(Arrays elements, const Params& params, const FlatFn& combine) {
  const auto axis = static_cast<int>(params.integer("axis"));
  for (Array& a : elements) a = ops::move_axis(a, axis, 0);
  Arrays out = scan_associatively(elements, combine, params.flag("reverse"));
  for (Array& a : out) a = ops::move_axis(a, 0, axis);
  return out;
}

/// An element is the largest term and the sum of exp(term - largest): 1 for a single one.
Array log_sum_exp(const Array& x, const Params& params) {
  const Array one = scalar(x.dtype(), 1);
  const auto combine = [&](std::span<const Array> e) {
    const Array largest = bind1(ops::max_p, {e[0], e[2]});
    // Equal ones are infinite, perhaps, and their difference is no number.
    const auto weight = [&](const Array& part) { return ops::select(part == largest, one, np::exp(part - largest)); };
    return Arrays{largest, e[1] * weight(e[0]) + e[3] * weight(e[2])};
  };
  const Arrays parts = along_axis({x, ops::full(x.shape(), one)}, params, combine);
  return ops::select(bind1(ops::is_finite_p, {parts[0]}), parts[0] + np::log(parts[1]), parts[0]);
}

Arrays cumulative(const Primitive& p, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) return {x[0]};
  const DType dtype = x[0].dtype();
  const auto combine = [&](std::span<const Array> e) { return bind(*p.combine, e); };
  return {ops::cast(along_axis({ops::cast(x[0], wide(dtype))}, params, combine)[0], dtype)};
}
Arrays log_sum_exps(const Primitive&, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) return {x[0]};
  const DType dtype = x[0].dtype();
  return {ops::cast(log_sum_exp(ops::cast(x[0], wide(dtype)), params), dtype)};
}

/// The maps y -> a y + b, composed.
Arrays linear_recurrence(const Primitive&, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) return {x[0]};
  const DType dtype = x[0].dtype();
  const auto compose = [](std::span<const Array> e) { return Arrays{e[2] * e[0], e[2] * e[1] + e[3]}; };
  const Arrays y = along_axis({ops::cast(x[0], wide(dtype)), ops::cast(x[1], wide(dtype))}, params, compose);
  return {ops::cast(y[1], dtype)};
}

}  // namespace

const RuleFor<Expansion> expands_cumulative{{&ops::cumsum_p, &ops::cumprod_p, &ops::cummax_p, &ops::cummin_p},
                                            {cumulative}};
const RuleFor<Expansion> expands_log_sum_exp{{&ops::cumlogsumexp_p}, {log_sum_exps}};
const RuleFor<Expansion> expands_recurrence{{&ops::linear_recurrence_p}, {linear_recurrence}};

}  // namespace cotan::expansions
