// What programs with loops look like after a transform: what is stacked, carried, hoisted and dropped. The
// size of a program never depends on the number of steps.
#include <gtest/gtest.h>

#include "control/control.hpp"
#include "control/support.hpp"
#include "core/jaxpr.hpp"
#include "passes/passes.hpp"

namespace control {

namespace {

using ct::Equation;
using ct::Jaxpr;
using ct::JaxprPtr;
using ct::Scan;
using Two = std::pair<Array, Array>;

Array ones(const Shape& shape) { return np::ones(shape); }

template <class F, class... A>
JaxprPtr traced(F f, const A&... args) {
  return ct::make_jaxpr(f)(args...).jaxpr();
}
template <class F, class... A>
JaxprPtr simplified(F f, const A&... args) {
  return ct::make_jaxpr(f)(args...).simplified().jaxpr();
}

/// Equations of a primitive at the top of a program, in order.
std::vector<const Equation*> all_of(const Jaxpr& j, std::string_view primitive) {
  std::vector<const Equation*> out;
  for (const Equation& e : j.equations)
    if (e.primitive->name == primitive) out.push_back(&e);
  return out;
}
int count(const Jaxpr& j, std::string_view primitive) { return static_cast<int>(all_of(j, primitive).size()); }
/// Equations, also those of the bodies of scans.
std::size_t size_of(const Jaxpr& j) {
  std::size_t n = j.equations.size();
  for (const Equation* e : all_of(j, "scan")) n += size_of(*Scan(e->params).body);
  return n;
}
/// Shapes of the ys of a scan, sorted.
std::vector<Shape> stacked_shapes(const Jaxpr& j, const Equation& scan) {
  std::vector<Shape> out;
  for (std::size_t i = Scan(scan.params).carries; i < scan.outputs.size(); ++i)
    out.push_back(j.type(scan.outputs[i]).shape);
  std::sort(out.begin(), out.end());
  return out;
}
bool reads(const Equation& e, ct::Var v) {
  for (const ct::Atom& a : e.inputs)
    if (const auto* var = std::get_if<ct::Var>(&a); var && *var == v) return true;
  return false;
}
using Shapes = std::vector<Shape>;

/// Programs are the same for all devices.
class OnReference : public testing::Test {
  OnDevice on_{"reference"};
};
class ScanStructure : public OnReference {};
class WhileStructure : public OnReference {};
class CheckpointStructure : public OnReference {};
class CondStructure : public OnReference {};

}  // namespace

// Reverse mode ------------------------------------------------------------------------------------------

TEST_F(ScanStructure, GradIsOneScanForwardsAndOneBackwards) {
  const auto f = [](Array c, Array xs) {
    return np::sum(lax::scan([](Array c, Array x) { return Two{np::sin(c) * x, c}; }, c, xs).first);
  };
  const JaxprPtr j = simplified(ct::grad<0, 1>(f), ones({3}), ones({6, 3}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_FALSE(Scan(scans[0]->params).reverse);
  EXPECT_TRUE(Scan(scans[1]->params).reverse);
}
TEST_F(ScanStructure, StepIndependentResidualsAreComputedOnceAndNotStacked) {
  const auto f = [](Array w, Array xs) {
    const auto step = [&](Array c, Array x) {
      return std::pair{np::matmul(np::sin(w), c) + np::exp(w)[0] * x, ct::none};
    };
    return np::sum(lax::scan(step, ones({3}), xs).first);
  };
  const JaxprPtr j = simplified(ct::grad(f), ones({3, 3}), ones({6, 3}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 2u);
  // Only the carry differs from step to step: neither cos(w), nor sin(w), nor exp(w) is kept six times.
  EXPECT_EQ(stacked_shapes(*j, *scans[0]), (Shapes{{6, 3}}));
  EXPECT_EQ(count(*Scan(scans[0]->params).body, "sin"), 0);
  EXPECT_EQ(count(*Scan(scans[1]->params).body, "cos"), 0);
}
TEST_F(ScanStructure, XsThatAreResidualsAreReadAgain) {
  const auto f = [](Array c, Array xs) {
    return np::sum(lax::scan([](Array c, Array x) { return std::pair{c * x, ct::none}; }, c, xs).first);
  };
  const JaxprPtr j = simplified(ct::grad(f), ones({3}), ones({6, 3}));  // only with respect to c
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u) << "the value is not needed: the derivative is linear in the carry\n"
                              << ct::to_string(*j);
  EXPECT_TRUE(reads(*scans[0], j->inputs[1]));
}
TEST_F(ScanStructure, XsForwardedBesidesCarries) {
  const auto f = [](Array c, Array xs) {
    return np::sum(lax::scan([](Array c, Array x) { return std::pair{np::sin(c) * x, ct::none}; }, c, xs).first);
  };
  const JaxprPtr j = simplified(ct::grad<0, 1>(f), ones({3}), ones({6, 3}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(stacked_shapes(*j, *scans[0]), (Shapes{{6, 3}, {6, 3}})) << "cos(c) and sin(c), no copy of x";
  EXPECT_TRUE(reads(*scans[1], j->inputs[1])) << "the xs themselves";
}
TEST_F(ScanStructure, AResidualIsStackedOnce) {
  const auto f = [](Array c, Array xs) {
    const auto step = [](Array c, Array x) { return std::pair{c * c * x * c, ct::none}; };
    return np::sum(lax::scan(step, c, xs).first);
  };
  const JaxprPtr j = simplified(ct::grad(f), ones({3}), ones({6, 3}));
  EXPECT_LE(stacked_shapes(*j, *all_of(*j, "scan")[0]).size(), 3u);
}
TEST_F(ScanStructure, IntegerCarriesHaveNoCotangents) {
  const auto f = [](Array c, Array xs) {
    const auto step = [](Two s, Array x) {
      return std::pair{Two{np::sin(s.first) * x + s.second, s.second + 1}, ct::none};
    };
    return np::sum(lax::scan(step, Two{c, 0}, xs).first.first);
  };
  const JaxprPtr j = simplified(ct::grad(f), ones({3}), ones({6, 3}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(Scan(scans[1]->params).carries, 1u);
}
TEST_F(ScanStructure, SizeDoesNotDependOnTheLength) {
  const auto f = [](Array w, Array xs) {
    const auto step = [&](Array c, Array x) {
      const Array n = np::tanh(np::matmul(w, c) + x);
      return Two{n, np::sum(n)};
    };
    const auto [c, ys] = lax::scan(step, ones({3}), xs);
    return np::sum(c) + np::sum(ys);
  };
  const auto size = [&](auto g, std::int64_t n) { return size_of(*traced(g, ones({3, 3}), ones({n, 3}))); };
  EXPECT_EQ(size(f, 3), size(f, 3000));
  EXPECT_EQ(size(ct::grad(f), 3), size(ct::grad(f), 3000));
  const auto hvp = [&](Array w, Array xs) {
    return ct::jvp([&](Array w) { return ct::grad(f)(w, xs); }, std::tuple{w}, std::tuple{w}).second;
  };
  EXPECT_EQ(size(hvp, 3), size(hvp, 3000));
}

// Fixpoints ---------------------------------------------------------------------------------------------

TEST_F(ScanStructure, TangentsOfTheLeastSetOfCarries) {
  // From s the derivative reaches b through a, but never d.
  const auto f = [](Array s, Array xs) {
    const auto step = [&](const Arrays& c, Array x) {
      return std::pair{Arrays{c[0] * s, c[1] + np::sin(c[0]), c[2] * x}, ct::none};
    };
    return lax::scan(step, Arrays{ones({}), ones({}), ones({})}, xs).first;
  };
  const auto g = [&](Array s, Array t, Array xs) {
    return ct::jvp([&](Array s) { return f(s, xs); }, std::tuple{s}, std::tuple{t}).second;
  };
  const JaxprPtr j = traced(g, ones({}), ones({}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(Scan(scans[0]->params).carries, 5u) << "three values, two tangents";
}
TEST_F(ScanStructure, BatchOfTheLeastSetOfCarries) {
  const auto f = [](Array s, Array xs) {
    const auto step = [&](const Arrays& c, Array x) {
      return std::pair{Arrays{c[0] * s, c[1] + np::sin(c[0]), c[2] * x}, c[2]};
    };
    return lax::scan(step, Arrays{ones({}), ones({}), ones({})}, xs);
  };
  const auto g = [&](Array s, Array xs) { return ct::vmap([&](Array s) { return f(s, xs); })(s); };
  const JaxprPtr in_lanes = traced(g, ones({4}), ones({6}));
  ASSERT_EQ(count(*in_lanes, "lanes"), 1) << "a small loop: each lane by itself";
  ASSERT_EQ(count(*in_lanes, "scan"), 1) << "and what no lane changes by a loop of its own";
  const ct::WholeBatches whole;
  const JaxprPtr j = traced(g, ones({4}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  Shapes carries;
  const Scan s(scans[0]->params);
  for (std::size_t i = 0; i < s.carries; ++i) carries.push_back(j->type(scans[0]->outputs[i]).shape);
  EXPECT_EQ(carries, (Shapes{{4}, {4}, {}}));
  EXPECT_EQ(stacked_shapes(*j, *scans[0]), (Shapes{{6}})) << "what no lane changes is computed once";
}
TEST_F(WhileStructure, PredicateOfNoLaneStaysAScalar) {
  const auto f = [](Array x) {
    return lax::while_loop([](Two s) { return s.second < 3; },
                           [](Two s) { return Two{np::sin(s.first), s.second + 1}; }, Two{x, 0});
  };
  const JaxprPtr j = traced(ct::vmap(f), ones({5}));
  const auto loops = all_of(*j, "while");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(count(*ct::While(loops[0]->params).condition, "reduce_or"), 0);
  EXPECT_EQ(j->type(loops[0]->outputs[1]).shape, Shape{});
}
TEST_F(WhileStructure, PredicateOfLanesRunsUntilAllHaveFinished) {
  const auto f = [](Array x) {
    return lax::while_loop([](Array c) { return c < 10; }, [](Array c) { return c * 2; }, x);
  };
  const JaxprPtr j = traced(ct::vmap(f), ones({5}));
  ASSERT_EQ(count(*j, "while"), 1);
  const ct::While w(all_of(*j, "while")[0]->params);
  EXPECT_EQ(count(*w.condition, "reduce_or"), 1);
  EXPECT_GE(count(*w.body, "select"), 1);
}

// Constants and dead code -----------------------------------------------------------------------------------

TEST_F(ScanStructure, UnchangedCarriesBecomeConstants) {
  const auto f = [](Array c, Array k, Array xs) {
    return lax::scan([](const Arrays& s, Array x) { return std::pair{Arrays{s[0] * x, s[1], s[2]}, s[1] * x}; },
                     Arrays{c, k, k}, xs);
  };
  const JaxprPtr j = traced(f, ones({}), ones({}), ones({6}));
  const Scan s(all_of(*j, "scan")[0]->params);
  EXPECT_EQ(s.carries, 1u);
  EXPECT_EQ(s.consts, 2u);
  EXPECT_EQ(std::get<ct::Var>(j->outputs[1]), j->inputs[1]) << "it is the operand itself";
}
TEST_F(ScanStructure, DeadCarriesAndYsAreDropped) {
  const auto f = [](Array c, Array xs) {
    const auto step = [](const Arrays& s, Array x) {
      return std::pair{Arrays{np::sin(s[0]) + x, s[0] * s[1], np::exp(s[2])}, Arrays{s[0], s[1], s[2]}};
    };
    return lax::scan(step, Arrays{c, c, c}, xs).second[0];
  };
  const JaxprPtr j = simplified(f, ones({}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(Scan(scans[0]->params).carries, 1u);
  EXPECT_EQ(scans[0]->outputs.size(), 2u);
  EXPECT_EQ(count(*Scan(scans[0]->params).body, "exp"), 0);
}
TEST_F(ScanStructure, UnusedXsAndConstantsAreDropped) {
  const auto f = [](Array c, Array xs, Array ys, Array w) {
    const auto step = [&](Array c, Two x) { return Two{c * x.first, w * x.second}; };
    return lax::scan(step, c, Two{xs, ys}).first;
  };
  const JaxprPtr j = simplified(f, ones({}), ones({6}), ones({6}), ones({}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(scans[0]->inputs.size(), 2u) << "the carry and one x";
}
TEST_F(ScanStructure, ALoopThatNobodyReadsIsGone) {
  const auto f = [](Array c, Array xs) {
    lax::scan([](Array c, Array x) { return Two{c * x, c}; }, c, xs);
    lax::while_loop([](Array c) { return c < 3; }, [](Array c) { return c * 2; }, c);
    return c + 1;
  };
  EXPECT_EQ(simplified(f, ones({}), ones({6}))->equations.size(), 1u);
}
TEST_F(ScanStructure, LoopInvariantsAreHoisted) {
  const auto f = [](Array w, Array c, Array xs) {
    const auto step = [&](Array c, Array x) {
      return std::pair{np::matmul(np::tanh(w), c) * np::exp(np::sum(w)) + x, ct::none};
    };
    return lax::scan(step, c, xs).first;
  };
  const JaxprPtr j = simplified(f, ones({3, 3}), ones({3}), ones({6, 3}));
  const Scan s(all_of(*j, "scan")[0]->params);
  for (const char* primitive : {"tanh", "exp", "reduce_sum"}) {
    EXPECT_EQ(count(*s.body, primitive), 0) << primitive;
    EXPECT_EQ(count(*j, primitive), 1) << primitive;
  }
}
TEST_F(WhileStructure, LoopInvariantsAreHoisted) {
  const auto f = [](Array w, Array c) {
    return lax::while_loop([&](Array c) { return c < np::exp(w); }, [&](Array c) { return c + np::tanh(w) + 1; }, c);
  };
  const JaxprPtr j = simplified(f, ones({}), ones({}));
  const ct::While w(all_of(*j, "while")[0]->params);
  EXPECT_EQ(count(*w.body, "tanh"), 0);
  EXPECT_EQ(count(*w.condition, "exp"), 0);
}

TEST_F(ScanStructure, InvariantsOfNestedLoopsAreHoistedOutOfAll) {
  const auto f = [](Array w, Array xs) {
    const auto inner = [&](Array c, Array x) { return Two{np::matmul(np::tanh(w), c) + x, np::sum(c)}; };
    const auto outer = [&](Array c, Array row) { return lax::scan(inner, c * np::exp(np::sum(w)), row); };
    return lax::scan(outer, ones({3}), xs);
  };
  const JaxprPtr j = simplified(f, ones({3, 3}), ones({4, 5, 3}));
  EXPECT_EQ(count(*j, "tanh"), 1);
  EXPECT_EQ(count(*j, "exp"), 1);
}
TEST_F(ScanStructure, ViewsFillsAndWhatIsLargerThanItsSourcesStayInTheLoop) {
  const auto f = [](Array u, Array v, Array xs) {
    const auto step = [&](Array c, Array x) {
      return std::pair{np::matmul(np::outer(u, v) + np::eye(3), c) + x * v[ct::range(ct::none, ct::none, -1)],
                       ct::none};
    };
    return lax::scan(step, ones({3}), xs).first;
  };
  const JaxprPtr j = simplified(f, ones({3}), ones({3}), ones({6, 3}));
  ASSERT_EQ(count(*j, "scan"), 1);
  EXPECT_EQ(j->equations.size(), 2u) << "the first carry and the scan\n" << ct::to_string(*j);
}
TEST_F(ScanStructure, EqualYsAreStackedOnce) {
  const auto f = [](Array c, Array xs) {
    return lax::scan(
        [](Array c, Array x) { return std::pair{np::sin(c) * x, Arrays{np::exp(c), np::exp(c), np::exp(c)}}; }, c, xs);
  };
  const JaxprPtr j = simplified(f, ones({}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(scans[0]->outputs.size(), 2u);
  EXPECT_EQ(j->outputs.size(), 4u);
}
TEST_F(ScanStructure, EqualOperandsArePassedOnce) {
  const auto f = [](Array w, Array c, Array xs) {
    const auto step = [&](Array c, Two x) { return Two{np::sin(c) * w + x.first, np::sin(c) * w + x.second}; };
    return lax::scan(step, c, Two{xs, xs});
  };
  const JaxprPtr j = simplified(f, ones({}), ones({}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(scans[0]->inputs.size(), 3u) << "a constant, a carry, one x";
  EXPECT_EQ(count(*Scan(scans[0]->params).body, "add"), 1);
}
TEST_F(ScanStructure, YsThatAreSlicesOfXsOrConstantsAreNotStacked) {
  const auto f = [](Array w, Array c, Array xs) {
    return lax::scan([&](Array c, Array x) { return std::pair{np::sin(c) * x, Arrays{x, w, x}}; }, c, xs);
  };
  const JaxprPtr j = simplified(f, ones({2}), ones({}), ones({6}));
  const auto scans = all_of(*j, "scan");
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(scans[0]->outputs.size(), 1u) << "the carry alone";
  EXPECT_EQ(std::get<ct::Var>(j->outputs[1]), j->inputs[2]) << "the xs themselves";
  EXPECT_EQ(count(*j, "broadcast_in_dim"), 1) << "the constant, once per step";
}
TEST_F(ScanStructure, CarriesThatAreAlwaysEqualAreOne) {
  const auto f = [](Array c, Array xs) {
    const auto step = [](Two s, Array x) {
      const Array n = np::sin(s.first) + s.second * x;
      return std::pair{Two{n, n}, ct::none};
    };
    return lax::scan(step, Two{c, c}, xs).first;
  };
  const JaxprPtr j = simplified(f, ones({}), ones({6}));
  EXPECT_EQ(Scan(all_of(*j, "scan")[0]->params).carries, 1u);
  EXPECT_TRUE(std::get<ct::Var>(j->outputs[0]) == std::get<ct::Var>(j->outputs[1]));
}

// Checkpoints -----------------------------------------------------------------------------------------------

namespace {

/// Elements of all that the forward scans of a gradient give out.
std::int64_t kept_elements(lax::ScanOptions options, std::int64_t n) {
  const auto f = [&](Array c, Array xs) {
    const auto step = [](Array c, Array x) { return std::pair{np::sin(np::sin(c) * x), ct::none}; };
    return np::sum(lax::scan(step, c, xs, options).first);
  };
  const JaxprPtr j = simplified(ct::grad(f), ones({4}), ones({n, 4}));
  std::int64_t kept = 0;
  for (const Equation* e : all_of(*j, "scan"))
    if (!Scan(e->params).reverse)
      for (ct::Var v : e->outputs) kept += j->type(v).size();
  return kept;
}

}  // namespace

TEST_F(CheckpointStructure, OnlyCarriesOfSegmentsAreKept) {
  const std::int64_t all = kept_elements({}, 400);
  EXPECT_GE(all, 400 * 4);
  EXPECT_LE(kept_elements({.checkpoint = ct::sqrt_n}, 400), (20 + 1) * 4);
  EXPECT_LE(kept_elements({.checkpoint = 50}, 400), (8 + 1) * 4);
  EXPECT_LE(kept_elements({.checkpoint = 7}, 400), (58 + 1) * 4) << "57 segments and a rest of one step";
}
TEST_F(CheckpointStructure, SizeDoesNotDependOnTheLength) {
  const auto f = [](Array c, Array xs) {
    const auto step = [](Array c, Array x) { return Two{np::sin(c) * x, c}; };
    return np::sum(lax::scan(step, c, xs, {.checkpoint = ct::sqrt_n}).first);
  };
  EXPECT_EQ(size_of(*traced(ct::grad(f), ones({4}), ones({100, 4}))),
            size_of(*traced(ct::grad(f), ones({4}), ones({10000, 4}))));
}

// cond
// --------------------------------------------------------------------------------------------------------

TEST_F(CondStructure, ResidualsOfBranchesShareSlots) {
  const auto f = [](Array p, Array x) {
    return np::sum(
        lax::cond(p > 0, [](Array x) { return np::sin(x); }, [](Array x) { return np::exp(x) + np::cos(x); }, x));
  };
  const JaxprPtr j = simplified(ct::grad<1>(f), ones({}), ones({3}));
  const auto conds = all_of(*j, "cond");
  ASSERT_EQ(conds.size(), 2u);
  EXPECT_LE(conds[0]->outputs.size(), 2u) << "as many as the branch with most, not the sum of all";
}
TEST_F(CondStructure, OneBranchRunsUnderVmapOfOthers) {
  const auto f = [](Array p, Array x) {
    return lax::cond(p > 0, [](Array x) { return np::sin(x); }, [](Array x) { return x; }, x);
  };
  const auto mapped = ct::vmap(f, {.in_axes = {ct::none, 0}});
  EXPECT_EQ(count(*traced(mapped, ones({}), ones({3})), "cond"), 1);
  EXPECT_EQ(count(*traced(ct::vmap(f), ones({3}), ones({3})), "cond"), 0) << "lanes choose: both run, and select";
}

}  // namespace control
