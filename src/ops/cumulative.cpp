// Running sums, products, extrema and log-sum-exps along one axis, in linear time, and the recurrence
// y[i] = a[i] y[i-1] + b[i] that all their derivatives reduce to. Params: axis, reverse (run from the end).
#include <cmath>
#include <cotan/numpy.hpp>

#include "ops/parts.hpp"
#include "ops/scalar_math.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

namespace {

namespace np = numpy;

template <Accepts accepts>
Types cumulative_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_dtype(self, x[0].dtype, accepts);
  const std::int64_t axis = params.integer("axis");
  if (axis < 0 || axis >= x[0].ndim())
    raise<IndexError>("[{}] axis {} is out of range for {}; axes count from 0.", self.name, axis, x[0]);
  return {x[0]};
}

/// Calls f(offset of the first element, step to the next) for every line along the axis, in running order.
template <class F>
void for_each_line(const Shape& shape, const Params& params, F&& f) {
  const auto axis = static_cast<std::size_t>(params.integer("axis"));
  const std::int64_t n = shape[axis];
  if (n == 0) return;
  const std::int64_t inner = product(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()));
  const std::int64_t outer = product(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)));
  const bool reverse = params.flag("reverse");
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const std::int64_t first = o * n * inner + i;
      if (reverse)
        f(first + (n - 1) * inner, -inner);
      else
        f(first, inner);
    }
}

/// y = scan(x) along the axis, where `Scan<T>` holds the running state and is called with each element.
template <template <class> class Scan, bool floating = false>
Arrays cumulative_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, x[0].aval());
  const auto run = [&, &b = buffer]<class T>() {
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    const std::int64_t n = x[0].shape()[params.integer("axis")];
    for_each_line(x[0].shape(), params, [&](std::int64_t at, std::int64_t step) {
      Scan<Compute<T>> scan;
      for (std::int64_t i = 0; i < n; ++i, at += step) y[at] = static_cast<T>(scan(static_cast<Compute<T>>(in[at])));
    });
  };
  if constexpr (floating)
    dispatch_floating(x[0].dtype(), self.name, run);
  else
    dispatch(x[0].dtype(), run);
  return {out};
}

/// One size up, so that rounding errors do not pile up along a line; integers wrap as unsigned.
template <class C>
using Wider = std::conditional_t<std::is_integral_v<C>, std::uint64_t,
                                 std::conditional_t<std::is_same_v<C, float>, double, long double>>;

template <class C>
struct RunningSum {
  Wider<C> sum = 0;
  C operator()(C x) {
    sum += static_cast<Wider<C>>(x);
    return static_cast<C>(sum);
  }
};
template <class C>
struct RunningProduct {
  std::conditional_t<std::is_integral_v<C>, std::uint64_t, C> value = 1;
  C operator()(C x) {
    value *= static_cast<decltype(value)>(x);
    return static_cast<C>(value);
  }
};
/// NaN wins, and +0 is larger than -0, as in max and min.
template <class C, bool larger>
struct RunningExtremum {
  C value{};
  bool started = false;
  C operator()(C x) {
    if (!started) {
      started = true;
      return value = x;
    }
    if constexpr (std::is_floating_point_v<C>) {
      if (std::isnan(value)) return value;
      if (std::isnan(x)) return value = x;
      if (x == value) return value = std::signbit(x) == larger ? value : x;
    }
    return value = (larger ? x > value : x < value) ? x : value;
  }
};
template <class C>
using RunningMax = RunningExtremum<C, true>;
template <class C>
using RunningMin = RunningExtremum<C, false>;

/// log(sum of exp): the largest element so far, and the sum of exp(x - largest), which is at least 1.
template <class C>
struct RunningLogSumExp {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  C operator()(C element) {
    const auto x = static_cast<double>(element);
    if (std::isnan(x) || std::isnan(largest)) {
      largest = std::numeric_limits<double>::quiet_NaN();
    } else if (x > largest) {
      sum = std::isinf(x) ? 1.0 : sum * scalar_math::exp(largest - x) + 1.0;
      largest = x;
    } else if (std::isfinite(x)) {
      sum += std::isinf(largest) ? 0.0 : scalar_math::exp(x - largest);
    }
    return static_cast<C>(std::isfinite(largest) ? largest + scalar_math::log(sum) : largest);
  }
};

/// The batch axis stays where it is.
BatchResult cumulative_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                             const Params& params) {
  const std::int64_t axis = params.integer("axis");
  return {bind(self, x, params.with("axis", dims[0] <= axis ? axis + 1 : axis)), {dims[0]}};
}

Arrays cumsum_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput>,
                        const Params& params) {
  return {bind1(self, {ct[0]}, params.with("reverse", !params.flag("reverse")))};
}

/// Element i of the result is element i-1 of `a` in running order; the first is `fill`.
Array previous(const Array& a, const Array& fill, const Params& params, bool next = false) {
  const std::int64_t axis = params.integer("axis");
  const bool towards_end = params.flag("reverse") == next;
  Ints low(a.ndim(), 0), high(a.ndim(), 0);
  if (a.shape()[axis] == 0) return a;
  low[axis] = towards_end ? 1 : -1;
  high[axis] = -low[axis];
  return pad(a, fill, low, high, Ints(a.ndim(), 0));
}

Array recurrence(const Array& a, const Array& b, const Params& params) {
  return bind1(linear_recurrence_p, {a, b}, params);
}

// dy[i] = x[i] dy[i-1] + y[i-1] dx[i]: no division, so zeros in x do no harm.
Array cumprod_partial(const Partial& p) {
  return recurrence(p.x[0], p.t * previous(p.y, scalar(p.y.dtype(), 1), p.params), p.params);
}

// y[i] is y[i-1] or x[i]; where it is both, each has half the weight, as in max(y[i-1], x[i]).
Array cumextremum_partial(const Partial& p) {
  const Array& y = p.y;
  const Array one = scalar(y.dtype(), 1), zero = scalar(y.dtype(), 0), half = scalar(y.dtype(), 0.5);
  const Array not_first = previous(full(y.shape(), scalar(DType::bool_, 1)), scalar(DType::bool_, 0), p.params);
  const Array kept = (previous(y, zero, p.params) == y) & not_first, taken = p.x[0] == y;
  const Array share = select(kept & taken, half, one);
  return recurrence(select(kept, share, zero), p.t * select(taken, share, zero), p.params);
}

// dy[i] = exp(y[i-1] - y[i]) dy[i-1] + exp(x[i] - y[i]) dx[i]. Where y is +inf, infinite parts weigh 1 and
// others 0; where it is -inf, all weigh 0, so that a masked beginning does no harm to what follows.
Array cumlogsumexp_partial(const Partial& p) {
  const Array& y = p.y;
  const Array below = scalar(y.dtype(), -np::inf), zero = scalar(y.dtype(), 0), one = scalar(y.dtype(), 1);
  const Array finite = bind1(is_finite_p, {y});
  const Array safe = select(finite, y, zero);
  const auto weight = [&](const Array& part) {
    return select((part == y) & (y > 0.0) & ~finite, one, np::exp(select(finite, part, below) - safe));
  };
  return recurrence(weight(previous(y, below, p.params)), p.t * weight(p.x[0]), p.params);
}

// linear_recurrence(a, b): y[i] = a[i] y[i-1] + b[i], y before the first element is 0; linear in b ----------

Types recurrence_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  if (x[0].shape != x[1].shape || x[0].dtype != x[1].dtype)
    raise<ShapeError>("[{}] the factors are {} and the terms {}; they must be of one shape and dtype.", self.name, x[0],
                      x[1]);
  AbstractValue out = cumulative_type<Accepts::numeric>(self, x, params)[0];
  out.weak_type = x[0].weak_type && x[1].weak_type;
  return {out};
}
Arrays recurrence_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, {x[0].dtype(), x[0].shape(), x[0].weak_type() && x[1].weak_type()});
  dispatch(out.dtype(), [&, &buf = buffer]<class T>() {
    using C = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Compute<T>>;
    const T *a = data<T>(x[0]), *b = data<T>(x[1]);
    T* y = reinterpret_cast<T*>(buf->data());
    const std::int64_t n = x[0].shape()[params.integer("axis")];
    for_each_line(x[0].shape(), params, [&](std::int64_t at, std::int64_t step) {
      C value = static_cast<C>(b[at]);
      y[at] = static_cast<T>(value);
      for (std::int64_t i = 1; i < n; ++i) {
        at += step;
        value = static_cast<C>(a[at]) * value + static_cast<C>(b[at]);
        y[at] = static_cast<T>(value);
      }
    });
  });
  return {out};
}
Array recurrence_factor(const Partial& p) {
  return recurrence(p.x[0], p.t * previous(p.y, scalar(p.y.dtype(), 0), p.params), p.params);
}
Array recurrence_term(const Partial& p) { return recurrence(p.x[0], p.t, p.params); }
/// The same recurrence run the other way, with each factor where its successor was.
Arrays recurrence_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                            const Params& params) {
  if (in[0].linear)
    raise<TransformError>(
        "[transpose] linear_recurrence is not linear in its factors; give linear_transpose a linear "
        "function.");
  const Array factors = previous(in[0].value, scalar(ct[0].dtype(), 0), params, true);
  return {Array(), recurrence(factors, ct[0], params.with("reverse", !params.flag("reverse")))};
}
BatchResult recurrence_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                             std::int64_t size, const Params& params) {
  return {bind(self, {batch_at_front(x[0], dims[0], size), batch_at_front(x[1], dims[1], size)},
               params.with("axis", params.integer("axis") + 1)),
          {0}};
}

template <auto eval, Accepts accepts>
Primitive cumulative(std::string_view name, PartialRule partial, const Primitive* combine = nullptr) {
  return {.name = name,
          .op_class = OpClass::routine,
          .type = cumulative_type<accepts>,
          .eval = eval,
          .partials = {partial},
          .batch = cumulative_batch,
          .combine = combine};
}

}  // namespace

const Primitive cumsum_p{.name = "cumsum",
                         .op_class = OpClass::routine,
                         .type = cumulative_type<Accepts::numeric>,
                         .eval = cumulative_eval<RunningSum>,
                         .partials = {[](const Partial& p) { return bind1(cumsum_p, {p.t}, p.params); }},
                         .transpose = cumsum_transpose,
                         .batch = cumulative_batch,
                         .combine = &add_p,
                         .on_parts = on_each_part};
const Primitive cumprod_p = complex_by(
    cumulative<cumulative_eval<RunningProduct>, Accepts::numeric>("cumprod", cumprod_partial, &mul_p),
    [](const Primitive&, PartsOf x, const Params& params) {
      return PartsList{parts::running_product(x[0], static_cast<int>(params.integer("axis")), params.flag("reverse"))};
    });
const Primitive cummax_p =
    cumulative<cumulative_eval<RunningMax>, Accepts::numeric>("cummax", cumextremum_partial, &max_p);
const Primitive cummin_p =
    cumulative<cumulative_eval<RunningMin>, Accepts::numeric>("cummin", cumextremum_partial, &min_p);
const Primitive cumlogsumexp_p =
    cumulative<cumulative_eval<RunningLogSumExp, true>, Accepts::floating>("cumlogsumexp", cumlogsumexp_partial);
const Primitive linear_recurrence_p{
    .name = "linear_recurrence",
    .op_class = OpClass::routine,
    .type = recurrence_type,
    .eval = recurrence_eval,
    .partials = {recurrence_factor, recurrence_term},
    .transpose = recurrence_transpose,
    .batch = recurrence_batch,
    .on_parts = [](const Primitive&, PartsOf x, const Params& params) {
      return PartsList{parts::recurrence(x[0], x[1], static_cast<int>(params.integer("axis")), params.flag("reverse"))};
    }};
const Listed cumulative_listed{&cumsum_p, &cumprod_p, &cummax_p, &cummin_p, &cumlogsumexp_p, &linear_recurrence_p};

}  // namespace cotan::ops
