// reduce_precision: floats rounded to fewer bits of exponent and mantissa, in the dtype that they have. Params:
// exponent_bits, mantissa_bits.
#include <bit>

#include "expr/lowering.hpp"
#include "ops/elementwise.hpp"

namespace cotan::ops {

namespace {

/// How a float lies in its bits.
struct Layout {
  int exponent, mantissa;
};
constexpr Layout layout_of(bool wide) { return wide ? Layout{11, 52} : Layout{8, 23}; }

/// Half to even; what has no place in the exponent left becomes infinite, or 0 of its sign.
template <class F>
F rounded(F value, std::int64_t exponent_bits, std::int64_t mantissa_bits) {
  using U = std::conditional_t<sizeof(F) == 8, std::uint64_t, std::uint32_t>;
  constexpr Layout own = layout_of(sizeof(F) == 8);
  if (value != value) return value;
  const U bits = std::bit_cast<U>(value), sign = bits & (U(1) << (own.exponent + own.mantissa));
  U magnitude = bits ^ sign;
  if (mantissa_bits < own.mantissa) {
    const auto drop = static_cast<int>(own.mantissa - mantissa_bits);
    magnitude += ((magnitude >> drop) & 1) + (U(1) << (drop - 1)) - 1;
    magnitude = magnitude >> drop << drop;
  }
  if (exponent_bits < own.exponent) {
    const auto bias = (std::int64_t{1} << (own.exponent - 1)) - 1, less = (std::int64_t{1} << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<std::int64_t>(magnitude >> own.mantissa);
    if (exponent > bias + less)
      magnitude = ((U(1) << own.exponent) - 1) << own.mantissa;
    else if (exponent <= bias - less)
      magnitude = 0;
  }
  return std::bit_cast<F>(sign | magnitude);
}

Arrays precision_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, x[0].aval());
  const std::int64_t n = out.size(), exponent = params.integer("exponent_bits"),
                     mantissa = params.integer("mantissa_bits");
  dispatch_floating(out.dtype(), self.name, [&, &b = buffer]<class T>() {
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<T>(rounded(static_cast<Compute<T>>(in[i]), exponent, mantissa));
  });
  return {out};
}

expr::Expr precision_scalar(std::span<const expr::Expr> x, const Params& params) {
  using expr::Expr;
  const bool is_wide = x[0]->dtype == DType::f64;
  const Layout own = layout_of(is_wide);
  const DType dtype = is_wide ? DType::u64 : DType::u32;
  const std::int64_t exponent_bits = params.integer("exponent_bits"), mantissa_bits = params.integer("mantissa_bits");
  const auto word = [&](std::uint64_t value) { return expr::constant_bits(dtype, value); };
  const Expr bits = expr::bitcast(x[0], dtype), sign = bits & word(std::uint64_t{1} << (own.exponent + own.mantissa));
  Expr magnitude = bits ^ sign;
  if (mantissa_bits < own.mantissa) {
    const auto drop = static_cast<int>(own.mantissa - mantissa_bits);
    magnitude = magnitude + (expr::shift_right(magnitude, drop) & word(1)) + word((std::uint64_t{1} << (drop - 1)) - 1);
    magnitude = expr::shift_left(expr::shift_right(magnitude, drop), drop);
  }
  if (exponent_bits < own.exponent) {
    const std::uint64_t bias = (std::uint64_t{1} << (own.exponent - 1)) - 1,
                        less = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const Expr exponent = expr::shift_right(magnitude, own.mantissa);
    const Expr small = expr::select(expr::le(exponent, word(bias - less)), word(0), magnitude);
    magnitude = expr::select(expr::gt(exponent, word(bias + less)),
                             word(((std::uint64_t{1} << own.exponent) - 1) << own.mantissa), small);
  }
  return expr::select(expr::ne(x[0], x[0]), x[0], expr::bitcast(sign | magnitude, x[0]->dtype));
}

}  // namespace

/// Linear as far as derivatives go: tangents are rounded too, as in JAX.
const Primitive reduce_precision_p =
    lowered({.name = "reduce_precision",
             .op_class = OpClass::elementwise,
             .type = elementwise_type<Accepts::floating>,
             .eval = precision_eval,
             .partials = {[](const Partial& p) { return bind1(reduce_precision_p, {p.t}, p.params); }},
             .transpose = [](const Primitive& self, std::span<const Array> ct, std::span<const LinearInput>,
                             const Params& params) { return Arrays{bind1(self, {ct[0]}, params)}; },
             .batch = elementwise_batch},
            precision_scalar);
const Listed precision_listed{&reduce_precision_p};

}  // namespace cotan::ops
