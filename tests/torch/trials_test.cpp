// What newcomers who ported programs of PyTorch's met, by what they wrote.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
using torch::Tensor;
using Doubles = std::vector<double>;

Tensor leaf(std::initializer_list<double> v) { return torch::from(cotan::Array::from_host(Doubles(v)), true); }
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchTrials, PenaltiesOnGradientsReachWeightsThatWereNotAskedFor) {
  const Tensor w = leaf({2, 3}), x = leaf({0.5, 0.75});
  const Tensor g = torch::autograd::grad(torch::sum(w * x), x, {.create_graph = true});
  torch::sum(g * g).backward();
  EXPECT_EQ(host(w.grad()), (Doubles{4, 6}));
}

TEST(TorchTrials, PenaltiesOnGradientsAddToTheLossTheyAreOf) {
  const Tensor w = leaf({1, 2}), b = leaf({0.5});
  const Tensor y = torch::sigmoid(w * b);
  const Tensor g = torch::autograd::grad(torch::sum(y), w, {.create_graph = true});
  (torch::sum(g * g) + torch::sum(y)).backward();
  const Doubles of_w = host(w.grad());  // PyTorch's numbers
  EXPECT_NEAR(of_w[0], 0.11412, 1e-5);
  EXPECT_NEAR(of_w[1], 0.09384, 1e-5);
  EXPECT_NEAR(host(b.grad())[0], 0.697484, 1e-6);
}

TEST(TorchTrials, ValuesAreThereAfterGradientsWereDroppedUnread) {
  const Tensor w = leaf({2, 3});
  const Tensor y = torch::sum(w * w);
  y.backward();
  w.set_grad({});
  EXPECT_EQ(y.item(), 13);
}

TEST(TorchTrials, DescentWrittenByHandIsCompiledOnce) {
  const Tensor data = torch::randn({64, 4}), w = torch::randn({4, 2}, {.requires_grad = true});
  const auto before = torch::run_stats();
  for (int i = 0; i < 20; ++i) {
    const Tensor loss = torch::mean(torch::square(torch::matmul(data, w)));
    loss.backward();
    {
      const torch::no_grad off;
      w.sub_(w.grad() * 0.01);
      w.set_grad({});
    }
    loss.item();
  }
  EXPECT_LE(torch::run_stats().compilations - before.compilations, 4u);
}

TEST(TorchTrials, AListOfOneInputGivesAListOfOneGradient) {
  const Tensor x = leaf({1, 2});
  const auto g = torch::autograd::grad(torch::sum(x * x), {x});
  static_assert(std::is_same_v<decltype(g), const std::vector<Tensor>>);
  EXPECT_EQ(host(g[0]), (Doubles{2, 4}));
}

}  // namespace
