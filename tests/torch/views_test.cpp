// Views and autograd where random programs (programs_test.cpp) do not reach: messages, hooks, more than one view at
// once.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

#include "support/expect_error.hpp"

namespace {

namespace np = cotan::numpy;
namespace torch = cotan::torch;
using cotan::Shape;
using torch::Tensor;
using Doubles = std::vector<double>;

Tensor counting(const Shape& size) {
  std::int64_t n = 1;
  for (const auto s : size) n *= s;
  Doubles values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i));
  return torch::from(cotan::Array::from_host(values, size));
}
Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchViews, PartsAreViews) {
  const Tensor x = counting({2, 6});
  torch::split(x, Shape{1, 2, 3}, 1)[1].fill_(-1);
  torch::tensor_split(x, Shape{2, 5}, 1)[2].fill_(-2);
  torch::unbind(x, 0)[1].copy_(torch::zeros({6}));
  EXPECT_EQ(host(x), (Doubles{0, -1, -1, 3, 4, -2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(torch::chunk(x, 4, 1).size(), 3u);
}

TEST(TorchViews, WritesGoThroughChains) {
  const Tensor x = counting({2, 3, 4});
  const Tensor v = torch::diagonal(torch::transpose(torch::narrow(x, 2, 1, 3), 0, 2), 0, 0, 1);
  v.fill_(100);
  EXPECT_EQ(v.strides(), (Shape{12, 5}));
  EXPECT_EQ(host(torch::as_strided(x, {3}, {5}, 1)), (Doubles{100, 100, 100}));
  EXPECT_EQ(v.version(), 1u);
  EXPECT_EQ(x.version(), 1u);
}

TEST(TorchViews, ErrorsOfViews) {
  const Tensor x = counting({2, 3});
  EXPECT_ERROR(ShapeError, torch::view(torch::t(x), {6}), "[view]");
  EXPECT_ERROR(ShapeError, torch::as_strided(x, {7}, {1}), "[as_strided]");
  EXPECT_ERROR(ValueError, torch::unfold(x, 1, 4, 1), "[unfold]");
  EXPECT_ERROR(ValueError, torch::split(x, Shape{1, 1}, 1), "[split]");
  EXPECT_ERROR(ValueError, torch::movedim(x, {0, 0}, {0, 1}), "[movedim]");
  EXPECT_ERROR(ValueError, torch::flatten(x, 1, 0), "[flatten]");
  EXPECT_ERROR(ShapeError, torch::t(counting({1, 2, 3})), "[t]");
}

TEST(TorchViews, ErrorsOfWrites) {
  const Tensor w = torch::from(np::zeros({4}), true);
  EXPECT_ERROR(ValueError, w.fill_(1), "a leaf that requires gradients");
  EXPECT_ERROR(ValueError, torch::narrow(w, 0, 0, 2).fill_(1), "a view of a leaf");
  EXPECT_ERROR(ValueError, torch::expand(counting({1}), {3}).fill_(1), "lies at the same place");
  EXPECT_ERROR(ValueError, torch::narrow(w.detach(), 0, 0, 3).copy_(torch::narrow(w.detach(), 0, 1, 3)),
               "share some of their elements");
  const Tensor y = w * 1;
  EXPECT_ERROR(ValueError, torch::split(y, 2)[0].fill_(1), "one of several");
  Tensor v;
  {
    const torch::no_grad off;
    v = torch::view(w, {2, 2});
  }
  EXPECT_ERROR(ValueError, v.copy_(torch::view(y, {2, 2})), "where gradients are off");
}

TEST(TorchHooks, InTheirOrder) {
  const Tensor x = torch::from(np::ones({2}), true);
  std::vector<int> called;
  const Tensor y = x * 2;
  auto first = y.register_hook([&](const Tensor& g) { return called.push_back(1), g * 10; });
  y.register_hook([&](const Tensor& g) { return called.push_back(2), g + 1; });
  y.retain_grad();
  x.register_post_accumulate_grad_hook([&](const Tensor& t) {
    called.push_back(3);
    EXPECT_TRUE(t.is_same(x));
    EXPECT_TRUE(t.grad().defined());
  });
  torch::sum(y).backward({}, true);
  EXPECT_EQ(called, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(host(y.grad()), (Doubles{11, 11}));
  EXPECT_EQ(host(x.grad()), (Doubles{22, 22}));
  first.remove();
  torch::sum(y).backward();
  EXPECT_EQ(called, (std::vector<int>{1, 2, 3, 2, 3}));
}

TEST(TorchHooks, StayWithWhatTheyWerePutOn) {
  const Tensor x = torch::from(np::ones({2}), true);
  const Tensor y = x * 1;
  Doubles old, now;
  y.register_hook([&](const Tensor& g) { return old = host(g), Tensor(); });
  torch::select(y, 0, 0).copy_(torch::select(x, 0, 1) * 3);
  y.register_hook([&](const Tensor& g) { return now = host(g), Tensor(); });
  torch::sum(y).backward();
  EXPECT_EQ(old, (Doubles{0, 1}));
  EXPECT_EQ(now, (Doubles{1, 1}));
}

TEST(TorchAutograd, ADetachedTensorHasAHistoryOfItsOwn) {
  const Tensor x = counting({2}), w = torch::from(np::ones({2}), true);
  const Tensor d = x.detach();
  d.copy_(w * 3);
  EXPECT_TRUE(d.requires_grad());
  EXPECT_FALSE(x.requires_grad());
  x.fill_(5);
  torch::sum(d).backward();
  EXPECT_EQ(host(d), (Doubles{5, 5}));
  EXPECT_EQ(host(w.grad()), (Doubles{3, 3}));
}

TEST(TorchAutograd, AGradientThatWasNotRecordedIsAConstant) {
  const Tensor x = torch::from(np::full({2}, 3.0), true);
  const Tensor y = torch::sum(x * x * x);
  const Tensor g = torch::autograd::grad(y, x, {.retain_graph = true});
  torch::sum(g * x).backward();
  EXPECT_EQ(host(x.grad()), (Doubles{27, 27}));
  y.backward();
  EXPECT_EQ(host(x.grad()), (Doubles{54, 54}));
}

TEST(TorchAutograd, SecondDerivativesPassHooks) {
  const Tensor x = torch::from(np::full({1}, 2.0), true), b = torch::from(np::full({1}, 5.0), true);
  const Tensor a = x * x;
  int calls = 0;
  a.register_hook([&](const Tensor& g) { return ++calls, g; });
  const Tensor g = torch::autograd::grad(torch::sum(a * a * b), b, {.create_graph = true});  // x⁴
  torch::sum(g).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(host(x.grad()), (Doubles{32}));
}

}  // namespace
