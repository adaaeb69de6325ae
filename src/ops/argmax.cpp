// argmax and argmin: the first extremum along one axis, as an index; NaN counts as the extremum.
#include <cmath>
#include <cotan/lax.hpp>

#include "ops/promote.hpp"
#include "ops/reduce.hpp"

namespace cotan::ops {

namespace {

Types arg_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const std::int64_t axis = params.integer("axis");
  if (axis < 0 || axis >= x[0].ndim())
    raise<IndexError>("[{}] axis {} is out of range for {}; axes count from 0.", self.name, axis, x[0]);
  if (x[0].shape[axis] == 0)
    raise<ShapeError>("[{}] axis {} of {} is empty and has no extremum; give it at least one element.", self.name, axis,
                      x[0]);
  return {{params.dtype("index_dtype"), erase_axes(x[0].shape, {axis}), false}};
}
template <bool larger>
Arrays arg_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch(x[0].dtype(), [&, &b = buffer, &o = out]<class T>() {
    using C = Compute<T>;
    for_each_reduced(x[0], {params.integer("axis")},
                     [&](std::int64_t at, std::int64_t base, const std::vector<std::int64_t>& offsets) {
                       std::int64_t best = 0;
                       for (std::size_t i = 1; i < offsets.size(); ++i) {
                         const C current = static_cast<C>(data<T>(x[0])[base + offsets[best]]),
                                 v = static_cast<C>(data<T>(x[0])[base + offsets[i]]);
                         if constexpr (std::is_floating_point_v<C>) {
                           if (std::isnan(current)) break;
                           if (std::isnan(v)) best = static_cast<std::int64_t>(i);
                         }
                         if (larger ? v > current : v < current) best = static_cast<std::int64_t>(i);
                       }
                       dispatch(o.dtype(), [&]<class I>() { reinterpret_cast<I*>(b->data())[at] = convert<I>(best); });
                     });
  });
  return {out};
}
BatchResult arg_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                      const Params& params) {
  return {bind(self, {move_axis(x[0], dims[0], 0)}, params.with("axis", params.integer("axis") + 1)), {0}};
}

template <expr::ReduceOp op>
expr::Reduction arg_reduction(std::span<const AbstractValue> x, const Params& params) {
  std::vector<bool> reduced(x[0].shape.size(), false);
  reduced[params.integer("axis")] = true;
  return {op, x[0].shape, std::move(reduced), true};
}
rows::Answer arg_on_rows(const rows::Question& q) {
  const std::int64_t axis = q.e.params.integer("axis");
  return rows::reduced(q, {axis}, q.e.params.with("axis", axis - (axis > q.axes[0])));
}

}  // namespace

const Primitive argmax_p{.name = "argmax",
                         .op_class = OpClass::reduction,
                         .type = arg_type,
                         .eval = arg_eval<true>,
                         .batch = arg_batch,
                         .not_differentiable = true,
                         .element = reduced_element,
                         .reduction = arg_reduction<expr::ReduceOp::max>,
                         .on_rows = arg_on_rows};
const Primitive argmin_p{.name = "argmin",
                         .op_class = OpClass::reduction,
                         .type = arg_type,
                         .eval = arg_eval<false>,
                         .batch = arg_batch,
                         .not_differentiable = true,
                         .element = reduced_element,
                         .reduction = arg_reduction<expr::ReduceOp::min>,
                         .on_rows = arg_on_rows};
const Listed argmax_listed{&argmax_p, &argmin_p};

}  // namespace cotan::ops

namespace cotan::lax {

namespace {

Array arg_reduce(const Primitive& p, const Array& a, int axis, DType index_dtype) {
  if (!is_integer(index_dtype))
    raise<TypeError>("[{}] indices cannot be {}; give an integer dtype.", p.name, index_dtype);
  return bind1(p, {a},
               {{"axis", std::int64_t{numpy::resolve_axis(axis, a.ndim(), p.name)}}, {"index_dtype", index_dtype}});
}

}  // namespace

Array argmax(const ArrayLike& a, int axis, DType index_dtype) {
  return arg_reduce(ops::argmax_p, a, axis, index_dtype);
}
Array argmin(const ArrayLike& a, int axis, DType index_dtype) {
  return arg_reduce(ops::argmin_p, a, axis, index_dtype);
}

}  // namespace cotan::lax
