// torch::nn::functional: activations.
#pragma once
#include <cotan/torch/tensor.hpp>

namespace cotan::torch::nn::functional {

/// @name Activations
/// @{
Tensor relu6(const Input& x);                                        ///< min(max(x, 0), 6)
Tensor gelu(const Input& x, std::string_view approximate = "none");  ///< x Φ(x), or "tanh", its approximation
Tensor silu(const Input& x);                                         ///< x sigmoid(x)
Tensor mish(const Input& x);                                         ///< x tanh(softplus(x))
Tensor elu(const Input& x, double alpha = 1);                        ///< x where positive, else alpha (eˣ - 1)
Tensor selu(const Input& x);                    ///< elu times a constant, which keeps mean and variance
Tensor celu(const Input& x, double alpha = 1);  ///< x where positive, else alpha (e^(x / alpha) - 1)
Tensor leaky_relu(const Input& x, double negative_slope = 0.01);  ///< x where positive, else negative_slope x
/// x where positive, else weight x; one weight, or one for each channel, the axis 1.
Tensor prelu(const Input& x, const Tensor& weight);
Tensor hardtanh(const Input& x, double min_val = -1, double max_val = 1);  ///< x between two numbers
Tensor hardswish(const Input& x);                                          ///< x relu6(x + 3) / 6
Tensor hardsigmoid(const Input& x);                                        ///< relu6(x + 3) / 6
Tensor hardshrink(const Input& x, double lambda = 0.5);                    ///< x where |x| > lambda, else 0
Tensor softshrink(const Input& x, double lambda = 0.5);                    ///< x less lambda towards 0
Tensor tanhshrink(const Input& x);                                         ///< x - tanh(x)
Tensor threshold(const Input& x, double threshold, double value);          ///< x where x > threshold, else value
/// log(1 + e^(beta x)) / beta; x itself where beta x > threshold.
Tensor softplus(const Input& x, double beta = 1, double threshold = 20);
Tensor softsign(const Input& x);           ///< x / (1 + |x|)
Tensor logsigmoid(const Input& x);         ///< log(sigmoid(x))
Tensor glu(const Input& x, int dim = -1);  ///< the first half of an axis times sigmoid of the second
/// eˣ by its sum along an axis; in another dtype, where one is given.
Tensor softmax(const Input& x, int dim, std::optional<DType> dtype = {});
/// The logarithm of softmax.
Tensor log_softmax(const Input& x, int dim, std::optional<DType> dtype = {});
/// softmax of -x.
Tensor softmin(const Input& x, int dim, std::optional<DType> dtype = {});
/// Of gumbel_softmax.
struct GumbelSoftmaxOptions {
  double tau = 1;     ///< the temperature
  bool hard = false;  ///< one 1 along the axis, with the derivative of the soft ones
  int dim = -1;
};
/// A random choice along an axis, with a derivative: softmax((x + gumbel noise) / tau).
Tensor gumbel_softmax(const Input& logits, const GumbelSoftmaxOptions& options = {});
/// @}

}  // namespace cotan::torch::nn::functional
