// Code that is made in a hurry, and how better code takes its place: between calls, and within one.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cstdlib>

#include "backend/native/executable.hpp"
#include "core/trace.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;

namespace {

/// COTAN_FIRST_CODE as long as this lives.
class FirstCode {
 public:
  explicit FirstCode(const char* how) {
    if (const char* before = std::getenv("COTAN_FIRST_CODE")) before_ = before;
    setenv("COTAN_FIRST_CODE", how, 1);
    ct::clear_caches();
  }
  ~FirstCode() { before_ ? setenv("COTAN_FIRST_CODE", before_->c_str(), 1) : unsetenv("COTAN_FIRST_CODE"); }

 private:
  std::optional<std::string> before_;
};

/// Loops whose steps take long: one until something holds, with carries on the stack and in two places, one of a
/// length, and one that nobody enters.
const auto loops = [](std::span<const Array> in) {
  struct State {
    Array x, sum, count;
  };
  const auto step = [](const State& s) {
    const Array next = np::sin(s.x * 1.25) + 0.1 * np::exp(-np::square(s.x));
    return State{next, s.sum + np::sum(next), s.count + 1};
  };
  const State start{in[0], np::zeros({}), np::zeros({}, ct::i32)};
  const State end = lax::while_loop([&](const State& s) { return s.count < in[1]; }, step, start);
  const auto [last, sums] = lax::scan(
      [&](const State& s) {
        const State next = step(s);
        return std::pair{next, next.sum};
      },
      end, lax::length(7));
  const State never = lax::while_loop([&](const State& s) { return s.count < 0; }, step, last);
  return Arrays{end.x, end.sum, never.x, sums, never.count};
};
std::vector<double> numbers(const Arrays& arrays) {
  std::vector<double> out;
  for (const Array& a : arrays)
    for (double v : a.to_vector<double>()) out.push_back(v);
  return out;
}

TEST(FirstCode, LoopsWithLongStepsGoOnWithBetterCode) {
  const Array x = np::linspace(-1, 1, 20000).astype(ct::f32);
  const auto run = [&](const char* how, int steps) {
    const FirstCode setting(how);
    const auto closed = ct::trace_to_jaxpr(loops, {{ct::f32, {20000}, false}, {ct::i32, {}, false}});
    const auto& executable = ct::native::executable_of(closed.jaxpr, ct::native::backend());
    const std::vector<double> out = numbers(executable.run(Arrays{x, np::full({}, steps, ct::i32)}));
    ct::native::finish_background_compilation();
    EXPECT_GE(executable.code()->now().steps.size(), 2u) << "no loop asks for its steps";
    if (steps > 1000) {
      EXPECT_FALSE(executable.code()->is_first()) << how << ": nobody asked for better code during the call";
    }
    return out;
  };
  // Even numbers of steps and odd ones: carries are in one place or in the other.
  for (int steps : {0, 1, 2, 16001}) EXPECT_EQ(run("quick", steps), run("full", steps)) << steps;
  const Arrays want = loops(Arrays{x, np::full({}, 3, ct::i32)});
  EXPECT_NEAR(run("quick", 3)[20000], want[1].item<float>(), 1e-2);
}

TEST(FirstCode, RoutinesInLongStepsRun) {
  const auto sorted = [](std::span<const Array> in) {
    return Arrays{lax::while_loop([](const Array& x) { return np::max(x) < 10.0; },
                                  [](const Array& x) { return np::sort(np::sin(x)) + np::max(x) + 1.0; }, in[0])};
  };
  const auto closed = ct::trace_to_jaxpr(sorted, {{ct::f32, {20000}, false}});
  const FirstCode setting("quick");
  const auto& executable = ct::native::executable_of(closed.jaxpr, ct::native::backend());
  EXPECT_EQ(numbers(executable.run(Arrays{np::linspace(-1, 1, 20000).astype(ct::f32)})),
            numbers(sorted(Arrays{np::linspace(-1, 1, 20000).astype(ct::f32)})));
}

}  // namespace
