// How ops are called: literals, methods, operators, assignments to index expressions, generators; how tensors print.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
using torch::None;
using torch::Slice;
using torch::Tensor;
using Doubles = std::vector<double>;
using Shape = cotan::Shape;

Doubles host(const Tensor& t) { return t.to_vector<double>(); }

TEST(TorchCreation, LiteralsHaveTheDtypesOfPyTorch) {
  const Tensor a = torch::tensor({{1., 2.}, {3., 4.}});
  EXPECT_EQ(a.dtype(), torch::float32);
  EXPECT_EQ(a.sizes(), (Shape{2, 2}));
  EXPECT_EQ(host(a), (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(torch::tensor({1, 2, 3}).dtype(), torch::int64);
  EXPECT_EQ(torch::tensor({true, false}).dtype(), torch::kBool);
  EXPECT_EQ(torch::tensor(2.5).sizes(), Shape{});
  EXPECT_EQ(torch::tensor({0.1}, {.dtype = torch::float64}).item(), 0.1);
  EXPECT_EQ(torch::tensor({3000000000, std::int64_t{1}}).to_vector<std::int64_t>()[0], 3000000000);
  EXPECT_EQ(torch::tensor(std::vector<double>{1, 2}).dtype(), torch::float32);
  EXPECT_EQ(torch::tensor(std::vector<int>{1, 2}).dtype(), torch::int64);
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(host(torch::from_blob(numbers, {2, 3})), (Doubles{1, 2, 3, 4, 5, 6}));
}

TEST(TorchMethods, AreTheFunctions) {
  const Tensor x = torch::tensor({{1., -2.}, {3., -4.}});
  EXPECT_EQ(host(x.abs().sum(0)), (Doubles{4, 6}));
  EXPECT_EQ(host(x.relu().mul(2).add(x, 0.5)), (Doubles{2.5, -1, 7.5, -2}));
  EXPECT_EQ(host(x.max(1).second), (Doubles{0, 0}));
  EXPECT_EQ(host(x.clamp(-1, 2)), (Doubles{1, -1, 2, -1}));
  EXPECT_EQ(host(x.matmul(x).tril()), (Doubles{-5, 0, -9, 10}));
  EXPECT_EQ(x.long_().dtype(), torch::int64);
  EXPECT_EQ(x.half().float_().dtype(), torch::float32);
  EXPECT_TRUE(x.float_().is_same(x));
  EXPECT_FALSE(x.clone().shares_storage(x));
  EXPECT_EQ(host(torch::cat({x, x}, 1).flip({1})[0]), (Doubles{-2, 1, -2, 1}));
  EXPECT_EQ(host(x.gather(1, torch::tensor({{1}, {0}}))), (Doubles{-2, 3}));
}

TEST(TorchMethods, WithAnUnderscoreWrite) {
  const Tensor x = torch::tensor({4., 9.});
  EXPECT_TRUE(x.sqrt_().is_same(x));
  x.add_(1).mul_(2);
  x += 1;
  EXPECT_EQ(host(x), (Doubles{7, 9}));
  EXPECT_EQ(x.version(), 4u);
  const Tensor whole = torch::tensor({1, 2});
  EXPECT_THROW(whole.add_(0.5), cotan::TypeError);  // float32 does not fit into int64
  EXPECT_THROW(whole.add_(torch::tensor({{1, 2}, {3, 4}})), cotan::ShapeError);
}

TEST(TorchOperators, AreElementwise) {
  const Tensor a = torch::tensor({1, 2, 3}), b = torch::tensor({3, 2, 1});
  EXPECT_EQ(host(a == b), (Doubles{0, 1, 0}));
  EXPECT_EQ(host((a < b) | (a == b)), (Doubles{1, 1, 0}));
  EXPECT_EQ(host(~(a >= 2)), (Doubles{1, 0, 0}));
  EXPECT_EQ(host(-a % 2), (Doubles{1, 0, 1}));
  EXPECT_EQ(host(7 - a), (Doubles{6, 5, 4}));
  EXPECT_EQ((2 / a).dtype(), torch::float32);
  EXPECT_TRUE(torch::equal(a, a.clone()));
  EXPECT_TRUE(a.allclose(a));
}

TEST(TorchIndexing, AssignmentsWrite) {
  const Tensor x = torch::zeros({3, 3});
  x[0] = 1;
  x(1, Slice(1, None())) = torch::tensor({5., 6.});
  x(x == 0) = -1;
  x(torch::tensor({2, 2}), torch::tensor({0, 1})) = 9;
  x(torch::Ellipsis, 2) += 10;
  x(x > 8) -= 1;
  EXPECT_EQ(host(x), (Doubles{1, 1, 10, -1, 5, 15, 8, 8, 8}));
  Tensor copy = x(torch::tensor({0}));
  copy += 1;  // what a tensor of indices gives is a copy
  EXPECT_EQ(host(x[0]), (Doubles{1, 1, 10}));
  EXPECT_THROW(x(0, 0, 0), cotan::IndexError);
  EXPECT_THROW(x[3], cotan::IndexError);
}

TEST(TorchRandom, AGeneratorRepeats) {
  const torch::Generator g;
  const auto draw = [&] {
    g.manual_seed(7);
    return host(torch::rand({4}, {.generator = &g}));
  };
  const Doubles first = draw();
  torch::manual_seed(3);
  const Doubles other = host(torch::randn({4}));
  EXPECT_EQ(draw(), first);
  torch::manual_seed(3);
  EXPECT_EQ(host(torch::randn({4})), other);
  EXPECT_NE(host(torch::randn({4})), other);
}

TEST(TorchRandom, DistributionsAreThoseAskedFor) {
  torch::manual_seed(11);
  const Tensor r = torch::randint(2, 6, {2000});
  EXPECT_EQ(r.dtype(), torch::int64);
  EXPECT_EQ(r.min().item(), 2);
  EXPECT_EQ(r.max().item(), 5);
  EXPECT_EQ(host(torch::randperm(50).sort().first), host(torch::arange(50)));
  EXPECT_NEAR(torch::bernoulli(torch::full({4000}, 0.3)).mean().item(), 0.3, 0.03);
  const Tensor n = torch::normal(2, 0.5, {4000});
  EXPECT_NEAR(n.mean().item(), 2, 0.03);
  EXPECT_NEAR(n.std().item(), 0.5, 0.03);
  const Tensor weights = torch::tensor({{0., 1., 3.}, {1., 0., 0.}});
  const Tensor drawn = torch::multinomial(weights, 3000, true);
  EXPECT_EQ(drawn.sizes(), (Shape{2, 3000}));
  EXPECT_NEAR(drawn[0].double_().mean().item(), 1.75, 0.04);
  EXPECT_EQ(drawn[1].max().item(), 0);
  EXPECT_EQ(host(torch::multinomial(weights[0], 2).sort().first), (Doubles{1, 2}));
}

TEST(TorchPrint, AsPyTorch) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(torch::tensor({{1., 2.}, {3., 4.}}).str(), "tensor([[1., 2.],\n        [3., 4.]])");
  EXPECT_EQ(torch::tensor({1.5, -2.25, 1000.125}).str(), "tensor([   1.5000,   -2.2500, 1000.1250])");
  EXPECT_EQ(torch::tensor(3).str(), "tensor(3)");
  EXPECT_EQ(torch::tensor(2.5).str(), "tensor(2.5000)");
  EXPECT_EQ(torch::tensor({1, -20, 300}).str(), "tensor([  1, -20, 300])");
  EXPECT_EQ(torch::tensor({true, false}).str(), "tensor([ True, False])");
  EXPECT_EQ(torch::tensor({1e-5, 1.0}).str(), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(torch::tensor({1e9, 1.0}).str(), "tensor([1.0000e+09, 1.0000e+00])");
  EXPECT_EQ(torch::tensor({nan, 1.0, inf}).str(), "tensor([nan, 1., inf])");
  EXPECT_EQ(torch::zeros({0}).str(), "tensor([])");
  EXPECT_EQ(torch::zeros({0, 3}).str(), "tensor([], size=(0, 3))");
  EXPECT_EQ(torch::tensor({1.5}, {.dtype = torch::float64}).str(), "tensor([1.5000], dtype=torch.float64)");
  EXPECT_EQ(torch::tensor({1, 2}, {.dtype = torch::int32}).str(), "tensor([1, 2], dtype=torch.int32)");
  EXPECT_EQ(torch::arange(30).str(),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
  EXPECT_EQ(torch::reshape(torch::arange(24.), {2, 3, 4}).str(),
            "tensor([[[ 0.,  1.,  2.,  3.],\n         [ 4.,  5.,  6.,  7.],\n         [ 8.,  9., 10., 11.]],\n\n"
            "        [[12., 13., 14., 15.],\n         [16., 17., 18., 19.],\n         [20., 21., 22., 23.]]])");
  EXPECT_EQ(torch::arange(2000).str(), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
  EXPECT_EQ(torch::ones({2}, {.requires_grad = true}).str(), "tensor([1., 1.], requires_grad=True)");
  EXPECT_EQ((torch::ones({2}, {.requires_grad = true}) * 2).str(), "tensor([2., 2.], grad_fn=<MulBackward0>)");
  EXPECT_EQ((torch::arange(12.) / 7).str(),
            "tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,\n"
            "        1.2857, 1.4286, 1.5714])");
}

TEST(TorchErrors, NameTheLineOfTheCall) {
  try {
    torch::zeros({2, 3}).sum(5);
    FAIL() << "nothing was raised";
  } catch (const cotan::IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("[sum] dimension 5 is out of range"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(std::string(__FILE__) + ":" + std::to_string(__LINE__ - 4)), std::string::npos)
        << e.what();
  }
}

}  // namespace
