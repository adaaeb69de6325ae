// torch::nn::init: first values of parameters, written in place, of which gradients see nothing.
#pragma once
#include <cotan/torch/tensor.hpp>

/// `torch.nn.init`.
namespace cotan::torch::nn::init {

const Tensor& uniform_(const Tensor& tensor, double a = 0, double b = 1);      ///< in [a, b)
const Tensor& normal_(const Tensor& tensor, double mean = 0, double std = 1);  ///< normal
/// Normal, drawn again where it is not between a and b.
const Tensor& trunc_normal_(const Tensor& tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
const Tensor& constant_(const Tensor& tensor, double value);           ///< one value
const Tensor& zeros_(const Tensor& tensor);                            ///< 0
const Tensor& ones_(const Tensor& tensor);                             ///< 1
const Tensor& eye_(const Tensor& tensor);                              ///< 1 on the diagonal of a matrix, else 0
const Tensor& xavier_uniform_(const Tensor& tensor, double gain = 1);  ///< of variance 2 gain² / (inputs + outputs)
const Tensor& xavier_normal_(const Tensor& tensor, double gain = 1);   ///< of variance 2 gain² / (inputs + outputs)
/// Of kaiming_uniform_ and kaiming_normal_.
struct KaimingOptions {
  double a = 0;                                  ///< the negative slope, of leaky_relu
  std::string_view mode = "fan_in";              ///< or "fan_out"
  std::string_view nonlinearity = "leaky_relu";  ///< what comes behind
};
const Tensor& kaiming_uniform_(const Tensor& tensor, const KaimingOptions& options = {});  ///< variance gain² / inputs
const Tensor& kaiming_normal_(const Tensor& tensor, const KaimingOptions& options = {});   ///< variance gain² / inputs
/// Orthogonal rows or columns; axes behind the first count as one.
const Tensor& orthogonal_(const Tensor& tensor, double gain = 1);
/// What standard deviations are multiplied with before a nonlinearity: "linear", "tanh", "relu", "leaky_relu", "selu" …
double calculate_gain(std::string_view nonlinearity, double param = 0.01);

}  // namespace cotan::torch::nn::init
