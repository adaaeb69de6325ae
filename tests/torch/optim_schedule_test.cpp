// Learning rates against PyTorch's, gradients that are cut, averages of parameters.
#include <gtest/gtest.h>

#include <cotan/io.hpp>
#include <map>

#include "torch/optim_problem.hpp"

namespace {

using namespace torch_problem;
namespace optim = torch::optim;
namespace schedules = torch::optim::lr_scheduler;
using Doubles = std::vector<double>;
using Made = std::unique_ptr<schedules::LRScheduler>;

Doubles golden(const std::string& name) {
  return cotan::load_npz(COTAN_SOURCE_DIR "/tests/golden/torch_optim.npz").at("schedule/" + name).to_vector<double>();
}
Tensor parameter(const Doubles& v) { return torch::from(cotan::Array::from_host(v), true); }
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

template <class S, class... A>
Made make(optim::Optimizer& o, A... a) {
  return std::make_unique<S>(o, a...);
}
const std::map<std::string, Made (*)(optim::Optimizer&)>& cases() {
  using namespace schedules;
  using O = optim::Optimizer;
  static const std::map<std::string, Made (*)(O&)> all{
      {"step", [](O& o) { return make<StepLR>(o, 7, 0.5); }},
      {"multistep", [](O& o) -> Made { return make<MultiStepLR>(o, std::vector<std::int64_t>{3, 10, 10, 20}, 0.3); }},
      {"exponential", [](O& o) { return make<ExponentialLR>(o, 0.9); }},
      {"cosine", [](O& o) { return make<CosineAnnealingLR>(o, 12, 0.01); }},
      {"restarts", [](O& o) { return make<CosineAnnealingWarmRestarts>(o, 5, 2, 0.01); }},
      {"linear", [](O& o) { return make<LinearLR>(o, 0.25, 1.0, 8); }},
      {"constant", [](O& o) { return make<ConstantLR>(o, 0.5, 6); }},
      {"polynomial", [](O& o) { return make<PolynomialLR>(o, 20, 2.0); }},
      {"onecycle", [](O& o) { return make<OneCycleLR>(o, OneCycleOptions{.max_lr = 0.8, .total_steps = 30}); }},
      {"onecycle_linear",
       [](O& o) {
         return make<OneCycleLR>(
             o,
             OneCycleOptions{
                 .max_lr = 0.8, .total_steps = 30, .pct_start = 0.4, .anneal_strategy = "linear", .three_phase = true});
       }},
      {"lambda",
       [](O& o) { return make<LambdaLR>(o, [](std::int64_t n) { return 1.0 / static_cast<double>(1 + n); }); }},
      {"sequential",
       [](O& o) -> Made {
         return std::make_unique<SequentialLR>(
             o, std::vector<LRScheduler>{LinearLR(o, 0.1, 1.0, 5), ExponentialLR(o, 0.9)},
             std::vector<std::int64_t>{5});
       }},
  };
  return all;
}

TEST(TorchSchedules, AreAsInPyTorch) {
  for (const auto& [name, f] : cases()) {
    SCOPED_TRACE(name);
    const Doubles want = golden(name);  // rate and momentum of 30 steps
    optim::SGD opt({parameter({0})}, {.lr = 0.4, .momentum = 0.9});
    const Made scheduler = f(opt);
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_NEAR(opt.param_groups()[0]["lr"], want[2 * i], 1e-12) << "step " << i;
      EXPECT_NEAR(opt.param_groups()[0]["momentum"], want[2 * i + 1], 1e-12) << "step " << i;
      if (i < 29) scheduler->step();
    }
    EXPECT_EQ(scheduler->last_epoch(), 29);
  }
}

TEST(TorchSchedules, PlateausAreAsInPyTorch) {
  const Doubles want = golden("plateau");
  optim::SGD opt({parameter({0})}, {.lr = 0.4});
  schedules::ReduceLROnPlateau scheduler(
      opt, {.factor = 0.5, .patience = 2, .threshold = 1e-2, .cooldown = 1, .min_lr = 0.03});
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(opt.param_groups()[0]["lr"], want[i], 1e-12) << "step " << i;
    const auto n = static_cast<double>(i);
    scheduler.step(std::exp(-0.5 * n) + 0.02 * std::sin(n));
  }
}

TEST(TorchSchedules, AScheduleCompilesNothing) {
  const Tensor w = parameter({1, 2, 3});
  optim::SGD opt({w}, {.lr = 0.1, .momentum = 0.9});
  schedules::CosineAnnealingLR scheduler(opt, 10);
  const auto step = [&] {
    opt.zero_grad();
    torch::sum(w * w).backward();
    opt.step();
    scheduler.step();
  };
  step();
  step();
  const auto before = torch::run_stats();
  for (int i = 0; i < 7; ++i) step();
  EXPECT_EQ(torch::run_stats().compilations, before.compilations);
}

TEST(TorchSchedules, GoOnWhereTheyWere) {
  optim::SGD opt({parameter({0})}, {.lr = 0.4});
  schedules::StepLR a(opt, 2, 0.5);
  for (int i = 0; i < 5; ++i) a.step();
  optim::SGD other({parameter({0})}, {.lr = 0.4});
  schedules::StepLR b(other, 2, 0.5);
  b.load_state_dict(a.state_dict());
  EXPECT_EQ(b.get_last_lr(), a.get_last_lr());
}

TEST(TorchClipping, NormsAreThoseOfAllTogether) {
  const Tensor a = parameter({0, 0}), b = parameter({0, 0});
  const auto set = [&] {
    a.set_grad(torch::from(cotan::Array::from_host(Doubles{3, 0})));
    b.set_grad(torch::from(cotan::Array::from_host(Doubles{0, -4})));
  };
  set();
  EXPECT_EQ(torch::nn::utils::clip_grad_norm_({a, b}, 1.0).item(), 5);
  EXPECT_NEAR(host(a.grad())[0], 3 / (5 + 1e-6), 1e-12);
  EXPECT_NEAR(host(b.grad())[1], -4 / (5 + 1e-6), 1e-12);
  set();
  EXPECT_EQ(torch::nn::utils::clip_grad_norm_({a, b}, 10.0).item(), 5);
  EXPECT_EQ(host(b.grad())[1], -4);
  EXPECT_EQ(torch::nn::utils::clip_grad_norm_({a, b}, 10.0, std::numeric_limits<double>::infinity()).item(), 4);
  EXPECT_EQ(torch::nn::utils::clip_grad_norm_({a, b}, 10.0, 1).item(), 7);
  EXPECT_NEAR(torch::nn::utils::get_total_norm({a.grad(), b.grad()}, 3).item(), std::cbrt(91.0), 1e-12);
  torch::nn::utils::clip_grad_value_({a, b}, 3.5);
  EXPECT_EQ(host(b.grad())[1], -3.5);
  EXPECT_EQ(host(a.grad())[0], 3);
}

TEST(TorchClipping, IsPartOfTheStep) {
  const Tensor w = parameter({1, 2, 3});
  optim::SGD opt({w}, {.lr = 0.1});
  const auto before = torch::run_stats().runs;
  torch::sum(w * w).backward();
  const Tensor norm = torch::nn::utils::clip_grad_norm_({w}, 1.0);
  opt.step();
  EXPECT_EQ(torch::run_stats().runs - before, 1u);
  EXPECT_NEAR(norm.item(), std::sqrt(4.0 + 16 + 36), 1e-12);
}

TEST(TorchAverages, AreMeansOrForget) {
  const Tensor w = parameter({0});
  optim::swa_utils::AveragedModel mean({w}), ema({w}, {.ema_decay = 0.75});
  double all = 0, decayed = 1;
  for (int i = 1; i <= 4; ++i) {
    const torch::no_grad off;
    w.copy_(torch::full({1}, i * i, {.dtype = torch::float64}));
    mean.update_parameters({w});
    ema.update_parameters({w});
    torch::mark_step();
    all += i * i;
    decayed = i == 1 ? 1 : 0.75 * decayed + 0.25 * i * i;
  }
  EXPECT_NEAR(host(mean.parameters()[0])[0], all / 4, 1e-12);
  EXPECT_NEAR(host(ema.parameters()[0])[0], decayed, 1e-12);
  EXPECT_EQ(mean.n_averaged(), 4);
}

}  // namespace
