// Modules as structs: names, state, modes, tied weights, containers, first values.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>
#include <cotan/torch/nn.hpp>

#include "support/expect_error.hpp"

namespace {

namespace torch = cotan::torch;
namespace nn = cotan::torch::nn;
namespace F = cotan::torch::nn::functional;
namespace np = cotan::numpy;
using torch::Tensor;
using Names = std::vector<std::string>;

struct Mlp {
  nn::Linear in{4, 8}, out{8, 2};
  Tensor operator()(const Tensor& x) const { return out(torch::relu(in(x))); }
};
struct Block {
  nn::LayerNorm norm{4};
  nn::Dropout drop{0.5};
  Mlp mlp;
};
struct Config {
  std::int64_t width = 4;
  std::string name = "small";
  std::vector<int> sizes = {1, 2};
};
struct Model {
  Config config{};
  nn::ModuleList<Block> layers{2, [] { return Block{}; }};
  std::map<std::string, nn::Linear> heads;
  std::optional<nn::Linear> extra;
  std::unique_ptr<nn::BatchNorm1d> norm = std::make_unique<nn::BatchNorm1d>(4);
  std::array<nn::Linear, 1> fixed{nn::Linear(1, 1, {.bias = false})};
  nn::Parameter scale{torch::ones({4})};
  Tensor constant = torch::ones({3});
  Tensor plain = torch::ones({2}, {.requires_grad = true});
};
class WithConstructor {
 public:
  explicit WithConstructor(std::int64_t n) : inner_(n, n), count_(n) {}
  COTAN_TREE(inner_)
 private:
  nn::Linear inner_;
  std::int64_t count_;
};
struct Tied {
  nn::Embedding wte{5, 3};
  nn::Linear head{3, 5, {.bias = false}};
  Tied() { head.weight = wte.weight; }
  COTAN_TREE(wte, head)
};

Names names(const nn::NamedTensors& named) {
  Names out;
  for (const auto& [name, t] : named) out.push_back(name);
  return out;
}

TEST(TorchNn, NamesAreThoseOfPyTorch) {
  Model net;
  net.heads.emplace("a", nn::Linear(1, 2));
  EXPECT_EQ(
      names(nn::named_parameters(net)),
      (Names{"scale", "plain", "layers.0.norm.weight", "layers.0.norm.bias", "layers.0.mlp.in.weight",
             "layers.0.mlp.in.bias", "layers.0.mlp.out.weight", "layers.0.mlp.out.bias", "layers.1.norm.weight",
             "layers.1.norm.bias", "layers.1.mlp.in.weight", "layers.1.mlp.in.bias", "layers.1.mlp.out.weight",
             "layers.1.mlp.out.bias", "heads.a.weight", "heads.a.bias", "norm.weight", "norm.bias", "fixed.0.weight"}));
  EXPECT_EQ(names(nn::named_buffers(net)),
            (Names{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(names(nn::named_parameters(WithConstructor(3))), (Names{"inner_.weight", "inner_.bias"}));
  net.extra = nn::Linear(2, 2);
  EXPECT_EQ(nn::parameters(net).size(), 21u);
  EXPECT_EQ(nn::num_parameters(Mlp()), 4 * 8 + 8 + 8 * 2 + 2);
}

TEST(TorchNn, StateGoesAndComes) {
  const Mlp a, b;
  EXPECT_NE(a.in.weight.to_vector<float>(), b.in.weight.to_vector<float>());
  nn::load_state_dict(b, nn::state_dict(a));
  EXPECT_EQ(a.in.weight.to_vector<float>(), b.in.weight.to_vector<float>());
  EXPECT_FALSE(a.in.weight.shares_storage(b.in.weight));
  EXPECT_TRUE(b.in.weight.requires_grad() && b.in.weight.is_leaf());
  std::map<std::string, cotan::Array> arrays;
  for (const auto& [name, t] : nn::state_dict(a)) arrays.emplace(name, t.array() + 1);
  nn::load_state_dict(b, arrays);
  EXPECT_EQ(b.in.bias.array()[0].item<float>(), a.in.bias.array()[0].item<float>() + 1);
}

TEST(TorchNn, WhatDoesNotFitIsNamedAndNothingIsLoaded) {
  const Mlp net;
  const auto before = net.in.weight.to_vector<float>();
  nn::StateDict state = nn::state_dict(Mlp());
  state.erase("out.bias");
  state["other"] = torch::ones({1});
  EXPECT_ERROR(
      ValueError, nn::load_state_dict(net, state),
      "[load_state_dict] missing are \"out.bias\"; the module does not have \"other\"; nothing was loaded. Give "
      "strict = false to load what fits.");
  EXPECT_EQ(net.in.weight.to_vector<float>(), before);
  const auto keys = nn::load_state_dict(net, state, false);
  EXPECT_EQ(keys.missing, Names{"out.bias"});
  EXPECT_EQ(keys.unexpected, Names{"other"});
  EXPECT_NE(net.in.weight.to_vector<float>(), before);
  state["in.weight"] = torch::ones({8, 5});
  EXPECT_ERROR(ValueError, nn::load_state_dict(net, state, false),
               "\"in.weight\" has shape (8, 5) in the state and (8, 4) in the module; nothing was loaded");
}

TEST(TorchNn, TiedWeightsAreOne) {
  const Tied net;
  EXPECT_EQ(names(nn::named_parameters(net)), Names{"wte.weight"});
  const nn::StateDict state = nn::state_dict(net);
  EXPECT_EQ(state.size(), 2u);
  const Tied copy = nn::clone(net);
  EXPECT_TRUE(copy.head.weight.is_same(copy.wte.weight));
  EXPECT_FALSE(copy.head.weight.shares_storage(net.head.weight));
  nn::load_state_dict(copy, {{"wte.weight", torch::ones({5, 3})}});  // one name is enough
  EXPECT_EQ(copy.head.weight.array()(4, 2).item<float>(), 1);
  torch::sum(net.head(net.wte(torch::from(np::array({1, 2}, cotan::i64))))).backward();
  EXPECT_TRUE(net.head.weight.grad().is_same(net.wte.weight.grad()));
}

TEST(TorchNn, ModesReachEverything) {
  Model net;
  nn::Sequential s{nn::Linear(2, 2), nn::Dropout(0.5), nn::Sequential(nn::Dropout(0.9))};
  nn::eval(net);
  nn::eval(s);
  EXPECT_FALSE(net.layers[1].drop.training || net.norm->training);
  const Tensor x = torch::ones({3, 2});
  EXPECT_EQ(s(x).to_vector<float>(), s.at<nn::Linear>(0)(x).to_vector<float>());
  nn::train(net);
  EXPECT_TRUE(net.layers[1].drop.training && net.norm->training);
}

TEST(TorchNn, SequentialHoldsAnything) {
  nn::Sequential net{nn::Linear(4, 3), nn::ReLU(), nn::BatchNorm1d(3), nn::Flatten(),
                     [](const Tensor& x) { return x * 2; }};
  EXPECT_EQ(names(nn::named_parameters(net)), (Names{"0.weight", "0.bias", "2.weight", "2.bias"}));
  EXPECT_EQ(net(torch::ones({5, 4})).sizes(), (cotan::Shape{5, 3}));
  EXPECT_THROW(net.at<nn::ReLU>(0), std::bad_cast);
  std::size_t linears = 0;
  nn::apply<nn::Linear>(net, [&](nn::Linear& l) {
    nn::init::constant_(l.weight, 3);
    ++linears;
  });
  EXPECT_EQ(linears, 1u);
  EXPECT_EQ(net.at<nn::Linear>(0).weight.array()(0, 0).item<float>(), 3);
}

TEST(TorchNn, GradientsOfAllParameters) {
  const Mlp net;
  torch::sum(net(torch::ones({3, 4}))).backward();
  for (const Tensor& p : nn::parameters(net)) EXPECT_EQ(p.grad().sizes(), p.sizes());
  nn::zero_grad(net, false);
  EXPECT_EQ(np::max(np::abs(net.in.weight.grad().array())).item<float>(), 0);
  nn::zero_grad(net);
  EXPECT_FALSE(net.in.weight.grad().defined());
  nn::requires_grad_(net, false);
  EXPECT_FALSE(net(torch::ones({3, 4})).requires_grad());
}

TEST(TorchNn, OtherDtypes) {
  Tied net;
  const Tensor before = net.head.weight;
  nn::to(net, torch::float32);
  EXPECT_TRUE(net.head.weight.is_same(before));
  nn::to(net, torch::float64);
  EXPECT_EQ(net.head.weight.dtype(), torch::float64);
  EXPECT_TRUE(net.head.weight.is_same(net.wte.weight));
  EXPECT_TRUE(net.head.weight.requires_grad() && net.head.weight.is_leaf());
  EXPECT_ERROR(TypeError, nn::to(net, torch::int32), "[to] modules become of a floating dtype, not i32");
}

TEST(TorchNn, BatchNormFollowsBatches) {
  nn::BatchNorm1d norm(2, {.momentum = std::nullopt});
  const Tensor x = torch::from(np::array({{1.f, 2.f}, {3.f, 6.f}}));
  norm(x);
  norm(x * 3);
  EXPECT_EQ(norm.running_mean.to_vector<float>(), (std::vector<float>{4, 8}));  // the mean of 2 and 6, of 4 and 12
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 2);
  nn::eval(norm);
  norm(x);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 2);
}

TEST(TorchNn, DropoutIsDrawnAndScaled) {
  torch::manual_seed(1);
  const Tensor x = torch::ones({1000}, {.requires_grad = true});
  const Tensor y = F::dropout(x, 0.25);
  torch::sum(y).backward();
  const auto values = y.to_vector<float>();
  std::size_t kept = 0;
  for (const float v : values) {
    EXPECT_TRUE(v == 0 || std::abs(v - 4.f / 3) < 1e-6f);
    kept += v != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 750, 50);
  EXPECT_EQ(x.grad().to_vector<float>(), values);
  torch::manual_seed(1);
  EXPECT_EQ(F::dropout(x.detach(), 0.25).to_vector<float>(), values);
  EXPECT_TRUE(F::dropout(x, 0.25, false).is_same(x));
}

TEST(TorchNn, FirstValues) {
  const auto within = [](const Tensor& t, double bound) {
    const double most = np::max(np::abs(t.array())).item<double>();
    EXPECT_LE(most, bound);
    EXPECT_GT(most, 0.9 * bound);
  };
  const nn::Linear linear(100, 200);
  within(linear.weight, 0.1);
  within(linear.bias, 0.1);
  within(nn::Conv2d(4, 32, 5).weight, 0.1);
  within(nn::LSTM(30, 100).parameter("weight_hh_l0"), 0.1);
  within(nn::MultiheadAttention(64, 4).in_proj_weight, std::sqrt(6.0 / 256));
  const nn::Embedding rows(200, 50, {.padding_idx = 3});
  EXPECT_NEAR(np::std(rows.weight.array()).item<double>(), 1, 0.05);
  EXPECT_EQ(np::max(np::abs(rows.weight.array()[3])).item<double>(), 0);
  const Tensor square = torch::zeros({6, 4});
  nn::init::orthogonal_(square);
  const cotan::Array q = square.array();
  EXPECT_LT(np::max(np::abs(np::matmul(q.T(), q) - np::eye(4))).item<double>(), 1e-5);
  nn::init::trunc_normal_(square, 0, 1, -0.5, 0.5);
  within(square, 0.5);
}

TEST(TorchNn, LogitsAreInMemoryOnce) {
  const std::int64_t rows = 64, classes = 5000;
  const nn::Linear head(8, classes, {.bias = false});
  const Tensor x = torch::ones({rows, 8}), target = torch::zeros({rows}, {.dtype = torch::int64});
  torch::mark_step();
  F::cross_entropy(head(x), target).backward();
  torch::mark_step();
  const cotan::Explanation e = torch::explain();
  EXPECT_LT(e.peak_bytes, 2 * rows * classes * 4);  // with their gradient, weights and those of weights
  EXPECT_EQ(e.text().find("stop_gradient"), std::string::npos) << e.text();  // gradients are not copied
}

TEST(TorchNn, ASummaryHasALineForEachModule) {
  const std::string text = nn::summary(Mlp());
  EXPECT_NE(text.find("Mlp                                58"), text.npos) << text;
  EXPECT_NE(text.find("in   Linear                             40  weight f32[8,4]  bias f32[8]"), text.npos) << text;
}

TEST(TorchNn, ErrorsNameShapesAndWhatToDo) {
  EXPECT_ERROR(ShapeError, nn::Linear(4, 2)(torch::ones({3, 5})),
               "[linear] the input has shape (3, 5) and the weight (2, 4); their last dimensions must be equal.");
  EXPECT_ERROR(ShapeError, nn::Conv2d(3, 4, 3)(torch::ones({1, 4, 8, 8})), "needs 3 channels, in its dimension 1");
  EXPECT_ERROR(ShapeError, nn::BatchNorm2d(3)(torch::ones({2, 3})),
               "[BatchNorm2d] the input has shape (2, 3); it needs 4 dimensions.");
  EXPECT_ERROR(TypeError, F::cross_entropy(torch::ones({2, 3}), torch::zeros({2}, {.dtype = torch::bfloat16})),
               "classes must be integers");
  EXPECT_ERROR(ShapeError, F::cross_entropy(torch::ones({2, 3}), torch::zeros({3}, {.dtype = torch::int64})),
               "[cross_entropy] the input has shape (2, 3) and the target (3,); classes must have shape (2,)");
  EXPECT_ERROR(ValueError, F::mse_loss(torch::ones({2}), torch::ones({2}), {.reduction = "average"}),
               "[loss] the reduction \"average\"");
  EXPECT_ERROR(ShapeError, nn::LSTM(3, 4)(torch::ones({5, 2, 2})),
               "[LSTM] the input has shape (5, 2, 2); it must be [L, N, 3]");
  EXPECT_ERROR(ValueError, nn::MultiheadAttention(5, 2), "[MultiheadAttention] 2 heads of a width of 5");
  EXPECT_ERROR(ValueError, F::dropout(torch::ones({2}), 1.5), "[dropout] a probability of 1.5");
}

TEST(TorchNn, AClassThatThereIsNotGivesNaN) {
  const Tensor x = torch::ones({2, 3});
  for (const int c : {3, -1}) {
    const Tensor target = torch::from(np::array({0, c}, cotan::i64));
    EXPECT_TRUE(std::isnan(F::cross_entropy(x, target).item())) << c;
    EXPECT_TRUE(std::isnan(torch::sum(F::embedding(target, x.detach())).item()) || c == 2) << c;
  }
}

}  // namespace
