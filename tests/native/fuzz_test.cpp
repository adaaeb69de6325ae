// Random programs, compiled by the native device, give what the reference device gives: integers and whatever
// IEEE defines bit by bit, the rest within what roundings can do to it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "native/fuzz_program.hpp"

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
    {"Rows",
     60,
     {.largest_axis = 70, .axes = 2, .nodes = 12, .most_elements = 6000, .weights = {6, 1, 0, 4, 0}}},
    {"Views",
     60,
     {.largest_axis = 30, .axes = 3, .nodes = 12, .most_elements = 20000, .weights = {3, 8, 3, 1, 0}}},
    {"Products",
     40,
     {.smallest_axis = 8,
      .largest_axis = 90,
      .axes = 3,
      .nodes = 7,
      .most_elements = 40000,
      .weights = {2, 5, 1, 1, 6}}},
    {"Special", 80, {.largest_axis = 20, .axes = 2, .nodes = 7, .most_elements = 5000, .special = true}},
    {"Gradients",
     60,
     {.largest_axis = 9, .axes = 3, .nodes = 8, .most_elements = 3000, .around = Around::grad}},
    {"Batches",
     40,
     {.largest_axis = 7, .axes = 3, .nodes = 7, .most_elements = 1000, .around = Around::vmap}},
};

bool is_nightly() {
  const char* nightly = std::getenv("COTAN_NIGHTLY");
  return nightly && *nightly && *nightly != '0';
}

std::string check(const Options& options, std::uint64_t seed) {
  Draw draw(seed);
  const Program program = random_program(draw, options);
  std::string fault = difference(program, seed);
  if (fault.empty()) return {};
  const auto fails = [&](const Program& p) { return !difference(p, seed).empty(); };
  const Program small = shrink(program, fails);
  fault = difference(small, seed) + small.str();
  try {
    fault +=
        ct::make_jaxpr([&](const Arrays& in) { return small.transformed(in); })(small.inputs()).str() + "\n";
  } catch (const std::exception& error) {
    fault += std::string("make_jaxpr raised: ") + error.what() + "\n";
  }
  return fault + "replay: COTAN_FUZZ_SEED=" + std::to_string(seed) + "\n";
}

class Fuzz : public testing::TestWithParam<Generator> {};

TEST_P(Fuzz, NativeGivesWhatTheReferenceGives) {
  const Generator& g = GetParam();
  if (const char* seed = std::getenv("COTAN_FUZZ_SEED")) {
    EXPECT_EQ(check(g.options, std::strtoull(seed, nullptr, 10)), "");
    return;
  }
  const int programs = g.programs * (is_nightly() ? 40 : 1);
  for (int k = 0, failed = 0; k < programs && failed < 3; ++k) {
    const std::string fault = check(g.options, static_cast<std::uint64_t>(k));
    failed += !fault.empty();
    EXPECT_EQ(fault, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Fuzz, testing::ValuesIn(generators),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fuzz
