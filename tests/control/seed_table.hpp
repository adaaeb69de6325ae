// The seeds' rows as tests: the fixture, and the steps that many of them scan over.
#pragma once
#include <gtest/gtest.h>

#include "control/unrolled.hpp"

namespace control {

/// Seed 002 has the status tables of another library's scan, 003 its design, 000 and 001 its open problems.
/// Each row, and each limitation named there, is a test that passes on every device.
class SeedTable : public OnEachDevice {};

using Two = std::pair<Array, Array>;
using ct::all;
using ct::none;
using ct::range;

inline Array column(const Array& v) { return np::expand_dims(v, -1); }
inline Array dot(const Array& a, const Array& b) { return np::matmul(a, b); }
inline Two running_sum(const Array& c, const Array& x) { return {c + x, c + x}; }
inline Two sine(const Array& c, const Array& x) {
  const Array n = np::sin(c) * x + 0.5 * c;
  return {n, n * n};
}

/// A scan over the argument is the same steps in C++.
template <class F>
void expect_scan(const F& step, const Array& init, const Array& xs, lax::ScanOptions options = {},
                 double tolerance = 1e-12) {
  expect_alike([=](const Array& x) { return lax::scan(step, init, x, options); },
               [=](const Array& x) { return loop(step, init, x, options); }, xs, tolerance);
}

}  // namespace control
