// What samplers raise on bad arguments.
#include <algorithm>
#include <cmath>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

void check_key(std::string_view op, const Array& key) {
  if (!key.defined()) raise<ValueError>("[random.{}] the key is an empty Array; make one with random::key(seed).", op);
  if (key.dtype() != u32 || key.shape() != Shape{2})
    raise<TypeError>("[random.{}] the key is {}; it must be u32[2], from random::key or split. Many keys: use vmap.",
                     op, key.aval());
}

void check_shape(std::string_view op, const Shape& shape) {
  for (auto d : shape)
    if (d < 0)
      raise<ShapeError>("[random.{}] shape {} has a negative size; sizes must be 0 or more.", op, describe(shape));
}

void check_device(std::string_view op, const Array& key, DType dtype) {
  const auto* c = concrete(key);
  if (!c || c->buffer->backend().holds(is_complex(dtype) ? real_dtype(dtype) : dtype)) return;  // devices see parts
  raise<TypeError>(
      "[random.{}] the key is on the device '{}', which has no {}; draw {}, or put the key on the device 'native'.", op,
      c->buffer->backend().name(), dtype,
      is_floating(dtype)           ? "in f32"
      : is_complex(dtype)          ? "in c64"
      : is_unsigned_integer(dtype) ? "u32"
                                   : "i32");
}

void check_floating(std::string_view op, const Array& key, DType dtype) {
  if (!is_floating(dtype))
    raise<TypeError>("[random.{}] dtype {} is not a floating-point one; use f32, f64, f16 or bf16.", op, dtype);
  check_device(op, key, dtype);
}

void check_inexact(std::string_view op, const Array& key, DType dtype) {
  if (!is_floating(dtype) && !is_complex(dtype))
    raise<TypeError>(
        "[random.{}] dtype {} is not a floating-point or complex one; use f32, f64, f16, bf16, c64 or "
        "c128.",
        op, dtype);
  check_device(op, key, dtype);
}

void check_integer(std::string_view op, const Array& key, DType dtype) {
  if (!is_integer(dtype))
    raise<TypeError>("[random.{}] dtype {} is not an integer one; use i8 to i64 or u8 to u64.", op, dtype);
  check_device(op, key, dtype);
}

void check_draw(std::string_view op, const Array& key, const Shape& shape, DType dtype) {
  check_key(op, key);
  check_shape(op, shape);
  check_floating(op, key, dtype);
}

void check_fits(std::string_view op, std::string_view what, const Shape& a, const Shape& shape) {
  bool fits = a.size() <= shape.size();
  for (std::size_t i = 0; fits && i < a.size(); ++i) {
    const auto size = a[a.size() - 1 - i];
    fits = size == 1 || size == shape[shape.size() - 1 - i];
  }
  if (!fits)
    raise<ShapeError>(
        "[random.{}] {} of shape {} does not broadcast to the result's shape {}; give a shape that it fits.", op, what,
        describe(a), describe(shape));
}

void check_probabilities(std::string_view op, const Array& p) {
  if (!concrete(p) || p.size() == 0) return;
  const std::vector<double> values = p.astype(f64).to_vector<double>();
  const auto n = static_cast<std::size_t>(p.shape().back());
  // Numbers that were f32 once may be f64 now.
  const double slack = std::max(1e-6, std::sqrt(format_of(p.dtype()).epsilon));
  for (std::size_t row = 0; row < values.size(); row += n) {
    double sum = 0;
    for (std::size_t i = row; i < row + n; ++i) {
      if (!(values[i] >= 0))
        raise<ValueError>("[random.{}] a probability is {}; probabilities must be 0 or more.", op, values[i]);
      sum += values[i];
    }
    if (!(std::fabs(sum - 1) <= slack))
      raise<ValueError>("[random.{}] probabilities sum to {}; divide them by their sum.", op, sum);
  }
}

Shape shape_of_draws(std::string_view op, const std::optional<Shape>& shape,
                     std::initializer_list<Parameter> parameters) {
  if (shape) {
    check_shape(op, *shape);
    for (const Parameter& p : parameters) check_fits(op, p.name, p.value.shape(), *shape);
    return *shape;
  }
  std::vector<Shape> shapes;
  for (const Parameter& p : parameters) shapes.push_back(p.value.shape());
  return numpy::broadcast_shapes(fmt::format("random.{}", op), shapes);
}

Array parameter(std::string_view op, std::string_view what, const Array& a, const Shape& shape) {
  check_fits(op, what, a.shape(), shape);
  return a.ndim() == 0 ? a : ops::broadcast_to(a, shape);
}

Array float_parameter(std::string_view op, const Parameter& p, DType dtype, const Shape& shape) {
  const Array& a = p.value;
  const bool fits = !is_complex(a.dtype()) || is_complex(dtype);
  const bool wider =
      (is_floating(a.dtype()) || is_complex(a.dtype())) && !a.weak_type() && (promote_types(a.dtype(), dtype) != dtype);
  if (!fits || wider)
    raise<TypeError>("[random.{}] {} is {}, and the draws are {}, which is narrower; give a dtype that holds both.", op,
                     p.name, a.aval(), dtype);
  return parameter(op, p.name, ops::cast(a, dtype), shape);
}

}  // namespace cotan::random
