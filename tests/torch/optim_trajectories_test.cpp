// 50 steps of every optimizer in f64 against PyTorch's (tests/golden/torch_optim.npz).
#include <gtest/gtest.h>

#include <cotan/io.hpp>
#include <functional>
#include <map>
#include <memory>

#include "torch/optim_problem.hpp"

namespace {

using namespace torch_problem;
namespace optim = torch::optim;
using Params = std::vector<Tensor>;
using Made = std::unique_ptr<optim::Optimizer>;
using Make = std::function<Made(const Params&)>;

const std::map<std::string, std::vector<double>>& golden() {
  static const auto all = [] {
    std::map<std::string, std::vector<double>> out;
    for (const auto& [name, array] : cotan::load_npz(COTAN_SOURCE_DIR "/tests/golden/torch_optim.npz"))
      out[name] = array.to_vector<double>();
    return out;
  }();
  return all;
}

template <class O, class... A>
Made make(const Params& p, const A&... a) {
  return std::make_unique<O>(p, a...);
}

const std::map<std::string, Make>& cases() {
  using namespace optim;
  static const std::map<std::string, Make> all{
      {"sgd/plain", [](const Params& p) { return make<SGD>(p, SGDOptions{.lr = 0.05}); }},
      {"sgd/momentum",
       [](const Params& p) { return make<SGD>(p, SGDOptions{.lr = 0.02, .momentum = 0.9, .weight_decay = 0.1}); }},
      {"sgd/dampening",
       [](const Params& p) { return make<SGD>(p, SGDOptions{.lr = 0.05, .momentum = 0.8, .dampening = 0.3}); }},
      {"sgd/nesterov",
       [](const Params& p) { return make<SGD>(p, SGDOptions{.lr = 0.02, .momentum = 0.9, .nesterov = true}); }},
      {"sgd/maximize",
       [](const Params& p) { return make<SGD>(p, SGDOptions{.lr = 0.002, .momentum = 0.5, .maximize = true}); }},
      {"adam/plain", [](const Params& p) { return make<Adam>(p, AdamOptions{.lr = 0.05}); }},
      {"adam/decay",
       [](const Params& p) {
         return make<Adam>(p, AdamOptions{.lr = 0.05, .betas = {0.8, 0.95}, .eps = 1e-3, .weight_decay = 0.1});
       }},
      {"adam/amsgrad",
       [](const Params& p) {
         return make<Adam>(p, AdamOptions{.lr = 0.05, .betas = {0.8, 0.9}, .eps = 1e-2, .amsgrad = true});
       }},
      {"adam/maximize", [](const Params& p) { return make<Adam>(p, AdamOptions{.lr = 0.01, .maximize = true}); }},
      {"adamw/plain", [](const Params& p) { return make<AdamW>(p, AdamWOptions{.lr = 0.05}); }},
      {"adamw/options",
       [](const Params& p) {
         return make<AdamW>(
             p, AdamWOptions{.lr = 0.05, .betas = {0.7, 0.9}, .eps = 1e-3, .weight_decay = 0.3, .amsgrad = true});
       }},
      {"nadam/plain", [](const Params& p) { return make<NAdam>(p, NAdamOptions{.lr = 0.05}); }},
      {"nadam/decoupled",
       [](const Params& p) {
         return make<NAdam>(
             p, NAdamOptions{.lr = 0.05, .weight_decay = 0.1, .momentum_decay = 0.01, .decoupled_weight_decay = true});
       }},
      {"radam/plain", [](const Params& p) { return make<RAdam>(p, RAdamOptions{.lr = 0.05, .eps = 1e-3}); }},
      {"radam/decay",
       [](const Params& p) {
         return make<RAdam>(p, RAdamOptions{.lr = 0.05, .betas = {0.8, 0.9}, .weight_decay = 0.1});
       }},
      {"adamax/plain", [](const Params& p) { return make<Adamax>(p, AdamaxOptions{.lr = 0.05, .weight_decay = 0.1}); }},
      {"adagrad/plain", [](const Params& p) { return make<Adagrad>(p, AdagradOptions{.lr = 0.1}); }},
      {"adagrad/options",
       [](const Params& p) {
         return make<Adagrad>(
             p, AdagradOptions{
                    .lr = 0.1, .lr_decay = 0.05, .weight_decay = 0.1, .initial_accumulator_value = 0.2, .eps = 1e-3});
       }},
      {"rmsprop/plain", [](const Params& p) { return make<RMSprop>(p, RMSpropOptions{.lr = 0.01}); }},
      {"rmsprop/options",
       [](const Params& p) {
         return make<RMSprop>(
             p, RMSpropOptions{
                    .lr = 0.01, .alpha = 0.9, .eps = 1e-3, .weight_decay = 0.1, .momentum = 0.7, .centered = true});
       }},
      {"lion/plain", [](const Params& p) { return make<Lion>(p, LionOptions{.lr = 0.01, .weight_decay = 0.1}); }},
      {"muon/plain", [](const Params& p) { return make<Muon>(Params{p[2]}, MuonOptions{.lr = 0.02}); }},
      {"muon/options",
       [](const Params& p) {
         return make<Muon>(Params{p[2]}, MuonOptions{.lr = 0.02,
                                                     .weight_decay = 0.0,
                                                     .momentum = 0.8,
                                                     .nesterov = false,
                                                     .ns_steps = 4,
                                                     .adjust_lr_fn = AdjustLr::match_rms_adamw});
       }},
  };
  return all;
}

class TorchOptimTrajectory : public testing::TestWithParam<std::string> {};

TEST_P(TorchOptimTrajectory, IsPyTorchs) {
  const std::map<int, std::size_t> steps{{1, 0}, {2, 1}, {5, 2}, {10, 3}, {25, 4}, {50, 5}};
  const char* const leaves[] = {"bias", "conv", "weight"};
  const Params params = start();
  const Loss loss;
  const Made opt = cases().at(GetParam())(params);
  int compared = 0;
  for (int i = 1; i <= 50; ++i) {
    opt->step([&] {
      for (const Tensor& p : params) p.set_grad({});
      const Tensor l = loss(params);
      l.backward();
      return l;
    });
    const auto row = steps.find(i);
    if (row == steps.end()) continue;
    for (std::size_t k = 0; k < params.size(); ++k) {
      const auto want = golden().find(GetParam() + "/" + leaves[k]);
      if (want == golden().end()) continue;  // of muon, what is no matrix
      const std::vector<double> have = params[k].to_vector<double>();
      const std::size_t first = row->second * have.size();
      for (std::size_t j = 0; j < have.size(); ++j) {
        const double w = want->second[first + j];
        ASSERT_NEAR(have[j], w, 1e-9 * std::max(1.0, std::abs(w))) << leaves[k] << "[" << j << "] after step " << i;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 6 * 12);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, f] : cases()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, TorchOptimTrajectory, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  name[name.find('/')] = '_';
  return name;
});

}  // namespace
