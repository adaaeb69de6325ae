// Reductions over axes. Params: axes (sorted). The reference sums pairwise per output, in the compute type.
#include <algorithm>
#include <cmath>
#include <cotan/numpy.hpp>

#include "expr/lowering.hpp"
#include "ops/scalar_ops.hpp"
#include "ops/strided.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

template <Accepts accepts>
Types reduce_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_dtype(self, x[0].dtype, accepts);
  for (auto axis : params.ints("axes"))
    if (axis < 0 || axis >= x[0].ndim())
      raise<IndexError>("[{}] axis {} is out of range for {}; axes count from 0.", self.name, axis, x[0]);
  return {{x[0].dtype, erase_axes(x[0].shape, params.ints("axes")), x[0].weak_type}};
}

/// Calls f(output index, pointer-offset list) per output element: offsets of the reduced elements in order.
template <class F>
void for_each_reduced(const Array& x, const Ints& axes, F&& f) {
  const Ints strides = strides_of(x.shape());
  Shape kept_shape, kept_strides, axis_shape, axis_strides;
  for (std::int64_t i = 0; i < x.ndim(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    (reduced ? axis_shape : kept_shape).push_back(x.shape()[i]);
    (reduced ? axis_strides : kept_strides).push_back(strides[i]);
  }
  std::vector<std::int64_t> offsets;
  for_each_offset(axis_shape, axis_strides, axis_strides, [&](std::int64_t o, std::int64_t) { offsets.push_back(o); });
  for_each_offset(kept_shape, kept_strides, strides_of(kept_shape),
                  [&](std::int64_t base, std::int64_t out) { f(out, base, offsets); });
}

/// Pairwise: the error grows with log n, and the order does not depend on anything but n.
template <class C, class T>
C pairwise_sum(const T* x, const std::int64_t* offsets, std::int64_t n) {
  if (n <= 8) {
    C sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum = static_cast<C>(sum + static_cast<C>(x[offsets[i]]));
    return sum;
  }
  return static_cast<C>(pairwise_sum<C>(x, offsets, n / 2) + pairwise_sum<C>(x, offsets + n / 2, n - n / 2));
}

Arrays reduce_sum_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  auto [out, buffer] =
      allocate_like(x, {x[0].dtype(), erase_axes(x[0].shape(), params.ints("axes")), x[0].weak_type()});
  dispatch(out.dtype(), [&, &b = buffer]<class T>() {
    // Integers add unsigned, so that overflow wraps.
    using C = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Compute<T>>;
    T* y = reinterpret_cast<T*>(b->data());
    for_each_reduced(
        x[0], params.ints("axes"), [&](std::int64_t o, std::int64_t base, const std::vector<std::int64_t>& offsets) {
          y[o] = static_cast<T>(
              pairwise_sum<C>(data<T>(x[0]) + base, offsets.data(), static_cast<std::int64_t>(offsets.size())));
        });
  });
  return {out};
}

template <auto f, auto identity>
Arrays reduce_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  auto [out, buffer] =
      allocate_like(x, {x[0].dtype(), erase_axes(x[0].shape(), params.ints("axes")), x[0].weak_type()});
  dispatch(out.dtype(), [&, &b = buffer]<class T>() {
    using C = Compute<T>;
    T* y = reinterpret_cast<T*>(b->data());
    for_each_reduced(x[0], params.ints("axes"),
                     [&](std::int64_t o, std::int64_t base, const std::vector<std::int64_t>& offsets) {
                       C value = identity(C());
                       for (auto i : offsets) value = f(value, static_cast<C>(data<T>(x[0])[base + i]));
                       y[o] = static_cast<T>(value);
                     });
  });
  return {out};
}

constexpr auto lowest = [](auto z) {
  using C = decltype(z);
  if constexpr (std::is_floating_point_v<C>)
    return -std::numeric_limits<C>::infinity();
  else
    return std::numeric_limits<C>::lowest();
};
constexpr auto highest = [](auto z) {
  using C = decltype(z);
  if constexpr (std::is_floating_point_v<C>)
    return std::numeric_limits<C>::infinity();
  else
    return std::numeric_limits<C>::max();
};
constexpr auto one = [](auto z) { return decltype(z)(1); };
constexpr auto zero = [](auto z) { return decltype(z)(0); };
constexpr auto both = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>)
    return static_cast<decltype(a)>(a & b);
  else
    return a;
};
constexpr auto either = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>)
    return static_cast<decltype(a)>(a | b);
  else
    return a;
};
constexpr auto all_ones = [](auto z) {
  using C = decltype(z);
  if constexpr (std::is_same_v<C, bool>)
    return true;
  else if constexpr (std::is_integral_v<C>)
    return static_cast<C>(~C(0));
  else
    return z;
};

BatchResult reduce_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                         const Params& params) {
  Ints axes = params.ints("axes");
  for (auto& a : axes) ++a;
  return {bind(self, {move_axis(x[0], dims[0], 0)}, params.with("axes", axes)), {0}};
}

template <expr::ReduceOp op>
expr::Reduction reduction_of(std::span<const AbstractValue> x, const Params& params) {
  std::vector<bool> reduced(x[0].shape.size(), false);
  for (auto axis : params.ints("axes")) reduced[axis] = true;
  return {op, x[0].shape, std::move(reduced)};
}
template <expr::ReduceOp op>
expr::Reduction arg_reduction(std::span<const AbstractValue> x, const Params& params) {
  std::vector<bool> reduced(x[0].shape.size(), false);
  reduced[params.integer("axis")] = true;
  return {op, x[0].shape, std::move(reduced)};
}
expr::Expr term(const expr::Operands& x, std::span<const expr::Expr> i, const Params&) { return x.at(0, i); }

/// A reduced value back in the operand's shape.
Array spread(const Array& reduced, const Shape& shape, const Ints& axes) {
  Ints kept;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back(i);
  return broadcast_in_dim(reduced, shape, kept);
}

Arrays reduce_sum_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                            const Params& params) {
  return {spread(ct[0], in[0].aval.shape, params.ints("axes"))};
}
/// The mean of the tangents where the extremum is attained.
Array extremum_partial(const Partial& p) {
  const Ints& axes = p.params.ints("axes");
  const Array at = (p.x[0] == spread(p.y, p.x[0].shape(), axes)).astype(p.y.dtype());
  return reduce_sum(p.t * at, axes) / reduce_sum(at, axes);
}
/// sum_i t_i prod_{j != i} x_j, without dividing by x: products from the left times products from the right.
Array prod_partial(const Partial& p) {
  const Ints& axes = p.params.ints("axes");
  const Shape& shape = p.x[0].shape();
  // The reduced axes to the front, as one.
  Ints perm = axes;
  Shape kept;
  for (std::int64_t i = 0; i < p.x[0].ndim(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      perm.push_back(i);
      kept.push_back(shape[i]);
    }
  std::int64_t n = 1;
  for (auto a : axes) n *= shape[a];
  Shape flat = kept;
  flat.insert(flat.begin(), n);
  if (n == 0) return {};
  const Array x = reshape(transpose(p.x[0], perm), flat), t = reshape(transpose(p.t, perm), flat);
  Shape row = kept;
  row.insert(row.begin(), 1);
  const Array one_row = full(row, scalar(x.dtype(), 1));
  const Array head = slice_axis(x, 0, 0, n - 1), tail = slice_axis(x, 0, 1, n);
  const Array before_parts[] = {one_row, head}, after_parts[] = {tail, one_row};
  const Array before =
      bind1(cumprod_p, {concatenate(before_parts, 0)}, {{"axis", std::int64_t{0}}, {"reverse", false}});
  const Array after = bind1(cumprod_p, {concatenate(after_parts, 0)}, {{"axis", std::int64_t{0}}, {"reverse", true}});
  return reduce_sum(t * (before * after), {0});
}

/// Products of halves, again and again.
PartsList prod_parts(const Primitive&, PartsOf x, const Params& params) {
  ComplexParts all = x[0];
  const Shape shape = erase_axes(all.re.shape(), params.ints("axes"));
  for (const auto axis : params.ints("axes")) {
    const auto slice = [&](std::int64_t from, std::int64_t to) {
      const auto along = static_cast<int>(axis);
      return ComplexParts{slice_axis(all.re, along, from, to), slice_axis(all.im, along, from, to)};
    };
    if (all.re.shape()[axis] == 0) {
      Shape one = all.re.shape();
      one[axis] = 1;
      all.re = full(one, scalar(all.re.dtype(), 1));
      all.im = zeros_like(all.re);
    }
    while (all.re.shape()[axis] > 1) {
      const std::int64_t n = all.re.shape()[axis], half = n / 2;
      ComplexParts product = parts::mul(slice(0, half), slice(half, 2 * half));
      if (n % 2) {
        const ComplexParts last = slice(n - 1, n);
        const Array re[] = {product.re, last.re}, im[] = {product.im, last.im};
        product = {concatenate(re, static_cast<int>(axis)), concatenate(im, static_cast<int>(axis))};
      }
      all = product;
    }
  }
  return {{reshape(all.re, shape), reshape(all.im, shape)}};
}
/// The extreme real part, and of the numbers that have it the extreme imaginary part.
template <bool larger>
PartsList extremum_parts(const Primitive& self, PartsOf x, const Params& params) {
  const ComplexParts& a = x[0];
  const Array re = bind1(self, {a.re}, params), here = a.re == spread(re, a.re.shape(), params.ints("axes"));
  const Array none = scalar(re.dtype(), larger ? -numpy::inf : numpy::inf);
  const Array im = bind1(self, {select(here, a.im, none)}, params);
  return {{re, select(numpy::isnan(re), re, im)}};
}

}  // namespace

const Primitive reduce_sum_p{.name = "reduce_sum",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::numeric>,
                             .eval = reduce_sum_eval,
                             .partials = {[](const Partial& p) { return reduce_sum(p.t, p.params.ints("axes")); }},
                             .transpose = reduce_sum_transpose,
                             .batch = reduce_batch,
                             .element = term,
                             .reduction = reduction_of<expr::ReduceOp::sum>,
 .on_parts = on_each_part};
const Primitive reduce_prod_p{.name = "reduce_prod",
                              .op_class = OpClass::reduction,
                              .type = reduce_type<Accepts::numeric>,
                              .eval = reduce_eval<scalar_ops::mul, one>,
                              .partials = {prod_partial},
                              .batch = reduce_batch,
                              .element = term,
                              .reduction = reduction_of<expr::ReduceOp::product>,
 .on_parts = prod_parts};
const Primitive reduce_max_p{.name = "reduce_max",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::any>,
                             .eval = reduce_eval<scalar_ops::maximum, lowest>,
                             .partials = {extremum_partial},
                             .batch = reduce_batch,
                             .element = term,
                             .reduction = reduction_of<expr::ReduceOp::max>,
 .on_parts = extremum_parts<true>};
const Primitive reduce_min_p{.name = "reduce_min",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::any>,
                             .eval = reduce_eval<scalar_ops::minimum, highest>,
                             .partials = {extremum_partial},
                             .batch = reduce_batch,
                             .element = term,
                             .reduction = reduction_of<expr::ReduceOp::min>,
 .on_parts = extremum_parts<false>};
const Primitive reduce_and_p{.name = "reduce_and",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::bits>,
                             .eval = reduce_eval<both, all_ones>,
                             .batch = reduce_batch,
                             .not_differentiable = true,
                             .element = term,
                             .reduction = reduction_of<expr::ReduceOp::bit_and>};
const Primitive reduce_or_p{.name = "reduce_or",
                            .op_class = OpClass::reduction,
                            .type = reduce_type<Accepts::bits>,
                            .eval = reduce_eval<either, zero>,
                            .batch = reduce_batch,
                            .not_differentiable = true,
                            .element = term,
                            .reduction = reduction_of<expr::ReduceOp::bit_or>};

Array reduce_sum(const Array& a, const Ints& axes) {
  return axes.empty() ? a : bind1(reduce_sum_p, {a}, {{"axes", axes}});
}
Array reduce_max(const Array& a, const Ints& axes) {
  return axes.empty() ? a : bind1(reduce_max_p, {a}, {{"axes", axes}});
}

// argmax and argmin: the first extremum along one axis, as an index; NaN counts as the extremum -----

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

}  // namespace

const Primitive argmax_p{.name = "argmax",
                         .op_class = OpClass::reduction,
                         .type = arg_type,
                         .eval = arg_eval<true>,
                         .batch = arg_batch,
                         .not_differentiable = true,
                         .element = term,
                         .reduction = arg_reduction<expr::ReduceOp::argmax>};
const Primitive argmin_p{.name = "argmin",
                         .op_class = OpClass::reduction,
                         .type = arg_type,
                         .eval = arg_eval<false>,
                         .batch = arg_batch,
                         .not_differentiable = true,
                         .element = term,
                         .reduction = arg_reduction<expr::ReduceOp::argmin>};

}  // namespace cotan::ops
