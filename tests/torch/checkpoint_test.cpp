// Checkpoints: the same numbers with less memory; random numbers drawn again; regions inside of each other.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
using torch::Tensor;
using Layer = std::function<Tensor(const Tensor&)>;
using Doubles = std::vector<double>;

constexpr int depth = 9, width = 32, batch = 256;

std::vector<Tensor> weights(int seed) {
  std::vector<Tensor> out;
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < depth; ++i)
    out.push_back(torch::from((torch::randn({width, width}) * (1.5 / std::sqrt(width))).array(), true));
  return out;
}
std::vector<Layer> layers(const std::vector<Tensor>& w, bool with_noise = false) {
  std::vector<Layer> out;
  for (const Tensor& t : w)
    out.emplace_back([t, with_noise](const Tensor& x) {
      const Tensor y = torch::exp(-1.0 * torch::relu(torch::matmul(x, t)));
      return with_noise ? y * torch::rand({batch, width}) : y;
    });
  return out;
}
struct Trained {
  std::vector<Doubles> gradients;
  Doubles losses;
  std::int64_t peak = 0;
};
template <class Forward>
Trained train(const Forward& forward, bool with_noise = false, int steps = 4) {
  const std::vector<Tensor> w = weights(7);
  const std::vector<Layer> net = layers(w, with_noise);
  const Tensor x = torch::from(torch::randn({batch, width}).array());
  torch::optim::AdamW opt(w, {.lr = 1e-2});
  Trained out;
  for (int i = 0; i < steps; ++i) {
    opt.zero_grad();
    const Tensor loss = torch::mean(forward(net, x));
    loss.backward();
    opt.step();
    out.peak = torch::explain().peak_bytes;
    out.losses.push_back(loss.item());
  }
  for (const Tensor& t : w) out.gradients.push_back(t.grad().to_vector<double>());
  return out;
}
Tensor plainly(const std::vector<Layer>& net, Tensor x) {
  for (const Layer& f : net) x = f(x);
  return x;
}
Tensor each(const std::vector<Layer>& net, Tensor x) {
  for (const Layer& f : net) x = torch::utils::checkpoint(f, x);
  return x;
}
Tensor by_root(const std::vector<Layer>& net, const Tensor& x) {
  return torch::utils::checkpoint_sequential(net, std::nullopt, x);
}
void expect_alike(const Trained& a, const Trained& b) {
  for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], 1e-6 * std::abs(a.losses[i]));
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    double most = 0;
    for (const double g : a.gradients[i]) most = std::max(most, std::abs(g));
    for (std::size_t k = 0; k < a.gradients[i].size(); ++k)
      EXPECT_NEAR(a.gradients[i][k], b.gradients[i][k], 1e-5 * most);
  }
}

TEST(TorchCheckpoint, GivesTheSameInLessMemory) {
  const Trained plain = train(plainly), some = train(by_root);
  expect_alike(plain, some);
  // 9 layers keep an array of 32 KiB each; in three segments it is two inputs and the three of the last one.
  EXPECT_LE(some.peak, plain.peak - 4 * batch * width * 4) << plain.peak;
  RecordProperty("plain", std::to_string(plain.peak));
  RecordProperty("by_root", std::to_string(some.peak));
}

TEST(TorchCheckpoint, OfEachLayerToo) {
  const Trained plain = train(plainly), all = train(each);
  expect_alike(plain, all);
  EXPECT_LT(all.peak, plain.peak);
}

TEST(TorchCheckpoint, DrawsTheSameNumbersAgain) {
  const Trained plain = train(plainly, true), all = train(each, true), some = train(by_root, true);
  expect_alike(plain, all);
  expect_alike(plain, some);
}

TEST(TorchCheckpoint, MaysNest) {
  const auto nested = [](const std::vector<Layer>& net, const Tensor& x) {
    const auto part = [&](const Tensor& in, std::size_t first, std::size_t last) {
      Tensor y = in;
      for (std::size_t i = first; i < last; ++i) y = torch::utils::checkpoint(net[i], y);
      return y;
    };
    const Tensor half = torch::utils::checkpoint([&](const Tensor& in) { return part(in, 0, depth / 2); }, x);
    return torch::utils::checkpoint([&](const Tensor& in) { return part(in, depth / 2, depth); }, half);
  };
  const Trained plain = train(plainly, true), inner = train(nested, true);
  expect_alike(plain, inner);
  EXPECT_LT(inner.peak, plain.peak);
}

TEST(TorchCheckpoint, PoliciesKeepSome) {
  const auto keeping = [](const cotan::PolicyPtr& policy) {
    return [policy](const std::vector<Layer>& net, const Tensor& in) {
      return torch::utils::checkpoint({.policy = policy}, [&](const Tensor& x) { return plainly(net, x); }, in);
    };
  };
  const Trained plain = train(plainly), dots = train(keeping(cotan::policy::dots_saveable)),
                all = train(keeping(cotan::policy::everything_saveable));
  expect_alike(plain, dots);
  expect_alike(plain, all);
}

TEST(TorchCheckpoint, SeveralResultsAndInputs) {
  const Tensor a = torch::from(cotan::Array::from_host(Doubles{1, 2}), true);
  const Tensor b = torch::from(cotan::Array::from_host(Doubles{3, 4}), true);
  const auto [sum, product] = torch::utils::checkpoint(
      [](const Tensor& x, const Tensor& y) { return std::pair{x + y, torch::exp(x) * y}; }, a, b);
  torch::sum(sum * product).backward();
  // d/da (a + b) e^a b = e^a b (1 + a + b)
  EXPECT_NEAR(a.grad().to_vector<double>()[1], std::exp(2.0) * 4 * 7, 1e-9);
  EXPECT_NEAR(b.grad().to_vector<double>()[0], std::exp(1.0) * (1 + 2 * 3), 1e-9);
}

TEST(TorchCheckpoint, EndsWithAnException) {
  const Tensor x = torch::from(cotan::Array::from_host(Doubles{1, 2}), true);
  const auto fail = [](const Tensor&) -> Tensor { throw std::runtime_error("no"); };
  EXPECT_THROW(torch::utils::checkpoint(fail, x), std::runtime_error);
  const auto before = torch::run_stats().compilations;
  torch::sum(x * x).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Doubles{2, 4}));
  EXPECT_GT(torch::run_stats().compilations, before);
}

}  // namespace
