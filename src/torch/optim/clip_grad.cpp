#include <cmath>
#include <cotan/numpy.hpp>
#include <cotan/optax/tree_utils.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/creation.hpp>
#include <cotan/torch/optim/clip_grad.hpp>

#include "torch/optim/lists.hpp"

namespace cotan::torch::nn::utils {

using namespace torch::detail;
namespace tu = optax::tree_utils::flat;

namespace {

/// In f32 where elements have 16 bits, as PyTorch's sums.
Array norm_of(const Arrays& grads, double order) {
  Arrays wide;
  for (const Array& g : grads) wide.push_back(itemsize(g.dtype()) < 4 ? g.astype(f32) : g);
  if (order == 1 || order == 2 || (std::isinf(order) && order > 0)) return tu::norm(wide, order);
  Array sum = numpy::zeros({}, wide[0].dtype());
  for (const Array& g : wide) sum = sum + numpy::sum(numpy::power(numpy::abs(g), order)).astype(sum.dtype());
  return numpy::power(sum, 1 / order);
}
std::vector<Tensor> gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> out;
  for (const Tensor& p : parameters)
    if (Tensor g = p.grad(); g.defined()) out.push_back(std::move(g));
  return out;
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       std::source_location where) {
  static const auto op =
      define("clip_grad_norm", {.differentiable = false}, [](const Arrays& grads, Number most, double order) {
        const Array norm = norm_of(grads, order);
        const Array factor = numpy::minimum(most.like(norm) / (norm + 1e-6), 1.0);
        Arrays out;
        for (const Array& g : grads) out.push_back(g * factor.astype(g.dtype()));
        out.push_back(norm);
        return out;
      });
  const At at(where);
  const no_grad off;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return zeros({});
  Value result = op.value(grads, max_norm, norm_type);
  write_all(grads, result, "clip_grad_norm_");
  return tensor_of(result);
}

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type, std::source_location where) {
  static const auto op = define("total_norm", {.differentiable = false},
                                [](const Arrays& grads, double order) { return norm_of(grads, order); });
  const At at(where);
  return tensors.empty() ? zeros({}) : op(tensors, norm_type);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value, std::source_location where) {
  static const auto op = define("clip_grad_value", {.differentiable = false}, [](const Arrays& grads, Number most) {
    Arrays out;
    for (const Array& g : grads) out.push_back(numpy::clip(g, -most.like(g), most.like(g)));
    return out;
  });
  const At at(where);
  const no_grad off;
  const std::vector<Tensor> grads = gradients(parameters);
  if (grads.empty()) return;
  Value result = op.value(grads, clip_value);
  write_all(grads, result, "clip_grad_value_");
}

}  // namespace cotan::torch::nn::utils
