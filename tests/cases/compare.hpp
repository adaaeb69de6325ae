// Comparing arrays in tests: within tolerances, exactly, and with messages that show where they differ.
#pragma once
#include <gtest/gtest.h>

#include "cases/case_table.hpp"

namespace cases {

/// Shapes, dtypes (unless `any_dtype`) and elements agree: |a - e| <= absolute + relative * |e|; NaN equals
/// NaN, an infinity only itself. Integers and bool must be equal.
testing::AssertionResult close(const Array& actual, const Array& expected, Tolerance tolerance, bool any_dtype = false);
/// Bit for bit, but for the payload of NaNs.
testing::AssertionResult identical(const Array& actual, const Array& expected);
/// sum(a * b) in double over all pairs, and the same of absolute values: the scale of rounding errors.
std::pair<double, double> inner_product(const Arrays& a, const Arrays& b);

}  // namespace cases
