// The torch example of the README, which this program runs.
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>
#include <iostream>

// clang-format off
// [torch]
namespace torch = cotan::torch;

struct Mlp {                                                          // a module is a struct: nothing is registered
  torch::nn::Linear in{2, 64}, out{64, 1};
  torch::Tensor operator()(const torch::Tensor& x) const { return out(torch::tanh(in(x))); }
};

double train(const torch::Tensor& x, const torch::Tensor& y) {
  Mlp net;
  torch::optim::AdamW optimizer(torch::nn::parameters(net), {.lr = 1e-2});
  torch::Tensor loss;
  for (int step = 0; step < 500; ++step) {
    optimizer.zero_grad();
    loss = torch::nn::functional::mse_loss(net(x), y);
    loss.backward();
    optimizer.step();                                                 // forward, backward, update: one program
  }
  return loss.item();
}
// [/torch]
// clang-format on

int main() {
  torch::manual_seed(0);
  const torch::Tensor x = torch::rand({256, 2}) * 2 - 1;
  const torch::Tensor y = torch::sin(torch::sum(x * x, {1}, true) * 3);
  const double loss = train(x, y);
  std::cout << "loss " << loss << "\n";
  return loss < 0.05 ? 0 : 1;
}
