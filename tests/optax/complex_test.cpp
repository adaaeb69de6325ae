// Complex leaves: conjugates and real parts of trees.
#include <gtest/gtest.h>

#include "optax/problem.hpp"

namespace problem {

namespace tu = optax::tree_utils;
namespace lax = cotan::lax;

TEST(OptaxComplex, TreesOfParts) {
  const std::vector<Array> x{lax::complex(np::array({1.0, 2.0}), np::array({3.0, -4.0})), np::array({5.0})};
  EXPECT_TRUE(np::array_equal(tu::tree_conj(x)[0], np::conj(x[0])));
  EXPECT_TRUE(np::array_equal(tu::tree_conj(x)[1], x[1]));
  EXPECT_TRUE(np::array_equal(tu::tree_real(x)[0], np::array({1.0, 2.0})));
  EXPECT_EQ(tu::tree_real(x)[0].dtype(), ct::f32);
}

}  // namespace problem
