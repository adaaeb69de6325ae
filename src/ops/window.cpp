// reduce_window_sum, _max and _min: what the elements of each window come to. Padding takes no part.
#include "ops/window.hpp"

#include <algorithm>
#include <cotan/numpy.hpp>

#include "ops/parts.hpp"
#include "ops/scalar_ops.hpp"
#include "ops/window_rules.hpp"

namespace cotan::ops {

using expr::Expr;
using Is = std::span<const Expr>;

WindowParams::WindowParams(Ints sizes)
    : dimensions(std::move(sizes)),
      strides(dimensions.size(), 1),
      padding_low(dimensions.size(), 0),
      padding_high(dimensions.size(), 0),
      base_dilation(dimensions.size(), 1),
      window_dilation(dimensions.size(), 1) {}

WindowParams::WindowParams(const Params& p)
    : dimensions(p.ints("window_dimensions")),
      strides(p.ints("window_strides")),
      padding_low(p.ints("padding_low")),
      padding_high(p.ints("padding_high")),
      base_dilation(p.ints("base_dilation")),
      window_dilation(p.ints("window_dilation")) {}

Params WindowParams::params() const {
  return {{"window_dimensions", dimensions}, {"window_strides", strides},      {"padding_low", padding_low},
          {"padding_high", padding_high},    {"base_dilation", base_dilation}, {"window_dilation", window_dilation}};
}

Shape WindowParams::places(const Shape& operand) const {
  Shape out;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const std::int64_t spread = operand[i] == 0 ? 0 : (operand[i] - 1) * base_dilation[i] + 1,
                       room = spread + padding_low[i] + padding_high[i],
                       reach = (dimensions[i] - 1) * window_dilation[i] + 1;
    out.push_back(room < reach ? 0 : (room - reach) / strides[i] + 1);
  }
  return out;
}

WindowParams WindowParams::batched() const {
  WindowParams out = *this;
  for (Ints* list : {&out.dimensions, &out.strides, &out.base_dilation, &out.window_dilation})
    list->insert(list->begin(), 1);
  for (Ints* list : {&out.padding_low, &out.padding_high}) list->insert(list->begin(), 0);
  return out;
}

MetElements::MetElements(const Shape& operand, const WindowParams& w)
    : places_(w.places(operand)), dimensions_(w.dimensions), strides_(strides_of(operand)) {
  for (std::size_t i = 0; i < operand.size(); ++i) {
    Ints& met = index_.emplace_back();
    for (std::int64_t p = 0; p < places_[i]; ++p)
      for (std::int64_t t = 0; t < dimensions_[i]; ++t) {
        const std::int64_t at = p * w.strides[i] + t * w.window_dilation[i] - w.padding_low[i];
        const bool inside = at >= 0 && at % w.base_dilation[i] == 0 && at / w.base_dilation[i] < operand[i];
        met.push_back(inside ? at / w.base_dilation[i] : -1);
      }
  }
}
void MetElements::unravel(std::int64_t number, const Shape& shape, Ints& index) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = number % shape[i];
    number /= shape[i];
  }
}
std::int64_t MetElements::offset(const Ints& place, const Ints& tap) const {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const std::int64_t at = index_[i][static_cast<std::size_t>(place[i] * dimensions_[i] + tap[i])];
    if (at < 0) return -1;
    out += at * strides_[i];
  }
  return out;
}

std::vector<Expr> met_element(const WindowParams& w, const Shape& operand, Is place, Is tap, Expr& inside) {
  std::vector<Expr> out;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const Expr spread = place[i] * expr::integer(w.strides[i]) + tap[i] * expr::integer(w.window_dilation[i]) -
                        expr::integer(w.padding_low[i]);
    out.push_back(expr::floor_div(spread, w.base_dilation[i]));
    if (w.base_dilation[i] > 1)
      inside = inside & expr::eq(expr::floor_mod(spread, w.base_dilation[i]), expr::integer(0));
    inside = inside & expr::ge(out.back(), expr::integer(0)) & expr::lt(out.back(), expr::integer(operand[i]));
  }
  return out;
}

Shape checked_places(const Primitive& self, const AbstractValue& x, const WindowParams& w) {
  for (const Ints* list :
       {&w.dimensions, &w.strides, &w.padding_low, &w.padding_high, &w.base_dilation, &w.window_dilation})
    if (list->size() != x.shape.size())
      raise<ShapeError>("[{}] windows over {} are given by lists of {} entries; give one per axis.", self.name, x,
                        list->size());
  return w.places(x.shape);
}

namespace {

using expr::ReduceOp;

template <Accepts accepts>
Types window_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  check_dtype(self, x[0].dtype, accepts);
  return {{x[0].dtype, checked_places(self, x[0], WindowParams(params)), x[0].weak_type}};
}
Types arg_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  return {{DType::i32, checked_places(self, x[0], WindowParams(params)), false}};
}

/// What an empty window comes to, in the type that is computed in.
template <ReduceOp op, class C>
C identity() {
  if constexpr (op == ReduceOp::sum)
    return C(0);
  else if constexpr (std::is_floating_point_v<C>)
    return op == ReduceOp::max ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  else
    return op == ReduceOp::max ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max();
}
template <ReduceOp op>
Expr identity_of(DType dtype) {
  return dispatch(dtype, [&]<class T>() {
    const T value = static_cast<T>(identity<op, Compute<T>>());
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return expr::constant_bits(dtype, bits);
  });
}

template <ReduceOp op>
Arrays window_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch(out.dtype(), [&, &b = buffer, &o = out]<class T>() {
    using C = Compute<T>;
    const T* in = data<T>(x[0]);
    const auto values = std::make_unique<C[]>(static_cast<std::size_t>(o.size()));  // no vector: its bools are bits
    std::fill_n(values.get(), o.size(), identity<op, C>());
    MetElements(x[0].shape(), WindowParams(params)).for_each([&](std::int64_t p, std::int64_t, std::int64_t at) {
      if (at < 0) return;
      C& value = values[static_cast<std::size_t>(p)];
      const C term = static_cast<C>(in[at]);
      if constexpr (op == ReduceOp::sum)
        value = static_cast<C>(scalar_ops::add(value, term));
      else if constexpr (op == ReduceOp::max)
        value = scalar_ops::maximum(value, term);
      else
        value = scalar_ops::minimum(value, term);
    });
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < o.size(); ++i) y[i] = static_cast<T>(values[static_cast<std::size_t>(i)]);
  });
  return {out};
}

template <bool larger>
Arrays arg_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  constexpr ReduceOp op = larger ? ReduceOp::max : ReduceOp::min;
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  auto* number = reinterpret_cast<std::int32_t*>(buffer->data());
  dispatch(x[0].dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* in = data<T>(x[0]);
    C best{};
    MetElements(x[0].shape(), WindowParams(params)).for_each([&](std::int64_t p, std::int64_t t, std::int64_t at) {
      const C value = at < 0 ? identity<op, C>() : static_cast<C>(in[at]);
      bool better = t == 0 || (larger ? value > best : value < best);
      if constexpr (std::is_floating_point_v<C>) better = better || (std::isnan(value) && !std::isnan(best));
      if constexpr (std::is_floating_point_v<C>) better = better && (t == 0 || !std::isnan(best));
      if (!better) return;
      best = value;
      number[p] = static_cast<std::int32_t>(t);
    });
  });
  return {out};
}

BatchResult window_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                         const Params& params) {
  return {bind(self, {move_axis(x[0], dims[0], 0)}, WindowParams(params).batched().params()), {0}};
}

/// An axis of places, then one of taps, and so on: where windows do not overlap, the shape of the operand with its axes
/// cut in two.
template <ReduceOp op>
expr::Reduction window_reduction(std::span<const AbstractValue> x, const Params& params) {
  const WindowParams w(params);
  const Shape places = w.places(x[0].shape);
  expr::Reduction out{op, {}, {}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    out.shape.insert(out.shape.end(), {places[i], w.dimensions[i]});
    out.reduced.insert(out.reduced.end(), {false, true});
  }
  return out;
}
template <ReduceOp op>
Expr element_or_identity(const expr::Operands& x, Is place, Is tap, const Params& params) {
  Expr inside = expr::boolean(true);
  const auto at = met_element(WindowParams(params), x.type(0).shape, place, tap, inside);
  return expr::select(inside, x.at(0, at, inside), identity_of<op>(x.type(0).dtype));
}
template <ReduceOp op>
Expr window_term(const expr::Operands& x, Is i, const Params& params) {
  std::vector<Expr> place, tap;
  for (std::size_t k = 0; k < i.size(); ++k) (k % 2 ? tap : place).push_back(i[k]);
  return element_or_identity<op>(x, place, tap, params);
}
/// The same with taps numbered along one axis: positions are along one.
template <ReduceOp op>
expr::Reduction arg_reduction(std::span<const AbstractValue> x, const Params& params) {
  const WindowParams w(params);
  Shape shape = w.places(x[0].shape);
  std::vector<bool> reduced(shape.size(), false);
  shape.push_back(product(w.dimensions));
  reduced.push_back(true);
  return {op, std::move(shape), std::move(reduced), true};
}
template <ReduceOp op>
Expr arg_term(const expr::Operands& x, Is i, const Params& params) {
  return element_or_identity<op>(x, i.first(i.size() - 1), expr::index_at(params.ints("window_dimensions"), i.back()),
                                 params);
}

Arrays sum_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                     const Params& params) {
  return {bind1(window_spread_p, {ct[0]}, params.with("shape", in[0].aval.shape))};
}
/// The tangent of the element that is the extremum, the first of several.
template <bool larger>
Array extremum_partial(const Partial& p) {
  return bind1(window_gather_p, {p.t, bind1(larger ? window_argmax_p : window_argmin_p, {p.x[0]}, p.params)}, p.params);
}

template <bool larger>
Primitive extremum(std::string_view name) {
  constexpr ReduceOp op = larger ? ReduceOp::max : ReduceOp::min;
  return {.name = name,
          .op_class = OpClass::reduction,
          .type = window_type<Accepts::any>,
          .eval = window_eval<op>,
          .partials = {extremum_partial<larger>},
          .batch = window_batch,
          .element = window_term<op>,
          .reduction = window_reduction<op>};
}
template <bool larger>
Primitive position(std::string_view name) {
  return {.name = name,
          .op_class = OpClass::reduction,
          .type = arg_type,
          .eval = arg_eval<larger>,
          .batch = window_batch,
          .not_differentiable = true,
          .element = arg_term < larger ? ReduceOp::max : ReduceOp::min >,
          .reduction = arg_reduction < larger ? ReduceOp::max : ReduceOp::min > };
}

}  // namespace

const Primitive reduce_window_sum_p{
    .name = "reduce_window_sum",
    .op_class = OpClass::reduction,
    .type = window_type<Accepts::numeric>,
    .eval = window_eval<ReduceOp::sum>,
    .partials = {[](const Partial& p) { return bind1(reduce_window_sum_p, {p.t}, p.params); }},
    .transpose = sum_transpose,
    .batch = window_batch,
    .element = window_term<ReduceOp::sum>,
    .reduction = window_reduction<ReduceOp::sum>,
    .on_parts = on_each_part};
const Primitive reduce_window_max_p = extremum<true>("reduce_window_max");
const Primitive reduce_window_min_p = extremum<false>("reduce_window_min");
const Primitive window_argmax_p = position<true>("window_argmax");
const Primitive window_argmin_p = position<false>("window_argmin");
const Listed window_listed{&reduce_window_sum_p, &reduce_window_max_p, &reduce_window_min_p, &window_argmax_p,
                           &window_argmin_p};

Array reduce_window_sum(const Array& a, const WindowParams& w) { return bind1(reduce_window_sum_p, {a}, w.params()); }

}  // namespace cotan::ops
