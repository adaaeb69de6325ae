// The engine under torch: what is recorded, when it runs, what is compiled again, and what derivatives see of writes.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
namespace np = cotan::numpy;
using torch::Tensor;
using Doubles = std::vector<double>;

Tensor leaf(const Doubles& v) { return torch::from(cotan::Array::from_host(v), true); }
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchEngine, GradientsOfAChain) {
  const Tensor a = torch::from(np::array({{1., 2.}, {3., 4.}}));
  const Tensor w = torch::from(np::array({{1., 0.5}, {-1., 2.}}), true);
  const Tensor y = torch::sum(torch::relu(torch::matmul(a, w)) * 2.0);
  y.backward();
  EXPECT_EQ(y.item(), 28);
  EXPECT_EQ(host(w.grad()), (Doubles{0, 8, 0, 12}));
}

TEST(TorchEngine, ViewsShareElements) {
  const Tensor b = torch::zeros({3, 4});
  const Tensor row = torch::select(b, 0, 1);
  row.fill_(3);
  torch::slice(b, 1, 1, 3).copy_(torch::ones({3, 2}) * 7);
  EXPECT_EQ(host(b), (Doubles{0, 7, 7, 0, 3, 7, 7, 3, 0, 7, 7, 0}));
  EXPECT_EQ(host(row), (Doubles{3, 7, 7, 3}));
}

TEST(TorchEngine, GradientsSeeWrites) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor z = x * 2;
  torch::select(z, 0, 0).copy_(torch::select(x, 0, 2) * 5);
  torch::sum(z * z).backward();
  EXPECT_EQ(host(x.grad()), (Doubles{0, 16, 174}));
}

TEST(TorchEngine, SecondDerivatives) {
  const Tensor u = leaf({1, 2, 3});
  const Tensor g = torch::autograd::grad(torch::sum(u * u * u), u, {.create_graph = true});
  const Tensor gg = torch::autograd::grad(torch::sum(g), u);
  EXPECT_EQ(host(g), (Doubles{3, 12, 27}));
  EXPECT_EQ(host(gg), (Doubles{6, 12, 18}));
}

TEST(TorchEngine, AWriteToWhatWasKeptNamesBothLines) {
  const Tensor p = leaf({1, 2, 3});
  const Tensor r = torch::exp(p);
  const Tensor s = torch::sum(r * 2);
  torch::select(r, 0, 1).fill_(1);
  try {
    s.backward();
    FAIL() << "nothing was raised";
  } catch (const cotan::ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("exp at " __FILE__ ":53 keeps its result"), text.npos) << text;
    EXPECT_NE(text.find("written in place at " __FILE__ ":55"), text.npos) << text;
  }
}

TEST(TorchEngine, ASecondBackwardNeedsRetainGraph) {
  const Tensor p = leaf({1, 2, 3});
  const Tensor s = torch::sum(torch::exp(p));
  s.backward({}, true);
  s.backward();
  EXPECT_THROW(s.backward(), cotan::ValueError);
  EXPECT_NEAR(host(p.grad())[0], 2 * std::exp(1.0), 1e-12);
}

TEST(TorchEngine, TheSameStepIsCompiledOnce) {
  const Tensor w = torch::from(np::zeros({8, 8}), true);
  const Tensor x = torch::randn({4, 8});
  const auto before = torch::run_stats();
  for (int i = 0; i < 10; ++i) {
    w.set_grad({});
    const Tensor loss = torch::mean(torch::matmul(x, w) * torch::matmul(x, w) - torch::matmul(x, w));
    loss.backward();
    {
      const torch::no_grad off;
      w.copy_(w - w.grad() * (0.1 / (i + 1)));  // another number each time
    }
    torch::mark_step();
  }
  const auto after = torch::run_stats();
  EXPECT_EQ(after.runs - before.runs, 10u);
  EXPECT_LE(after.compilations - before.compilations, 2u);  // the first one draws x too
}

TEST(TorchEngine, UpdatesAreInPlace) {
  const Tensor w = torch::from(np::zeros({256, 256}), true);
  const Tensor x = torch::ones({4, 256});
  const auto step = [&] {
    w.set_grad({});
    torch::mean(torch::matmul(x, w) * torch::matmul(x, w) - torch::matmul(x, w)).backward();
    const torch::no_grad off;
    w.copy_(w - w.grad() * 0.1);
    torch::mark_step();
  };
  for (int i = 0; i < 3; ++i) step();
  w.set_grad({});
  const auto live = cotan::memory_stats().live_bytes;
  const void* place = w.array().unsafe_buffer_pointer();
  for (int i = 0; i < 10; ++i) step();
  w.set_grad({});
  EXPECT_EQ(w.array().unsafe_buffer_pointer(), place);
  EXPECT_EQ(cotan::memory_stats().live_bytes, live);
}

TEST(TorchEngine, WhatNobodyReadsIsNotComputed) {
  const auto before = torch::run_stats();
  {
    Tensor x = torch::ones({16});
    for (int i = 0; i < 100; ++i) x = x * 1.5;
  }
  torch::mark_step();
  EXPECT_EQ(torch::run_stats().runs, before.runs);
}

TEST(TorchEngine, LongChainsEnd) {
  Tensor x = torch::ones({2});
  for (int i = 0; i < 200000; ++i) x = x + 1;
  x = Tensor();
}

}  // namespace
