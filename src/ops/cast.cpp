// Casts between dtypes, by value and by bits.
#include <bit>
#include <cotan/numpy.hpp>

#include "expr/lowering.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types cast_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  return {{params.dtype("new_dtype"), x[0].shape, params.flag("weak_type")}};
}
Arrays cast_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  dispatch(x[0].dtype(), [&, &b = buffer, &o = out]<class From>() {
    dispatch(o.dtype(), [&]<class To>() {
      const From* in = data<From>(x[0]);
      To* y = reinterpret_cast<To*>(b->data());
      for (std::int64_t i = 0, n = o.size(); i < n; ++i) y[i] = convert<To>(in[i]);
    });
  });
  return {out};
}
Array cast_partial(const Partial& p) { return is_inexact(p.y.dtype()) ? cast(p.t, p.y.dtype()) : Array(); }
Arrays cast_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  return {cast(ct[0], in[0].aval.dtype)};
}

// Same bits, another dtype. A narrower dtype adds a trailing axis, a wider one takes it away.
Types bitcast_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const DType to = params.dtype("new_dtype");
  const auto from_size = itemsize(x[0].dtype), to_size = itemsize(to);
  if ((to == DType::bool_) != (x[0].dtype == DType::bool_))
    raise<TypeError>("[bitcast_convert_type] cannot reinterpret {} as {}; compare with 0 instead.", x[0], to);
  Shape shape = x[0].shape;
  if (from_size > to_size) {
    shape.push_back(static_cast<std::int64_t>(from_size / to_size));
  } else if (from_size < to_size) {
    const auto ratio = static_cast<std::int64_t>(to_size / from_size);
    if (shape.empty() || shape.back() != ratio)
      raise<ShapeError>("[bitcast_convert_type] {} to {} needs a last axis of size {}; reshape it so.", x[0], to,
                        ratio);
    shape.pop_back();
  }
  return {{to, shape, false}};
}
Arrays bitcast_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, result_type(self, x, params));
  if (buffer->bytes()) std::memcpy(buffer->data(), concrete(x[0])->buffer->data(), buffer->bytes());
  return {out};
}
BatchResult bitcast_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                          const Params& params) {
  return {bind(self, {move_axis(x[0], dims[0], 0)}, params), {0}};
}

PartsList cast_parts(const Primitive& self, PartsOf x, const Params& params) {
  const DType to = params.dtype("new_dtype");
  if (to == DType::bool_) return real_result((x[0].re != 0) | (x[0].im != 0));
  const Params part = params.with("new_dtype", real_dtype(to)).with("weak_type", false);
  const Array re = bind1(self, {x[0].re}, part);
  if (!is_complex(to)) return real_result(re);
  return {{re, x[0].complex() ? bind1(self, {x[0].im}, part) : zeros_like(re)}};
}

DType unsigned_of(DType dtype) {
  constexpr DType by_size[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  return by_size[std::countr_zero(itemsize(dtype))];
}
/// Bits are cut or joined as unsigned integers, the lowest first.
expr::Expr bitcast_element(const expr::Operands& x, std::span<const expr::Expr> i, const Params& params) {
  using expr::Expr;
  const DType from = x.type(0).dtype, to = params.dtype("new_dtype");
  const std::size_t from_size = itemsize(from), to_size = itemsize(to);
  if (from_size == to_size) return expr::bitcast(x.at(0, i), to);
  const DType bits = unsigned_of(from), new_bits = unsigned_of(to);
  if (from_size > to_size) {
    const Expr whole = expr::bitcast(x.at(0, i.first(i.size() - 1)), bits);
    const Expr shift = expr::cast(i.back() * expr::integer(static_cast<std::int64_t>(8 * to_size)), bits);
    return expr::bitcast(expr::cast(expr::shift_right(whole, shift), new_bits), to);
  }
  Expr joined = expr::constant_bits(new_bits, 0);
  std::vector<Expr> at(i.begin(), i.end());
  at.emplace_back();
  for (std::size_t k = 0; k < to_size / from_size; ++k) {
    at.back() = expr::integer(static_cast<std::int64_t>(k));
    const Expr part = expr::cast(expr::bitcast(x.at(0, at), bits), new_bits);
    joined = joined | expr::shift_left(part, static_cast<int>(8 * from_size * k));
  }
  return expr::bitcast(joined, to);
}

Arrays identity_eval(const Primitive&, std::span<const Array> x, const Params&) { return {x[0]}; }

}  // namespace

const Primitive convert_element_type_p{
    .name = "convert_element_type",
    .op_class = OpClass::elementwise,
    .type = cast_type,
    .eval = cast_eval,
    .partials = {cast_partial},
    .transpose = cast_transpose,
    .batch = elementwise_batch,
    .casts = true,
    .scalar = [](std::span<const expr::Expr> x,
                 const Params& params) { return expr::cast(x[0], params.dtype("new_dtype")); },
    .keeps_halves = true,
    .rewrites = {.same_as = [](const OperandFacts&) { return std::optional<std::size_t>(0); }, .is_cheap = true},
    .on_parts = cast_parts};
const Primitive bitcast_convert_type_p{.name = "bitcast_convert_type",
                                       .op_class = OpClass::view,
                                       .type = bitcast_type,
                                       .eval = bitcast_eval,
                                       .batch = bitcast_batch,
                                       .not_differentiable = true,
                                       .element = bitcast_element};
const Primitive stop_gradient_p{.name = "stop_gradient",
                                .op_class = OpClass::elementwise,
                                .type = elementwise_type<Accepts::any>,
                                .eval = identity_eval,
                                .batch = elementwise_batch,
                                .not_differentiable = true,
                                .scalar = [](std::span<const expr::Expr> x, const Params&) { return x[0]; },
                                .keeps_halves = true,
                                .rewrites = {.shares_memory = true},
                                .on_parts = on_each_part};
const Listed cast_listed{&convert_element_type_p, &bitcast_convert_type_p, &stop_gradient_p};

Array cast(const Array& a, DType dtype) {
  if (a.weak_type())
    if (auto exact = exact_scalar_as(a, dtype)) return *exact;
  if (a.dtype() == dtype && !a.weak_type()) return a;
  if (a.dtype() == dtype && concrete(a)) return strong(a);
  return bind1(convert_element_type_p, {a}, {{"new_dtype", dtype}, {"weak_type", false}});
}

}  // namespace cotan::ops
