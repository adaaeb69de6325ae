// custom_vmap, custom_gradient, linear_call and their kin used wrongly.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
using namespace cotan;
using custom_batching::custom_vmap;
using Batched = std::vector<bool>;

namespace {
const auto identity = [](Array x) { return x; };
Array v3() { return np::array({1.f, 2.f, 3.f}); }
template <class Rule>
Array mapped(Rule rule) {
  return vmap(custom_vmap(identity, rule))(v3());
}
}  // namespace

TEST(CustomVmapErrors, ResultsOfTheRule) {
  EXPECT_ERROR(ShapeError, mapped([](std::int64_t, Batched, Array x) { return std::pair{np::sum(x), true}; }),
               "[custom_vmap] the rule of custom_vmap returned shape () as batched output 0; it must be (3,).");
  EXPECT_ERROR(ShapeError, mapped([](std::int64_t, Batched, Array x) { return std::pair{x, false}; }),
               "[custom_vmap] the rule of custom_vmap returned shape (3,) as unbatched output 0; it must be ().");
  EXPECT_ERROR(TypeError, mapped([](std::int64_t, Batched, Array x) { return std::pair{x.astype(i32), true}; }),
               "[custom_vmap] the rule of custom_vmap returned i32 as output 0; it must be f32");
  EXPECT_ERROR(TreeError, mapped([](std::int64_t, Batched, Array x) { return std::pair{x, Batched{true, true}}; }),
               "[custom_vmap] the rule says of 2 results whether they are batched, and gives 1");
}
TEST(CustomVmapErrors, ClosesOverWhatIsMapped) {
  const auto f = [](Array x) {
    const auto inner =
        custom_vmap([&](Array y) { return x * y; }, [](std::int64_t, Batched, Array y) { return std::pair{y, true}; });
    return inner(x + 1);
  };
  EXPECT_ERROR(TransformError, vmap(f)(v3()), "[custom_vmap] custom_vmap closes over a value that is mapped over");
}
TEST(LinearCallErrors, Residuals) {
  const auto f = [](Array s, Array x) { return s * x; };
  EXPECT_ERROR(
      TransformError, grad([&](Array s) { return np::sum(custom_derivatives::linear_call(f, f, s, v3())); })(v3()),
      "[linear_call] residual 0 is being differentiated, and a linear_call has a derivative with respect to its "
      "linear argument alone");
  EXPECT_ERROR(ShapeError,
               custom_derivatives::linear_call(
                   f, [](Array, Array g) { return np::sum(g); }, Array(2.f), v3()),
               "[linear_call] the transpose gives f32[] for linear argument leaf 0, which is f32[3]");
}
TEST(ClosureConvertErrors, OtherTypes) {
  const Array w = v3();
  const auto converted = closure_convert([&](Array x) { return w * x; }, v3());
  EXPECT_ERROR(TypeError, converted.first(np::ones({2}), converted.second),
               "[closure_convert] argument 0 is f32[2], and the function was traced for f32[3]");
  EXPECT_ERROR(ValueError, converted.first(v3(), {}),
               "[closure_convert] the function was traced with 1 values that it closes over, and 0 are given");
}
TEST(CheckGradsErrors, Options) {
  const auto f = [](Array x) { return np::sum(x); };
  EXPECT_ERROR(ValueError, test_util::check_grads(f, std::tuple{v3()}, 0),
               "[check_grads] order is 0; it must be at least 1.");
  EXPECT_ERROR(ValueError, test_util::check_grads(f, std::tuple{v3()}, 1, {.modes = {"up"}}),
               "[check_grads] there is no mode 'up'; modes are \"fwd\" and \"rev\".");
}
TEST(JetErrors, Series) {
  const auto f = [](Array x, Array y) { return x * y; };
  EXPECT_ERROR(ValueError,
               experimental::jet(f, std::tuple{v3(), v3()}, std::tuple{std::vector{v3()}, std::vector{v3(), v3()}}),
               "[jet] series have 2 and 1 terms; give as many for every argument.");
  EXPECT_ERROR(ShapeError,
               experimental::jet(f, std::tuple{v3(), v3()}, std::tuple{std::vector{v3()}, std::vector{Array(1.f)}}),
               "[jet] the tangent of argument 1 has shape () but the primal has shape (3,)");
}
TEST(AheadOfTimeErrors, OtherArguments) {
  const auto compiled = jit([](Array x, int n) { return x * n; }).lower(v3(), 2).compile();
  EXPECT_ERROR(TypeError, compiled(np::ones({2}), 2),
               "[compiled] argument 0 is f32[2], and the program was compiled for f32[3] on native; lower it again");
  EXPECT_ERROR(TypeError, compiled(v3().astype(f64), 2),
               "argument 0 is f64[3], and the program was compiled for f32[3]");
  EXPECT_ERROR(TreeError, compiled(v3(), 3), "[compiled] the arguments are");
  const auto either = jit([](auto x, auto n) { return x * n; }, {.static_args = {1}});
  EXPECT_ERROR(ValueError, either.lower(v3(), 2), "[jit] lower traces a number that the function takes as an Array");
}
TEST(NamedScopeErrors, Names) {
  EXPECT_ERROR(ValueError, named_scope(""), "[named_scope] the name is empty");
  EXPECT_ERROR(ValueError, named_scope("a\nb"), "[named_scope] the name has a line break");
}
