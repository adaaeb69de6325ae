// torch.func: derivatives and maps of functions of tensors, and of modules.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
namespace func = torch::func;
using torch::Tensor;
using Doubles = std::vector<double>;
using Named = std::map<std::string, Tensor>;

Tensor tensor(const Doubles& v, const torch::Shape& shape = {}) {
  return torch::from(shape.empty() ? cotan::Array::from_host(v) : cotan::Array::from_host(v, shape));
}
Doubles host(const Tensor& t) { return t.to_vector<double>(); }
void expect_near(const Tensor& have, const Doubles& want) {
  const Doubles h = host(have);
  ASSERT_EQ(h.size(), want.size());
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_NEAR(h[i], want[i], 1e-12);
}

TEST(TorchFunc, GradientsOfTreesOfTensors) {
  const auto f = [](const Named& p, const Tensor& x) { return torch::sum(torch::exp(p.at("w") * x) + p.at("b")); };
  const Named p{{"b", tensor({1, 2})}, {"w", tensor({0.5, -1})}};
  const Named g = func::grad(f)(p, tensor({1, 2}));
  expect_near(g.at("w"), {std::exp(0.5), 2 * std::exp(-2.0)});
  expect_near(g.at("b"), {1, 1});
  const auto [value, same] = func::value_and_grad(f)(p, tensor({1, 2}));
  EXPECT_NEAR(value.item(), std::exp(0.5) + std::exp(-2.0) + 3, 1e-12);
  expect_near(same.at("w"), host(g.at("w")));
}

TEST(TorchFunc, TensorsOfOutsideAreConstants) {
  const Tensor w = tensor({2, 3});
  w.requires_grad_();
  const Tensor pending = w * 2;  // not computed yet
  const Tensor g = func::grad([&](const Tensor& x) { return torch::sum(x * x * pending); })(tensor({1, 2}));
  expect_near(g, {8, 24});
  torch::sum(pending).backward();  // and what is outside goes on
  expect_near(w.grad(), {2, 2});
}

TEST(TorchFunc, VjpAndJvp) {
  const auto f = [](const Tensor& x, const Tensor& y) { return std::pair{x * y, torch::exp(x)}; };
  const Tensor x = tensor({1, 2}), y = tensor({3, 4});
  const auto [value, pullback] = func::vjp(f, x, y);
  expect_near(value.first, {3, 8});
  const auto [dx, dy] = pullback(std::pair{tensor({1, 1}), tensor({0, 1})});
  expect_near(dx, {3, 4 + std::exp(2.0)});
  expect_near(dy, {1, 2});
  const auto [out, dot] = func::jvp(f, std::tuple{x, y}, std::tuple{tensor({1, 0}), tensor({0, 1})});
  expect_near(dot.first, {3, 2});
  expect_near(dot.second, {std::exp(1.0), 0});
}

TEST(TorchFunc, VmapMapsAxes) {
  const auto dot = [](const Tensor& a, const Tensor& b) { return torch::sum(a * b); };
  const Tensor a = tensor({1, 2, 3, 4, 5, 6}, {3, 2}), b = tensor({1, 10});
  expect_near(func::vmap(dot, {.in_dims = {0, func::not_mapped}})(a, b), {21, 43, 65});
  const Tensor across = func::vmap([](const Tensor& row) { return row * 2; }, {.in_dims = {1}, .out_dim = 1})(a);
  EXPECT_EQ(across.sizes(), (torch::Shape{3, 2}));
  // A gradient per example.
  const auto loss = [](const Tensor& w, const Tensor& x) { return torch::sum(w * w * x); };
  expect_near(func::vmap(func::grad(loss), {.in_dims = {func::not_mapped, 0}})(b, a), {2, 40, 6, 80, 10, 120});
}

TEST(TorchFunc, JacobiansAndHessians) {
  const auto f = [](const Tensor& x) { return torch::exp(x) * torch::sum(x); };
  const Tensor x = tensor({0.5, 1});
  const double a = std::exp(0.5), b = std::exp(1.0);
  expect_near(func::jacrev(f)(x), {a * 2.5, a, b, b * 2.5});
  expect_near(func::jacfwd(f)(x), {a * 2.5, a, b, b * 2.5});
  const auto cube = [](const Tensor& t) { return torch::sum(t * t * t); };
  expect_near(func::hessian(cube)(x), {3, 0, 0, 6});
}

struct Affine {
  torch::nn::Linear inner{2, 1};
  Tensor operator()(const Tensor& x) const { return inner(x); }
};

TEST(TorchFunc, ModulesAreFunctionsOfTheirParameters) {
  const Affine net;
  const Tensor x = torch::from(cotan::Array::from_host(std::vector<float>{1, 2}, {1, 2}));
  const Named p{{"inner.weight", torch::from(cotan::Array::from_host(std::vector<float>{3, 4}, {1, 2}))},
                {"inner.bias", torch::from(cotan::Array::from_host(std::vector<float>{5}))}};
  const Tensor before = net(x);
  expect_near(func::functional_call(net, p, x), {16});
  EXPECT_NEAR(net(x).item(), before.item(), 1e-6);
  const Named g =
      func::grad([&](const Named& q, const Tensor& in) { return torch::sum(func::functional_call(net, q, in)); })(p, x);
  expect_near(g.at("inner.weight"), {1, 2});
  expect_near(g.at("inner.bias"), {1});
  EXPECT_THROW(func::functional_call(net, Named{{"weight", x}}, x), cotan::ValueError);
}

TEST(TorchStep, IsOneProgram) {
  const Tensor w = torch::from(cotan::Array::from_host(Doubles{1, 2}), true);
  torch::optim::SGD opt({w}, {.lr = 0.1, .momentum = 0.9});
  for (int i = 0; i < 3; ++i) {
    const auto before = torch::run_stats().runs;
    const Tensor loss = torch::step([&] {
      opt.zero_grad();
      Tensor l = torch::sum(w * w);
      l.backward();
      opt.step();
      return l;
    });
    EXPECT_EQ(torch::run_stats().runs - before, 1u);
    EXPECT_GT(loss.item(), 0);
    EXPECT_EQ(torch::run_stats().runs - before, 1u);  // it was computed in there
  }
}

TEST(TorchStep, ValuesAreReadBehindIt) {
  const Tensor w = torch::from(cotan::Array::from_host(Doubles{1, 2}), true);
  int line = 0;
  try {
    torch::step([&] {
      const Tensor l = torch::sum(w * w);
      line = __LINE__ + 1;
      l.item();
    });
    FAIL() << "nothing was raised";
  } catch (const cotan::ValueError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("[step] a value is read inside of torch::step()"), std::string::npos) << text;
    EXPECT_NE(text.find("func_test.cpp:" + std::to_string(line)), std::string::npos) << text;
  }
  EXPECT_EQ(torch::sum(w).item(), 3);  // and it ended
}

TEST(TorchData, BatchesInOrderAndShuffled) {
  namespace data = torch::utils::data;
  const data::TensorDataset set({tensor({0, 1, 2, 3, 4, 5, 6}), tensor({0, 10, 20, 30, 40, 50, 60})});
  const auto all = [](data::DataLoader& loader) {
    std::vector<Doubles> out;
    for (const auto& batch : loader) {
      out.push_back(host(batch[0]));
      const Doubles second = host(batch[1]);
      for (std::size_t i = 0; i < second.size(); ++i) EXPECT_EQ(second[i], 10 * out.back()[i]);
    }
    return out;
  };
  data::DataLoader plain(set, {.batch_size = 3});
  EXPECT_EQ(all(plain), (std::vector<Doubles>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(plain.size(), 3);
  data::DataLoader cut(set, {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(all(cut).size(), 2u);
  data::DataLoader mixed(set, {.batch_size = 4, .shuffle = true, .seed = 5});
  const auto first = all(mixed), second = all(mixed);
  EXPECT_NE(first, second);
  Doubles seen;
  for (const Doubles& b : second) seen.insert(seen.end(), b.begin(), b.end());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (Doubles{0, 1, 2, 3, 4, 5, 6}));
  mixed.set_epoch(0);
  EXPECT_EQ(all(mixed), first);
  EXPECT_THROW(data::TensorDataset({tensor({1, 2}), tensor({1})}), cotan::ShapeError);
  EXPECT_THROW(data::DataLoader(set, {.batch_size = 0}), cotan::ValueError);
}

TEST(TorchData, BatchesCompileOnce) {
  namespace data = torch::utils::data;
  data::DataLoader loader(data::TensorDataset({tensor(Doubles(64, 1.0))}), {.batch_size = 8, .shuffle = true});
  std::uint64_t before = 0;
  int i = 0;
  for (const auto& batch : loader) {
    const Tensor total = torch::sum(batch[0] * 3.0);
    torch::mark_step();
    if (i++ == 0) before = torch::run_stats().compilations;
  }
  EXPECT_EQ(torch::run_stats().compilations, before);
}

}  // namespace
