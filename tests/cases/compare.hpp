// Comparing arrays in tests: within tolerances, exactly, and with messages that show where they differ.
#pragma once
#include <gtest/gtest.h>

#include "cases/case_table.hpp"

namespace cases {

/// Shapes, dtypes (unless `any_dtype`) and elements agree: |a - e| <= absolute + relative * |e|; NaN equals
/// NaN, an infinity only itself. Integers and bool must be equal. The parts of a complex number are compared by its
/// size.
testing::AssertionResult close(const Array& actual, const Array& expected, Tolerance tolerance, bool any_dtype = false);
/// Bit for bit, but for the payload of NaNs.
testing::AssertionResult identical(const Array& actual, const Array& expected);
/// The elements, of complex ones both parts.
std::vector<double> as_doubles(const Array& a);
/// The real part of sum(a * b) in double over all pairs, and the same of absolute values: the scale of rounding errors.
std::pair<double, double> inner_product(const Arrays& a, const Arrays& b);

}  // namespace cases
