// Optimizers: memory, compilations, parameters without gradients, groups, states, what is refused.
#include <gtest/gtest.h>

#include "torch/optim_problem.hpp"

namespace {

using namespace torch_problem;
namespace optim = torch::optim;
using Params = std::vector<Tensor>;

void train(optim::Optimizer& opt, const Params& params, const Loss& loss, int steps) {
  for (int i = 0; i < steps; ++i) {
    opt.zero_grad();
    loss(params).backward();
    opt.step();
  }
}
std::vector<double> host(const Params& params) {
  std::vector<double> out;
  for (const Tensor& p : params)
    for (const double x : p.to_vector<double>()) out.push_back(x);
  return out;
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

TEST(TorchOptim, WeightsAndMomentsStayInPlace) {
  const Tensor w = torch::from(cotan::numpy::zeros({64, 64}), true), x = torch::ones({4, 64});
  optim::AdamW opt({w}, {.lr = 1e-2});
  const auto step = [&] {
    opt.zero_grad();
    torch::mean(torch::matmul(x, w) * torch::matmul(x, w) - torch::matmul(x, w)).backward();
    opt.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const auto place = [](const Tensor& t) { return t.array().unsafe_buffer_pointer(); };
  const Tensor mean = opt.state(w, "exp_avg"), square = opt.state(w, "exp_avg_sq");
  const void *of_w = place(w), *of_mean = place(mean), *of_square = place(square);
  opt.zero_grad();
  const auto live = cotan::memory_stats().live_bytes;
  for (int i = 0; i < 20; ++i) step();
  opt.zero_grad();
  EXPECT_EQ(place(w), of_w);
  EXPECT_EQ(place(mean), of_mean);
  EXPECT_EQ(place(square), of_square);
  EXPECT_EQ(cotan::memory_stats().live_bytes, live);
  EXPECT_EQ(opt.state(w, "step").item<int>(), 23);
}

TEST(TorchOptim, NumbersCompileNothing) {
  const Params params = start();
  const Loss loss;
  optim::AdamW opt(params, {.lr = 1e-2});
  train(opt, params, loss, 2);
  const auto before = torch::run_stats();
  for (int i = 0; i < 5; ++i) {
    opt.param_groups()[0]["lr"] = 1e-2 / (i + 2);
    opt.param_groups()[0]["beta1"] = 0.5 + 0.01 * i;
    opt.param_groups()[0]["weight_decay"] = 0.1 + i;
    train(opt, params, loss, 1);
  }
  const auto after = torch::run_stats();
  EXPECT_EQ(after.compilations, before.compilations);
  EXPECT_EQ(after.runs - before.runs, 5u);  // forward, backward and update are one program
}

TEST(TorchOptim, ParametersWithoutGradientsStay) {
  const Params params = start(), alone = start();
  optim::Adam both({params[0], params[2]}, {.lr = 0.1}), one({alone[0]}, {.lr = 0.1});
  const std::vector<double> before = host({params[2]});
  const auto backward = [](const Tensor& p) { torch::sum(p * p * p).backward(); };
  for (int i = 0; i < 3; ++i) {
    both.zero_grad();
    backward(params[0]);
    both.step();
  }
  EXPECT_EQ(host({params[2]}), before);
  EXPECT_FALSE(both.state(params[2], "exp_avg").defined());
  // One that comes later counts its own steps.
  both.zero_grad();
  backward(params[0]);
  backward(params[2]);
  both.step();
  EXPECT_EQ(both.state(params[0], "step").item<int>(), 4);
  EXPECT_EQ(both.state(params[2], "step").item<int>(), 1);
  for (int i = 0; i < 4; ++i) {
    one.zero_grad();
    backward(alone[0]);
    one.step();
  }
  EXPECT_EQ(host({params[0]}), host({alone[0]}));
}

TEST(TorchOptim, GroupsHaveOptionsOfTheirOwn) {
  const Params params = start(), first = start(), second = start();
  const Loss loss;
  optim::SGD grouped(
      std::vector<optim::Group<optim::SGDOptions>>{{{params[0]}, {.lr = 0.1}}, {{params[1], params[2]}, {.lr = 0.01}}});
  optim::SGD fast(first, {.lr = 0.1}), slow(second, {.lr = 0.01});
  train(grouped, params, loss, 1);
  train(fast, first, loss, 1);
  train(slow, second, loss, 1);
  EXPECT_EQ(host({params[0]}), host({first[0]}));
  EXPECT_EQ(host({params[1], params[2]}), host({second[1], second[2]}));
  EXPECT_EQ(grouped.param_groups().size(), 2u);
}

TEST(TorchOptim, StatesGoOnWhereTheyWere) {
  const Params params = start();
  const Loss loss;
  optim::AdamW opt(params, {.lr = 0.05, .amsgrad = true});
  train(opt, params, loss, 5);
  Params copies;
  for (const Tensor& p : params) copies.push_back(torch::from(p.array(), true));
  optim::AdamW other(copies, {.lr = 7});
  other.load_state_dict(opt.state_dict());
  EXPECT_EQ(other.param_groups()[0]["lr"], 0.05);
  train(opt, params, loss, 5);
  train(other, copies, loss, 5);
  EXPECT_EQ(host(params), host(copies));
  EXPECT_TRUE(opt.state_dict().state.contains("2.max_exp_avg_sq"));
}

TEST(TorchOptim, AClosureGivesTheLoss) {
  const Params params = start();
  const Loss loss;
  optim::SGD opt(params, {.lr = 0.05});
  const double before = loss(params).item();
  const Tensor value = opt.step([&] {
    opt.zero_grad();
    const Tensor l = loss(params);
    l.backward();
    return l;
  });
  EXPECT_EQ(value.item(), before);
  EXPECT_LT(loss(params).item(), before);
}

TEST(TorchOptim, ZerosInPlaceOfGradients) {
  const Params params = start();
  optim::SGD opt(params, {.lr = 0.05});
  Loss()(params).backward();
  opt.zero_grad(false);
  EXPECT_EQ(params[0].grad().to_vector<double>(), (std::vector<double>{0, 0, 0}));
  opt.zero_grad();
  EXPECT_FALSE(params[0].grad().defined());
}

TEST(TorchOptim, WhatIsRefused) {
  const Params params = start();
  EXPECT_NE(message([&] { optim::SGD(Params{}, {}); }).find("[SGD] got no parameters"), std::string::npos);
  EXPECT_NE(message([&] { optim::SGD({params[0] * 2}, {}); }).find("only leaves can be optimized"), std::string::npos);
  EXPECT_NE(message([&] { optim::Adam(params, {.lr = -1}); }).find("the option lr is -1"), std::string::npos);
  EXPECT_NE(message([&] { optim::SGD(params, {.nesterov = true}); }).find("nesterov needs momentum"),
            std::string::npos);
  EXPECT_NE(message([&] { optim::Muon(params, {}); }).find("[Muon] parameter 0 is f64[3], and no matrix"),
            std::string::npos);
  EXPECT_NE(message([&] { optim::SGD({params[0], params[0]}, {}); }).find("is there twice"), std::string::npos);
  optim::SGD opt(params, {});
  EXPECT_NE(message([&] { opt.param_groups()[0]["beta1"] = 1; }).find("has no option \"beta1\"; it has [dampening"),
            std::string::npos);
}

}  // namespace
