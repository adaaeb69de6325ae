// Writes into tensors: copy_, fill_, zero_, and what every x.op_() ends with.
#include <fmt/format.h>

#include <cotan/torch/autograd.hpp>
#include <cotan/torch/creation.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

/// What x is as `target`'s contents. Where target requires a gradient what comes in its place does too: the gradient of
/// what was there is 0.
Value fitted(const Tensor& x, const Tensor& target) {
  static const auto fit = [](const Array& a, const Shape& shape, DType dtype) {
    return numpy::broadcast_to(a.astype(dtype), shape);
  };
  static const auto copy = define("copy", {}, [](const Array& a, const Shape& s, DType t) { return fit(a, s, t); });
  static const auto over =
      define("copy_", {}, [](const Array&, const Array& a, const Shape& s, DType t) { return fit(a, s, t); });
  if (is_grad_enabled() && target.requires_grad()) return over.value(target, x, target.sizes(), target.dtype());
  return copy.value(x, target.sizes(), target.dtype());
}

int category(DType t) { return t == DType::bool_ ? 0 : is_integer(t) ? 1 : is_floating(t) ? 2 : 3; }

}  // namespace

const Tensor& detail::write_back(const Tensor& x, const Tensor& y, std::string_view op) {
  if (y.sizes() != x.sizes())
    throw_with_line<ShapeError>(
        fmt::format("[{}] the result has shape {}, which does not fit into a tensor of shape {}.", op,
                    describe(y.sizes()), describe(x.sizes())));
  if (category(y.dtype()) > category(x.dtype()))
    throw_with_line<TypeError>(
        fmt::format("[{}] the result is {}, which is not cast to {} in place; cast the operands.", op, name(y.dtype()),
                    name(x.dtype())));
  write(x, y.dtype() == x.dtype() ? y.impl().read() : fitted(y, x), op);
  // What keeps its result keeps the tensor that it was written to, as it is now.
  const Value& value = y.impl().read();
  if (value.node->requires_grad && value.node->call->op && value.node->call->op->traits.saves == Saves::result)
    value.node->saved.push_back({x.impl().storage, x.impl().storage->version, -1});
  return x;
}

const Tensor& Tensor::copy_(const Tensor& source, std::source_location where) const {
  const At at(where);
  const Shape both = broadcast_shapes(sizes(), source.sizes(), "copy_");
  if (both != sizes())
    throw_with_line<ShapeError>(
        fmt::format("[copy_] a tensor of shape {} does not fit into one of shape {}; it must broadcast to it.",
                    describe(source.sizes()), describe(sizes())));
  check_writable(*this, "copy_");
  check_apart(source.impl(), impl(), "copy_");
  write(*this, fitted(source, *this), "copy_");
  return *this;
}

const Tensor& Tensor::fill_(double value, std::source_location where) const {
  // With the tensor as an operand, whose gradient is 0, what was written still requires gradients.
  static const auto op =
      define("fill_", {}, [](const Array& x, Number number) { return numpy::broadcast_to(number.like(x), x.shape()); });
  const At at(where);
  const TensorOptions alike{.dtype = dtype(), .device = device()};
  const bool tracked = is_grad_enabled() && requires_grad();
  write(*this, tracked ? op.value(*this, value) : full(sizes(), value, alike).impl().read(), "fill_");
  return *this;
}
const Tensor& Tensor::zero_(std::source_location where) const { return fill_(0, where); }

}  // namespace cotan::torch
