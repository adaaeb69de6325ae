// Gradients that are cut before a step: torch.nn.utils.clip_grad_norm_ and clip_grad_value_. They are part of the
// program; nothing is read back.
#pragma once
#include <cotan/torch/tensor.hpp>

namespace cotan::torch::nn::utils {

/// Makes the gradients of all parameters together no longer than `max_norm`. Gives their norm before that, a scalar;
/// norm_type may be infinity.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       std::source_location where = COTAN_HERE);
/// Their norm, as clip_grad_norm_ gives it.
Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2,
                      std::source_location where = COTAN_HERE);
/// Elements of gradients within [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      std::source_location where = COTAN_HERE);

}  // namespace cotan::torch::nn::utils
