// Random programs with nested loops under random compositions of transforms, against the same steps unrolled
// in C++. COTAN_NIGHTLY=1 runs 20 times as many; COTAN_CONTROL_SEED=n runs one, as a failure report names it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "control/fuzz_program.hpp"

namespace control {

namespace {

constexpr int groups = 8, programs_per_group = 40;
constexpr std::uint64_t first_seed = 40260000;
/// Other orders of the same sums, amplified by what the program and its derivatives make of them.
constexpr double tolerance = 1e-9;

/// A program under transforms: with lax's loops on the device, and unrolled, without jit, on the reference
/// device.
struct Composed {
  Function loops, unrolled;
  std::vector<Shape> inputs;
  bool forward_only;
  int order = 0;  ///< of derivatives
  std::string text;
};

Array weighted_sum(const Arrays& outputs) {
  Array total = 0;
  int k = 0;
  for (const Array& y : outputs) total = total + np::sum(y * formula(y.shape(), 200 + k++));
  return total;
}
Function jit(const Function& f) {
  return [f](const Arrays& x) { return ct::jit(f)(x); };
}
Function grad(const Function& f) {
  return [f](const Arrays& x) { return ct::grad([&](const Arrays& in) { return weighted_sum(f(in)); })(x); };
}
/// Tangents, and the values where they are wanted too.
Function jvp(const Function& f, bool with_values) {
  return [=](const Arrays& x) {
    Arrays tangents;
    for (std::size_t k = 0; k < x.size(); ++k) tangents.push_back(formula(x[k].shape(), 100 + static_cast<int>(k)));
    auto [y, t] = ct::jvp(f, std::tuple{x}, std::tuple{tangents});
    if (with_values) t.insert(t.end(), y.begin(), y.end());
    return t;
  };
}
Function vmap(const Function& f, const std::vector<int>& axes) {
  return [=](const Arrays& x) {
    std::vector<ct::MappedAxes> list;
    for (int a : axes) list.push_back(a < 0 ? ct::MappedAxes(ct::none) : ct::MappedAxes(a));
    const ct::MappedAxes in_axes({ct::MappedAxes(list)});
    return ct::vmap(f, {.in_axes = in_axes})(x);
  };
}

void transform(Composed& c, Draw& draw) {
  const int kind = draw.below(c.forward_only || c.order > 1 ? 3 : 5);
  if (kind == 0) {
    c.loops = jit(c.loops);
    c.text += "jit ";
  } else if (kind == 1) {
    const bool with_values = draw.one_in(2);
    c.loops = jvp(c.loops, with_values);
    c.unrolled = jvp(c.unrolled, with_values);
    ++c.order;
    c.text += "jvp ";
  } else if (kind == 2) {
    std::vector<int> axes;
    c.text += "vmap(";
    const int mapped = draw.below(static_cast<int>(c.inputs.size()));  // at least this one
    for (std::size_t k = 0; k < c.inputs.size(); ++k) {
      const bool along = static_cast<int>(k) == mapped || !draw.one_in(3);
      axes.push_back(along ? draw.below(static_cast<int>(c.inputs[k].size()) + 1) : -1);
      if (along) c.inputs[k].insert(c.inputs[k].begin() + axes.back(), 2);
      c.text += std::to_string(axes.back()) + " ";
    }
    c.text += ") ";
    c.loops = vmap(c.loops, axes);
    c.unrolled = vmap(c.unrolled, axes);
  } else {
    c.loops = grad(c.loops);
    c.unrolled = grad(c.unrolled);
    ++c.order;
    c.text += "grad ";
  }
}

/// What differs, or nothing.
std::string compare(std::uint64_t seed, const std::string& device) {
  Draw draw(seed);
  const auto program = std::make_shared<const LoopProgram>(random_loop_program(draw));
  Composed c{[program](const Arrays& in) { return (*program)(in, Way::lax); },
             [program](const Arrays& in) { return (*program)(in, Way::unrolled); },
             program->inputs,
             program->block->forward_only,
             0,
             ""};
  for (int depth = draw.below(4); depth > 0; --depth) transform(c, draw);
  if (draw.one_in(2)) {
    c.loops = jit(c.loops);
    c.text += "jit ";
  }
  std::vector<std::vector<double>> data;
  for (const Shape& s : c.inputs) data.push_back(draw.array(s).to_vector<double>());
  const auto inputs = [&] {
    Arrays out;
    for (std::size_t k = 0; k < data.size(); ++k) out.push_back(Array::from_host(data[k], c.inputs[k]));
    return out;
  };
  std::string failure;
  try {
    std::vector<std::pair<Shape, std::vector<double>>> want;
    {
      const OnDevice on("reference");
      for (const Array& a : c.unrolled(inputs())) want.emplace_back(a.shape(), a.to_vector<double>());
    }
    const OnDevice on(device);
    Arrays expected;
    for (const auto& [shape, values] : want) expected.push_back(Array::from_host(values, shape));
    if (const auto same = close(c.loops(inputs()), expected, tolerance); !same) failure = same.message();
  } catch (const std::exception& error) {
    failure = std::string("raised: ") + error.what();
  }
  if (failure.empty()) return {};
  return failure + "\ntransforms, innermost first: " + c.text + "\n" + program->str() +
         "replay: COTAN_CONTROL_SEED=" + std::to_string(seed) + " --gtest_filter='*Fuzz*'\n";
}

class Fuzz : public testing::TestWithParam<std::tuple<int, std::string>> {};

TEST_P(Fuzz, LoopsAreTheUnrolledSteps) {
  const auto& [group, device] = GetParam();
  if (const char* seed = std::getenv("COTAN_CONTROL_SEED")) {
    if (group != 0) GTEST_SKIP() << "replaying one seed";
    const std::string failure = compare(std::strtoull(seed, nullptr, 10), device);
    EXPECT_TRUE(failure.empty()) << failure;
    return;
  }
  const int programs = programs_per_group * (is_nightly() ? 20 : 1);
  int failed = 0;
  for (int k = 0; k < programs && failed < 3; ++k) {
    const std::string failure =
        compare(first_seed + static_cast<std::uint64_t>(group) * 10000 + static_cast<std::uint64_t>(k), device);
    if (failure.empty()) continue;
    ++failed;
    ADD_FAILURE() << failure;
  }
}
INSTANTIATE_TEST_SUITE_P(Control, Fuzz, testing::Combine(testing::Range(0, groups), testing::ValuesIn(devices())),
                         [](const auto& info) {
                           return std::get<1>(info.param) + "_" + std::to_string(std::get<0>(info.param));
                         });

}  // namespace
}  // namespace control
