// Axes and indices outside their range; gather, scatter, dynamic slices; reductions of nothing.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

Array m23() { return np::ones({2, 3}); }

}  // namespace

TEST(AxisErrors, OutOfRange) {
  EXPECT_ERROR(IndexError, np::sum(m23(), 2),
               "[sum] axis 2 is out of range for an array with 2 axes; axes run from -2 to 1.");
  EXPECT_ERROR(IndexError, m23().mean(-3), "[mean] axis -3 is out of range for an array with 2 axes");
  EXPECT_ERROR(IndexError, np::cumsum(m23(), 2), "[cumsum] axis 2 is out of range");
  EXPECT_ERROR(IndexError, np::argmax(m23(), 2), "[argmax] axis 2 is out of range");
  EXPECT_ERROR(IndexError, lax::reduce_sum(m23(), {2}), "[reduce_sum] axis 2 is out of range for an array with 2 axes");
  EXPECT_ERROR(IndexError, lax::rev(m23(), {2}), "[rev] axis 2 is out of range");
  EXPECT_ERROR(IndexError, lax::cummax(m23(), 5), "[cummax] axis 5 is out of range");
  EXPECT_ERROR(IndexError, np::sum(1.0, 0), "[sum] axis 0 is out of range for a 0-d array; it has no axes.");
}
TEST(AxisErrors, GivenTwice) {
  EXPECT_ERROR(ValueError, np::sum(m23(), {0, -2}), "[sum] axis -2 is given twice");
  EXPECT_ERROR(ValueError, np::flip(m23(), {1, 1}), "[flip] axis 1 is given twice");
}
TEST(AxisErrors, ShapeOfAnAxis) {
  EXPECT_ERROR(IndexError, m23().shape(2), "[shape] axis 2 is out of range for an array of shape (2, 3)");
}
TEST(AxisErrors, OrdersThatMakeNoSense) {
  EXPECT_ERROR(ValueError, np::diff(m23(), -1), "[diff] the order -1 is negative");
  EXPECT_ERROR(ShapeError, np::diff(1.0), "[diff] a 0-d array has no axis");
  EXPECT_ERROR(ValueError, lax::polygamma(-1, 1.0), "[polygamma] the order -1 is negative");
}

TEST(ReductionErrors, NothingToReduce) {
  EXPECT_ERROR(ShapeError, np::max(np::zeros({0})), "[max] f32[0] is reduced over", "an empty axis has no",
               "give the array at least one element");
  EXPECT_ERROR(ShapeError, np::min(np::zeros({2, 0}), 1), "[min] f32[2,0] is reduced over");
  EXPECT_ERROR(ShapeError, np::argmin(np::zeros({0, 2}), 0), "[argmin] f32[0,2] is empty along axis 0");
  EXPECT_ERROR(ShapeError, np::median(np::zeros({0})), "[median] f32[0] has no elements along the axis");
  EXPECT_EQ(np::max(np::zeros({2, 0}), 0).shape(), (Shape{0}));  // the reduced axis is not empty
}
TEST(ReductionErrors, AverageWeights) {
  EXPECT_ERROR(ShapeError, np::average(m23(), 0, np::ones({3})),
               "[average] weights of shape (3,) do not fit an array of shape (2, 3)");
}
TEST(ReductionErrors, Quantiles) {
  EXPECT_ERROR(ShapeError, np::quantile(m23(), np::ones({1, 1})),
               "[quantile] q is f32[1,1]; it must be a scalar or a vector.");
}

TEST(IndexErrors, Integers) {
  EXPECT_ERROR(IndexError, m23()[2], "index 2 is out of range for axis 0 of f32[2,3]; it may be -2 to 1.");
  EXPECT_ERROR(IndexError, m23()(0, -4), "index -4 is out of range for axis 1 of f32[2,3]; it may be -3 to 2.");
  EXPECT_ERROR(IndexError, np::zeros({0})[0], "index 0 is out of range: axis 0 of f32[0] is empty");
  EXPECT_ERROR(IndexError, m23().at(5).set(1.0), "index 5 is out of range for axis 0 of f32[2,3]");
}
TEST(IndexErrors, TooMany) {
  EXPECT_ERROR(IndexError, m23()(0, 0, 0), "3 indices are too many for f32[2,3], which has 2 axes");
  EXPECT_ERROR(IndexError, Array(1.0)[0], "1 indices are too many for f32[], which has 0 axes");
  EXPECT_ERROR(IndexError, m23()(ellipsis, 0, ellipsis), "an index has 2 ellipses");
}
TEST(IndexErrors, Ranges) {
  EXPECT_ERROR(ValueError, m23()(range(0, 2, 0)), "the step of a range is 0; use a positive or a negative one.");
}
TEST(IndexErrors, Masks) {
  EXPECT_ERROR(IndexError, m23()[np::ones({3}, bool_)], "the mask bool[3] does not match f32[2,3] from axis 0 on");
  EXPECT_ERROR(IndexError, m23()[np::ones({2, 3, 1}, bool_)], "3 indices are too many for f32[2,3]");
}
TEST(IndexErrors, IndexArrays) {
  EXPECT_ERROR(ShapeError, m23()(np::array({0, 1}), np::array({0, 1, 2})), "(2,) and (3,) do not broadcast");
  EXPECT_ERROR(IndexError, np::zeros({0})[np::array({0})], "axis 0 of f32[0] is empty", "nothing to select");
}
TEST(IndexErrors, Updates) {
  EXPECT_ERROR(ShapeError, m23().at(0).set(np::ones({2})),
               "a value f32[2] does not broadcast to the indexed shape (3,)");
  EXPECT_ERROR(ShapeError, m23().at(0).add(np::ones({2, 3})),
               "a value f32[2,3] does not broadcast to the indexed shape (3,)");
}
TEST(IndexErrors, EmptyIndexArray) { EXPECT_ERROR(ValueError, m23()[Array()], "[array] this Array is empty"); }
TEST(IndexErrors, Take) {
  EXPECT_ERROR(ValueError, np::take(m23(), 0, 0, "raise"), "[take] mode 'raise' is unknown; use fill, clip or wrap.");
  EXPECT_ERROR(IndexError, np::take(m23(), 0, 2), "[take] axis 2 is out of range");
  EXPECT_ERROR(ShapeError, np::take_along_axis(m23(), np::array({0}), 0),
               "[take_along_axis] f32[2,3] and the indices i32[1] have different numbers of axes; reshape "
               "the indices with expand_dims.");
  EXPECT_ERROR(ShapeError, np::take_along_axis(m23(), np::zeros({2, 2}, i32), 0),
               "[take_along_axis] f32[2,3] and the indices i32[2,2] differ on axis 1");
  EXPECT_ERROR(ValueError, np::choose(0, {}), "[choose] there is nothing to choose from");
}
TEST(IndexErrors, NonzeroOfAScalar) {
  EXPECT_ERROR(ShapeError, np::nonzero(1.0), "[nonzero] a scalar has no axes to index; use np::atleast_1d.");
}

TEST(GatherErrors, Dimensions) {
  const Array x = m23(), i = np::zeros({4, 1}, i32);
  EXPECT_ERROR(ShapeError, lax::gather(x, i, {{1}, {0}, {0, 1}}, {1, 3}),
               "[gather] start_index_map names 2 axes but the index vectors of i32[4,1] have 1 components");
  EXPECT_ERROR(ShapeError, lax::gather(x, i, {{1}, {0}, {0}}, {1}),
               "[gather] slice_sizes (1,) has 1 sizes but the operand f32[2,3] has 2 axes");
  EXPECT_ERROR(ShapeError, lax::gather(x, i, {{1}, {0}, {0}}, {1, 4}),
               "[gather] slice size 4 does not fit axis 1 of the operand f32[2,3]");
  EXPECT_ERROR(ShapeError, lax::gather(x, i, {{1}, {0}, {0}}, {2, 3}),
               "[gather] axis 0 is collapsed but has slice size 2; it must be 1.");
  EXPECT_ERROR(ShapeError, lax::gather(x, i, {{1}, {}, {0}}, {1, 3}), "[gather]",
               "every operand axis must be in one of them");
  EXPECT_ERROR(IndexError, lax::gather(x, i, {{7}, {0}, {0}}, {1, 3}), "[gather] offset_dims (7,)");
  EXPECT_ERROR(TypeError, lax::gather(x, i.astype(f32), {{1}, {0}, {0}}, {1, 3}),
               "[gather] the indices are f32[4,1]; they must be integers");
  EXPECT_ERROR(ShapeError, lax::gather(x, 0, {{1}, {0}, {0}}, {1, 3}), "[gather] the indices are a scalar");
}
TEST(ScatterErrors, Dimensions) {
  const Array x = m23(), i = np::zeros({4, 1}, i32);
  const lax::ScatterDimensionNumbers rows{{1}, {0}, {0}};
  EXPECT_ERROR(ShapeError, lax::scatter_add(x, i, np::ones({4, 4}), rows),
               "[scatter_add] windows of size 4 in the updates f32[4,4] do not fit axis 1 of the operand f32[2,3]");
  EXPECT_ERROR(ShapeError, lax::scatter_add(x, i, np::ones({5, 3}), rows),
               "[scatter_add] axis 0 of the updates f32[5,3] and axis 0 of the indices i32[4,1] differ in size");
  EXPECT_ERROR(ShapeError, lax::scatter(x, i, np::ones({3}), rows), "[scatter] the updates are f32[3]",
               "they need 2 axes");
}
TEST(DynamicSliceErrors, Sizes) {
  EXPECT_ERROR(ShapeError, lax::dynamic_slice(m23(), {Array(0)}, {1, 1}),
               "[dynamic_slice] f32[2,3] has 2 axes but 1 start indices are given; give one per axis.");
  EXPECT_ERROR(ShapeError, lax::dynamic_slice(m23(), {Array(0), Array(0)}, {1}),
               "[dynamic_slice] f32[2,3] has 2 axes but the slice sizes are (1,); give one per axis.");
  EXPECT_ERROR(ShapeError, lax::dynamic_slice(m23(), {Array(0), Array(0)}, {1, 4}),
               "[dynamic_slice] slice size 4 does not fit axis 1 of f32[2,3]; it may be 0 to 3.");
  EXPECT_ERROR(TypeError, lax::dynamic_slice(m23(), {Array(0.5), Array(0)}, {1, 1}),
               "[dynamic_slice] a start index is f32[]; start indices must be integer scalars");
  EXPECT_ERROR(ShapeError, lax::dynamic_update_slice(m23(), np::ones({1, 4}), {Array(0), Array(0)}),
               "[dynamic_update_slice] the update f32[1,4] does not fit into f32[2,3]");
  EXPECT_ERROR(IndexError, lax::dynamic_slice_in_dim(m23(), 0, 1, 2), "axis 2 is out of range");
}
