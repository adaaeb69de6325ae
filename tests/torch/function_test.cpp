// Functions with a derivative of their own, and checks of derivatives by differences.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>
#include <cotan/torch/function.hpp>

#include "support/expect_error.hpp"

namespace {

namespace np = cotan::numpy;
namespace torch = cotan::torch;
using torch::Tensor;
using torch::autograd::AutogradContext;
using Doubles = std::vector<double>;

struct Cube : torch::autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static std::vector<Tensor> backward(AutogradContext* ctx, std::vector<Tensor> grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * (3 * ctx->saved_data["scale"]) * x * x};
  }
};
struct Doubled : torch::autograd::Function<Doubled> {  // with a gradient that is not its own
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(AutogradContext*, std::vector<Tensor> grads) { return {grads[0] * 5}; }
};
struct Short : torch::autograd::Function<Short> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static std::vector<Tensor> backward(AutogradContext*, std::vector<Tensor>) { return {}; }
};

Tensor leaf(const Doubles& v) { return torch::from(cotan::Array::from_host(v), true); }
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchFunction, HasTheDerivativeThatItSays) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Doubled::apply(x * 1);
  EXPECT_EQ(host(y), (Doubles{2, 4}));
  torch::sum(y).backward();
  EXPECT_EQ(host(x.grad()), (Doubles{5, 5}));
}

TEST(TorchFunction, SavesTensorsAndNumbers) {
  const Tensor x = leaf({1, 2});
  torch::sum(Cube::apply(x, 2.0)).backward();
  EXPECT_EQ(host(x.grad()), (Doubles{6, 24}));
}

TEST(TorchFunction, IsDifferentiatedTwice) {
  const auto f = [](const std::vector<Tensor>& x) { return Cube::apply(x[0], 0.5); };
  EXPECT_TRUE(torch::autograd::gradcheck(f, {leaf({1, -2})}));
  EXPECT_TRUE(torch::autograd::gradgradcheck(f, {leaf({1, -2})}));
}

TEST(TorchFunction, ChecksVersionsOfWhatItSaves) {
  const Tensor x = leaf({1, 2});
  const Tensor a = x * 1;
  const Tensor y = torch::sum(Cube::apply(a, 1.0));
  torch::select(a, 0, 0).fill_(4);
  EXPECT_ERROR(ValueError, y.backward(), "written in place");
}

TEST(TorchFunction, AGradientForEachTensor) {
  const Tensor x = leaf({1, 2});
  torch::sum(Short::apply(x)).backward();
  EXPECT_ERROR(ValueError, host(x.grad()), "0 gradients for 1 tensors");
}

TEST(TorchGradcheck, FindsAWrongDerivative) {
  const auto wrong = [](const std::vector<Tensor>& x) { return Doubled::apply(x[0]); };
  EXPECT_ERROR(ValueError, torch::autograd::gradcheck(wrong, {leaf({1, 2})}), "differences say 2");
}

}  // namespace
