// Reductions over axes. Params: axes (sorted). The reference sums pairwise per output, in the compute type.
#include "ops/reduce.hpp"

#include <cmath>
#include <cotan/numpy.hpp>

#include "ops/parts.hpp"
#include "ops/scalar_ops.hpp"

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
constexpr auto differing = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>)
    return static_cast<decltype(a)>(a ^ b);
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
rows::Answer reduce_on_rows(const rows::Question& q) {
  const Ints& axes = q.ints("axes");
  return rows::reduced(q, axes, q.e.params.with("axes", rows::renumbered(axes, q.axes[0])));
}

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
                             .element = reduced_element,
                             .reduction = reduction_of<expr::ReduceOp::sum>,
                             .on_rows = reduce_on_rows,
                             .on_parts = on_each_part};
const Primitive reduce_prod_p{.name = "reduce_prod",
                              .op_class = OpClass::reduction,
                              .type = reduce_type<Accepts::numeric>,
                              .eval = reduce_eval<scalar_ops::mul, one>,
                              .partials = {prod_partial},
                              .batch = reduce_batch,
                              .element = reduced_element,
                              .reduction = reduction_of<expr::ReduceOp::product>,
                              .on_rows = reduce_on_rows,
                              .on_parts = prod_parts};
const Primitive reduce_max_p{.name = "reduce_max",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::any>,
                             .eval = reduce_eval<scalar_ops::maximum, lowest>,
                             .partials = {extremum_partial},
                             .batch = reduce_batch,
                             .element = reduced_element,
                             .reduction = reduction_of<expr::ReduceOp::max>,
                             .on_rows = reduce_on_rows,
                             .on_parts = extremum_parts<true>};
const Primitive reduce_min_p{.name = "reduce_min",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::any>,
                             .eval = reduce_eval<scalar_ops::minimum, highest>,
                             .partials = {extremum_partial},
                             .batch = reduce_batch,
                             .element = reduced_element,
                             .reduction = reduction_of<expr::ReduceOp::min>,
                             .on_rows = reduce_on_rows,
                             .on_parts = extremum_parts<false>};
const Primitive reduce_and_p{.name = "reduce_and",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::bits>,
                             .eval = reduce_eval<both, all_ones>,
                             .batch = reduce_batch,
                             .not_differentiable = true,
                             .element = reduced_element,
                             .reduction = reduction_of<expr::ReduceOp::bit_and>,
                             .on_rows = reduce_on_rows};
const Primitive reduce_or_p{.name = "reduce_or",
                            .op_class = OpClass::reduction,
                            .type = reduce_type<Accepts::bits>,
                            .eval = reduce_eval<either, zero>,
                            .batch = reduce_batch,
                            .not_differentiable = true,
                            .element = reduced_element,
                            .reduction = reduction_of<expr::ReduceOp::bit_or>,
                            .on_rows = reduce_on_rows};
const Primitive reduce_xor_p{.name = "reduce_xor",
                             .op_class = OpClass::reduction,
                             .type = reduce_type<Accepts::bits>,
                             .eval = reduce_eval<differing, zero>,
                             .batch = reduce_batch,
                             .not_differentiable = true,
                             .element = reduced_element,
                             .reduction = reduction_of<expr::ReduceOp::bit_xor>,
                             .on_rows = reduce_on_rows};
const Listed reduce_listed{&reduce_sum_p, &reduce_prod_p, &reduce_max_p, &reduce_min_p,
                           &reduce_and_p, &reduce_or_p,   &reduce_xor_p};

Array reduce_sum(const Array& a, const Ints& axes) {
  return axes.empty() ? a : bind1(reduce_sum_p, {a}, {{"axes", axes}});
}
Array reduce_max(const Array& a, const Ints& axes) {
  return axes.empty() ? a : bind1(reduce_max_p, {a}, {{"axes", axes}});
}

}  // namespace cotan::ops
