// Random compositions of transforms (depth up to 4) over random programs. COTAN_NIGHTLY=1 runs 20,480 of them
// instead of 768; COTAN_COMPOSE_SEED=n runs one, as a failure report names it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "compose/stack.hpp"
#include "support/nightly.hpp"

namespace compose {

namespace {

constexpr int groups = 16;
constexpr std::uint64_t first_seed = 20260000;

// Tolerances, relative to the larger of one and the leaf's largest element.
/// One order of extrapolated differences is good to about 1e-10 where functions are tame; programs are not
/// always.
constexpr double first_order_tolerance = 1e-7;
/// A second difference divides the first one's error by a step of about 1/64.
constexpr double second_order_tolerance = 2e-6;
/// Other modes and loops compute the same sums in another order: rounding only, amplified by conditioning.
constexpr double exchanged_tolerance = 1e-9;
/// The jitted program is simplified by exact identities only.
constexpr double jit_tolerance = 1e-12;
constexpr double modes_tolerance = 1e-10;
/// The oracle's own estimate of its error, as a part of the tolerance, above which it is not asked.
constexpr double trusted_part = 0.1;
constexpr double kink_margin = 0.02;

struct Outcome {
  bool compared = false;
  std::string failure;
};

std::string values_text(const Host& h) {
  std::string out = "f64" + ct::describe(h.shape) + " {";
  char text[32];
  for (double v : h.values) {
    std::snprintf(text, sizeof text, " %.12g", v);
    out += text;
  }
  return out + " }";
}

std::string differ(const char* what, const Hosts& got, const Hosts& want, double tolerance) {
  if (got.size() != want.size())
    return std::string(what) + ": " + std::to_string(got.size()) + " leaves instead of " + std::to_string(want.size()) +
           "\n";
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool same = got[i].shape == want[i].shape;
    double scale = 1;
    for (double v : want[i].values) scale = std::max(scale, std::abs(v));
    for (std::size_t k = 0; same && k < got[i].values.size(); ++k)
      same = std::abs(got[i].values[k] - want[i].values[k]) <= tolerance * scale;
    if (!same)
      return std::string(what) + ", leaf " + std::to_string(i) + "\n  got  " + values_text(got[i]) + "\n  want " +
             values_text(want[i]) + "\n";
  }
  return {};
}

/// All of jacfwd and jacrev of the composed function.
std::string compare_modes(const Composed& f, const Arrays& x) {
  const auto flat = [](const std::vector<Arrays>& rows) {
    Arrays out;
    for (const Arrays& row : rows) out.insert(out.end(), row.begin(), row.end());
    return to_host(out);
  };
  return differ("jacfwd and jacrev of the composition", flat(ct::jacfwd(f.composed)(x)),
                flat(ct::jacrev(f.composed)(x)), modes_tolerance);
}

Outcome run_one(std::uint64_t seed) {
  Draw draw(seed);  // one draw per statement: the order of evaluation of arguments is the compiler's
  const std::vector<Shape> inputs = random_inputs(draw);
  const bool reverse_only = draw.one_in(3);
  const auto program =
      std::make_shared<const RandomProgram>(random_program(draw, inputs, {.allow_reverse_only = reverse_only}));
  Composed f = base(program);
  for (int depth = draw.between(1, 4); depth > 0; --depth)
    if (!transform_at_random(f, draw)) break;
  Arrays x, representative;
  for (const Shape& s : f.inputs) x.push_back(draw.array(s));
  for (const Shape& s : program->inputs) representative.push_back(draw.array(s));

  Outcome out;
  trust() = {};
  const bool by_differences = f.order < 3;
  const double tolerance = f.order < 2 ? first_order_tolerance : second_order_tolerance;
  Hosts want;
  if (by_differences)
    want = f.oracle(to_host(x));
  else
    base(program).oracle(to_host(representative));
  if (trust().gap < kink_margin || trust().error > trusted_part * tolerance || trust().largest > 1e3) return out;
  out.compared = true;
  try {
    const Arrays composed = f.composed(x);
    const Hosts got = to_host(composed);
    if (by_differences) out.failure += differ("composed and oracle", got, want, tolerance);
    out.failure += differ("composed and exchanged", got, to_host(f.exchanged(x)), exchanged_tolerance);
    out.failure += differ("jit of the composition and itself", to_host(ct::jit(f.composed)(x)), got, jit_tolerance);
    std::int64_t in = 0, outs = 0;
    for (const Shape& s : f.inputs) in += elements(s);
    for (const Shape& s : f.outputs) outs += elements(s);
    if (f.order < 3 && !f.reverse_only && in * outs <= 600) out.failure += compare_modes(f, x);
  } catch (const std::exception& error) {
    out.failure += std::string("raised: ") + error.what() + "\n";
  }
  if (!out.failure.empty()) {
    out.failure += "transforms, innermost first:\n" + f.str() + "program:\n" + program->str();
    try {
      out.failure += ct::make_jaxpr(base(program).composed)(representative).str() + "\n";
    } catch (const std::exception& error) {
      out.failure += std::string("make_jaxpr raised: ") + error.what() + "\n";
    }
    out.failure += "replay: COTAN_COMPOSE_SEED=" + std::to_string(seed) + "\n";
  }
  return out;
}

class RandomComposition : public testing::TestWithParam<int> {};

TEST_P(RandomComposition, AgreesWithDifferencesLoopsAndOtherModes) {
  if (const char* seed = std::getenv("COTAN_COMPOSE_SEED")) {
    if (GetParam() != 0) GTEST_SKIP() << "replaying one seed";
    const Outcome one = run_one(std::strtoull(seed, nullptr, 10));
    EXPECT_EQ(one.failure, "");
    EXPECT_TRUE(one.compared) << "the oracle is not to be trusted at this point";
    return;
  }
  const int programs = is_nightly() ? 1280 : 24;
  // Each group has its own stretch of seeds; points near a kink do not count.
  const std::uint64_t start = first_seed + static_cast<std::uint64_t>(GetParam()) * 10000;
  int compared = 0, drawn = 0, failed = 0;
  for (; compared < programs && drawn < 2 * programs; ++drawn) {
    const Outcome one = run_one(start + static_cast<std::uint64_t>(drawn));
    compared += one.compared;
    failed += !one.failure.empty();
    EXPECT_EQ(one.failure, "");
    if (failed == 5) FAIL() << "five failures; the rest of the group is skipped";
  }
  EXPECT_EQ(compared, programs) << "of " << drawn << " drawn; the others were too close to a kink";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomComposition, testing::Range(0, groups));

}  // namespace
}  // namespace compose
