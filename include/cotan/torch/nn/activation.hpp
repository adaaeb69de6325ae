// torch::nn: activations as modules.
#pragma once
#include <cotan/torch/nn/functional.hpp>
#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn {

/// functional::relu.
struct ReLU {
  Tensor operator()(const Input& x) const { return functional::relu(*x); }  ///< max(x, 0)
};
/// functional::relu6.
struct ReLU6 {
  Tensor operator()(const Input& x) const { return functional::relu6(*x); }  ///< min(max(x, 0), 6)
};
/// functional::gelu.
struct GELU {
  std::string approximate = "none";
  Tensor operator()(const Input& x) const { return functional::gelu(*x, approximate); }  ///< x Φ(x)
};
/// functional::silu.
struct SiLU {
  Tensor operator()(const Input& x) const { return functional::silu(*x); }  ///< x sigmoid(x)
};
/// functional::mish.
struct Mish {
  Tensor operator()(const Input& x) const { return functional::mish(*x); }  ///< x tanh(softplus(x))
};
/// functional::sigmoid.
struct Sigmoid {
  Tensor operator()(const Input& x) const { return functional::sigmoid(*x); }  ///< 1 / (1 + e⁻ˣ)
};
/// functional::tanh.
struct Tanh {
  Tensor operator()(const Input& x) const { return functional::tanh(*x); }  ///< hyperbolic tangent
};
/// functional::elu.
struct ELU {
  double alpha = 1;
  Tensor operator()(const Input& x) const { return functional::elu(*x, alpha); }  ///< x, or alpha (eˣ - 1)
};
/// functional::selu.
struct SELU {
  Tensor operator()(const Input& x) const { return functional::selu(*x); }  ///< elu times a constant
};
/// functional::celu.
struct CELU {
  double alpha = 1;
  Tensor operator()(const Input& x) const { return functional::celu(*x, alpha); }  ///< x, or alpha (e^(x / alpha) - 1)
};
/// functional::leaky_relu.
struct LeakyReLU {
  double negative_slope = 0.01;
  Tensor operator()(const Input& x) const { return functional::leaky_relu(*x, negative_slope); }  ///< x, or less of it
};
/// functional::prelu; weight[num_parameters].
class PReLU {
 public:
  explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25, std::source_location where = COTAN_HERE);
  Tensor operator()(const Input& x) const { return functional::prelu(*x, weight); }  ///< x, or weight x
  Parameter weight;
  COTAN_TREE(weight)
};
/// functional::hardtanh.
struct Hardtanh {
  double min_val = -1, max_val = 1;
  Tensor operator()(const Input& x) const { return functional::hardtanh(*x, min_val, max_val); }  ///< x between both
};
/// functional::hardswish.
struct Hardswish {
  Tensor operator()(const Input& x) const { return functional::hardswish(*x); }  ///< x relu6(x + 3) / 6
};
/// functional::hardsigmoid.
struct Hardsigmoid {
  Tensor operator()(const Input& x) const { return functional::hardsigmoid(*x); }  ///< relu6(x + 3) / 6
};
/// functional::softplus.
struct Softplus {
  double beta = 1, threshold = 20;
  Tensor operator()(const Input& x) const { return functional::softplus(*x, beta, threshold); }  ///< log(1 + eˣ)
};
/// functional::softsign.
struct Softsign {
  Tensor operator()(const Input& x) const { return functional::softsign(*x); }  ///< x / (1 + |x|)
};
/// functional::logsigmoid.
struct LogSigmoid {
  Tensor operator()(const Input& x) const { return functional::logsigmoid(*x); }  ///< log(sigmoid(x))
};
/// functional::glu.
struct GLU {
  int dim = -1;
  Tensor operator()(const Input& x) const {
    return functional::glu(*x, dim);
  }  ///< half of x times sigmoid of the other
};
/// functional::softmax.
struct Softmax {
  int dim = -1;
  Tensor operator()(const Input& x) const { return functional::softmax(*x, dim); }  ///< eˣ by its sum
};
/// functional::log_softmax.
struct LogSoftmax {
  int dim = -1;
  Tensor operator()(const Input& x) const { return functional::log_softmax(*x, dim); }  ///< the logarithm of softmax
};
/// functional::softmin.
struct Softmin {
  int dim = -1;
  Tensor operator()(const Input& x) const { return functional::softmin(*x, dim); }  ///< softmax of -x
};
}  // namespace cotan::torch::nn
