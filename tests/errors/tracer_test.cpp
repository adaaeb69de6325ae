// Values asked of tracers, and tracers that outlive their transform.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

Array v3() { return np::array({1.f, 2.f, 3.f}); }
/// "tracer_test.cpp:17": how messages name a line of this file.
std::string at_line(int line) { return "tracer_test.cpp:" + std::to_string(line); }

}  // namespace

TEST(TracerErrors, BoolUnderJitNamesTheLine) {
  const int line = __LINE__ + 2;
  const auto f = [](Array x) {
    const Array positive = np::sum(x) > 0;
    return positive ? x : -x;
  };
  EXPECT_ERROR(ConcretizationError, jit(f)(v3()), "[bool] tracer bool[] made by gt at ", at_line(line), "under jit",
               "has no value while jit traces the function", "use np::where in place of a C++ branch");
}
TEST(TracerErrors, ItemUnderJit) {
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return x * x.item<float>(); })(Array(2.f)), "[item] tracer f32[]",
               "argument", "under jit");
}
TEST(TracerErrors, ToVectorUnderJit) {
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return x * x.to_vector<float>()[0]; })(v3()),
               "[to_vector] tracer f32[3]", "under jit");
}
TEST(TracerErrors, BoolUnderVmap) {
  EXPECT_ERROR(ConcretizationError, vmap([](Array x) { return x > 0 ? x : -x; })(v3()),
               "[bool] tracer bool[] made by gt", "under vmap", "np::where");
}
TEST(TracerErrors, ItemUnderVmapOfGrad) {
  EXPECT_ERROR(ConcretizationError, vmap(grad([](Array x) { return x * x.item<float>(); }))(v3()), "[item]",
               "under vmap");
}
TEST(TracerErrors, BoolUnderMakeJaxprAndEvalShape) {
  const auto f = [](Array x) { return x > 0 ? x : -x; };
  EXPECT_ERROR(ConcretizationError, make_jaxpr(f)(Array(1.f)), "[bool]", "while make_jaxpr traces the function");
  EXPECT_ERROR(ConcretizationError, eval_shape(f)(Array(1.f)), "[bool]", "while eval_shape traces the function");
}
TEST(TracerErrors, BoolUnderGradOfJit) {
  EXPECT_ERROR(ConcretizationError, grad(jit([](Array x) { return x > 0 ? x : -x; }))(Array(1.f)), "[bool]",
               "under jit");
}
TEST(TracerErrors, BoolUnderGradHasAValue) {
  EXPECT_EQ(grad([](Array x) { return x > 0 ? x * x : -x; })(Array(3.f)).item<float>(), 6.f);
}
TEST(TracerErrors, MaskUnderJit) {
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return x[x > 0]; })(v3()),
               "the mask tracer bool[3] made by gt at ", "into f32[3] has no value while the function is traced",
               "use np::where(mask, x, y), which keeps the shape.");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::nonzero(x)[0]; })(v3()),
               "has no value while the function is traced", "np::where");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return np::unique(x); })(v3()), "[unique]",
               "call it outside jit and vmap.");
}
TEST(TracerErrors, EqualityInAnIf) {
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return static_cast<bool>(np::allclose(x, x)) ? x : -x; })(v3()),
               "[bool] tracer bool[]");
}

TEST(LeakErrors, FromJit) {
  Array leak;
  const int line = __LINE__ + 2;
  jit([&](Array x) {
    leak = x * 2;
    return x;
  })(v3());
  EXPECT_ERROR(LeakedTracerError, leak + 1, "tracer f32[3] made by mul at ", at_line(line),
               "under jit was kept after that transform had ended",
               "return it from the function instead of storing it elsewhere.");
  EXPECT_ERROR(LeakedTracerError, leak.to_vector<float>(), "[to_vector] tracer f32[3] made by mul");
}
TEST(LeakErrors, FromVmap) {
  Array leak;
  vmap([&](Array x) { return leak = np::sin(x); })(v3());
  EXPECT_ERROR(LeakedTracerError, np::cos(leak), "tracer f32[] made by sin", "tracer_test.cpp:", "under vmap");
  EXPECT_ERROR(LeakedTracerError, leak.to_vector<float>(), "[to_vector]", "under vmap");
}
TEST(LeakErrors, FromGrad) {
  Array leak;
  grad([&](Array x) { return np::sum(leak = x * x); })(v3());
  EXPECT_ERROR(LeakedTracerError, leak * 2, "tracer f32[3] made by mul", "tracer_test.cpp:", "under grad");
}
TEST(LeakErrors, FromJvpAndVjp) {
  Array leak;
  jvp([&](Array x) { return leak = x * x; }, std::tuple{v3()}, std::tuple{v3()});
  EXPECT_ERROR(LeakedTracerError, leak * 2, "under jvp");
  vjp([&](Array x) { return leak = x * x; }, v3());
  EXPECT_ERROR(LeakedTracerError, leak * 2, "under vjp");
}
TEST(LeakErrors, IntoAnotherTransform) {
  Array leak;
  jit([&](Array x) { return leak = x * 2; })(v3());
  EXPECT_ERROR(LeakedTracerError, jit([&](Array x) { return x + leak; })(v3()), "made by mul",
               "was kept after that transform had ended");
  EXPECT_ERROR(LeakedTracerError, grad([&](Array x) { return np::sum(x + leak); })(v3()),
               "was kept after that transform had ended");
  EXPECT_ERROR(LeakedTracerError, vmap([&](Array x) { return x + leak; })(v3()),
               "was kept after that transform had ended");
}
TEST(LeakErrors, ReturnedFromAnotherTransform) {
  Array leak;
  jit([&](Array x) { return leak = x * 2; })(v3());
  EXPECT_ERROR(LeakedTracerError, jit([&](Array) { return leak; })(v3()), "was kept after that transform had ended");
}
TEST(LeakErrors, AfterAnException) {
  Array leak;
  EXPECT_ERROR(ShapeError, jit([&](Array x) {
                 leak = x * 2;
                 return x.reshape({7});
               })(v3()),
               "[reshape]");
  EXPECT_ERROR(LeakedTracerError, leak + 1, "was kept after that transform had ended");
}
TEST(LeakErrors, InnerTracerInTheOuterFunction) {
  const auto f = [](Array x) {
    Array inner;
    vmap([&](Array row) { return inner = row * 2; })(x);
    return np::sum(inner);
  };
  EXPECT_ERROR(LeakedTracerError, jit(f)(v3()), "under vmap was kept after that transform had ended");
}
TEST(LeakErrors, PrintingALeakIsFine) {
  Array leak;
  jit([&](Array x) { return leak = x * 2; })(v3());
  EXPECT_NE(to_string(leak).find("f32[3]"), std::string::npos);
}
TEST(LeakErrors, OuterTracersAreFine) {
  const auto f = [](Array x) { return np::sum(vmap([&](Array y) { return y * np::sum(x); })(x)); };
  EXPECT_EQ(grad(f)(v3()).to_vector<float>(), (std::vector<float>{12, 12, 12}));
  EXPECT_EQ(jit(grad(f))(v3()).to_vector<float>(), (std::vector<float>{12, 12, 12}));
  const auto g = [](Array x) { return np::sum(jit([&](Array y) { return y * x; })(x)); };
  EXPECT_EQ(grad(g)(v3()).to_vector<float>(), (std::vector<float>{2, 4, 6}));
}

TEST(AbstractErrors, ShapesHaveNoElements) {
  const Array s = shape_dtype({2, 3});
  EXPECT_ERROR(ConcretizationError, s.to_vector<float>(),
               "[to_vector] f32[2,3] is abstract: it has a shape and a dtype but no elements");
  EXPECT_ERROR(ConcretizationError, s + 1, "f32[2,3] is abstract");
  EXPECT_ERROR(ConcretizationError, eval_shape([](Array x) { return np::sum(x); })(s).item<float>(),
               "[item] f32[] is abstract");
  EXPECT_ERROR(ConcretizationError, jit([](Array x) { return x; })(s), "f32[2,3] is abstract");
}
