// Tensors from nothing: constants and random numbers.
#include <atomic>
#include <cotan/numpy.hpp>
#include <cotan/random.hpp>
#include <cotan/torch/creation.hpp>

#include "torch/graph/devices.hpp"
#include "torch/graph/generator.hpp"
#include "torch/graph/op.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

Tensor finished(const Tensor& t, const TensorOptions& options) {
  if (options.requires_grad) t.requires_grad_();
  return t;
}
Place place(const TensorOptions& options) { return {device_named(options.device)}; }

std::atomic<std::uint64_t> seed{0}, draws{0};

}  // namespace

Draw detail::next_draw() { return {seed.load(), draws.fetch_add(1)}; }
void manual_seed(std::uint64_t value) {
  seed = value;
  draws = 0;
}

Tensor full(const Shape& size, double value, const TensorOptions& options, std::source_location where) {
  static const auto op = define("full", {}, [](const Shape& shape, DType t, Place, Number number) {
    return numpy::broadcast_to(number.array.astype(t), shape);
  });
  const At at(where);
  return finished(op(size, options.dtype.value_or(f32), place(options), value), options);
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
Tensor randn(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define(
      "randn", {}, [](const Shape& shape, DType t, Place, Key key) { return random::normal(key.array, shape, t); });
  const At at(where);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}
Tensor rand(const Shape& size, const TensorOptions& options, std::source_location where) {
  static const auto op = define(
      "rand", {}, [](const Shape& shape, DType t, Place, Key key) { return random::uniform(key.array, shape, t); });
  const At at(where);
  return finished(op(size, options.dtype.value_or(f32), place(options)), options);
}

}  // namespace cotan::torch
