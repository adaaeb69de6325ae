// What the tests of whole models share: their golden (tools/golden/torch_models.py), and comparisons with it.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace torch_models {

namespace torch = cotan::torch;
namespace nn = cotan::torch::nn;
namespace F = cotan::torch::nn::functional;
using torch::Slice;
using torch::Tensor;

/// One model of the golden.
class Golden {
 public:
  explicit Golden(std::string name)
      : name_(std::move(name)),
        all_(cotan::load_npz(COTAN_SOURCE_DIR "/tests/golden/torch/models.npz")),
        before_(torch::run_stats()) {}

  /// First weights; only buffers may be missing.
  template <class M>
  void load(M& net) const {
    const auto keys = nn::load_state_dict(net, below("init"), false);
    EXPECT_TRUE(keys.unexpected.empty());
    const auto buffers = nn::named_buffers(net);
    EXPECT_EQ(keys.missing.size(), buffers.size());
  }
  /// The i-th kind of data of every step; f32 or i64.
  std::vector<Tensor> data(int i) const {
    const cotan::Array all = all_.at(name_ + "/data" + std::to_string(i));
    std::vector<Tensor> out;
    for (std::int64_t step = 0; step < 30; ++step) {
      const cotan::Array batch = all[step % all.shape(0)];
      out.push_back(torch::from(is_floating(batch.dtype()) ? batch.astype(torch::float32) : batch));
    }
    return out;
  }
  /// Losses within 1e-4 of PyTorch's, what the model ends with, and three programs: the first two steps are others,
  /// since optimizers and states begin in them.
  template <class M>
  void compare(const M& net, const std::vector<double>& losses) const {
    const auto expected = all_.at(name_ + "/losses").to_vector<double>();
    ASSERT_EQ(losses.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < losses.size(); ++i)
      worst = std::max(worst, std::abs(losses[i] - expected[i]) / expected[i]);
    EXPECT_LT(worst, 1e-4);
    testing::Test::RecordProperty("worst_relative_difference", std::to_string(worst));
    const nn::StateDict state = nn::state_dict(net);
    for (const auto& [key, array] : below("last")) {
      const cotan::Array difference = cotan::numpy::abs(state.at(key).array() - array);
      EXPECT_LT(cotan::numpy::max(difference).item<double>(), 2e-3) << key;
    }
    EXPECT_LE(torch::run_stats().compilations - before_.compilations, 3u);
  }

 private:
  std::map<std::string, cotan::Array> below(const std::string& part) const {
    const std::string prefix = name_ + "/" + part + "/";
    std::map<std::string, cotan::Array> out;
    for (const auto& [key, array] : all_)
      if (key.starts_with(prefix)) out.emplace(key.substr(prefix.size()), array);
    return out;
  }

  std::string name_;
  cotan::NamedArrays all_;
  torch::RunStats before_;
};

}  // namespace torch_models
