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
    {"Tiny", 60, {.largest_axis = 4, .zero_axis = 15, .nodes = 7, .most_elements = 600}},
    {"Vectors", 60, {.largest_axis = 70, .axes = 2, .nodes = 7, .most_elements = 20000}},
    {"Volumes", 40, {.largest_axis = 12, .axes = 4, .nodes = 9, .most_elements = 20000}},
    {"Long", 20, {.smallest_axis = 100, .largest_axis = 3000, .axes = 1, .nodes = 7, .most_elements = 60000}},
    {"Large", 5, {.smallest_axis = 60, .largest_axis = 900, .axes = 2, .nodes = 6, .most_elements = 700000}},
    {"Special", 50, {.largest_axis = 20, .axes = 2, .nodes = 6, .most_elements = 5000, .special = true}},
    {"Deep", 15, {.largest_axis = 9, .axes = 3, .nodes = 30, .most_elements = 2000}},
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
    fault += ct::make_jaxpr([&](const Arrays& in) { return small(in); })(small.inputs()).str() + "\n";
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
