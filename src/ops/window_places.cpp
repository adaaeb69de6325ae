// Elements of windows moved, not combined: chosen by number, put back, spread, laid out as patches. Where elements of
// the operand get something from windows, each looks up the windows that it is in: nothing is scattered.
#include <algorithm>

#include "ops/parts.hpp"
#include "ops/window_rules.hpp"

namespace cotan::ops {

using expr::Expr;
using expr::integer;
using Is = std::span<const Expr>;

namespace {

BatchResult batch_all(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                      const Params& params) {
  Arrays operands;
  for (std::size_t k = 0; k < x.size(); ++k) operands.push_back(batch_at_front(x[k], dims[k], size));
  Params inner = WindowParams(params).batched().params();
  if (params.has("shape")) {
    Shape shape = params.ints("shape");
    shape.insert(shape.begin(), size);
    inner = inner.with("shape", shape);
  }
  return {bind(self, operands, inner), {0}};
}

// window_gather ---------------------------------------------------------------------------------

Types gather_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const Shape places = checked_places(self, x[0], WindowParams(params));
  if (x[1].shape != places || x[1].dtype != DType::i32)
    raise<ShapeError>("[{}] there is a window at each of {} but the numbers are {}; give an i32 per window.", self.name,
                      describe(places), x[1]);
  return {{x[0].dtype, places, x[0].weak_type}};
}
Arrays gather_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const auto* number = data<std::int32_t>(x[1]);
  dispatch_width(out.dtype(), [&, &b = buffer]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    MetElements(x[0].shape(), WindowParams(params)).for_each([&](std::int64_t p, std::int64_t t, std::int64_t at) {
      if (number[p] == t) y[p] = at < 0 ? T(0) : data<T>(x[0])[at];
    });
  });
  return {out};
}
Expr gather_element(const expr::Operands& x, Is i, const Params& params) {
  const WindowParams w(params);
  const auto tap = expr::index_at(w.dimensions, expr::cast(x.at(1, i), DType::i64));
  Expr inside = expr::boolean(true);
  const auto at = met_element(w, x.type(0).shape, i, tap, inside);
  return expr::select(inside, x.at(0, at, inside), expr::constant_bits(x.type(0).dtype, 0));
}
Arrays gather_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                        const Params& params) {
  return {bind1(window_scatter_add_p, {ct[0], in[1].value}, params.with("shape", in[0].aval.shape)), Array()};
}

// From windows back to elements -------------------------------------------------------------------

Types back_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  return {{x[0].dtype, params.ints("shape"), x[0].weak_type}};
}

/// The result from f(place, tap, number of the tap), what an element gets from the window it meets there, if anything.
enum class Back : std::uint8_t { all, chosen, patches };
template <Back kind>
Arrays back_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const WindowParams w(params);
  const std::int64_t taps = product(w.dimensions);
  dispatch(out.dtype(), [&, &b = buffer, &o = out]<class T>() {
    using A = Accumulator<T>;
    std::vector<A> sums(static_cast<std::size_t>(o.size()), A(0));
    const T* in = data<T>(x[0]);
    MetElements(o.shape(), w).for_each([&](std::int64_t p, std::int64_t t, std::int64_t at) {
      if (at < 0 || (kind == Back::chosen && data<std::int32_t>(x[1])[p] != t)) return;
      sums[static_cast<std::size_t>(at)] += static_cast<A>(in[kind == Back::patches ? p * taps + t : p]);
    });
    T* y = reinterpret_cast<T*>(b->data());
    for (std::size_t k = 0; k < sums.size(); ++k) y[k] = static_cast<T>(sums[k]);
  });
  return {out};
}

/// Per axis, how many windows an element can be in: those that begin up to a window's reach before it.
expr::Reduction back_reduction(std::span<const AbstractValue>, const Params& params) {
  const WindowParams w(params);
  Shape shape = params.ints("shape");
  std::vector<bool> reduced(shape.size(), false);
  for (std::size_t k = 0; k < w.dimensions.size(); ++k)
    shape.push_back((w.dimensions[k] - 1) * w.window_dilation[k] / w.strides[k] + 1);
  reduced.resize(shape.size(), true);
  return {expr::ReduceOp::sum, std::move(shape), std::move(reduced)};
}
template <Back kind>
Expr back_term(const expr::Operands& x, Is i, const Params& params) {
  const WindowParams w(params);
  const Shape& shape = params.ints("shape");
  const Shape places = w.places(shape);
  const std::size_t rank = shape.size();
  std::vector<Expr> at, tap;
  Expr inside = expr::boolean(true);
  for (std::size_t k = 0; k < rank; ++k) {
    const Expr element = i[k] * integer(w.base_dilation[k]) + integer(w.padding_low[k]);
    at.push_back(expr::floor_div(element, w.strides[k]) - i[rank + k]);
    const Expr within = element - at[k] * integer(w.strides[k]);
    tap.push_back(expr::floor_div(within, w.window_dilation[k]));
    if (w.window_dilation[k] > 1) inside = inside & expr::eq(expr::floor_mod(within, w.window_dilation[k]), integer(0));
    inside = inside & expr::ge(at[k], integer(0)) & expr::lt(at[k], integer(places[k])) &
             expr::lt(tap[k], integer(w.dimensions[k]));
  }
  if constexpr (kind == Back::chosen) {
    const Expr number = expr::cast(expr::offset_of(w.dimensions, tap), DType::i32);
    inside = inside & expr::eq(x.at(1, at, inside), number);
  }
  if constexpr (kind == Back::patches) at.insert(at.end(), tap.begin(), tap.end());
  return expr::select(inside, x.at(0, at, inside), expr::constant_bits(x.type(0).dtype, 0));
}

Arrays places_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                        const Params& params) {
  return {bind1(window_gather_p, {ct[0], in[1].value}, WindowParams(params).params()), Array()};
}
Arrays spread_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                        const Params& params) {
  return {reduce_window_sum(ct[0], WindowParams(params))};
}

// Patches -----------------------------------------------------------------------------------------

Types patches_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  const WindowParams w(params);
  Shape shape = checked_places(self, x[0], w);
  shape.insert(shape.end(), w.dimensions.begin(), w.dimensions.end());
  if (x[1].dtype != x[0].dtype || x[1].ndim() != 0)
    raise<TypeError>("[{}] the fill of {} is {}; it must be a scalar of that dtype.", self.name, x[0], x[1]);
  return {{x[0].dtype, shape, x[0].weak_type}};
}
Arrays patches_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  const WindowParams w(params);
  const std::int64_t taps = product(w.dimensions);
  dispatch_width(out.dtype(), [&, &b = buffer]<class T>() {
    T* y = reinterpret_cast<T*>(b->data());
    const T *in = data<T>(x[0]), *fill = data<T>(x[1]);
    MetElements(x[0].shape(), w).for_each([&](std::int64_t p, std::int64_t t, std::int64_t at) {
      y[p * taps + t] = at < 0 ? *fill : in[at];
    });
  });
  return {out};
}
Expr patches_element(const expr::Operands& x, Is i, const Params& params) {
  const std::size_t rank = x.type(0).shape.size();
  Expr inside = expr::boolean(true);
  const auto at = met_element(WindowParams(params), x.type(0).shape, i.first(rank), i.subspan(rank), inside);
  return expr::select(inside, x.at(0, at, inside), x.at(1, {}));
}
Array patches_partial(const Partial& p) { return bind1(window_patches_p, {p.t, scalar(p.t.dtype(), 0)}, p.params); }
Arrays patches_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in,
                         const Params& params) {
  return {bind1(window_patches_add_p, {ct[0]}, params.with("shape", in[0].aval.shape)), Array()};
}
/// The batch is an axis that windows do not span: its size in the windows is 1.
BatchResult patches_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                          const Params& params) {
  if (dims[1] != not_batched)
    raise<TransformError>("[vmap] the fill of window_patches cannot be mapped; use one number for all lanes.");
  const WindowParams w = WindowParams(params).batched();
  const Array y = bind1(self, {batch_at_front(x[0], dims[0], size), x[1]}, w.params());
  Shape shape = y.shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(w.dimensions.size()));
  return {{reshape(y, shape)}, {0}};
}
BatchResult patches_add_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                              std::int64_t size, const Params& params) {
  const Array front = batch_at_front(x[0], dims[0], size);
  Shape shape = front.shape();
  shape.insert(shape.begin() + 1 + static_cast<std::ptrdiff_t>(params.ints("shape").size()), 1);
  const Array operand[] = {reshape(front, shape)};
  const int axis[] = {0};
  return batch_all(self, operand, axis, size, params);
}
Arrays patches_add_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                             const Params& params) {
  return {window_patches(ct[0], scalar(ct[0].dtype(), 0), WindowParams(params))};
}

/// Linear in the first operand.
Array linear_partial(const Primitive& p, const Partial& d) {
  return d.x.size() > 1 ? bind1(p, {d.t, d.x[1]}, d.params) : bind1(p, {d.t}, d.params);
}

template <Back kind>
Primitive back(std::string_view name, std::vector<PartialRule> partials, decltype(Primitive::transpose) transpose,
               decltype(Primitive::batch) batch = batch_all) {
  return {.name = name,
          .op_class = OpClass::reduction,
          .type = back_type,
          .eval = back_eval<kind>,
          .partials = std::move(partials),
          .transpose = transpose,
          .batch = batch,
          .element = back_term<kind>,
          .reduction = back_reduction,
          .on_parts = on_each_part};
}

}  // namespace

const Primitive window_gather_p{
    .name = "window_gather",
    .op_class = OpClass::data,
    .type = gather_type,
    .eval = gather_eval,
    .partials = {[](const Partial& p) { return linear_partial(window_gather_p, p); }, nullptr},
    .transpose = gather_transpose,
    .batch = batch_all,
    .element = gather_element,
    .on_parts = on_each_part};
const Primitive window_scatter_add_p = back<Back::chosen>(
    "window_scatter_add", {[](const Partial& p) { return linear_partial(window_scatter_add_p, p); }, nullptr},
    places_transpose);
const Primitive window_spread_p = back<Back::all>(
    "window_spread", {[](const Partial& p) { return linear_partial(window_spread_p, p); }}, spread_transpose);
const Primitive window_patches_add_p = back<Back::patches>(
    "window_patches_add", {[](const Partial& p) { return linear_partial(window_patches_add_p, p); }},
    patches_add_transpose, patches_add_batch);
const Primitive window_patches_p{.name = "window_patches",
                                 .op_class = OpClass::data,
                                 .type = patches_type,
                                 .eval = patches_eval,
                                 .partials = {patches_partial, nullptr},
                                 .transpose = patches_transpose,
                                 .batch = patches_batch,
                                 .element = patches_element,
                                 .on_parts = on_each_part};

Array window_patches(const Array& a, const Array& fill, const WindowParams& w) {
  return bind1(window_patches_p, {a, fill}, w.params());
}
const Listed window_places_listed{&window_gather_p, &window_scatter_add_p, &window_spread_p, &window_patches_p,
                                  &window_patches_add_p};

}  // namespace cotan::ops
