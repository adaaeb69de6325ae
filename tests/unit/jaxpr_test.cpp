// Programs as text, the verifier on programs that are wrong, equality and hash by structure.
#include "core/jaxpr.hpp"

#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

#include "core/construct.hpp"
#include "core/trace.hpp"
#include "ops/ops.hpp"
#include "transforms/calls.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {

const AbstractValue vec{f32, {3}, false}, num{f32, {}, false};

template <class F, class... A>
JaxprPtr traced(F f, const A&... args) {
  return make_jaxpr(f)(args...).jaxpr();
}
/// f32[3] -> f32[3]: sin of the input, to be made wrong.
Jaxpr sine() {
  Jaxpr j;
  j.types = {vec, vec};
  j.inputs = {Var{0}};
  j.equations.push_back({&ops::sin_p, {Var{0}}, {Var{1}}, {}, {}});
  j.outputs = {Var{1}};
  return j;
}
void expect_rejected(const Jaxpr& j, std::string_view why) {
  try {
    verify(j, "a test");
    ADD_FAILURE() << "accepted: " << why;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string_view(error.what()).find("[verify] after a test: "), std::string_view::npos) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << error.what();
  }
}

}  // namespace

TEST(JaxprText, TypesOnBinders) {
  const auto f = [](Array x) { return np::sum(np::sin(x) * x); };
  EXPECT_EQ(make_jaxpr(f)(np::ones({2, 3})).str(),
            "{ lambda ; a:f32[2,3]. let\n"
            "    b:f32[2,3] = sin a\n"
            "    c:f32[2,3] = mul b a\n"
            "    d:f32[] = reduce_sum[axes=(0, 1)] c\n"
            "  in (d,) }");
}
TEST(JaxprText, LiteralsAndConstants) {
  const Array c = np::array({1.f, 2.f, 3.f});
  EXPECT_EQ(make_jaxpr([&](Array x) { return std::pair{x * c, x + 1}; })(np::ones({3})).str(),
            "{ lambda a:f32[3] ; b:f32[3]. let\n"
            "    c:f32[3] = mul b a\n"
            "    d:f32[3] = add b 1.0:f32[]\n"
            "  in (c, d) }");
}
TEST(JaxprText, ParametersAreSorted) {
  EXPECT_EQ(make_jaxpr([](Array x) { return lax::slice(x, {1}, {3}, {2}); })(np::ones({3})).str(),
            "{ lambda ; a:f32[3]. let\n"
            "    b:f32[1] = slice[limit_indices=(3,) start_indices=(1,) strides=(2,)] a\n"
            "  in (b,) }");
}
TEST(JaxprText, NestedPrograms) {
  const auto inner = jit([](Array x) { return np::sin(x); }, {.name = "inner"});
  EXPECT_EQ(make_jaxpr([&](Array x) { return inner(x) * 2; })(np::ones({3})).str(),
            "{ lambda ; a:f32[3]. let\n"
            "    b:f32[3] = jit[\n"
            "      jaxpr={ lambda ; a:f32[3]. let\n"
            "          b:f32[3] = sin a\n"
            "        in (b,) }\n"
            "      name=inner\n"
            "    ] a\n"
            "    c:f32[3] = mul b 2.0:f32[]\n"
            "  in (c,) }");
}
TEST(JaxprText, NoArgumentsNoResults) {
  EXPECT_EQ(make_jaxpr([](std::vector<Array> x) { return x; })(std::vector<Array>{}).str(),
            "{ lambda ; . let\n  in () }");
  EXPECT_EQ(make_jaxpr([](Array x) { return x; })(1.0).equations(), 0);
}
TEST(JaxprText, ManyVariables) {
  const Program p = make_jaxpr([](Array x) {
    for (int i = 0; i < 30; ++i) x = np::sin(x);
    return x;
  })(np::ones({}));
  EXPECT_NE(p.str().find("z:f32[] = sin y\n    ba:f32[] = sin z"), std::string::npos) << p;
}

TEST(Verifier, AcceptsWhatIsRight) {
  verify(sine(), "a test");
  verify(*traced([](Array x) { return np::sum(jit([](Array y) { return y * 2; })(x)); }, np::ones({3})), "a test");
}
TEST(Verifier, UnboundVariable) {
  Jaxpr j = sine();
  j.inputs.clear();
  expect_rejected(j, "sin reads variable 0 before it is bound");
  j = sine();
  j.types.push_back(vec);
  j.outputs = {Var{2}};
  expect_rejected(j, "the outputs reads variable 2 before it is bound");
}
TEST(Verifier, BoundTwice) {
  Jaxpr j = sine();
  j.equations.push_back(j.equations[0]);
  expect_rejected(j, "variable 1 is bound twice");
  j = sine();
  j.inputs.push_back(Var{0});
  expect_rejected(j, "variable 0 is bound twice");
}
TEST(Verifier, VariableWithoutAType) {
  Jaxpr j = sine();
  j.outputs = {Var{7}};
  expect_rejected(j, "variable 7 is not in the type table");
  j.outputs = {Var{-1}};
  expect_rejected(j, "variable -1 is not in the type table");
}
TEST(Verifier, WrongResultType) {
  Jaxpr j = sine();
  j.types[1] = num;
  expect_rejected(j, "sin gives f32[3] but its result is declared f32[]");
  j.types[1] = {f64, {3}, false};
  expect_rejected(j, "sin gives f32[3] but its result is declared f64[3]");
}
TEST(Verifier, WrongNumberOfResults) {
  Jaxpr j = sine();
  j.types.push_back(vec);
  j.equations[0].outputs.push_back(Var{2});
  expect_rejected(j, "sin binds 2 results of 1");
}
TEST(Verifier, IllTypedOperands) {
  Jaxpr j = sine();
  j.types[0] = {i32, {3}, false};
  expect_rejected(j, "sin is ill-typed: [sin] needs floating-point operands, got i32");
}
TEST(Verifier, LiteralsAreScalars) {
  Jaxpr j = sine();
  j.equations[0].inputs[0] = Literal{np::ones({3})};
  expect_rejected(j, "sin has a literal that is not a concrete scalar");
}
TEST(Verifier, LooksIntoNestedPrograms) {
  Jaxpr inner = sine();
  inner.equations.push_back(inner.equations[0]);
  Jaxpr j = sine();
  j.equations[0] = {
      &jit_p, {Var{0}}, {Var{1}}, {{"jaxpr", std::make_shared<const Jaxpr>(inner)}, {"name", std::string("f")}}, {}};
  expect_rejected(j, "variable 1 is bound twice");
}

TEST(JaxprStructure, NamesOfVariablesDoNotCount) {
  const Jaxpr a = sine();
  Jaxpr b;
  b.name = "other";
  b.types = {num, vec, num, vec};
  b.inputs = {Var{3}};
  b.equations.push_back({&ops::sin_p, {Var{3}}, {Var{1}}, {}, std::source_location::current()});
  b.outputs = {Var{1}};
  EXPECT_TRUE(structurally_equal(a, b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}
TEST(JaxprStructure, TracingTwiceGivesEqualPrograms) {
  const auto f = [](Array x) { return np::sum(jit([](Array y) { return np::tanh(y) * 2; })(x)); };
  const JaxprPtr a = traced(grad(f), np::ones({3})), b = traced(grad(f), np::ones({3}));
  EXPECT_TRUE(structurally_equal(*a, *b));
  EXPECT_EQ(structural_hash(*a), structural_hash(*b));
}
TEST(JaxprStructure, Differences) {
  const auto base = traced([](Array x) { return np::sum(x * 2, 0); }, np::ones({3, 3}));
  const auto differs = [&](const JaxprPtr& other) {
    return !structurally_equal(*base, *other) && structural_hash(*base) != structural_hash(*other);
  };
  EXPECT_TRUE(differs(traced([](Array x) { return np::sum(x * 2, 1); }, np::ones({3, 3})))) << "parameters";
  EXPECT_TRUE(differs(traced([](Array x) { return np::sum(x * 3, 0); }, np::ones({3, 3})))) << "literals";
  EXPECT_TRUE(differs(traced([](Array x) { return np::sum(x * 2, 0); }, np::ones({3, 3}, f64)))) << "dtypes";
  EXPECT_TRUE(differs(traced([](Array x) { return np::sum(x * 2, 0); }, np::ones({3, 4})))) << "shapes";
  EXPECT_TRUE(differs(traced([](Array x) { return np::max(x * 2, 0); }, np::ones({3, 3})))) << "primitives";
  EXPECT_TRUE(differs(traced([](Array x) { return np::sum(x * x, 0); }, np::ones({3, 3})))) << "operands";
  EXPECT_TRUE(differs(traced([](Array x) { return std::pair{np::sum(x * 2, 0), x}; }, np::ones({3, 3})))) << "outputs";
}
TEST(JaxprStructure, SignedZerosAndNansAreLiteralsByBits) {
  const auto with = [](double v) { return traced([=](Array x) { return x * v; }, np::ones({3})); };
  EXPECT_FALSE(structurally_equal(*with(0.0), *with(-0.0)));
  EXPECT_TRUE(structurally_equal(*with(np::nan), *with(np::nan)));
}
TEST(JaxprStructure, NestedPrograms) {
  const auto with = [](double v) {
    return traced([=](Array x) { return jit([=](Array y) { return y * v; })(x); }, np::ones({3}));
  };
  EXPECT_TRUE(structurally_equal(*with(2), *with(2)));
  EXPECT_EQ(structural_hash(*with(2)), structural_hash(*with(2)));
  EXPECT_FALSE(structurally_equal(*with(2), *with(3)));
}

TEST(EvalJaxpr, RunsAHandMadeProgram) {
  const Array x = np::array({0.f, 1.f, 2.f});
  EXPECT_EQ(eval_jaxpr(sine(), Arrays{x})[0].to_vector<float>(), np::sin(x).to_vector<float>());
}
