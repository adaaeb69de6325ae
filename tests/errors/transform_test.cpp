// vmap, jit, custom rules and trees used wrongly.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

struct Pair {
  Array first, second;
};
Array v3() { return np::array({1.f, 2.f, 3.f}); }
Array sum_of(const Array& x) { return np::sum(x); }

}  // namespace

TEST(VmapErrors, SizesDiffer) {
  const auto f = [](Array x, Array y) { return np::sum(x) + np::sum(y); };
  EXPECT_ERROR(ShapeError, vmap(f)(np::ones({2, 3}), np::ones({4, 3})),
               "[vmap] mapped axes have different sizes: 2 for argument 0 but 4 for argument 1 (shape (4, "
               "3)); they must be equal.");
}
TEST(VmapErrors, SizesDifferInAStruct) {
  const auto f = [](const Pair& p) { return p.first + p.second; };
  EXPECT_ERROR(ShapeError, vmap(f)(Pair{np::ones({2}), np::ones({3})}),
               "[vmap] mapped axes have different sizes: 2 for argument 0.first but 3 for argument 0.second "
               "(shape (3,))");
}
TEST(VmapErrors, NoSuchAxis) {
  EXPECT_ERROR(ShapeError, vmap(sum_of)(Array(1.f)),
               "[vmap] argument 0 has shape () and no axis 0 to map over; pass none in in_axes to leave it whole.");
  EXPECT_ERROR(ShapeError, vmap(sum_of, {.in_axes = 2})(np::ones({2, 3})),
               "[vmap] argument 0 has shape (2, 3) and no axis 2 to map over");
  EXPECT_ERROR(ShapeError, vmap(sum_of, {.in_axes = -3})(np::ones({2, 3})),
               "[vmap] argument 0 has shape (2, 3) and no axis -3 to map over");
}
TEST(VmapErrors, ListLength) {
  EXPECT_ERROR(TreeError, vmap(sum_of, {.in_axes = {0, 0}})(np::ones({2, 3})),
               "[vmap] in_axes has 2 entries for 1 arguments; give one per argument, or one for all.");
  EXPECT_ERROR(TreeError, vmap([](const Pair& p) { return p.first; }, {.in_axes = {{0, 0, 0}}})(Pair{v3(), v3()}),
               "[vmap] entry 0 of in_axes lists 3 axes for 2 leaves");
  EXPECT_ERROR(TreeError, vmap([](const Pair& p) { return p.first; }, {.in_axes = {{{0, 0}, 0}}})(Pair{v3(), v3()}),
               "[vmap] in_axes is nested too deeply; list one axis per leaf, in order.");
  EXPECT_ERROR(TreeError, vmap([](Array x) { return std::pair{x, x}; }, {.out_axes = {0, 0, 0}})(v3()),
               "[vmap] out_axes has 3 entries for 2 outputs");
}
TEST(VmapErrors, NothingMapped) {
  EXPECT_ERROR(ValueError, vmap(sum_of, {.in_axes = none})(v3()),
               "[vmap] no argument is mapped; give at least one an axis in in_axes, or give axis_size.");
  EXPECT_ERROR(ValueError, vmap([](int) { return v3(); })(3), "[vmap]", "no argument is mapped");
}
TEST(VmapErrors, OutAxes) {
  const auto twice = [](Array x) { return x * 2; };
  EXPECT_ERROR(ShapeError, vmap(twice, {.out_axes = none})(v3()),
               "[vmap] output 0 has none in out_axes but depends on a mapped argument; give it an axis.");
  EXPECT_ERROR(ShapeError, vmap(twice, {.out_axes = 1})(v3()),
               "[vmap] out_axes 1 is out of range for output 0, which has shape (3,) with the batch in "
               "front; give one of its axes.");
  EXPECT_EQ(vmap([](Array) { return Array(7.f); }, {.out_axes = none})(v3()).item<float>(),
            7.f);  // does not depend on it
}
TEST(VmapErrors, InsideNamesTheShapesTheFunctionSees) {
  EXPECT_ERROR(ShapeError, vmap([](Array x) { return np::matmul(x, np::ones({2, 2})); })(np::ones({5, 3})),
               "[matmul] shapes (3,) and (2, 2)");
}

TEST(JitErrors, StaticArguments) {
  EXPECT_ERROR(TypeError, jit([](Array x, Array y) { return x + y; }, {.static_args = {1}})(v3(), v3()),
               "[jit] argument 1 holds Arrays and cannot be static; pass C++ numbers and strings.");
  EXPECT_ERROR(ValueError, jit(sum_of, {.static_args = {1}})(v3()),
               "[jit] static_args and donate name argument 1 but the call has 1");
  EXPECT_ERROR(ValueError, jit(sum_of, {.donate = {-1}})(v3()), "[jit] static_args and donate name argument -1");
  EXPECT_ERROR(TypeError, jit([](const Pair& p) { return p.first; }, {.static_args = {0}})(Pair{v3(), v3()}),
               "[jit] argument 0 holds Arrays and cannot be static");
}
TEST(JitErrors, EmptyArgument) {
  EXPECT_ERROR(ValueError, jit(sum_of)(Array()), "[jit] argument 0 is an empty Array; assign it before the call.");
}
TEST(JitErrors, NothingIsCachedAfterAnError) {
  bool fail = true;
  const auto f = jit([&](Array x) { return fail ? x.reshape({7}) : x * 2; });
  EXPECT_ERROR(ShapeError, f(v3()), "[reshape] f32[3] has 3 elements and cannot take shape (7,)");
  fail = false;
  EXPECT_EQ(f(v3()).to_vector<float>(), (std::vector<float>{2, 4, 6}));
}
TEST(JitErrors, UserExceptionsPassThrough) {
  EXPECT_THROW(jit([](Array x) {
                 throw std::logic_error("mine");
                 return x;
               })(v3()),
               std::logic_error);
  EXPECT_THROW(vmap(grad([](Array x) {
                 throw std::logic_error("mine");
                 return x;
               }))(v3()),
               std::logic_error);
  EXPECT_EQ(np::sum(v3()).item<float>(), 6.f);
}
TEST(JitErrors, Donated) {
  const Array x = np::ones({3});
  jit([](Array a) { return a + 1; }, {.donate = {0}})(x);
  EXPECT_ERROR(ValueError, x + 1,
               "f32[3] was donated to a jitted call and is gone; use the call's result, or do not donate it.");
  EXPECT_ERROR(ValueError, x.to_vector<float>(), "was donated to a jitted call");
}

TEST(CustomJvpErrors, RuleResults) {
  const auto with = [](auto rule) { return custom_jvp([](Array x) { return np::sin(x); }, rule); };
  const auto shape = with([](auto p, auto) { return std::pair{np::sin(std::get<0>(p)), np::ones({2})}; });
  EXPECT_ERROR(ShapeError, jvp(shape, std::tuple{v3()}, std::tuple{v3()}),
               "[custom_jvp] the rule returned tangent 0 of shape (2,); it must have shape (3,), that of its primal.");
  const auto dtype =
      with([](auto p, auto t) { return std::pair{np::sin(std::get<0>(p)), std::get<0>(t).astype(f64)}; });
  EXPECT_ERROR(TypeError, jvp(dtype, std::tuple{v3()}, std::tuple{v3()}),
               "[custom_jvp] the rule returned tangent 0 of dtype f64; it must be f32, that of its primal.");
  const auto empty = with([](auto p, auto) { return std::pair{np::sin(std::get<0>(p)), Array()}; });
  EXPECT_ERROR(ValueError, jvp(empty, std::tuple{v3()}, std::tuple{v3()}),
               "[custom_jvp] the rule returned an empty Array as tangent 0");
}
TEST(CustomJvpErrors, RuleDisagreesWithTheFunction) {
  const auto f = custom_jvp([](Array x) { return np::sin(x); },
                            [](auto p, auto t) { return std::pair{np::sum(std::get<0>(p)), np::sum(std::get<0>(t))}; });
  EXPECT_ERROR(ShapeError, grad(jit([&](Array x) { return np::sum(f(x)); }))(v3()),
               "[custom_jvp] the rule returned output 0 of shape ()", "(3,)");
}
TEST(CustomJvpErrors, StructureOfTheRule) {
  const auto f = custom_jvp([](Array x) { return std::vector<Array>{x, x}; },
                            [](auto p, auto t) {
                              return std::pair{std::vector<Array>{std::get<0>(p), std::get<0>(p)},
                                               std::vector<Array>{std::get<0>(t)}};
                            });
  EXPECT_ERROR(TreeError, jvp(f, std::tuple{v3()}, std::tuple{v3()}),
               "[custom_jvp] the rule's output [Array, Array] and tangent [Array] differ in structure");
}
TEST(CustomJvpErrors, ClosesOverADifferentiatedValue) {
  const auto rule = [](auto p, auto t) { return std::pair{np::sin(std::get<0>(p)), std::get<0>(t)}; };
  const auto f = [&](Array x) {
    return np::sum(jit([&](Array y) { return custom_jvp([&](Array z) { return np::sin(z) * x; }, rule)(y); })(x));
  };
  EXPECT_ERROR(TransformError, grad(f)(v3()),
               "[custom_jvp] the function closes over a value that is being differentiated; pass it as an argument");
}
TEST(CustomVjpErrors, RuleResults) {
  const auto fwd = [](Array x) { return std::pair{np::sin(x), x}; };
  const auto with = [&](auto bwd) {
    return [f = custom_vjp([](Array x) { return np::sin(x); }, fwd, bwd)](Array x) { return np::sum(f(x)); };
  };
  EXPECT_ERROR(ShapeError, grad(with([](Array, Array) { return np::ones({2}); }))(v3()),
               "[custom_vjp] the rule returned cotangent 0 of shape (2,); it must have shape (3,), that of "
               "its primal.");
  EXPECT_ERROR(TypeError, grad(with([](Array x, Array) { return x.astype(f64); }))(v3()),
               "[custom_vjp] the rule returned cotangent 0 of dtype f64; it must be f32, that of its primal.");
  EXPECT_ERROR(TreeError, grad(with([](Array x, Array) { return std::tuple{x, x}; }))(v3()),
               "[custom_vjp] the rule returned 2 cotangents but 1 are needed");
}
TEST(CustomVjpErrors, ForwardDisagreesWithTheFunction) {
  const auto f = custom_vjp([](Array x) { return np::sin(x); }, [](Array x) { return std::pair{np::sum(x), x}; },
                            [](Array x, Array) { return x; });
  EXPECT_ERROR(ShapeError, grad(jit([&](Array x) { return np::sum(f(x)); }))(v3()),
               "[custom_vjp] the rule returned output 0 of shape ()", "(3,)");
}
TEST(CustomVjpErrors, ForwardMode) {
  const auto f = custom_vjp([](Array x) { return np::sin(x); }, [](Array x) { return std::pair{np::sin(x), x}; },
                            [](Array, Array ct) { return ct; }, "my_sin");
  EXPECT_ERROR(TransformError, jvp(f, std::tuple{v3()}, std::tuple{v3()}),
               "[jvp] my_sin has a custom_vjp rule, which gives reverse mode only; use grad or vjp, or give "
               "the function a custom_jvp rule.");
  EXPECT_ERROR(TransformError, jvp(jit(f), std::tuple{v3()}, std::tuple{v3()}), "[jvp] my_sin has a custom_vjp rule");
  EXPECT_ERROR(TransformError, jacfwd(f)(v3()), "my_sin has a custom_vjp rule");
}
TEST(CustomVjpErrors, ClosesOverADifferentiatedValue) {
  const auto f = [](Array x) {
    return np::sum(jit([&](Array y) {
      return custom_vjp([&](Array z) { return z * x; }, [&](Array z) { return std::pair{z * x, z}; },
                        [](Array, Array ct) { return ct; })(y);
    })(x));
  };
  EXPECT_ERROR(TransformError, grad(f)(v3()),
               "[custom_vjp] the function closes over a value that is being differentiated");
}
TEST(CheckpointErrors, InsideNamesTheOperation) {
  EXPECT_ERROR(ShapeError,
               grad([](Array x) { return np::sum(checkpoint([](Array y) { return y.reshape({7}); })(x)); })(v3()),
               "[reshape] f32[3] has 3 elements");
}

TEST(TreeErrors, Unflatten) {
  const std::vector<Array> two{v3(), v3()};
  EXPECT_ERROR(TreeError, tree::unflatten(Pair{}, std::vector<Array>{v3()}),
               "[unflatten] the tree {first: Array, second: Array} has 2 leaves but got 1");
  EXPECT_ERROR(TreeError, tree::unflatten(std::vector<Array>{v3()}, two),
               "[unflatten] the tree [Array] has 1 leaves but got 2");
}
TEST(TreeErrors, Map) {
  const auto add = [](Array a, Array b) { return a + b; };
  EXPECT_ERROR(TreeError, tree::map(add, std::vector<Array>{v3()}, std::vector<Array>{v3(), v3()}),
               "[tree::map] the trees differ: [Array] and [Array, Array]; they must have one structure.");
  using Map = std::map<std::string, Array>;
  EXPECT_ERROR(TreeError, tree::map(add, Map{{"a", v3()}}, Map{{"b", v3()}}), "[tree::map] the trees differ", "a", "b");
  EXPECT_ERROR(TreeError, tree::map(add, std::optional<Array>(), std::optional<Array>(v3())),
               "[tree::map] the trees differ: none and Array");
}
