// Attention whose operands do not fit.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace nn = cotan::nn;
using namespace cotan;

namespace {

Array ones(const Shape& shape, DType dtype = f32) { return np::ones(shape, dtype); }
const Array query = ones({2, 3, 4, 8}), key = ones({2, 5, 2, 8});

}  // namespace

TEST(AttentionErrors, Operands) {
  EXPECT_ERROR(TypeError, nn::dot_product_attention(query.astype(i32), key, key),
               "[dot_product_attention] query is i32[2,3,4,8]; convert it to a float dtype with astype.");
  EXPECT_ERROR(ShapeError, nn::dot_product_attention(query, ones({5, 8}), key),
               "[dot_product_attention] key is f32[5,8]; give it the axes [B, S, K, H], or [S, K, H].");
  EXPECT_ERROR(ShapeError, nn::dot_product_attention(query, ones({2, 5, 2, 4}), key),
               "[dot_product_attention] query is f32[2,3,4,8] and key f32[2,5,2,4]; they need the same batch (B) and "
               "width (H).");
  EXPECT_ERROR(ShapeError, nn::dot_product_attention(query, key, ones({2, 6, 2, 8})),
               "[dot_product_attention] key is f32[2,5,2,8] and value f32[2,6,2,8]; give them one shape.");
  EXPECT_ERROR(ShapeError, nn::dot_product_attention(query, ones({2, 5, 3, 8}), ones({2, 5, 3, 8})),
               "[dot_product_attention] query has 4 heads and key 3; the first must be a multiple of the second.");
  EXPECT_ERROR(ShapeError, nn::dot_product_attention(query, ones({2, 0, 2, 8}), ones({2, 0, 2, 8})),
               "[dot_product_attention] query is f32[2,3,4,8] and key f32[2,0,2,8]; there must be a key, and a width.");
}
TEST(AttentionErrors, Options) {
  EXPECT_ERROR(
      ShapeError, nn::dot_product_attention(query, key, key, {.bias = ones({4, 3, 4})}),
      "[dot_product_attention] bias is f32[4,3,4]; it must broadcast to (2, 4, 3, 5), the shape of the scores.");
  EXPECT_ERROR(
      TypeError, nn::dot_product_attention(query, key, key, {.bias = ones({3, 5}, bool_)}),
      "[dot_product_attention] bias is bool[3,5]; convert it to a float dtype, or give a bool array as the mask.");
  EXPECT_ERROR(TypeError, nn::dot_product_attention(query, key, key, {.mask = ones({3, 5})}),
               "[dot_product_attention] mask is f32[3,5]; make it bool by a comparison, or give it as the bias.");
}
