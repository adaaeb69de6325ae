// Elementwise ops of tests/torch/cases.
#include "torch/ops.hpp"

namespace torch_ops {

namespace {

Function two(Tensor (*f)(const torch::Operand&, const torch::Operand&)) {
  return [f](Tensors x, const Params& p) {
    return with_operand(x, 1, p, "other", [&](const auto& other) { return f(x[0], other); });
  };
}

const AddOps added{
    {"exp", [](Tensors x, const Params&) { return torch::exp(x[0]); }},
    {"add", two(torch::add)},
    {"sub", two(torch::sub)},
    {"mul", two(torch::mul)},
    {"div", two(torch::div)},
};

}  // namespace

}  // namespace torch_ops
