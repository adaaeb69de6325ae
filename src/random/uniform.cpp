// Uniform numbers, which every sampler starts from.
#include <cmath>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case f16:
      return {u16, 16, 10, 0x3C00, 1 - 0x1p-11, 0x1p-14, 0x1p-10};
    case bf16:
      return {u16, 16, 7, 0x3F80, 1 - 0x1p-8, 0x1p-126, 0x1p-7};
    case f32:
      return {u32, 32, 23, 0x3F800000, 1 - 0x1p-24, 0x1p-126, 0x1p-23};
    default:
      return {u64, 64, 52, 0x3FF0000000000000, 1 - 0x1p-53, 0x1p-1022, 0x1p-52};
  }
}

Array unit_of(const Words& words, DType dtype) {
  const FloatFormat format = format_of(dtype);
  const int random = format.mantissa < 8 ? 8 : format.width;  // bf16 needs only a byte
  const Array bits = ops::cast(bits_of(words, random == 8 ? u8 : format.bits), format.bits);
  const Array mantissa = bind1(ops::shift_right_logical_p, {bits, scalar(format.bits, random - format.mantissa)});
  const Array in_1_2 = bind1(ops::or_p, {mantissa, scalar(format.bits, format.one)});
  return bind1(ops::bitcast_convert_type_p, {in_1_2}, {{"new_dtype", dtype}}) - scalar(dtype, 1);
}

Array unit_interval(const Array& key, const Shape& shape, DType dtype) {
  return unit_of(cipher(words_of_key(key), positions(shape)), dtype);
}

Array multiply_add(const Array& a, const Array& b, const Array& c) {
  if (itemsize(a.dtype()) <= 2) return a * b + c;
  return bind(ops::fma_p, np::broadcast_operands("random", {a, b, c}))[0];
}

Array scaled(const Array& u, const Array& low, const Array& high) {
  return np::maximum(low, multiply_add(u, high - low, low));
}

Array uniform_between(const Array& key, const Shape& shape, DType dtype, double low, double high) {
  return scaled(unit_interval(key, shape, dtype), scalar(dtype, low), scalar(dtype, high));
}

Array positive_unit(const Array& key, const Shape& shape, DType dtype) {
  return np::maximum(scalar(dtype, format_of(dtype).tiny), unit_interval(key, shape, dtype));
}

Array symmetric_of(const Array& u) {
  return scaled(u, scalar(u.dtype(), -format_of(u.dtype()).below_one), scalar(u.dtype(), 1));
}

Array log(const Array& x) { return bind1(ops::sampler_log_p, {x}); }
Array log1p(const Array& x) { return bind1(ops::sampler_log1p_p, {x}); }
Array exp(const Array& x) { return bind1(ops::sampler_exp_p, {x}); }
Array quotient(const Array& a, const Array& b) { return is_one_number(b) ? a * (scalar(b.dtype(), 1) / b) : a / b; }
bool is_one_number(const Array& a) { return a.ndim() == 0 && a.dtype() != bf16; }
Array quantile_of(const Array& u) { return bind1(ops::sampler_erf_inv_p, {u}); }
Array normal_of(const Array& u) { return scalar(u.dtype(), std::sqrt(2.0)) * quantile_of(u); }

namespace {

bool is_literal(const Array& a, double value) {
  return a.weak_type() && a.ndim() == 0 && concrete(a) && a.item<double>() == value;
}

}  // namespace

Array uniform(const ArrayLike& key, const Shape& shape, DType dtype, const ArrayLike& minval, const ArrayLike& maxval) {
  check_draw("uniform", key, shape, dtype);
  const Array u = unit_interval(key, shape, dtype);
  if (is_literal(minval, 0.0) && is_literal(maxval, 1.0)) return u;
  return scaled(u, parameter("uniform", "minval", ops::cast(minval, dtype), shape),
                parameter("uniform", "maxval", ops::cast(maxval, dtype), shape));
}

}  // namespace cotan::random
