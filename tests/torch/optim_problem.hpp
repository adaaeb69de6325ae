// The problem of the trajectories, as in tools/golden/torch_optim.py.
#pragma once
#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>
#include <vector>

namespace torch_problem {

namespace torch = cotan::torch;
using torch::Tensor;

/// Numbers f(0), f(1), … in tensors "bias", "conv" and "weight".
template <class F>
std::vector<Tensor> numbers(F f, bool requires_grad = false, torch::DType dtype = torch::float64) {
  std::vector<Tensor> out;
  int at = 0;
  for (const torch::Shape& shape : {torch::Shape{3}, torch::Shape{2, 2, 3}, torch::Shape{4, 3}}) {
    std::int64_t n = 1;
    for (const auto d : shape) n *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(f(at++));
    out.push_back(torch::from(cotan::Array::from_host(values, shape).astype(dtype), requires_grad));
  }
  return out;
}
inline std::vector<Tensor> start(torch::DType dtype = torch::float64) {
  return numbers([](int i) { return std::cos(0.7 * i); }, true, dtype);
}
/// The loss as a function of the three parameters.
class Loss {
 public:
  explicit Loss(torch::DType dtype = torch::float64)
      : target_(numbers([](int i) { return std::sin(1.3 * i + 0.5); }, false, dtype)),
        weight_(numbers([](int i) { return 1 + 0.5 * std::cos(2.0 * i); }, false, dtype)) {}
  Tensor operator()(const std::vector<Tensor>& params) const {
    Tensor out, total;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Tensor& p = params[i];
      const Tensor off = p - target_[i];
      const Tensor here = torch::sum(0.5 * weight_[i] * off * off + 0.1 * torch::exp(-1.0 * p * p));
      out = i == 0 ? here : out + here;
      total = i == 0 ? torch::sum(p) : total + torch::sum(p);
    }
    return out + 0.01 * total * total;
  }

 private:
  std::vector<Tensor> target_, weight_;
};

}  // namespace torch_problem
