// Comparison of arrays for the named compositions.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "compose/draw.hpp"

namespace compose {

/// Equal shapes, and elements within 1e-11 of the largest one: closed forms differ from the library by
/// rounding only.
inline testing::AssertionResult close(const Array& got, const Array& want) {
  if (got.shape() != want.shape())
    return testing::AssertionFailure() << "shape " << ct::describe(got.shape()) << " instead of "
                                       << ct::describe(want.shape());
  const std::vector<double> g = got.to_vector<double>(), w = want.to_vector<double>();
  double scale = 1;
  for (double v : w) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < g.size(); ++i)
    if (!(std::abs(g[i] - w[i]) <= 1e-11 * scale))
      return testing::AssertionFailure() << "got " << got << " instead of " << want;
  return testing::AssertionSuccess();
}

}  // namespace compose

#define EXPECT_CLOSE(got, want) EXPECT_TRUE(compose::close(got, want))
