// Random programs of views, writes and backward passes against what PyTorch made of them
// (tools/golden/torch_programs.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/io.hpp>
#include <cotan/torch.hpp>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "torch/graph/layout.hpp"
#include "torch/ops/families.hpp"

namespace {

namespace torch = cotan::torch;
using Json = nlohmann::json;
using cotan::Shape;
using torch::Tensor;

Tensor made(const Shape& shape, double (*element)(std::int64_t, std::int64_t), std::int64_t seed, bool requires_grad) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(element(seed, k));
  return torch::from(cotan::Array::from_host(values, shape), requires_grad);
}
Tensor weights(const Tensor& t) {
  return made(t.sizes(), [](std::int64_t, std::int64_t k) { return static_cast<double>(k % 3 + 1) / 2; }, 0, false);
}

/// The weighted sum that the goldens have, and how large what is summed is.
std::pair<double, double> sum_of(const Tensor& t) {
  const auto values = t.to_vector<double>();
  double sum = 0, size = 1;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double term = values[k] * (1 + static_cast<double>((7 * k) % 13) / 13);
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}
/// What differs, or nothing.
std::string different_sum(const Tensor& t, double expected) {
  const auto [sum, size] = sum_of(t);
  if (std::abs(sum - expected) <= 1e-12 * size) return {};
  return fmt::format("the sum is {}, in PyTorch {}", sum, expected);
}

struct Step {
  std::vector<Tensor> x;
  const Json& a;
  Shape shape(std::size_t i) const { return a[i].get<Shape>(); }
  int dim(std::size_t i) const { return a[i].get<int>(); }
  std::vector<int> dims(std::size_t i) const { return a[i].get<std::vector<int>>(); }
  std::int64_t whole(std::size_t i) const { return a[i].get<std::int64_t>(); }
  double number() const { return a[0].get<double>(); }
  template <class F>
  Tensor write(std::string_view name, F f) const {
    return torch::detail::in_place(x[0], name, COTAN_HERE, f);
  }
};
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Step&)>;

#define ONE(expression) [](const Step& s) -> Tensors { return {expression}; }

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all{
      {"exp", ONE(torch::exp(s.x[0]))},
      {"relu", ONE(torch::relu(s.x[0]))},
      {"neg", ONE(0.0 - s.x[0])},
      {"add", ONE(torch::add(s.x[0], s.x[1]))},
      {"sub", ONE(torch::sub(s.x[0], s.x[1]))},
      {"mul", ONE(torch::mul(s.x[0], s.x[1]))},
      {"div", ONE(torch::div(s.x[0], s.x[1]))},
      {"matmul", ONE(torch::matmul(s.x[0], s.x[1]))},
      {"sum", ONE(torch::sum(s.x[0]))},
      {"mean", ONE(torch::mean(s.x[0]))},
      {"add_number", ONE(s.x[0] + s.number())},
      {"sub_number", ONE(s.x[0] - s.number())},
      {"mul_number", ONE(s.x[0] * s.number())},
      {"div_number", ONE(s.x[0] / s.number())},
      {"view", ONE(torch::view(s.x[0], s.shape(0)))},
      {"reshape", ONE(torch::reshape(s.x[0], s.shape(0)))},
      {"permute", ONE(torch::permute(s.x[0], s.dims(0)))},
      {"transpose", ONE(torch::transpose(s.x[0], s.dim(0), s.dim(1)))},
      {"select", ONE(torch::select(s.x[0], s.dim(0), s.whole(1)))},
      {"slice", ONE(torch::slice(s.x[0], s.dim(0), s.whole(1), s.whole(2), s.whole(3)))},
      {"narrow", ONE(torch::narrow(s.x[0], s.dim(0), s.whole(1), s.whole(2)))},
      {"expand", ONE(torch::expand(s.x[0], s.shape(0)))},
      {"unsqueeze", ONE(torch::unsqueeze(s.x[0], s.dim(0)))},
      {"squeeze", ONE(torch::squeeze(s.x[0], s.dims(0)))},
      {"flatten", ONE(torch::flatten(s.x[0], s.dim(0), s.dim(1)))},
      {"unflatten", ONE(torch::unflatten(s.x[0], s.dim(0), s.shape(1)))},
      {"t", ONE(torch::t(s.x[0]))},
      {"mT", ONE(torch::mT(s.x[0]))},
      {"movedim", ONE(torch::movedim(s.x[0], s.dim(0), s.dim(1)))},
      {"diagonal", ONE(torch::diagonal(s.x[0], s.dim(0), s.dim(1), s.dim(2)))},
      {"unfold", ONE(torch::unfold(s.x[0], s.dim(0), s.whole(1), s.whole(2)))},
      {"as_strided", ONE(torch::as_strided(s.x[0], s.shape(0), s.shape(1), s.whole(2)))},
      {"detach", ONE(s.x[0].detach())},
      {"split", [](const Step& s) { return torch::split(s.x[0], s.whole(0), s.dim(1)); }},
      {"chunk", [](const Step& s) { return torch::chunk(s.x[0], s.whole(0), s.dim(1)); }},
      {"unbind", [](const Step& s) { return torch::unbind(s.x[0], s.dim(0)); }},
      {"tensor_split", [](const Step& s) { return torch::tensor_split(s.x[0], s.whole(0), s.dim(1)); }},
      {"add_", ONE(s.write("add_", [&] { return torch::add(s.x[0], s.x[1]); }))},
      {"sub_", ONE(s.write("sub_", [&] { return torch::sub(s.x[0], s.x[1]); }))},
      {"mul_", ONE(s.write("mul_", [&] { return torch::mul(s.x[0], s.x[1]); }))},
      {"div_", ONE(s.write("div_", [&] { return torch::div(s.x[0], s.x[1]); }))},
      {"add_number_", ONE(s.write("add_", [&] { return s.x[0] + s.number(); }))},
      {"sub_number_", ONE(s.write("sub_", [&] { return s.x[0] - s.number(); }))},
      {"mul_number_", ONE(s.write("mul_", [&] { return s.x[0] * s.number(); }))},
      {"div_number_", ONE(s.write("div_", [&] { return s.x[0] / s.number(); }))},
      {"exp_", ONE(s.write("exp_", [&] { return torch::exp(s.x[0]); }))},
      {"relu_", ONE(s.write("relu_", [&] { return torch::relu(s.x[0]); }))},
      {"copy_", ONE(s.x[0].copy_(s.x[1]))},
      {"zero_", ONE(s.x[0].zero_())},
      {"fill_", ONE(s.x[0].fill_(s.number()))},
      {"retain_grad", ONE((s.x[0].retain_grad(), Tensor()))},
      {"requires_grad_", ONE(s.x[0].requires_grad_())},
      {"detach_", ONE(s.x[0].detach_())},
      {"zero", ONE((s.x[0].set_grad({}), Tensor()))},
      {"leaf",
       ONE(made(
           s.shape(0),
           [](std::int64_t seed, std::int64_t k) { return static_cast<double>((seed * 31 + k * 17) % 23 - 11) / 8; },
           s.whole(2), s.a[1].get<bool>()))},
  };
  return all;
}

class Machine {
 public:
  explicit Machine(const Json& program) : program_(program) {}

  /// Runs it, and says where it is not what PyTorch did, or nothing.
  std::string difference() {
    std::size_t raised = 0;
    for (std::size_t i = 0; i < program_["code"].size(); ++i) {
      const Json& ins = program_["code"][i];
      const bool raises = raised < program_["raises"].size() && program_["raises"][raised] == i;
      raised += raises;
      std::string found = raises ? "PyTorch raises" : "";
      try {
        const std::string different = execute(ins);
        if (!raises) found = different;
      } catch (const std::exception& e) {
        found = raises ? "" : fmt::format("raises: {}", e.what());
      }
      if (!found.empty()) return fmt::format("instruction {}, {}: {}", i, ins.dump(), found);
    }
    for (const auto& [key, end] : program_["end"].items())
      if (const std::string found = different_end(tensors_.at(std::stoi(key)), end); !found.empty())
        return fmt::format("tensor {} at the end: {}; in PyTorch {}", key, found, end.dump());
    return {};
  }

 private:
  std::string different_end(const Tensor& t, const Json& end) const {
    if (!t.defined()) return "undefined";
    if (t.version() != end[0]) return fmt::format("version {}", t.version());
    if (t.strides() != end[1].get<Shape>()) return "strides " + cotan::describe(t.strides());
    if (t.storage_offset() != end[2]) return fmt::format("offset {}", t.storage_offset());
    if (t.requires_grad() != end[3]) return fmt::format("requires_grad {}", t.requires_grad());
    if (t.is_leaf() != end[4]) return fmt::format("is_leaf {}", t.is_leaf());
    if (t.is_contiguous() != end[5]) return fmt::format("is_contiguous {}", t.is_contiguous());
    if (std::string found = different_sum(t, end[6]); !found.empty()) return found;
    if (program_["stopped"]) return {};
    const Tensor grad = t.is_leaf() || t.retains_grad() ? t.grad() : Tensor();
    if (grad.defined() && end[7].is_null() && program_["records"]) return different_sum(grad, 0);
    if (grad.defined() == end[7].is_null()) return grad.defined() ? "has a gradient" : "has no gradient";
    return grad.defined() ? different_sum(grad, end[7]) : "";
  }

  std::string execute(const Json& ins) {
    const std::string name = ins[0];
    std::vector<Tensor> x;
    for (const int i : ins[2]) x.push_back(tensors_.at(i));
    const Step step{x, ins[3]};
    if (const auto f = functions().find(name); f != functions().end()) {
      const Tensors results = f->second(step);
      for (std::size_t i = 0; i < ins[1].size(); ++i)
        tensors_[ins[1][i].get<int>()] = i < results.size() ? results[i] : Tensor();
    } else if (name == "nograd")
      off_ = std::make_unique<torch::no_grad>();
    else if (name == "grad_on")
      off_.reset();
    else if (name == "hook")
      hooks_[step.dim(1)] = x[0].register_hook([by = step.number()](const Tensor& g) { return g * by; });
    else if (name == "unhook")
      hooks_[step.dim(0)].remove();
    else if (name == "read")
      return different_sum(x[0], program_["reads"][reads_++]);
    else
      derive(name, x, ins);
    return {};
  }

  void derive(const std::string& name, const std::vector<Tensor>& x, const Json& ins) {
    const Json& a = ins[3];
    const auto flag = [&](std::size_t i) { return a[i].is_null() ? std::optional<bool>() : a[i].get<bool>(); };
    const Tensor seed = a[0].get<bool>() ? weights(x[0]) : Tensor();
    if (name == "backward") {
      x[0].backward(seed, flag(1), a[2].get<bool>(), std::span(x).subspan(1));
      return;
    }
    torch::GradOptions options{
        .retain_graph = flag(1), .create_graph = a[2].get<bool>(), .allow_unused = a[3].get<bool>()};
    if (seed.defined()) options.grad_outputs = {seed};
    const auto gradients = torch::autograd::grad(x[0], {x.begin() + 1, x.end()}, options);
    for (std::size_t i = 0; i < gradients.size(); ++i) tensors_[ins[1][i].get<int>()] = gradients[i];
  }

  const Json& program_;
  std::map<int, Tensor> tensors_;
  std::map<int, torch::HookHandle> hooks_;
  std::unique_ptr<torch::no_grad> off_;
  std::size_t reads_ = 0;
};

Json programs_of(const std::string& file) {
  const auto bytes = cotan::load_npz(file).at("json").to_vector<std::uint8_t>();
  return Json::parse(bytes.begin(), bytes.end());
}
/// Every fourth program, from `first` on.
void check(const Json& programs, std::size_t first) {
  std::size_t different = 0;
  for (std::size_t i = first; i < programs.size() && different < 5; i += 4) {
    std::string found;
    try {
      found = Machine(programs[i]).difference();
    } catch (const std::exception& e) {
      found = fmt::format("at the end: {}", e.what());
    }
    different += !found.empty();
    EXPECT_EQ(found, "") << "program " << i << ": " << programs[i]["code"];
  }
}

class TorchPrograms : public ::testing::TestWithParam<std::size_t> {};

// The environment variable COTAN_TORCH_PROGRAMS names another file, of another seed.
TEST_P(TorchPrograms, AgreeWithPyTorch) {
  const char* other = std::getenv("COTAN_TORCH_PROGRAMS");
  const Json programs = programs_of(other ? other : COTAN_SOURCE_DIR "/tests/golden/torch/programs.npz");
  ASSERT_GE(programs.size(), other ? 1u : 1000u);
  check(programs, GetParam());
}
TEST_P(TorchPrograms, OfAnotherSeedAgreeToo) {
  const Json programs = programs_of(COTAN_SOURCE_DIR "/tests/golden/torch/programs_nightly.npz");
  ASSERT_GE(programs.size(), 1000u);
  check(programs, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Quarter, TorchPrograms, ::testing::Range<std::size_t>(0, 4));

}  // namespace
