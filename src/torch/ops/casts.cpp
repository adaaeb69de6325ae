// Other dtypes and devices, and copies.
#include <cotan/device.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/casts.hpp>

#include "torch/graph/devices.hpp"
#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

Tensor to(const Input& x, DType dtype) {
  static const auto op = define("to", {}, [](const Array& a, DType t) {
    // PyTorch's bool of a float is whether it is not 0.
    return t == DType::bool_ ? a != 0 : a.astype(t);
  });
  return x->dtype() == dtype ? *x : op(*x, dtype);
}

Tensor to(const Input& x, const std::string& device) {
  const std::string name = device_named(device);
  if (x->impl().type()->device == name) return *x;
  if (is_grad_enabled() && x->requires_grad() && !x->is_leaf())
    throw_with_line<ValueError>(
        "[to] a tensor with history is not moved to another device; detach() it, or compute on one.");
  return from(device_put(x->array({}), name));
}

Tensor clone(const Input& x) {
  static const auto op = define("clone", {}, [](const Array& a) { return a; });
  return op(*x);
}
Tensor contiguous(const Input& x) { return x->is_contiguous() ? *x : clone(*x); }

}  // namespace cotan::torch
