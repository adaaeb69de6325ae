// Tensors from nothing: given numbers, constants, ranges.
#include <fmt/format.h>

#include <cmath>
#include <cotan/device.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/creation.hpp>

#include "torch/ops/families.hpp"
#include "torch/ops/making.hpp"

namespace cotan::torch {

using namespace detail;

Tensor detail::finished(const Tensor& t, const TensorOptions& options) {
  if (options.requires_grad) t.requires_grad_();
  return t;
}
Place detail::place(const TensorOptions& options) { return {device_named(options.device)}; }
TensorOptions detail::alike(const Tensor& x, TensorOptions options) {
  if (!options.dtype) options.dtype = x.dtype();
  if (options.device.empty()) options.device = x.device();
  return options;
}
DType detail::whole_type_of(const TensorOptions& options) {
  return options.dtype.value_or(has_doubles(place(options).device) ? i64 : i32);
}

Tensor detail::made(const Array& array, const TensorOptions& options, DType otherwise,
                    const std::source_location& where) {
  const At at(where);
  const std::string device = place(options).device;
  if (otherwise == i64 && !has_doubles(device)) otherwise = i32;
  const Array cast = array.astype(options.dtype.value_or(otherwise));
  return from(cast.device().name() == device ? cast : device_put(cast, device), options.requires_grad);
}

Tensor tensor(const numpy::Nested& nested, const TensorOptions& options, std::source_location where) {
  const At at(where);
  // What the numbers are decides the dtype; floats are read as float64, so that an option may ask for that.
  const DType kind = numpy::array(nested).dtype();
  const DType wide = is_floating(kind) ? f64 : is_integer(kind) ? i64 : kind;
  return made(numpy::array(nested, wide), options, is_floating(kind) ? f32 : wide, where);
}
Tensor tensor(std::initializer_list<numpy::Nested> items, const TensorOptions& options, std::source_location where) {
  return tensor(numpy::Nested(items), options, where);
}

Tensor full(const Shape& size, const Operand& value, const TensorOptions& options, std::source_location where) {
  static const auto real = define("full", {}, [](const Shape& shape, DType t, Place, Number number) {
    return numpy::broadcast_to(number.array.astype(t), shape);
  });
  static const auto whole = define("full", {}, [](const Shape& shape, DType t, Place, std::int64_t number) {
    return numpy::full(shape, number, t);
  });
  const At at(where);
  if (!value.is_number()) throw_with_line<TypeError>("[full] the value is a tensor; use expand() of it.");
  const Scalar& number = value.number();
  using Kind = Scalar::Kind;
  if (number.kind == Kind::real)
    return finished(real(size, options.dtype.value_or(f32), place(options), number.real), options);
  const DType t = options.dtype.value_or(number.kind == Kind::boolean ? DType::bool_ : whole_type_of(options));
  return finished(whole(size, t, place(options), number.integer), options);
}
Tensor zeros(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define("zeros", {}, [](const Shape& shape, DType t, Place) { return numpy::zeros(shape, t); });
  const At at(where);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}
Tensor ones(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define("ones", {}, [](const Shape& shape, DType t, Place) { return numpy::ones(shape, t); });
  const At at(where);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}
Tensor empty(const Shape& size, const TensorOptions& options, std::source_location where) {
  return zeros(size, options, where);
}
Tensor full_like(const Input& x, const Operand& value, const TensorOptions& options) {
  return full(x->sizes(), value, alike(*x, options), {});
}
Tensor zeros_like(const Input& x, const TensorOptions& options) { return zeros(x->sizes(), alike(*x, options), {}); }
Tensor ones_like(const Input& x, const TensorOptions& options) { return ones(x->sizes(), alike(*x, options), {}); }
Tensor empty_like(const Input& x, const TensorOptions& options) { return zeros(x->sizes(), alike(*x, options), {}); }

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, const TensorOptions& options, std::source_location where) {
  static const auto op = define("eye", {}, [](std::int64_t rows, std::int64_t columns, DType t, Place) {
    return numpy::eye(rows, columns, 0, t);
  });
  const At at(where);
  return finished(op(n, m.value_or(n), options.dtype.value_or(f32), place(options)), options);
}

Tensor arange(const Operand& start, const Operand& end, const Operand& step, const TensorOptions& options) {
  static const auto whole = define("arange", {}, [](std::int64_t a, std::int64_t b, std::int64_t by, DType t, Place) {
    return numpy::arange(a, b, by, t);
  });
  static const auto real =
      define("arange", {}, [](double a, double by, std::int64_t count, DType wide, DType t, Place) {
        return (a + lax::iota(wide, {count}) * by).astype(t);
      });
  bool integral = true;
  for (const Operand* o : {&start, &end, &step}) {
    if (!o->is_number()) throw_with_line<TypeError>("[arange] takes numbers; read a tensor by item().");
    integral &= o->number().kind != Scalar::Kind::real;
  }
  const double a = start.number().real, b = end.number().real, by = step.number().real;
  if (by == 0 || (b - a) / by < 0)
    throw_with_line<ValueError>(fmt::format("[arange] from {} to {} there are no steps of {}.", a, b, by));
  if (integral)
    return finished(whole(start.number().integer, end.number().integer, step.number().integer, whole_type_of(options),
                          place(options)),
                    options);
  const Place where = place(options);
  const auto count = static_cast<std::int64_t>(std::ceil((b - a) / by));
  const DType wide = has_doubles(where.device) ? f64 : f32;
  return finished(real(a, by, count, wide, options.dtype.value_or(f32), where), options);
}
Tensor arange(const Operand& end, const TensorOptions& options) {
  return arange(Operand(0, std::source_location{}), end, Operand(1, std::source_location{}), options);
}

Tensor linspace(double start, double end, std::int64_t steps, const TensorOptions& options,
                std::source_location where) {
  static const auto op = define("linspace", {}, [](double a, double b, std::int64_t n, DType t, Place) {
    return numpy::linspace(a, b, n, true, t);
  });
  const At at(where);
  return finished(op(start, end, steps, options.dtype.value_or(f32), place(options)), options);
}
Tensor logspace(double start, double end, std::int64_t steps, double base, const TensorOptions& options,
                std::source_location where) {
  static const auto op = define("logspace", {}, [](double a, double b, std::int64_t n, double of, DType t, Place) {
    return numpy::power(numpy::full({}, of, t), numpy::linspace(a, b, n, true, t));
  });
  const At at(where);
  return finished(op(start, end, steps, base, options.dtype.value_or(f32), place(options)), options);
}

}  // namespace cotan::torch
