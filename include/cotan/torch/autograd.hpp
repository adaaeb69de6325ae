// Gradients as PyTorch has them: backward(), grad(), and where nothing is recorded for them.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <initializer_list>

namespace cotan::torch {

/// Of grad.
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};  ///< gradients of the outputs; not needed of scalars
  std::optional<bool> retain_graph = {};  ///< by default what create_graph is
  bool create_graph = false;              ///< the gradients can be differentiated in turn
  bool allow_unused = false;              ///< inputs that the outputs do not depend on give undefined tensors
};

/// `torch.autograd`.
namespace autograd {

/// The gradients of the sum of `outputs` with respect to `inputs`, which collect nothing: `torch.autograd.grad`.
std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                         const GradOptions& options = {}, std::source_location where = COTAN_HERE);
/// The same of one output.
std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options = {},
                         std::source_location where = COTAN_HERE);
/// The same of a list that is written out: grad(y, {x})[0] is the gradient, not its first row.
inline std::vector<Tensor> grad(const Tensor& output, std::initializer_list<Tensor> inputs,
                                const GradOptions& options = {}, std::source_location where = COTAN_HERE) {
  return grad(output, std::vector<Tensor>(inputs), options, where);
}
/// The same of one of each.
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options = {},
            std::source_location where = COTAN_HERE);
/// Tensor::backward of several tensors together.
void backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients = {},
              std::optional<bool> retain_graph = {}, bool create_graph = false, std::span<const Tensor> inputs = {},
              std::source_location where = COTAN_HERE);

}  // namespace autograd

/// While it lives, operations on this thread require no gradients: `torch.no_grad()`.
class no_grad {
 public:
  no_grad();
  ~no_grad();
  no_grad(const no_grad&) = delete;

 private:
  bool former_;
};
/// While it lives, they do again: `torch.enable_grad()`.
class enable_grad {
 public:
  enable_grad();
  ~enable_grad();
  enable_grad(const enable_grad&) = delete;

 private:
  bool former_;
};
/// The one or the other: `torch.set_grad_enabled`.
class set_grad_enabled {
 public:
  explicit set_grad_enabled(bool on);
  ~set_grad_enabled();
  set_grad_enabled(const set_grad_enabled&) = delete;

 private:
  bool former_;
};
using NoGradGuard = no_grad;     ///< libtorch's name
using inference_mode = no_grad;  ///< here nothing more than no_grad
bool is_grad_enabled();          ///< whether operations on this thread may require gradients

}  // namespace cotan::torch
