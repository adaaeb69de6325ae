// The simplifier, pass by pass: what it removes, and what it must leave because a bit would change.
#include "passes/passes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

#include "core/trace.hpp"
#include "lowering/pipeline.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {

Array v3() { return np::array({1.f, -2.f, 3.f}); }

template <class F, class... A>
JaxprPtr traced(F f, const A&... args) {
  return make_jaxpr(f)(args...).jaxpr();
}
JaxprPtr simplify(const JaxprPtr& j) { return lowering::simplify(j); }
int count(const Jaxpr& j, std::string_view primitive) {
  int n = 0;
  for (const Equation& e : j.equations) n += e.primitive->name == primitive;
  return n;
}
/// Equations left of f after a pass; the values must stay the same to the bit.
template <class F>
std::size_t left(JaxprPtr (*pass)(const JaxprPtr&), F f, const Array& x) {
  const JaxprPtr before = traced(f, x), after = pass(before);
  verify(*after, "a test");
  EXPECT_TRUE(after->input_types() == before->input_types());
  EXPECT_TRUE(after->output_types() == before->output_types());
  if (before->inputs.size() == 1) {
    const Array at = device_put(x, "reference");  // where a jit call computes what its equations do
    const Arrays want = eval_jaxpr(*before, Arrays{at}), got = eval_jaxpr(*after, Arrays{at});
    for (std::size_t i = 0; i < want.size(); ++i) {
      const auto a = want[i].to_vector<double>(), b = got[i].to_vector<double>();
      for (std::size_t k = 0; k < a.size(); ++k) {
        EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])));
        EXPECT_EQ(std::signbit(a[k]), std::signbit(b[k]));
      }
    }
  }
  return after->equations.size();
}
template <class F>
std::size_t folded(F f, const Array& x = v3()) {
  return left(fold_constants_and_identities, f, x);
}

}  // namespace

TEST(Fold, ScalarArithmetic) {
  EXPECT_EQ(folded([](Array x) { return x * (np::sin(2.0) + 1); }), 1u);
  EXPECT_EQ(folded([](Array x) { return x * np::where(np::greater(2.0, 1.0), 3.0, 4.0); }), 1u);
}
TEST(Fold, ExactIdentities) {
  EXPECT_EQ(folded([](Array x) { return x * 1; }), 0u);
  EXPECT_EQ(folded([](Array x) { return 1.0 * x; }), 0u);
  EXPECT_EQ(folded([](Array x) { return x / 1; }), 0u);
  EXPECT_EQ(folded([](Array x) { return x - 0; }), 0u);
  EXPECT_EQ(folded([](Array x) { return x + (-0.0); }), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::integer_pow(x, 1); }), 0u);
  EXPECT_EQ(folded([](Array x) { return -(-x); }), 1u) << "the inner one is left for dead-code elimination";
  EXPECT_EQ(folded([](Array x) { return np::maximum(x, x); }), 0u);
}
TEST(Fold, InexactIdentitiesStay) {
  const Array zeros = np::array({-0.0, 0.0, np::nan});
  EXPECT_EQ(folded([](Array x) { return x + 0; }, zeros), 1u) << "-0 + 0 is +0";
  EXPECT_EQ(folded([](Array x) { return 0 + x; }, zeros), 1u);
  EXPECT_EQ(folded([](Array x) { return x * 0; }, zeros), 1u) << "NaN * 0 is NaN";
  EXPECT_EQ(folded([](Array x) { return 0 - x; }, zeros), 1u) << "0 - 0 is +0, -0 is not";
  EXPECT_EQ(folded([](Array x) { return x - x; }, zeros), 1u);
  EXPECT_EQ(folded([](Array x) { return x / x; }, zeros), 1u);
}
TEST(Fold, IntegersHaveNoSignedZero) {
  EXPECT_EQ(folded([](Array x) { return x + 0; }, np::arange(3)), 0u);
  EXPECT_EQ(folded([](Array x) { return ~~x; }, np::arange(3)), 1u);
}
TEST(Fold, ViewsThatDoNothing) {
  const Array m = np::arange(6, f32).reshape({2, 3});
  EXPECT_EQ(folded([](Array x) { return lax::transpose(x, {0, 1}); }, m), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::slice(x, {0, 0}, {2, 3}); }, m), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::broadcast_in_dim(x, {2, 3}, {0, 1}); }, m), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::pad(x, 0.f, {{0, 0, 0}, {0, 0, 0}}); }, m), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::rev(lax::rev(x, {1}), {1}); }, m), 1u);
  EXPECT_EQ(folded([](Array x) { return lax::concatenate({x}, 0); }, m), 0u);
  EXPECT_EQ(folded([](Array x) { return lax::slice(x, {0, 1}, {2, 3}); }, m), 1u);
}
TEST(Fold, ViewsOfViewsCompose) {
  const Array m = np::arange(24, f32).reshape({2, 3, 4});
  const auto reshapes = [](Array x) { return x.reshape({6, 4}).reshape({4, 6}).reshape({24}); };
  EXPECT_EQ(left(simplify, reshapes, m), 1u);
  const auto back = [](Array x) { return x.reshape({6, 4}).reshape({2, 3, 4}); };
  EXPECT_EQ(left(simplify, back, m), 0u);
  const auto transposes = [](Array x) { return x.transpose({1, 2, 0}).transpose({1, 2, 0}); };
  EXPECT_EQ(left(simplify, transposes, m), 1u);
  EXPECT_EQ(left(simplify, [](Array x) { return x.T().T(); }, m), 0u);
}
TEST(Fold, KeepsStopGradient) {
  EXPECT_EQ(count(*simplify(traced([](Array x) { return stop_gradient(x) * x; }, v3())), "stop_gradient"), 1);
}
TEST(Fold, KeepsTypesAndShapes) {
  EXPECT_EQ(folded([](Array x) { return x * np::ones({}, f32); }, np::array(2.f)), 0u);
  const JaxprPtr wider = traced([](Array x) { return np::broadcast_to(x, {3}) * 1; }, np::array(2.f));
  EXPECT_EQ(fold_constants_and_identities(wider)->output_types()[0].shape, (Shape{3}));
}

TEST(Cse, OneForEqual) {
  const auto f = [](Array x) { return np::sin(x) + np::sin(x); };
  EXPECT_EQ(count(*eliminate_common_subexpressions(traced(f, v3())), "sin"), 1);
  const auto chain = [](Array x) { return np::cos(np::sin(x)) * np::cos(np::sin(x)); };
  EXPECT_EQ(left(eliminate_common_subexpressions, chain, v3()), 3u);
}
TEST(Cse, TellsParametersAndLiteralsApart) {
  const auto f = [](Array x) { return std::pair{np::sum(x, 0), np::sum(x, 1)}; };
  EXPECT_EQ(count(*eliminate_common_subexpressions(traced(f, np::ones({2, 2}))), "reduce_sum"), 2);
  const auto zeros = [](Array x) { return std::pair{x * 0.0, x * -0.0}; };
  EXPECT_EQ(count(*eliminate_common_subexpressions(traced(zeros, v3())), "mul"), 2);
}
TEST(Cse, InsideNestedPrograms) {
  const auto f = [](Array x) { return checkpoint([](Array y) { return np::sin(y) + np::sin(y); })(x); };
  const JaxprPtr j = eliminate_common_subexpressions(traced(f, v3()));
  EXPECT_EQ(count(*j->equations[0].params.jaxpr("jaxpr"), "sin"), 1);
}

TEST(DeadCode, UnreadResultsGo) {
  const auto f = [](Array x) {
    np::sin(np::cos(x));
    return x * 2;
  };
  EXPECT_EQ(left(eliminate_dead_code, f, v3()), 1u);
}
TEST(DeadCode, OneOfSeveralResults) {
  const auto f = [](Array x) { return linalg::eigh(x).eigenvalues; };
  EXPECT_EQ(count(*eliminate_dead_code(traced(f, np::eye(2))), "eigh"), 1);
}
TEST(DeadCode, RestrictOutputs) {
  const JaxprPtr j = traced([](Array x) { return std::pair{np::sin(x), np::cos(x)}; }, v3());
  const JaxprPtr r = restrict_outputs(j, {false, true});
  EXPECT_EQ(r->outputs.size(), 1u);
  EXPECT_EQ(count(*r, "sin"), 0);
  EXPECT_EQ(r->inputs.size(), 1u);
}

TEST(Inline, JitCallsGo) {
  const auto inner = jit([](Array x) { return np::sin(x); });
  const auto outer = jit([=](Array x) { return inner(x) * inner(x); });
  const JaxprPtr j = traced([=](Array x) { return outer(x) + 1; }, v3());
  EXPECT_EQ(count(*j, "jit"), 1);
  const JaxprPtr flat = inline_calls(j);
  EXPECT_EQ(count(*flat, "jit"), 0);
  EXPECT_GE(count(*flat, "sin"), 1);
  EXPECT_EQ(left(inline_calls, [=](Array x) { return outer(x) + 1; }, v3()), flat->equations.size());
}
TEST(Inline, CheckpointsAndCustomRulesStay) {
  const auto rule = custom_jvp([](Array x) { return np::sin(x); },
                               [](auto p, auto t) { return std::pair{np::sin(std::get<0>(p)), std::get<0>(t)}; });
  const auto f = [=](Array x) {
    return checkpoint([](Array y) { return jit([](Array z) { return np::sin(z); })(y); })(rule(x));
  };
  const JaxprPtr j = simplify(traced(f, v3()));
  EXPECT_EQ(count(*j, "checkpoint"), 1);
  EXPECT_EQ(count(*j, "custom_jvp_call"), 1);
}

TEST(Simplify, AllTogether) {
  const auto f = [](Array x) {
    const Array a = x * 1 - 0, b = np::sin(a.reshape({3, 1}).reshape({3}));
    np::cos(b);
    return b * b + np::sin(x) * np::sin(x);
  };
  EXPECT_EQ(left(simplify, f, v3()), 3u);  // sin, mul, add
  const Program p = make_jaxpr(f)(v3());
  EXPECT_EQ(p.simplified().equations(), 3);
}
TEST(Simplify, InputsStayEvenIfUnread) {
  const JaxprPtr j = simplify(traced([](Array x, Array) { return x; }, v3(), v3()));
  EXPECT_EQ(j->inputs.size(), 2u);
  EXPECT_EQ(j->equations.size(), 0u);
}
