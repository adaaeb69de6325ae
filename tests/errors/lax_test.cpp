// Windows, reductions, ragged products and solvers that do not fit.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

const Array plane = np::ones({5, 4}), vector = np::ones({3});
Array second(const Array&, const Array& b) { return b; }

}  // namespace

TEST(LaxErrors, Windows) {
  EXPECT_ERROR(ShapeError, lax::reduce_window(plane, 0.0, lax::add, {2}),
               "[reduce_window] window dimensions (2,) for f32[5,4]; give one per axis.");
  EXPECT_ERROR(ValueError, lax::reduce_window(plane, 0.0, lax::add, {0, 1}),
               "[reduce_window] window dimensions (0, 1) are not all positive; give positive ones.");
  EXPECT_ERROR(ValueError, lax::reduce_window(plane, 0.0, lax::add, {1, 1}, {.window_strides = {0, 1}}),
               "[reduce_window] window strides (0, 1) are not all positive; give positive ones.");
  EXPECT_ERROR(ShapeError, lax::reduce_window(plane, 0.0, lax::add, {1, 1}, {.padding = {{1, 1}}}),
               "[reduce_window] 1 pairs of padding for f32[5,4]; give one per axis.");
  EXPECT_ERROR(ValueError, lax::reduce_window(plane, 0.0, lax::add, {1, 1}, {.padding = "FULL"}),
               "[reduce_window] there is no padding 'FULL'; use SAME, SAME_LOWER, VALID or pairs.");
  EXPECT_ERROR(ValueError,
               lax::reduce_window(plane, 0.0, lax::add, {1, 1}, {.base_dilation = {std::int64_t{1} << 61, 1}}),
               "[reduce_window] axis 0 of f32[5,4] with its padding and dilations is too long; make them smaller.");
  EXPECT_ERROR(TypeError, lax::reduce_window(plane, np::array(0), lax::add, {1, 1}),
               "[reduce_window] the first value for f32[5,4] is i32[]; it must be a scalar of that dtype.");
}
TEST(LaxErrors, Reductions) {
  EXPECT_ERROR(TypeError, lax::reduce(plane, vector, second, {0}),
               "[reduce] the first value for f32[5,4] is f32[3]; it must be a scalar of that dtype.");
  EXPECT_ERROR(TypeError, lax::reduce(plane, 0.0, [](const Array& a, const Array& b) { return a < b; }, {0}),
               "[reduce] the function of scalars gives bool[]; it must give a scalar of dtype f32.");
  EXPECT_ERROR(ValueError, lax::reduce(plane, 0.0, [](const Array&, const Array&) { return Array(); }, {0}),
               "[reduce] the function returned an empty Array; assign it first.");
  const auto first = [](const std::vector<Array>& a, const std::vector<Array>&) { return std::vector<Array>{a[0]}; };
  EXPECT_ERROR(ShapeError, lax::reduce({plane, vector}, {0.0f, 0.0f}, first, {0}),
               "[reduce] operands are f32[5,4] and f32[3]; they must have one shape.");
  EXPECT_ERROR(TreeError, lax::reduce({plane, plane}, {np::array(0.f), np::array(0.f)}, first, {0}),
               "[reduce] the function gives 1 arrays for 2 operands; return one per operand.");
  EXPECT_ERROR(ValueError, lax::reduce({plane}, {}, first, {0}),
               "[reduce] got 1 operands and 0 first values; give at least one operand, and a value for each.");
}
TEST(LaxErrors, Elementwise) {
  EXPECT_ERROR(TypeError, lax::round(np::array({1, 2})), "[round] needs floats, got i32[2]; cast with astype.");
  EXPECT_ERROR(TypeError, lax::mulhi(plane, plane), "[mulhi] needs integers, got f32[5,4]; cast with astype.");
  EXPECT_ERROR(ValueError, lax::reduce_precision(plane, 0, 3),
               "[reduce_precision] 0 bits of exponent and 3 of mantissa; give at least 1 and 0.");
  EXPECT_ERROR(ShapeError, lax::select_n(np::array({true}), {vector, vector, vector}),
               "[select_n] the predicate is bool[1] and the cases f32[3]");
  EXPECT_ERROR(TypeError, lax::select_n(np::array({true, false, true}), {vector, vector, vector}),
               "[select_n] a bool chooses between 2 cases, got 3; give an integer.");
  EXPECT_ERROR(TypeError, lax::select_n(np::array({1.f, 2.f, 3.f}), {vector, vector}),
               "[select_n] the predicate is f32[3]; it must be bool or an integer.");
  EXPECT_ERROR(TypeError, lax::select_n(np::array({1, 2, 0}), {vector, plane}),
               "[select_n] cases are f32[3] and f32[5,4]; they must have one shape and dtype.");
}
TEST(LaxErrors, Shapes) {
  EXPECT_ERROR(ShapeError, lax::broadcast_to_rank(plane, 1),
               "[broadcast_to_rank] f32[5,4] has more than 1 axes; ask for at least as many.");
  EXPECT_ERROR(IndexError, lax::collapse(plane, 1, 0),
               "[collapse] axes 1 to 0 are not a run of axes of f32[5,4]; give the first, and the one after the last.");
  EXPECT_ERROR(ShapeError, lax::split(plane, {2, 2}),
               "[split] sizes (2, 2) add up to 4, but axis 0 of f32[5,4] has 5; they must be equal.");
  EXPECT_ERROR(IndexError, lax::index_in_dim(plane, 5),
               "[index_in_dim] index 5 is out of range for axis 0 of f32[5,4]; give one in [-5, 5).");
}
TEST(LaxErrors, Products) {
  EXPECT_ERROR(ShapeError, lax::dot(np::ones({2, 2, 2}), plane),
               "[dot] operands are f32[2,2,2] and f32[5,4]; give dimension numbers where they are not vectors or "
               "matrices.");
  EXPECT_ERROR(ShapeError, lax::batch_matmul(vector, vector),
               "[batch_matmul] operands are f32[3] and f32[3]; they must have as many axes, two or more.");
  EXPECT_ERROR(
      ShapeError, lax::ragged_dot(plane, plane, np::array({1})),
      "[ragged_dot] operands are f32[5,4] and f32[5,4]; they must be rows [m, k] and matrices [groups, k, n].");
  EXPECT_ERROR(TypeError, lax::ragged_dot(plane, np::ones({1, 4, 2}), vector),
               "[ragged_dot_general] group sizes are f32[3]; they must be integers along one axis.");
  EXPECT_ERROR(ShapeError, lax::scaled_dot(plane, np::ones({4, 2}), {.lhs_scale = np::ones({5, 3})}),
               "[scaled_dot] the scale of f32[5,4] is f32[5,3]; axis 1 of the scale must divide the operand's.");
  EXPECT_ERROR(TypeError, lax::approx_max_k(np::array({1, 2}), 1),
               "[approx_max_k] needs floats, got i32[2]; use top_k for integers.");
  EXPECT_ERROR(TypeError, lax::rng_bit_generator(vector, {2}),
               "[rng_bit_generator] the key is f32[3]; it must be u32[4] or u64[2].");
  EXPECT_ERROR(TypeError, lax::rng_bit_generator(np::zeros({4}, u32), {2}, i32),
               "[rng_bit_generator] bits cannot be i32; give an unsigned dtype.");
}
TEST(LaxErrors, Solvers) {
  const auto twice = [](Array x) { return x * 2.0; };
  const auto half = [](const auto&, Array b) { return b * 0.5; };
  EXPECT_ERROR(TransformError, grad([&](Array b) { return np::sum(lax::custom_linear_solve(twice, b, half)); })(vector),
               "[custom_linear_solve] reverse mode needs to solve the transposed system; give transpose_solve, or say "
               "that the operation is symmetric.");
  EXPECT_ERROR(TypeError, lax::custom_linear_solve([](Array x) { return np::sum(x); }, vector, half),
               "[custom_linear_solve] the operation gives f32[] for f32[3]; it must give the same shape and dtype.");
  EXPECT_ERROR(TypeError, lax::custom_root(twice, np::array({1, 2}), half, half),
               "[custom_root] initial_guess is i32[2]; it must be of floats, cast it with astype.");
  EXPECT_ERROR(ShapeError, scipy::sparse::linalg::cg(plane, vector, {.x0 = np::ones({2})}),
               "[krylov_solve] x0 is f32[2] but b is f32[3]; they must have one shape.");
  EXPECT_ERROR(ShapeError, scipy::sparse::linalg::cg(vector, vector), "[krylov_solve] a matrix f32[3] is given");
}
