// jit: how often it traces, what selects a program, what the log says.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

Array v3() { return np::array({1.f, 2.f, 3.f}); }
struct Params {
  Array w;
  int power = 1;
};
/// The compile log of a scope.
class Log {
 public:
  Log() {
    log_compiles([this](const std::string& line) { lines.push_back(line); });
  }
  ~Log() { log_compiles({}); }
  std::vector<std::string> lines;
};

}  // namespace

TEST(Jit, TracesOncePerSignature) {
  int traces = 0;
  const auto f = jit([&](Array x) {
    ++traces;
    return x * 2;
  });
  f(v3());
  f(v3() + 1);
  EXPECT_EQ(traces, 1);
  f(np::ones({4}));
  EXPECT_EQ(traces, 2) << "another shape";
  f(np::ones({3}, f64));
  EXPECT_EQ(traces, 3) << "another dtype";
  f(2.0);
  f(3.0);
  EXPECT_EQ(traces, 4) << "a weak scalar";
  f(np::array(2.f));
  EXPECT_EQ(traces, 5) << "a strong scalar";
  f(v3());
  EXPECT_EQ(traces, 5);
}
TEST(Jit, CopiesShareTheCache) {
  int traces = 0;
  const auto f = jit([&](Array x) {
    ++traces;
    return x * 2;
  });
  const auto g = f;
  f(v3());
  g(v3());
  EXPECT_EQ(traces, 1);
}
TEST(Jit, EqualFunctionsDoNotShare) {
  int traces = 0;
  const auto body = [&](Array x) {
    ++traces;
    return x;
  };
  jit(body)(v3());
  jit(body)(v3());
  EXPECT_EQ(traces, 2);
}
TEST(Jit, StaticArguments) {
  int traces = 0;
  const auto f = jit(
      [&](Array x, int n) {
        ++traces;
        Array y = x;
        for (int i = 1; i < n; ++i) y = y * x;
        return y;
      },
      {.static_args = {1}});
  EXPECT_EQ(f(v3(), 2).to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(f(v3(), 3).to_vector<float>(), (std::vector<float>{1, 8, 27}));
  EXPECT_EQ(f(v3(), 2).to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(traces, 2);
}
TEST(Jit, NumbersForIntParametersAreStaticByThemselves) {
  int traces = 0;
  const auto f = jit([&](Array x, int n) {
    ++traces;
    return x * n;
  });
  EXPECT_EQ(f(v3(), 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(f(v3(), 3).to_vector<float>(), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(traces, 2);
}
TEST(Jit, NumbersForArrayParametersAreTraced) {
  int traces = 0;
  const auto f = jit([&](Array x, Array n) {
    ++traces;
    return x * n;
  });
  EXPECT_EQ(f(v3(), 2.0).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(f(v3(), 3.0).to_vector<float>(), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(traces, 1);
}
TEST(Jit, StringLiterals) {
  const auto f = [](Array x, const std::string& mode) { return np::sum(mode == "square" ? x * x : x); };
  const auto g = jit(f, {.static_args = {1}});
  EXPECT_EQ(g(v3(), "square").item<float>(), 14.f);
  EXPECT_EQ(g(v3(), "plain").item<float>(), 6.f);
  EXPECT_EQ(jit(grad(f), {.static_args = {1}})(v3(), "square").to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(vmap(f)(v3(), "square").to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(make_jaxpr(f)(v3(), std::string("plain")).equations(), 1);
}
TEST(Jit, StaticNumbersThroughOtherTransforms) {
  const auto f = [](Array x, int n) { return np::sum(lax::integer_pow(x, n)); };
  EXPECT_EQ(jit(grad(f), {.static_args = {1}})(v3(), 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(jit(vmap(grad(f)))(v3(), 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(grad(jit(f))(v3(), 3).to_vector<float>(), (std::vector<float>{3, 12, 27}));
  EXPECT_EQ(jit(checkpoint(f))(v3(), 2).item<float>(), 14.f);
  EXPECT_EQ(jit(jacrev(f))(v3(), 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(jit(hessian(f))(v3(), 2).shape(), (Shape{3, 3}));
  EXPECT_EQ(eval_shape(f)(v3(), 2).ndim(), 0);
}
TEST(Jit, GenericLambdas) {
  const auto f = jit([](const auto& x, const auto& y) { return x + y; });
  EXPECT_EQ(f(v3(), v3()).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(f(v3(), 1.5).to_vector<float>(), (std::vector<float>{2.5, 3.5, 4.5}));
  const auto g = jit([](const auto& x, const auto& n) { return x * n; }, {.static_args = {1}});
  EXPECT_EQ(g(v3(), 2).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(g(v3(), 3).to_vector<float>(), (std::vector<float>{3, 6, 9}));
}
TEST(Jit, StaticFieldsOfStructsSelectAProgram) {
  int traces = 0;
  const auto f = jit([&](const Params& p) {
    ++traces;
    return lax::integer_pow(p.w, p.power);
  });
  EXPECT_EQ(f(Params{v3(), 2}).to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(f(Params{v3(), 3}).to_vector<float>(), (std::vector<float>{1, 8, 27}));
  f(Params{v3() * 2, 3});
  EXPECT_EQ(traces, 2);
}
TEST(Jit, StaticFieldsOfResultsComeBack) {
  const auto f = jit([](const Params& p) { return Params{p.w * 2, p.power + 1}; });
  EXPECT_EQ(f(Params{v3(), 4}).power, 5);
  EXPECT_EQ(f(Params{v3(), 4}).power, 5) << "from the cache";
  EXPECT_EQ(f(Params{v3(), 6}).power, 7);
}
TEST(Jit, OptionalsAndContainerSizesSelectAProgram) {
  int traces = 0;
  const auto f = jit([&](std::optional<Array> b, std::vector<Array> xs) {
    ++traces;
    Array sum = b ? *b : np::zeros({3});
    for (const Array& x : xs) sum = sum + x;
    return sum;
  });
  f(std::optional<Array>(v3()), std::vector<Array>{v3()});
  f(std::optional<Array>(), std::vector<Array>{v3(), v3()});
  EXPECT_EQ(f(std::optional<Array>(), std::vector<Array>{v3(), v3()}).to_vector<float>(),
            (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(traces, 2);
}
TEST(Jit, ConstantsOfTheClosureAreKept) {
  auto c = std::make_unique<Array>(v3());
  const auto f = jit([&](Array x) { return x * *c; });
  f(v3());
  c.reset();
  EXPECT_EQ(f(v3()).to_vector<float>(), (std::vector<float>{1, 4, 9}));
}
TEST(Jit, ClosuresOverTracersAreNotCached) {
  int traces = 0;
  Log log;
  const auto f = [&](Array x) {
    const auto inner = jit([&](Array y) {
      ++traces;
      return y * x;
    });
    return np::sum(inner(x) + inner(x));
  };
  EXPECT_EQ(grad(f)(v3()).to_vector<float>(), (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(traces, 2);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_NE(log.lines[0].find("closes over a tracer, so it is not cached"), std::string::npos) << log.lines[0];
}
TEST(Jit, InsideOtherTransformsTheCacheIsUsed) {
  int traces = 0;
  const auto f = jit([&](Array x) {
    ++traces;
    return np::sum(np::sin(x));
  });
  f(v3());
  grad(f)(v3());
  jit(f)(v3());
  jit(grad(f))(v3());
  EXPECT_EQ(traces, 1);
  vmap(f)(np::ones({2, 3}));
  EXPECT_EQ(traces, 1);
}
TEST(Jit, LogsTheReasonOfAMiss) {
  Log log;
  const auto f = jit([](Array x, int n) { return x * n; }, {.static_args = {1}, .name = "scale"});
  f(v3(), 2);
  f(v3(), 2);
  f(np::ones({4}), 2);
  f(np::ones({4}, f64), 2);
  f(np::ones({4}, f64), 3);
  ASSERT_EQ(log.lines.size(), 4u);
  EXPECT_NE(log.lines[0].find("[jit] traced scale (first call)"), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines[1].find("is f32[4], last time f32[3]"), std::string::npos) << log.lines[1];
  EXPECT_NE(log.lines[2].find("is f64[4], last time f32[4]"), std::string::npos) << log.lines[2];
  EXPECT_NE(log.lines[3].find("static arguments or tree structure differ"), std::string::npos) << log.lines[3];
}
TEST(Jit, LogsWeakTypes) {
  Log log;
  const auto f = jit([](Array x) { return x * 2; });
  f(1.0);
  f(np::array(1.f));
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_NE(log.lines[1].find("not weakly typed now"), std::string::npos) << log.lines[1];
}
TEST(Jit, SwitchingTheLogOff) {
  std::vector<std::string> lines;
  log_compiles([&](const std::string& line) { lines.push_back(line); });
  log_compiles({});
  jit([](Array x) { return x; })(v3());
  EXPECT_TRUE(lines.empty());
}
TEST(Jit, ResultsThatAreArgumentsOrConstants) {
  const Array c = np::ones({2});
  const auto [x, k, n] = jit([&](Array a) { return std::tuple{a, c, Array(2.5)}; })(v3());
  EXPECT_EQ(x.to_vector<float>(), v3().to_vector<float>());
  EXPECT_EQ(k.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(n.item<float>(), 2.5f);
  EXPECT_TRUE(n.weak_type());
}
TEST(Jit, Donation) {
  Array x = np::ones({1 << 16});
  const auto f = jit([](Array a, Array b) { return std::pair{a, a + b}; }, {.donate = {0}});
  const auto [same, sum] = f(x, 1.0);
  EXPECT_EQ(same[0].item<float>(), 1.f) << "a result that is the donated argument itself";
  EXPECT_EQ(sum[0].item<float>(), 2.f);
  EXPECT_THROW(x + 1, ValueError);
  const auto g = jit([](Array a) { return a + 1; }, {.donate = {0}});
  Array y = g(np::ones({1 << 16}));  // the cached program keeps its literal
  const auto before = memory_stats().live_bytes;
  y = g(y);
  EXPECT_EQ(memory_stats().live_bytes, before);
  EXPECT_EQ(grad([&](Array a) { return np::sum(g(a) * a); })(v3()).to_vector<float>(), (std::vector<float>{3, 5, 7}))
      << "tracers are not donated";
}
TEST(Jit, WithoutArrays) {
  EXPECT_EQ(jit([] { return np::arange(3); })().to_vector<int>(), (std::vector<int>{0, 1, 2}));
}
TEST(Jit, SideEffectsOfATraceHappenOnce) {
  std::vector<std::string> seen;
  const auto f = jit([&](Array x) {
    seen.push_back(describe(x.shape()));
    return np::sum(x);
  });
  for (int i = 0; i < 3; ++i) f(np::ones({2}));
  f(np::ones({5}));
  EXPECT_EQ(seen, (std::vector<std::string>{"(2,)", "(5,)"}));
}
