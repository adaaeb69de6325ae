// Shapes that do not fit: broadcasting, reshaping, joining, splitting, padding.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

const Shape s23{2, 3};
Array m23() { return np::ones({2, 3}); }

}  // namespace

TEST(ShapeErrors, Broadcast) {
  EXPECT_ERROR(ShapeError, m23() + np::ones({2}), "[add] shapes (2, 3) and (2,) do not broadcast",
               "aligned from the end, each axis must be equal or 1");
  EXPECT_ERROR(ShapeError, np::ones({4, 1, 3}) * np::ones({2, 2}),
               "[multiply] shapes (4, 1, 3) and (2, 2) do not broadcast");
  EXPECT_ERROR(ShapeError, np::zeros({0}) - np::zeros({2}), "[subtract] shapes (0,) and (2,)");
}
TEST(ShapeErrors, BroadcastOfThree) {
  EXPECT_ERROR(ShapeError, np::where(np::ones({2}, bool_), np::ones({3}), 0), "[where] shapes", "(2,)", "(3,)");
  EXPECT_ERROR(ShapeError, np::clip(m23(), np::zeros({2}), 1.0), "[clip] shapes", "(2, 3)", "(2,)");
}
TEST(ShapeErrors, BroadcastInCompoundAssignment) {
  Array a = m23();
  EXPECT_ERROR(ShapeError, a += np::ones({2}), "[add] shapes (2, 3) and (2,)");
  EXPECT_EQ(a.shape(), s23);
}
TEST(ShapeErrors, BroadcastTo) {
  EXPECT_ERROR(ShapeError, np::broadcast_to(m23(), {3, 2}),
               "[broadcast_to] f32[2,3] does not broadcast to shape (3, 2)");
  EXPECT_ERROR(ShapeError, np::broadcast_to(m23(), {3}), "[broadcast_to] f32[2,3] does not broadcast to shape (3,)");
  EXPECT_ERROR(ShapeError, np::broadcast_to(1.0, {2, -1}), "[broadcast_to]", "(2, -1)", "negative size");
}
TEST(ShapeErrors, BroadcastInDim) {
  EXPECT_ERROR(ShapeError, lax::broadcast_in_dim(m23(), {2, 3, 4}, {0}),
               "[broadcast_in_dim] f32[2,3] has 2 axes but the broadcast dimensions are (0,); give one per axis.");
  EXPECT_ERROR(ShapeError, lax::broadcast_in_dim(m23(), {2, 4}, {0, 1}),
               "[broadcast_in_dim] f32[2,3] does not fit shape (2, 4)");
  EXPECT_ERROR(ShapeError, lax::broadcast_in_dim(m23(), {2, 3}, {0, 7}), "[broadcast_in_dim]", "(0, 7)");
}

TEST(ShapeErrors, Reshape) {
  EXPECT_ERROR(ShapeError, m23().reshape({4}),
               "[reshape] f32[2,3] has 6 elements and cannot take shape (4,), which has 4");
  EXPECT_ERROR(ShapeError, np::reshape(m23(), {5, -1}),
               "[reshape] f32[2,3] has 6 elements, which do not divide into shape (5, -1)");
  EXPECT_ERROR(ShapeError, np::reshape(m23(), {-1, -1}),
               "[reshape] shape (-1, -1) leaves two sizes open; only one may be -1.");
  EXPECT_ERROR(ShapeError, np::reshape(m23(), {-2, 3}), "[reshape] shape (-2, 3) has a negative size");
  EXPECT_ERROR(ShapeError, np::reshape(np::zeros({0}), {0, -1}), "[reshape]", "(0, -1)");
}
TEST(ShapeErrors, ReshapeUnderJitNamesTheSameShapes) {
  EXPECT_ERROR(ShapeError, jit([](Array x) { return x.reshape({4}); })(m23()),
               "[reshape] f32[2,3] has 6 elements and cannot take shape (4,)");
}
TEST(ShapeErrors, ReshapeUnderVmapNamesTheShapesTheFunctionSees) {
  EXPECT_ERROR(ShapeError, vmap([](Array x) { return x.reshape({2}); })(m23()),
               "[reshape] f32[3] has 3 elements and cannot take shape (2,)");
}

TEST(ShapeErrors, Transpose) {
  EXPECT_ERROR(ShapeError, np::transpose(m23(), {0}), "[transpose] 1 axes are given for f32[2,3], which has 2");
  EXPECT_ERROR(ValueError, np::transpose(m23(), {0, 0}), "[transpose] axis 0 is given twice");
  EXPECT_ERROR(IndexError, np::transpose(m23(), {0, 2}), "[transpose] axis 2 is out of range for an array with 2 axes");
  EXPECT_ERROR(ValueError, lax::transpose(m23(), {1, 1}), "[transpose] axis 1 is given twice; name each axis once.");
  EXPECT_ERROR(ShapeError, np::matrix_transpose(np::ones({3})), "[matrix_transpose] f32[3] is not a matrix");
  EXPECT_ERROR(ShapeError, np::permute_dims(m23(), {1}), "[permute_dims] 1 axes are given for f32[2,3]");
}
TEST(ShapeErrors, MoveAxis) {
  EXPECT_ERROR(ValueError, np::moveaxis(m23(), {0, 1}, 0), "[moveaxis] 2 source axes and 1 destinations");
  EXPECT_ERROR(IndexError, np::swapaxes(m23(), 0, 2), "[swapaxes] axis 2 is out of range");
}
TEST(ShapeErrors, SqueezeAndExpand) {
  EXPECT_ERROR(ShapeError, np::squeeze(m23(), 1),
               "[squeeze] axis 1 of f32[2,3] has size 3; only axes of size 1 can be taken away.");
  EXPECT_ERROR(ValueError, np::expand_dims(m23(), none), "[expand_dims] needs an axis");
  EXPECT_ERROR(IndexError, np::expand_dims(m23(), 4), "[expand_dims] axis 4 is out of range");
}

TEST(ShapeErrors, Concatenate) {
  EXPECT_ERROR(ShapeError, np::concatenate({m23(), np::ones({2, 4})}),
               "[concatenate] shapes (2, 3) and (2, 4) differ in axis 1; only axis 0 may differ.");
  EXPECT_ERROR(ShapeError, np::concatenate({m23(), np::ones({3})}),
               "[concatenate] f32[2,3] and f32[3] have different numbers of axes");
  EXPECT_ERROR(ValueError, np::concatenate({}), "[concatenate] got no arrays");
  EXPECT_ERROR(ShapeError, np::concatenate({np::ones({}), np::ones({})}),
               "[concatenate] 0-d arrays have no axis to join along; use np::stack.");
  EXPECT_ERROR(IndexError, np::concatenate({m23(), m23()}, 2), "[concatenate] axis 2 is out of range");
}
TEST(ShapeErrors, Stack) {
  EXPECT_ERROR(ShapeError, np::stack({m23(), np::ones({3, 2})}),
               "[stack] shapes (2, 3) and (3, 2) differ; all arrays must have one shape.");
  EXPECT_ERROR(ValueError, np::stack({}), "[stack] got no arrays");
  EXPECT_ERROR(IndexError, np::stack({m23(), m23()}, 4), "[stack] axis 4 is out of range");
  EXPECT_ERROR(ShapeError, np::vstack({m23(), np::ones({4})}), "[vstack]", "(2, 3)", "(1, 4)");
  EXPECT_ERROR(ShapeError, np::hstack({m23(), np::ones({3, 1})}), "[hstack]", "(2, 3)", "(3, 1)");
}
TEST(ShapeErrors, Split) {
  EXPECT_ERROR(ShapeError, np::split(m23(), 2, 1), "[split] axis 1 of f32[2,3] does not divide into 2 equal parts");
  EXPECT_ERROR(ShapeError, np::split(m23(), 0), "[split] axis 0 of f32[2,3] does not divide into 0 equal parts");
  EXPECT_ERROR(ShapeError, np::split(m23(), -1), "[split] axis 0 of f32[2,3] does not divide into -1 equal parts");
  EXPECT_ERROR(IndexError, np::split(m23(), 1, 2), "[split] axis 2 is out of range");
  EXPECT_ERROR(ShapeError, np::unstack(1.0), "[unstack] a 0-d array has no axis to take apart");
}
TEST(ShapeErrors, RepeatAndTile) {
  EXPECT_ERROR(ValueError, np::repeat(m23(), -1), "[repeat] cannot repeat -1 times");
  EXPECT_ERROR(ValueError, np::tile(m23(), {2, -1}), "[tile] cannot repeat -1 times");
}
TEST(ShapeErrors, Flips) {
  EXPECT_ERROR(ShapeError, np::fliplr(np::ones({3})), "[fliplr] f32[3] has no second axis");
  EXPECT_ERROR(ShapeError, np::flipud(1.0), "[flipud] a 0-d array has no axis to flip");
  EXPECT_ERROR(ValueError, np::rot90(m23(), 1, 0, 0), "[rot90] axis 0 is given twice");
  EXPECT_ERROR(IndexError, np::roll(m23(), 1, 2), "[roll] axis 2 is out of range");
}
TEST(ShapeErrors, Pad) {
  EXPECT_ERROR(ShapeError, np::pad(m23(), {{1, 1}, {1, 1}, {1, 1}}), "[pad] 3 widths are given for f32[2,3]");
  EXPECT_ERROR(ValueError, np::pad(m23(), {{-1, 1}, {0, 0}}), "[pad] width (-1, 1) is negative; use lax::pad to crop.");
  EXPECT_ERROR(ValueError, np::pad(m23(), {{1, 1}}, "mirror"),
               "[pad] there is no mode 'mirror'; use constant, edge, reflect");
  EXPECT_ERROR(ShapeError, np::pad(m23(), {{1, 1}}, "constant", np::ones({2})),
               "[pad] the padding value is f32[2]; it must be a scalar.");
  EXPECT_ERROR(ShapeError, np::pad(np::zeros({0}), {{1, 1}}, "edge"),
               "[pad] axis 0 of f32[0] is empty and has nothing to fill with");
}
TEST(ShapeErrors, LaxPad) {
  EXPECT_ERROR(ShapeError, lax::pad(m23(), 0.f, {{1, 1, 0}}),
               "[pad] f32[2,3] is to be padded by 1 configurations; give one per axis.");
  EXPECT_ERROR(ShapeError, lax::pad(m23(), 0.f, {{-2, -1, 0}, {0, 0, 0}}),
               "[pad] padding -2 and -1 leaves a negative size on axis 0 of f32[2,3]");
  EXPECT_ERROR(ValueError, lax::pad(m23(), 0.f, {{0, 0, -1}, {0, 0, 0}}), "[pad] interior padding -1 is negative");
}
TEST(ShapeErrors, LaxSlice) {
  EXPECT_ERROR(ShapeError, lax::slice(m23(), {0}, {1}),
               "[slice] f32[2,3] has 2 axes; give one start, limit and stride per axis.");
  EXPECT_ERROR(IndexError, lax::slice(m23(), {0, 1}, {2, 4}), "[slice] 1:4:1 does not fit axis 1 of f32[2,3]");
  EXPECT_ERROR(IndexError, lax::slice(m23(), {0, 0}, {2, 3}, {1, 0}), "[slice] 0:3:0 does not fit axis 1 of f32[2,3]",
               "strides are positive");
  EXPECT_ERROR(IndexError, lax::slice(m23(), {0, 2}, {2, 1}), "[slice] 2:1:1 does not fit axis 1");
}

TEST(ShapeErrors, Literals) {
  EXPECT_ERROR(ShapeError, np::array({{1, 2}, {3}}),
               "[array] ragged nesting: elements of one list have shapes (2,) and (1,)");
  EXPECT_ERROR(ShapeError, np::array({{1, 2}, 3}), "[array] ragged nesting", "(2,) and ()");
  EXPECT_ERROR(ShapeError, np::array({m23(), np::ones({3})}), "[array] ragged nesting", "(2, 3) and (3,)");
}
TEST(ShapeErrors, FromHost) {
  EXPECT_ERROR(ShapeError, Array::from_host(std::vector<float>(5), s23),
               "[from_host] 5 elements do not fill shape (2, 3), which needs 6");
  EXPECT_ERROR(ShapeError, Array::from_host(std::vector<bool>(5), s23),
               "[from_host] 5 elements do not fill shape (2, 3)");
  EXPECT_ERROR(ShapeError, Array::from_host(std::vector<int>{}, {}),
               "[from_host] 0 elements do not fill shape (), which needs 1");
  EXPECT_ERROR(ShapeError, Array::from_host(std::vector<int>(4), {-2, -2}),
               "[from_host] shape (-2, -2) has a negative size");
  EXPECT_ERROR(ShapeError, Array::from_bytes(f64, {2}, std::vector<std::byte>(15)),
               "[from_bytes] 15 bytes do not fill f64[2], which needs 16");
}
TEST(ShapeErrors, NegativeSizes) {
  EXPECT_ERROR(ShapeError, np::zeros({2, -3}), "[zeros] shape (2, -3) has a negative size; sizes must be 0 or more.");
  EXPECT_ERROR(ShapeError, np::full({-1}, 2.0), "[full] shape (-1,) has a negative size");
  EXPECT_ERROR(ShapeError, lax::iota(i32, {-1}), "[iota] shape (-1,) has a negative size");
  EXPECT_ERROR(ShapeError, np::eye(-2), "[eye]", "-2");
}
TEST(ShapeErrors, Creation) {
  EXPECT_ERROR(ValueError, np::arange(0, 5, 0), "[arange] the step is 0; give one that leads from 0 to 5.");
  EXPECT_ERROR(ValueError, np::arange(0.0, np::inf, 1.0),
               "[arange] would make inf elements; check start, stop and step.");
  EXPECT_ERROR(ValueError, np::arange(0.0, 1.0, 1e-300), "[arange] would make", "check start, stop and step");
  EXPECT_ERROR(ValueError, np::linspace(0, 1, -1), "[linspace] cannot make -1 points; give 0 or more.");
  EXPECT_ERROR(IndexError, lax::iota(i32, {2}, 1), "[iota] axis 1 is out of range for an array with 1 axes");
  EXPECT_ERROR(ShapeError, np::diag(np::ones({2, 2, 2})), "[diag] f32[2,2,2] is neither a vector nor a matrix");
  EXPECT_ERROR(ShapeError, np::tril(np::ones({2})), "[tril] f32[2] is not a matrix");
  EXPECT_ERROR(ShapeError, np::full({2}, np::ones({3})), "[broadcast_to] f32[3] does not broadcast to shape (2,)");
  EXPECT_ERROR(ValueError, np::meshgrid({np::ones({2})}, "yx"), "[meshgrid] indexing is 'yx'; use xy");
}
TEST(ShapeErrors, OneElementOnly) {
  EXPECT_ERROR(ShapeError, m23().item<float>(),
               "[item] the array has 6 elements, shape (2, 3); index it down to one element or use to_vector().");
  EXPECT_ERROR(ShapeError, np::zeros({0}).item<float>(), "[item] the array has 0 elements, shape (0,)");
  EXPECT_ERROR(ShapeError, static_cast<bool>(m23() > 0),
               "[bool] an array of shape (2, 3) has no single truth value; use np::any or np::all.");
}
