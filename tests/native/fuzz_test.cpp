// Random programs, compiled by a device, give what the reference device gives: integers and, on the native one,
// whatever IEEE defines bit by bit, the rest within what roundings can do to it. COTAN_FUZZ_SEED=n runs one, as a
// failure names it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "native/fuzz_program.hpp"
#include "support/in_children.hpp"
#include "support/nightly.hpp"

namespace fuzz {
namespace {

struct Generator {
  const char* name;
  int programs;  ///< per run; a nightly run draws many more
  Options options;
};
const std::vector<Generator> generators{
    {"Tiny", 80, {.largest_axis = 4, .zero_axis = 15, .nodes = 7, .most_elements = 600}},
    {"Vectors", 80, {.largest_axis = 70, .axes = 2, .nodes = 7, .most_elements = 20000}},
    {"Volumes", 60, {.largest_axis = 12, .axes = 4, .nodes = 9, .most_elements = 20000}},
    {"Long", 40, {.smallest_axis = 100, .largest_axis = 3000, .axes = 1, .nodes = 7, .most_elements = 60000}},
    {"Large", 8, {.smallest_axis = 60, .largest_axis = 900, .axes = 2, .nodes = 6, .most_elements = 700000}},
    {"Deep", 25, {.largest_axis = 9, .axes = 3, .nodes = 30, .most_elements = 2000}},
    {"Rows", 60, {.largest_axis = 70, .axes = 2, .nodes = 12, .most_elements = 6000, .weights = {6, 1, 0, 4, 0}}},
    {"Views", 60, {.largest_axis = 30, .axes = 3, .nodes = 12, .most_elements = 20000, .weights = {3, 8, 3, 1, 0}}},
    {"Products",
     40,
     {.smallest_axis = 8,
      .largest_axis = 90,
      .axes = 3,
      .nodes = 7,
      .most_elements = 40000,
      .weights = {2, 5, 1, 1, 6}}},
    {"Special", 80, {.largest_axis = 20, .axes = 2, .nodes = 7, .most_elements = 5000, .special = true}},
    {"Gradients", 60, {.largest_axis = 9, .axes = 3, .nodes = 8, .most_elements = 3000, .around = Around::grad}},
    {"Batches", 40, {.largest_axis = 7, .axes = 3, .nodes = 7, .most_elements = 1000, .around = Around::vmap}},
    // Chains of small and odd products between views and reductions, where the compiler unrolls, fuses and keeps values
    // in registers.
    {"Chains",
     1000,
     {.axes = 2,
      .corner_sizes = true,
      .nodes = 5,
      .most_nodes = 30,
      .most_elements = 4225,
      .weights = {3, 3, 1, 2, 5}}},
    {"Registers",
     500,
     {.axes = 2,
      .corner_sizes = true,
      .zero_axis = 1000,
      .nodes = 3,
      .most_nodes = 12,
      .most_elements = 64,
      .weights = {3, 2, 1, 1, 6}}},
    {"ChainGradients",
     300,
     {.axes = 2,
      .corner_sizes = true,
      .nodes = 5,
      .most_nodes = 15,
      .most_elements = 1100,
      .weights = {3, 3, 1, 2, 5},
      .around = Around::grad}},
};

const std::vector<Generator> gpu_generators{
    {"Chains",
     100,
     {.axes = 2,
      .corner_sizes = true,
      .nodes = 5,
      .most_nodes = 20,
      .most_elements = 4225,
      .weights = {3, 3, 1, 2, 5},
      .device = "webgpu"}},
    {"ChainGradients",
     40,
     {.axes = 2,
      .corner_sizes = true,
      .nodes = 5,
      .most_nodes = 10,
      .most_elements = 1100,
      .weights = {3, 3, 1, 2, 5},
      .around = Around::grad,
      .device = "webgpu"}},
};

std::string check(const Options& options, std::uint64_t seed) {
  Draw draw(seed);
  const Program program = random_program(draw, options);
  std::string fault = difference(program, seed);
  if (fault.empty()) return {};
  const auto fails = [&](const Program& p) { return !difference(p, seed).empty(); };
  const Program small = shrink(program, fails);
  fault = difference(small, seed) + small.str();
  try {
    fault += ct::make_jaxpr([&](const Arrays& in) { return small.transformed(in); })(small.inputs()).str() + "\n";
  } catch (const std::exception& error) {
    fault += std::string("make_jaxpr raised: ") + error.what() + "\n";
  }
  return fault + "replay: COTAN_FUZZ_SEED=" + std::to_string(seed) + "\n";
}

/// In child processes: a crash is a finding too.
void check_programs(const Generator& g) {
  const auto text = [&](std::uint64_t seed) {
    Draw draw(seed);
    return random_program(draw, g.options).str();
  };
  if (const char* seed = std::getenv("COTAN_FUZZ_SEED")) {
    const std::uint64_t n = std::strtoull(seed, nullptr, 10);
    std::fputs(text(n).c_str(), stderr);
    EXPECT_EQ(check(g.options, n), "");
    return;
  }
  const auto programs = static_cast<std::uint64_t>(g.programs) * (is_nightly() ? 100 : 1);
  for (const Finding& f : in_children(programs, [&](std::uint64_t seed) { return check(g.options, seed); }))
    ADD_FAILURE() << f.fault << text(f.seed) << "replay: COTAN_FUZZ_SEED=" << f.seed;
}

class Fuzz : public testing::TestWithParam<Generator> {};
TEST_P(Fuzz, NativeGivesWhatTheReferenceGives) { check_programs(GetParam()); }
class WebGpuFuzz : public testing::TestWithParam<Generator> {};
TEST_P(WebGpuFuzz, GivesWhatTheReferenceGives) { check_programs(GetParam()); }

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Programs, Fuzz, testing::ValuesIn(generators), name_of);
INSTANTIATE_TEST_SUITE_P(WebGpuPrograms, WebGpuFuzz, testing::ValuesIn(gpu_generators), name_of);

}  // namespace
}  // namespace fuzz
