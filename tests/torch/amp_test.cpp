// Mixed precision against PyTorch's on the CPU (tests/golden/torch_amp.npz).
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/io.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
namespace amp = torch::amp;
namespace optim = torch::optim;
using torch::Tensor;
using Doubles = std::vector<double>;

Doubles golden(const std::string& name) {
  return cotan::load_npz(COTAN_SOURCE_DIR "/tests/golden/torch_amp.npz").at(name).to_vector<double>();
}
template <class F>
Tensor grid(const torch::Shape& shape, F f, bool requires_grad = false) {
  Doubles values;
  std::int64_t n = 1;
  for (const auto d : shape) n *= d;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(f(static_cast<double>(i)));
  return torch::from(cotan::Array::from_host(values, shape).astype(torch::float32), requires_grad);
}
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const cotan::Error& e) {
    return e.what();
  }
  return "nothing was raised";
}

TEST(TorchAmp, StepsWithInfinitiesAreLeftOut) {
  const Doubles scales = golden("scaler/scale"), weights = golden("scaler/weights"), steps = golden("scaler/steps");
  const Tensor w = grid({4}, [](double i) { return std::cos(i); }, true);
  const Tensor x = grid({4}, [](double i) { return std::sin(1 + i); });
  optim::AdamW opt({w}, {.lr = 0.1});
  amp::GradScaler scaler({.init_scale = 1024, .growth_interval = 3});
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const auto before = torch::run_stats().runs;
    opt.zero_grad();
    const double factor = i == 2 || i == 3 || i == 9 ? INFINITY : 1.0;
    const Tensor loss = torch::sum(w * w * x) * factor;
    scaler.scale(loss).backward();
    if (i % 2 == 1) {
      scaler.unscale_(opt);
      torch::nn::utils::clip_grad_norm_({w}, 0.5);
    }
    scaler.step(opt);
    scaler.update();
    runs += torch::run_stats().runs - before;
    EXPECT_EQ(scaler.get_scale(), scales[i]) << "step " << i;
    EXPECT_EQ(opt.state(w, "step").item(), steps[i]) << "step " << i;
    const Doubles have = w.to_vector<double>();
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(have[k], weights[4 * i + k], 1e-6) << "step " << i;
  }
  EXPECT_EQ(runs, 12u);  // one program each, whatever was found
}

TEST(TorchAmp, NothingIsReadOrCompiledForAnInfinity) {
  const Tensor w = grid({4}, [](double i) { return std::cos(i); }, true);
  optim::SGD opt({w}, {.lr = 0.1});
  amp::GradScaler scaler;
  const auto step = [&](double factor) {
    opt.zero_grad();
    scaler.scale(torch::sum(w * w) * factor).backward();
    scaler.step(opt);
    scaler.update();
  };
  for (int i = 0; i < 3; ++i) step(1);
  const auto before = torch::run_stats();
  step(INFINITY);
  step(1);
  step(NAN);
  EXPECT_EQ(torch::run_stats().compilations, before.compilations);
  EXPECT_EQ(torch::run_stats().runs - before.runs, 3u);
}

TEST(TorchAmp, ScalesGoOnWhereTheyWere) {
  amp::GradScaler a({.init_scale = 64}), b;
  const Tensor w = grid({2}, [](double) { return 1.0; }, true);
  optim::SGD opt({w}, {});
  a.scale(torch::sum(w)).backward();
  a.step(opt);
  a.update();
  const auto dict = a.state_dict();
  EXPECT_EQ(dict.at("scale"), 64);
  EXPECT_EQ(dict.at("_growth_tracker"), 1);
  b.load_state_dict(dict);
  EXPECT_EQ(b.state_dict(), dict);
}

TEST(TorchAmp, WhatScalersRefuse) {
  const Tensor w = grid({2}, [](double) { return 1.0; }, true);
  optim::SGD opt({w}, {});
  amp::GradScaler scaler, off({.enabled = false});
  EXPECT_NE(message([&] { scaler.step(opt); }).find("no parameter of the optimizer has a gradient"), std::string::npos);
  EXPECT_NE(message([&] { scaler.update(); }).find("[update] no optimizer took a step"), std::string::npos);
  scaler.scale(torch::sum(w)).backward();
  scaler.step(opt);
  EXPECT_NE(message([&] { scaler.step(opt); }).find("step() was called since the last update()"), std::string::npos);
  EXPECT_NE(message([&] { scaler.unscale_(opt); }).find("were unscaled since"), std::string::npos);
  scaler.update();
  EXPECT_EQ(off.scale(w).is_same(w), true);
  EXPECT_EQ(off.get_scale(), 1);
}

TEST(TorchAutocast, NestsAndEnds) {
  EXPECT_FALSE(torch::is_autocast_enabled());
  {
    const torch::autocast outer(torch::bfloat16);
    EXPECT_EQ(torch::get_autocast_dtype(), torch::bfloat16);
    {
      const torch::autocast inner({.enabled = false});
      EXPECT_FALSE(torch::is_autocast_enabled());
    }
    {
      const torch::autocast inner(torch::float16);
      EXPECT_EQ(torch::get_autocast_dtype(), torch::float16);
    }
    EXPECT_EQ(torch::get_autocast_dtype(), torch::bfloat16);
  }
  EXPECT_FALSE(torch::is_autocast_enabled());
  EXPECT_NE(message([] { torch::autocast guard(torch::float32); }).find("f32 is no lower precision"),
            std::string::npos);
}

void train(const std::string& name, torch::DType dtype, double tolerance) {
  const Doubles want = golden("autocast/" + name + "/losses");
  const Tensor a = grid({16, 32}, [](double i) { return 0.3 * std::cos(0.7 * i); }, true);
  const Tensor b = grid({32, 4}, [](double i) { return 0.3 * std::sin(1.1 * i); }, true);
  const Tensor x = grid({8, 16}, [](double i) { return std::sin(0.3 * i); });
  const Tensor y = grid({8, 4}, [](double i) { return std::cos(0.9 * i); });
  optim::AdamW opt({a, b}, {.lr = 0.01});
  for (std::size_t i = 0; i < 10; ++i) {
    opt.zero_grad();
    Tensor loss;
    {
      const torch::autocast guard(dtype);
      const Tensor h = torch::relu(torch::matmul(x, a)), out = torch::matmul(h, b), off = out - y;
      loss = torch::mean(off * off);
      EXPECT_EQ(h.dtype(), dtype);
      EXPECT_EQ(out.dtype(), dtype);
      EXPECT_EQ(off.dtype(), torch::float32);
      EXPECT_EQ(loss.dtype(), torch::float32);
    }
    loss.backward();
    EXPECT_EQ(a.grad().dtype(), torch::float32);
    opt.step();
    EXPECT_NEAR(loss.item(), want[i], tolerance * want[i]) << "step " << i;
  }
}
// Between f32 and bf16 PyTorch's own losses differ by 2.7e-3, between f32 and f16 by 5.0e-3.
TEST(TorchAutocast, TrainsInBf16) { train("bf16", torch::bfloat16, 1e-3); }
TEST(TorchAutocast, TrainsInF16) { train("f16", torch::float16, 1e-3); }

}  // namespace
