// reduce_precision: floats rounded to fewer bits. Linear, as JAX has it: what is rounded of a tangent is the tangent.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

/// The layout of a float.
struct Layout {
  DType words;
  std::int64_t exponent, mantissa;
};

Arrays evaluate_reduced(const Primitive&, Operands x, const Params& params) {
  const DType dtype = x[0].dtype(), wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Layout layout = wide == DType::f64 ? Layout{DType::u64, 11, 52} : Layout{DType::u32, 8, 23};
  const std::int64_t mantissa = params.integer("mantissa_bits"), exponent = params.integer("exponent_bits");
  const Array value = ops::cast(x[0], wide);
  const auto word = [&](std::int64_t w) { return ops::cast(Array(w), layout.words); };
  Array bits = lax::bitcast_convert_type(value, layout.words);
  if (const std::int64_t dropped = layout.mantissa - mantissa; dropped > 0) {
    // Half a unit, less a bit unless the kept part is odd: ties go to even. A carry goes on into the exponent.
    const Array odd = lax::shift_right_logical(bits, word(dropped)) & word(1),
                half = word((std::int64_t{1} << (dropped - 1)) - 1);
    bits = (bits + (half + odd)) & word(-(std::int64_t{1} << dropped));
  }
  Array out = lax::bitcast_convert_type(bits, wide);
  if (exponent < layout.exponent) {
    const double largest_exponent = static_cast<double>((std::int64_t{1} << (exponent - 1)) - 1);
    const double too_large = std::exp2(largest_exponent + 1), least = std::exp2(1 - largest_exponent);
    const Array size = np::abs(out), infinite = np::where(size >= too_large, np::inf, size);
    out = np::copysign(np::where(size < least, 0.0, infinite), value);
  }
  return {ops::cast(np::where(np::isfinite(value), out, value), dtype)};
}

}  // namespace

const Primitive reduce_precision_p{
    .name = "reduce_precision",
    .op_class = OpClass::routine,
    .type = ops::elementwise_type<ops::Accepts::floating>,
    .eval = evaluate_reduced,
    .partials = {[](const Partial& p) { return bind1(reduce_precision_p, {p.t}, p.params); }},
    .transpose = [](const Primitive& self, std::span<const Array> cotangents, std::span<const LinearInput>,
                    const Params& params) { return bind(self, {cotangents[0]}, params); },
    .batch = ops::elementwise_batch};

}  // namespace cotan::special
