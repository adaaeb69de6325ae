// Convolutions whose operands, layouts, padding or groups do not fit.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

Array ones(const Shape& shape, DType dtype = f32) { return np::ones(shape, dtype); }
const Array images = ones({2, 4, 5, 6}), kernel = ones({6, 4, 3, 3});
constexpr std::int64_t huge = std::int64_t{1} << 62;

}  // namespace

TEST(ConvErrors, Operands) {
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, ones({6, 4, 3})),
               "[conv_general_dilated] operands are f32[2,4,5,6] and f32[6,4,3]; both need two axes for batch "
               "and features and the same number of spatial ones.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(ones({3}), ones({3})),
               "[conv_general_dilated] operands are f32[3] and f32[3]; both need two axes");
  EXPECT_ERROR(ShapeError, lax::conv_transpose(ones({3}), 1.0), "[conv_transpose] operands are f32[3] and f32[]");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, ones({6, 3, 3, 3})),
               "[conv_general_dilated] lhs f32[2,4,5,6] has 4 features in 1 groups but the kernel f32[6,3,3,3] "
               "takes 3; the kernel's input features must be those of one group.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, ones({6, 4, 0, 3})),
               "[conv_general_dilated] the kernel f32[6,4,0,3] has size 0 along spatial axis 0; it must not.");
}
TEST(ConvErrors, Lists) {
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.window_strides = {1}}),
               "[conv_general_dilated] window strides (1,) for 2 spatial axes; give one per axis.");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.window_strides = {1, 0}}),
               "[conv_general_dilated] window strides (1, 0) are not all positive; give positive ones.");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.rhs_dilation = {-1, 1}}),
               "[conv_general_dilated] rhs dilations (-1, 1) are not all positive; give positive ones.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.lhs_dilation = {1, 1, 1}}),
               "[conv_general_dilated] lhs dilations (1, 1, 1) for 2 spatial axes; give one per axis.");
  EXPECT_ERROR(ValueError, lax::conv_transpose(images, ones({3, 3, 6, 2}), {.strides = {0, 1}}),
               "[conv_transpose] strides (0, 1) are not all positive; give positive ones.");
}
TEST(ConvErrors, Padding) {
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.padding = "FULL"}),
               "[conv_general_dilated] there is no padding 'FULL'; use SAME, SAME_LOWER, VALID or pairs.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.padding = {{1, 1}}}),
               "[conv_general_dilated] 1 pairs of padding for 2 spatial axes; give one per axis.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.padding = {{-3, -3}, {0, 0}}}),
               "[conv_general_dilated] padding -3 and -3 leaves a negative size on spatial axis 0 of "
               "f32[2,4,5,6]; crop less.");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.padding = "SAME", .lhs_dilation = {2, 1}}),
               "[conv_general_dilated] SAME padding has no meaning where lhs is dilated by (2, 1); give pairs, "
               "or use conv_transpose.");
  EXPECT_ERROR(ValueError, lax::conv_transpose(images, ones({3, 3, 6, 2}), {.padding = "SAME_LOWER"}),
               "[conv_transpose] there is no padding 'SAME_LOWER'; use SAME, VALID or pairs.");
}
TEST(ConvErrors, Layout) {
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.dimension_numbers = {"NHC", "HWIO", "NHWC"}}),
               "[conv_general_dilated] the layout 'NHC' does not name 4 axes N, C and HW; give each of them "
               "one letter.");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.dimension_numbers = {"NHWC", "HWIO", "NHDC"}}),
               "the layout 'NHDC' does not name 4 axes N, C and HW");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.dimension_numbers = {"NHWC", "HHIO", "NHWC"}}),
               "the layout 'HHIO' does not name 4 axes O, I and HH");
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(ones({2, 3}), ones({4, 3}), {.dimension_numbers = {"NC", "", ""}}),
               "the layout '' does not name 2 axes O, I;");
}
TEST(ConvErrors, Groups) {
  EXPECT_ERROR(ValueError, lax::conv_general_dilated(images, kernel, {.feature_group_count = 0}),
               "[conv_general_dilated] feature_group_count is 0 and batch_group_count 1; both must be positive, "
               "and one of them 1.");
  EXPECT_ERROR(ValueError,
               lax::conv_general_dilated(images, kernel, {.feature_group_count = 2, .batch_group_count = 2}),
               "feature_group_count is 2 and batch_group_count 2");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.feature_group_count = 3}),
               "lhs f32[2,4,5,6] has 4 features in 3 groups but the kernel f32[6,4,3,3] takes 4");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, ones({5, 2, 3, 3}), {.feature_group_count = 2}),
               "[conv_general_dilated] the kernel f32[5,2,3,3] has 5 output features, which is not a multiple "
               "of the 2 groups; each group needs as many.");
  EXPECT_ERROR(ShapeError, lax::conv_general_dilated(images, kernel, {.batch_group_count = 3}),
               "[conv_general_dilated] batch size 2 of f32[2,4,5,6] is not a multiple of batch_group_count 3; "
               "each group needs as many.");
}
TEST(ConvErrors, TooLarge) {
  EXPECT_ERROR(OutOfMemoryError,
               lax::conv_general_dilated(images, kernel, {.padding = {{0, 0}, {0, 0}}, .lhs_dilation = {huge, 1}}),
               "[conv_general_dilated] strides, dilations or padding make spatial axis 0 of f32[2,4,5,6] and "
               "f32[6,4,3,3] longer than can be addressed; use smaller ones.");
  EXPECT_ERROR(OutOfMemoryError, lax::conv_general_dilated(images, kernel, {.padding = {{0, 0}, {-huge, huge}}}),
               "make spatial axis 1 of f32[2,4,5,6] and f32[6,4,3,3] longer");
  EXPECT_ERROR(OutOfMemoryError,
               lax::conv_general_dilated(images, kernel, {.padding = "SAME", .rhs_dilation = {1, huge}}),
               "make spatial axis 1 of");
  EXPECT_ERROR(OutOfMemoryError, lax::conv_transpose(images, ones({3, 3, 6, 2}), {.strides = {huge, 1}}),
               "make spatial axis 0 of");
  EXPECT_ERROR(OutOfMemoryError,
               lax::conv_general_dilated(images, kernel, {.padding = {{0, std::int64_t{1} << 58}, {0, 0}}}),
               "[conv_general_dilated]");
}
TEST(ConvErrors, Correlate) {
  EXPECT_ERROR(ShapeError, np::correlate(ones({2, 2}), ones({2})),
               "[correlate] operands are f32[2,2] and f32[2]; both must be vectors.");
  EXPECT_ERROR(ShapeError, np::correlate(ones({0}), ones({2})),
               "[correlate] operands have shapes (0,) and (2,); neither may be empty.");
  EXPECT_ERROR(ValueError, np::correlate(ones({2}), ones({2}), "half"),
               "[correlate] there is no mode 'half'; use full, same or valid.");
}
