// What control flow refuses, and what it says then: shapes, dtypes and paths, and what to do.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

using Two = std::pair<Array, Array>;
struct State {
  Array position;
  std::vector<Array> momenta;
  std::map<std::string, Array> extra;
};

Array v3() { return np::array({1.f, 2.f, 3.f}); }
Array m43() { return np::ones({4, 3}); }
Two add(const Array& c, const Array& x) { return {c + x, c}; }

}  // namespace

// Carries ---------------------------------------------------------------------------------------------

TEST(ScanErrors, CarryChangesItsShape) {
  EXPECT_ERROR(TypeError, lax::scan(add, Array(0.f), m43()),
               "[scan] the carry must keep its shapes and dtypes from step to step",
               "carry is f32[] at first, but the function returns f32[3]",
               "start with that shape, or return the first one.");
}
TEST(ScanErrors, CarryChangesItsDtype) {
  EXPECT_ERROR(TypeError, lax::scan([](Array c, Array x) { return Two{(c + x).astype(f16), x}; }, v3(), m43()),
               "carry is f32[3] at first, but the function returns f16[3]; cast one of them with astype(f32).");
  EXPECT_ERROR(TypeError, lax::scan([](Array c, Array x) { return Two{c + x, x}; }, np::arange(3), m43()),
               "carry is i32[3] at first, but the function returns f32[3]");
}
TEST(ScanErrors, EveryDifferentLeafIsNamedByItsPath) {
  const State init{v3(), {v3(), np::ones({2})}, {{"mass", Array(1.f)}}};
  const auto step = [](const State& s, Array x) {
    return std::pair{
        State{s.position[range(2)], {s.momenta[0], s.momenta[1].astype(i32)}, {{"mass", s.extra.at("mass") + x}}},
        none};
  };
  EXPECT_ERROR(TypeError, lax::scan(step, init, m43()),
               "carry.position is f32[3] at first, but the function returns f32[2]",
               "carry.momenta[1] is f32[2] at first, but the function returns i32[2]; cast one of them with "
               "astype(f32)",
               "carry.extra[\"mass\"] is f32[] at first, but the function returns f32[3]");
  try {
    lax::scan(step, init, m43());
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("momenta[0]"), std::string::npos) << "a leaf that fits is named: " << e.what();
  }
}
TEST(ScanErrors, TuplesAreNamedByTheirPlaces) {
  EXPECT_ERROR(TypeError,
               lax::scan([](Two c, Array x) { return std::pair{Two{c.first, x}, none}; }, Two{v3(), Array(0.f)}, m43()),
               "carry[1] is f32[] at first, but the function returns f32[3]");
}
TEST(ScanErrors, CarryChangesItsStructure) {
  EXPECT_ERROR(
      TreeError,
      lax::scan([](const Arrays& c, Array x) { return std::pair{Arrays{c[0], x}, none}; }, Arrays{v3()}, m43()),
      "[scan] the carry has structure [Array] but the function returns [Array, Array]; they must be alike.");
  EXPECT_ERROR(TreeError, lax::scan([](Array c, Array x) { return std::pair{Two{c, x}, none}; }, v3(), m43()),
               "[scan] the carry has structure Array but the function returns (Array, Array)");
  using Named = std::map<std::string, Array>;
  EXPECT_ERROR(TreeError,
               lax::scan([](const Named& c, Array x) { return std::pair{Named{{"b", c.at("a") + x}}, none}; },
                         Named{{"a", v3()}}, m43()),
               "[scan] the carry has structure", "a\": Array", "b\": Array");
}
TEST(ScanErrors, UnderTransformsToo) {
  const auto f = [](Array x) { return np::sum(lax::scan(add, Array(0.f), x).first); };
  EXPECT_ERROR(TypeError, jit(f)(m43()), "carry is f32[] at first, but the function returns f32[3]");
  EXPECT_ERROR(TypeError, grad(f)(m43()), "carry is f32[] at first, but the function returns f32[3]");
  EXPECT_ERROR(TypeError, vmap(f)(np::ones({2, 4, 3})), "carry is f32[] at first, but the function returns f32[3]");
}

// Inputs ----------------------------------------------------------------------------------------------

TEST(ScanErrors, LengthsDiffer) {
  const auto f = [](Array c, Two x) { return Two{c, x.first}; };
  EXPECT_ERROR(ShapeError, lax::scan(f, v3(), Two{m43(), np::ones({5})}),
               "[scan] first axes have different sizes: 4 for xs[0] but 5 for xs[1] (shape (5,))",
               "they must be equal.");
}
TEST(ScanErrors, ScalarXs) {
  EXPECT_ERROR(ShapeError, lax::scan(add, v3(), Array(1.f)),
               "[scan] xs is a scalar and has no axis to scan over; capture it in the function instead.");
  EXPECT_ERROR(ShapeError, lax::scan([](Array c, Two x) { return Two{c, x.first}; }, v3(), Two{m43(), Array(1.f)}),
               "[scan] xs[1] is a scalar");
}
TEST(ScanErrors, NoLength) {
  EXPECT_ERROR(ValueError, lax::scan([](Array c, std::tuple<>) { return Two{c, c}; }, v3(), std::tuple<>()),
               "[scan] there are no xs, so the number of steps is not known; pass lax::length(n) as xs.");
}
TEST(ScanErrors, NegativeLength) {
  EXPECT_ERROR(ValueError, lax::scan([](Array c) { return Two{c, c}; }, v3(), lax::length(-2)),
               "[scan] the length is -2; it must not be negative.");
}
TEST(ScanErrors, BadOptions) {
  EXPECT_ERROR(ValueError, lax::scan(add, v3(), m43(), {.unroll = 0}), "[scan] unroll is 0; it must be at least 1.");
  EXPECT_ERROR(ValueError, lax::scan(add, v3(), m43(), {.unroll = -3}), "[scan] unroll is -3");
  EXPECT_ERROR(ValueError, lax::scan(add, v3(), m43(), {.checkpoint = -7}),
               "[scan] checkpoint is -7; give a number of steps, or sqrt_n.");
}
TEST(ScanErrors, EmptyArrays) {
  EXPECT_ERROR(ValueError, lax::scan(add, Array(), m43()),
               "[scan] carry is an empty Array; assign it before the call.");
  EXPECT_ERROR(ValueError, lax::scan(add, v3(), Array()), "[scan] xs is an empty Array");
  EXPECT_ERROR(ValueError, lax::scan([](Two c, Array x) { return std::pair{c, x}; }, Two{v3(), Array()}, m43()),
               "[scan] carry[1] is an empty Array");
}
TEST(ScanErrors, FunctionReturnsEmptyArrays) {
  EXPECT_ERROR(ValueError, lax::scan([](Array c, Array) { return Two{c, Array()}; }, v3(), m43()), "[scan]",
               "empty Array");
  EXPECT_ERROR(ValueError, lax::scan([](Array, Array x) { return Two{Array(), x}; }, v3(), m43()), "[scan]",
               "empty Array");
}
TEST(ScanErrors, ErrorInTheBodyIsTheUsersOwn) {
  EXPECT_ERROR(ShapeError,
               lax::scan([](Array c, Array x) { return Two{np::matmul(c, np::ones({2, 2})), x}; }, v3(), m43()),
               "[matmul]");
}

// Tracers ---------------------------------------------------------------------------------------------

TEST(TracerErrors, BoolOfATracerNamesControlFlow) {
  EXPECT_ERROR(ConcretizationError,
               lax::scan([](Array c, Array x) { return np::sum(c) > 0 ? Two{c, x} : Two{x, x}; }, v3(), m43()), "cond",
               "while_loop");
  EXPECT_ERROR(ConcretizationError,
               lax::while_loop([](Array c) { return np::sum(c) > 0 ? np::array(true) : np::array(false); },
                               [](Array c) { return c; }, v3()),
               "cond", "while_loop");
}
TEST(TracerErrors, ValuesOfATracer) {
  EXPECT_ERROR(ConcretizationError,
               lax::scan([](Array c, Array x) { return Two{c * c.item<float>(), x}; }, Array(1.f), v3()), "[item]");
}
TEST(TracerErrors, TracerLeaksOutOfABody) {
  Array kept;
  lax::scan(
      [&](Array c, Array x) {
        kept = c;
        return Two{c + x, c};
      },
      Array(0.f), v3());
  EXPECT_ERROR(LeakedTracerError, kept + 1, "scan");
  EXPECT_ERROR(LeakedTracerError, kept.item<float>(), "[item]");
}

// while_loop and fori_loop ----------------------------------------------------------------------------

TEST(WhileErrors, ConditionIsNotABool) {
  EXPECT_ERROR(TypeError, lax::while_loop([](Array c) { return c; }, [](Array c) { return c; }, Array(1.f)),
               "[while_loop] the condition gives f32[]; it must give one bool");
  EXPECT_ERROR(TypeError, lax::while_loop([](Array c) { return c > 0; }, [](Array c) { return c; }, v3()),
               "[while_loop] the condition gives bool[3]; it must give one bool", "all(…)");
}
TEST(WhileErrors, CarryMismatch) {
  EXPECT_ERROR(TypeError,
               lax::while_loop([](Two c) { return c.first < 3; },
                               [](Two c) { return Two{c.first + 1, c.second.astype(i32)}; }, Two{0, v3()}),
               "[while_loop] the carry must keep its shapes and dtypes",
               "carry[1] is f32[3] at first, but the function returns i32[3]");
  EXPECT_ERROR(TreeError,
               lax::while_loop([](const Arrays& c) { return c[0] < 3; },
                               [](const Arrays& c) { return Arrays{c[0], c[0]}; }, Arrays{0}),
               "[while_loop] the carry has structure [Array] but the function returns [Array, Array]");
}
TEST(WhileErrors, ReverseModeSaysWhatToUse) {
  const auto f = [](Array x) {
    return lax::while_loop([](Array c) { return c < 10; }, [](Array c) { return c * 2; }, x);
  };
  for (const auto& g : {std::function<Array(Array)>(grad(f)), std::function<Array(Array)>(jit(grad(f))),
                        std::function<Array(Array)>(grad(jit(f)))})
    EXPECT_ERROR(TransformError, g(Array(1.f)), "[while_loop] reverse mode needs the number of steps",
                 "use scan, or fori_loop with C++ integers as bounds, or forward mode (jvp, jacfwd).");
  EXPECT_ERROR(TransformError, vmap(grad(f))(v3()), "[while_loop] reverse mode");
  EXPECT_ERROR(TransformError, vjp(f, Array(1.f)).second(Array(1.f)), "[while_loop] reverse mode");
}
TEST(WhileErrors, ReverseModeOfWhatDoesNotDependOnTheLoopIsFine) {
  const auto f = [](Array x) {
    const Array n = lax::while_loop([](Array c) { return c < 10; }, [](Array c) { return c * 2; }, Array(1));
    return x * n;
  };
  EXPECT_EQ(grad(f)(Array(3.f)).item<float>(), 16.f);
}
TEST(WhileErrors, EmptyArrays) {
  EXPECT_ERROR(ValueError, lax::while_loop([](Array c) { return c < 1; }, [](Array c) { return c; }, Array()),
               "[while_loop] carry is an empty Array");
}
TEST(ForiErrors, TracedBoundsInReverseMode) {
  const auto f = [](Array x, Array n) { return lax::fori_loop(0, n, [](Array, Array c) { return c * 2; }, x); };
  EXPECT_ERROR(TransformError, jit(grad(f))(Array(1.f), Array(3)), "reverse mode needs the number of steps",
               "fori_loop with C++ integers as bounds");
}
TEST(ForiErrors, BoundsAreIntegers) {
  const auto body = [](Array, Array c) { return c; };
  EXPECT_ERROR(TypeError, lax::fori_loop(0, 3.5, body, v3()), "[fori_loop] a bound is f32[]", "both must be integers.");
  EXPECT_ERROR(TypeError, lax::fori_loop(np::arange(2), 3, body, v3()), "[fori_loop] a bound is i32[2]");
}
TEST(ForiErrors, CarryMismatch) {
  EXPECT_ERROR(TypeError,
               lax::fori_loop(
                   0, 3, [](Array, Array c) { return np::sum(c); }, v3()),
               "[fori_loop] the carry must keep", "carry is f32[3] at first, but the function returns f32[]");
  const auto with_traced = [](Array n) {
    return lax::fori_loop(0, n, [](Array, Array c) { return np::sum(c); }, v3());
  };
  EXPECT_ERROR(TypeError, jit(with_traced)(Array(3)), "[fori_loop] the carry must keep",
               "carry is f32[3] at first, but the function returns f32[]");
}
TEST(ForiErrors, EmptyBound) {
  EXPECT_ERROR(ValueError,
               lax::fori_loop(0, Array(), [](Array, Array c) { return c; }, v3()), "[fori_loop]", "empty Array");
}

// cond and switch_ ------------------------------------------------------------------------------------

TEST(CondErrors, PredicateIsNotAScalar) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(ShapeError, lax::cond(v3() > 0, f, f, v3()), "[cond] the predicate has shape (3,); it must be a scalar",
               "where");
  EXPECT_ERROR(ValueError, lax::cond(Array(), f, f, v3()), "[cond] the predicate is an empty Array");
}
TEST(CondErrors, BranchesReturnOtherTypes) {
  EXPECT_ERROR(TypeError,
               lax::cond(
                   true, [](Array x) { return x; }, [](Array x) { return np::sum(x); }, v3()),
               "[cond] the branches must return the same shapes and dtypes",
               "result: f32[] in on_false, f32[3] in on_true; cast with astype or reshape");
  EXPECT_ERROR(TypeError,
               lax::cond(
                   true, [](Array x) { return x; }, [](Array x) { return x.astype(i32); }, v3()),
               "result: i32[3] in on_false, f32[3] in on_true");
}
TEST(CondErrors, EveryDifferentLeafIsNamed) {
  EXPECT_ERROR(TypeError,
               lax::cond(
                   true, [](Array x) { return std::tuple{x, x, x}; },
                   [](Array x) { return std::tuple{x.astype(f16), x, np::sum(x)}; }, v3()),
               "result[0]: f16[3] in on_false, f32[3] in on_true", "result[2]: f32[] in on_false, f32[3] in on_true");
}
TEST(CondErrors, BranchesReturnOtherTrees) {
  EXPECT_ERROR(TreeError,
               lax::cond(
                   true, [](Array x) { return Arrays{x}; }, [](Array x) { return Arrays{x, x}; }, v3()),
               "[cond]", "[Array]", "[Array, Array]");
}
TEST(CondErrors, EmptyArguments) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(ValueError, lax::cond(true, f, f, Array()), "[cond] argument 0 is an empty Array");
}
TEST(SwitchErrors, NoBranches) {
  EXPECT_ERROR(ValueError, lax::switch_(0, std::vector<std::function<Array(const Array&)>>{}, v3()),
               "[switch_] there are no branches; give at least one.");
}
TEST(SwitchErrors, IndexIsNotAnInteger) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(TypeError, lax::switch_(1.5, std::tuple{f, f}, v3()),
               "[switch_] the index is f32[]; it must be an integer scalar.");
  EXPECT_ERROR(TypeError, lax::switch_(np::arange(2), std::tuple{f, f}, v3()), "[switch_] the index is i32[2]");
  EXPECT_ERROR(ValueError, lax::switch_(Array(), std::tuple{f, f}, v3()), "[switch_] the index is an empty Array");
}
TEST(SwitchErrors, BranchesReturnOtherTypes) {
  EXPECT_ERROR(
      TypeError,
      lax::switch_(0, {[](Array x) { return x; }, [](Array x) { return x; }, [](Array x) { return x[0]; }}, v3()),
      "[switch_] the branches must return the same shapes and dtypes", "f32[] in branch 2");
}

// map and associative_scan ----------------------------------------------------------------------------

TEST(MapErrors, Inputs) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(ShapeError, lax::map(f, Array(1.f)), "[map] xs is a scalar");
  EXPECT_ERROR(ValueError, lax::map(f, Array()), "[map] xs is an empty Array");
  EXPECT_ERROR(ShapeError, lax::map([](Two x) { return x; }, Two{m43(), v3()}),
               "[map] first axes have different sizes: 4 for xs[0] but 3 for xs[1]");
}
TEST(MapErrors, BatchSize) {
  const auto f = [](Array x) { return x; };
  EXPECT_ERROR(ValueError, lax::map(f, m43(), {.batch_size = 0}), "[map] batch_size is 0; it must be at least 1.");
  EXPECT_ERROR(ShapeError, lax::map([](Two x) { return x; }, Two{m43(), v3()}, {.batch_size = 2}),
               "[map] xs[1] has shape (3,); all xs need a first axis, of one size.");
  EXPECT_ERROR(ShapeError, lax::map(f, Array(1.f), {.batch_size = 2}), "[map] xs has shape ()");
}
TEST(AssociativeScanErrors, Shapes) {
  const auto sum = [](Two a, Two b) { return Two{a.first + b.first, a.second + b.second}; };
  EXPECT_ERROR(ShapeError, lax::associative_scan(sum, Two{m43(), v3()}),
               "[associative_scan] the leaves have different sizes along axis 0: 4 for element[0] but 3 for "
               "element[1]");
  EXPECT_ERROR(ShapeError, lax::associative_scan(sum, Two{m43(), v3()}, {.axis = 1}),
               "[associative_scan] element[1] has shape (3,) and no axis 1 to scan over");
  EXPECT_ERROR(ShapeError, lax::associative_scan([](Array a, Array b) { return a + b; }, Array(1.f)),
               "[associative_scan] element has shape () and no axis 0");
}
TEST(AssociativeScanErrors, FunctionReturnsOtherTypes) {
  EXPECT_ERROR(TypeError, lax::associative_scan([](Array a, Array b) { return np::sum(a + b); }, v3()),
               "[associative_scan] the function must return what it takes",
               "element is f32[1] but the function returns f32[]");
  EXPECT_ERROR(TypeError, lax::associative_scan([](Array a, Array b) { return (a + b).astype(i32); }, v3()), "f32[1]",
               "i32[1]", "cast with astype");
}
TEST(AssociativeScanErrors, FunctionReturnsAnotherTree) {
  EXPECT_ERROR(
      TreeError,
      lax::associative_scan([](const Arrays& a, const Arrays& b) { return Arrays{a[0] + b[0], b[0]}; }, Arrays{v3()}),
      "[associative_scan] the element has structure [Array] but the function returns [Array, Array]");
}
TEST(AssociativeScanErrors, EmptyArrays) {
  EXPECT_ERROR(ValueError, lax::associative_scan([](Array a, Array b) { return a + b; }, Array()),
               "[associative_scan] element is an empty Array");
}
