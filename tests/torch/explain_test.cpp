// What is told of programs that ran.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cotan/torch.hpp>

namespace {

namespace torch = cotan::torch;
using torch::Tensor;
using Doubles = std::vector<double>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TorchExplain, NamesLinesOfResults) {
  const Tensor x = torch::from(cotan::Array::from_host(Doubles{1, 2, 3}));
  const Tensor alive = x * 3.5;
  const int line = __LINE__ - 1;
  torch::mark_step();
  const torch::RunReport report = torch::last_run();
  EXPECT_EQ(report.operations, 1u);
  EXPECT_EQ(report.results, 1u);
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_TRUE(contains(report.kept[0], "f64[3] mul at " __FILE__ ":" + std::to_string(line) + ": a tensor is alive"))
      << report.kept[0];
  EXPECT_EQ(report.device, "cpu");
}

TEST(TorchExplain, SaysWhyAProgramIsNew) {
  const auto reason = [](const Tensor& x, auto f) {
    const Tensor y = f(x);
    torch::mark_step();
    const torch::RunReport report = torch::last_run();
    return report.compiled ? report.reason : std::string("known");
  };
  const auto make = [](std::size_t n) { return torch::from(cotan::Array::from_host(Doubles(n, 1.5))); };
  const auto chain = [](const Tensor& x) { return torch::exp(torch::relu(torch::exp(x * 2.5) - 1.5)); };
  const auto other = [](const Tensor& x) { return torch::exp(torch::exp(torch::exp(x * 2.5) - 1.5)); };
  reason(make(17), chain);
  EXPECT_EQ(reason(make(17), chain), "known");
  const std::string operation = reason(make(17), other);
  EXPECT_TRUE(contains(operation, "then exp at ") && contains(operation, "there it is relu at ")) << operation;
  const std::string shape = reason(make(19), chain);
  EXPECT_TRUE(contains(shape, "f64[19]") && contains(shape, "f64[17]")) << shape;
}

TEST(TorchExplain, CountsKernelsAndBytes) {
  const Tensor w = torch::from(cotan::numpy::zeros({128, 128}), true);
  torch::optim::SGD opt({w}, {.lr = 0.1});
  for (int i = 0; i < 2; ++i) {
    opt.zero_grad();
    torch::sum(w * w).backward();
    opt.step();
  }
  opt.zero_grad();
  const cotan::Explanation e = torch::explain();
  EXPECT_GE(e.kernels, 1);
  EXPECT_GE(e.donated_bytes, 128 * 128 * 4);  // w is written where it is
  EXPECT_GT(e.peak_bytes, 0);
}

TEST(TorchExplain, LogsRuns) {
  std::vector<std::string> seen;
  torch::log_runs([&](const torch::RunReport& r) { seen.push_back(r.text()); });
  const Tensor x = torch::from(cotan::Array::from_host(Doubles{1, 2, 3})) * 7.5;
  torch::mark_step();
  torch::log_runs({});
  const Tensor unseen = x * 2;
  torch::mark_step();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(contains(seen[0], "1 operations")) << seen[0];
}

}  // namespace
