// How long what is recorded lives, where it fails, threads, and functions of cotan's that tensors are used in.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>
#include <thread>

#include "support/nightly.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace torch = cotan::torch;
using torch::Tensor;
using Doubles = std::vector<double>;

Tensor leaf(const Doubles& v) { return torch::from(ct::Array::from_host(v), true); }
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchLifetimes, MemoryIsFlatOverSteps) {
  const Tensor w = torch::from(np::zeros({64, 64}), true);
  const Tensor x = torch::ones({4, 64});
  const auto step = [&] {
    w.set_grad({});
    const Tensor y = torch::matmul(x, w);
    torch::mean(y * y - y).backward();
    const torch::no_grad off;
    w.copy_(w - w.grad() * 0.1);
    torch::mark_step();
  };
  for (int i = 0; i < 5; ++i) step();
  const auto live = ct::memory_stats().live_bytes;
  for (int i = 0; i < (is_nightly() ? 10000 : 300); ++i) step();
  EXPECT_EQ(ct::memory_stats().live_bytes, live);
}

TEST(TorchLifetimes, AStateThatIsWrittenWithoutGradientsKeepsOneHistory) {
  const Tensor p = leaf({1, 2, 3});
  const Tensor state = p * 2;
  for (int i = 0; i < 50; ++i) {
    const torch::no_grad off;
    state.copy_(state + 1);
    torch::mark_step();
  }
  torch::sum(state).backward();
  EXPECT_EQ(host(state), (Doubles{52, 54, 56}));
  EXPECT_EQ(host(p.grad()), (Doubles{2, 2, 2}));
}

TEST(TorchLifetimes, LongLoopsRunInPieces) {
  const auto before = torch::run_stats();
  Tensor x = leaf({0, 1}).detach();
  for (int i = 0; i < 20000; ++i) x = x + 1;
  EXPECT_EQ(host(x), (Doubles{20000, 20001}));
  const auto after = torch::run_stats();
  EXPECT_GE(after.runs - before.runs, 3u);
  EXPECT_LE(after.compilations - before.compilations, 4u);
}

TEST(TorchLifetimes, AGradientThatNobodyReadFreesNothingThatIsNeeded) {
  const Tensor p = leaf({1, 2, 3});
  const Tensor y = torch::exp(p);
  {
    const Tensor unread = torch::autograd::grad(torch::sum(y), p);
  }
  EXPECT_NEAR(host(y)[0], std::exp(1.0), 1e-12);
  const Tensor z = torch::exp(p);
  const Tensor first = torch::autograd::grad(torch::sum(z), p, {.retain_graph = true});
  torch::sum(z).backward();
  EXPECT_NEAR(host(p.grad())[1], std::exp(2.0), 1e-12);
  EXPECT_NEAR(host(first)[1], std::exp(2.0), 1e-12);
}

bool fails = false;

TEST(TorchLifetimes, AFailedRunLeavesTensorsAsTheyWere) {
  static const auto op = torch::detail::define("fails_at_times", {}, [](const ct::Array& a) {
    if (fails) throw ct::ValueError("[test] out of memory");
    return a * 2.0;
  });
  const Tensor a = leaf({1, 2, 3}).detach();
  const Tensor b = a + 1;
  const Tensor c = op(b);
  a.fill_(7);
  fails = true;
  EXPECT_THROW(host(c), ct::ValueError);
  EXPECT_EQ(host(a), (Doubles{7, 7, 7}));
  fails = false;
  EXPECT_EQ(host(c), (Doubles{4, 6, 8}));
  EXPECT_EQ(host(b), (Doubles{2, 3, 4}));
}

TEST(TorchLifetimes, ThreadsRecordAndRunAtTheSameTime) {
  std::vector<double> results(3);
  const auto work = [&](std::size_t id) {
    const Tensor w = leaf({1.0 + static_cast<double>(id), 2});
    for (int i = 0; i < 30; ++i) {
      w.set_grad({});
      torch::sum(w * w).backward();
      const torch::no_grad off;
      w.copy_(w - w.grad() * 0.25);
      if (i % 3 == 0) torch::mark_step();
      if (i % 7 == 0) static_cast<void>(host(w));
    }
    results[id] = host(w)[0];
  };
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < results.size(); ++id) threads.emplace_back(work, id);
  for (auto& t : threads) t.join();
  for (std::size_t id = 0; id < results.size(); ++id)
    EXPECT_NEAR(results[id], (1.0 + static_cast<double>(id)) * std::pow(0.5, 30), 1e-12);
}

TEST(TorchLifetimes, ATensorOutlivesItsThread) {
  Tensor made;
  std::thread([&] { made = leaf({1, 2}) * 3; }).join();
  EXPECT_EQ(host(made), (Doubles{3, 6}));
}

TEST(TorchLifetimes, FunctionsOfCotanSeeThroughTensors) {
  const Tensor outside = leaf({1, 2, 3}).detach() * 2;  // not computed yet
  const auto f = [&](const ct::Array& x) {
    const Tensor t = torch::from(x);
    const Tensor y = t * t * outside;
    torch::mark_step();
    return torch::sum(y).array();
  };
  const ct::Array x = np::array({1., 2., 3.});
  EXPECT_EQ(ct::jit(f)(x).item<double>(), 72);
  EXPECT_EQ(ct::grad(f)(x).to_vector<double>(), (Doubles{4, 16, 36}));
  EXPECT_EQ(host(outside), (Doubles{2, 4, 6}));
  const auto row = [](const ct::Array& r) { return torch::sum(torch::from(r) * 2).array(); };
  EXPECT_EQ(ct::vmap(row)(np::array({{1., 2.}, {3., 4.}})).to_vector<double>(), (Doubles{6, 14}));
  torch::mark_step();
}

TEST(TorchLifetimes, GradientsInsideAFunctionOfCotan) {
  const auto f = [](const ct::Array& x) {
    const Tensor t = torch::from(x, true);
    const Tensor y = torch::sum(t * t * t);
    const Tensor g = torch::autograd::grad(y, t, {.create_graph = true});
    return (torch::sum(g) + y).array();  // 3 x² + x³
  };
  const ct::Array x = np::array({1., 2.});
  EXPECT_EQ(f(x).item<double>(), 24);
  EXPECT_EQ(ct::jit(f)(x).item<double>(), 24);
  EXPECT_EQ(ct::grad(f)(x).to_vector<double>(), (Doubles{9, 24}));
}

TEST(TorchLifetimes, EmptyAndScalarTensors) {
  const Tensor none = torch::from(np::zeros({0, 3}), true);
  torch::sum(none * 2).backward();
  EXPECT_EQ(none.grad().sizes(), (ct::Shape{0, 3}));
  const Tensor one = torch::from(ct::Array(2.0), true);
  (one * one).backward();
  EXPECT_EQ(one.grad().item(), 4);
  EXPECT_TRUE(std::isnan(torch::sum(leaf({NAN, 1})).item()));
}

}  // namespace
