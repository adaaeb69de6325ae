// The same loops written in C++: what lax's must agree with.
#pragma once
#include "control/support.hpp"

namespace control {

/// scan as a C++ loop over slices.
template <class F, class Carry, class Xs>
auto loop(const F& step, Carry carry, const Xs& xs, lax::ScanOptions options = {}) {
  const Arrays leaves = ct::tree::leaves(xs);
  const std::int64_t n = leaves[0].shape(0);
  using Y = std::remove_cvref_t<decltype(step(carry, xs).second)>;
  std::vector<Y> ys(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = options.reverse ? n - 1 - k : k;
    Arrays slice;
    for (const Array& x : leaves) slice.push_back(x[i]);
    auto [next, y] = step(carry, ct::tree::unflatten(xs, slice));
    carry = next;
    ys[static_cast<std::size_t>(i)] = y;
  }
  Arrays stacked;
  const std::size_t count = ct::tree::leaves(ys[0]).size();
  for (std::size_t j = 0; j < count; ++j) {
    Arrays rows;
    for (const Y& y : ys) rows.push_back(ct::tree::leaves(y)[j]);
    stacked.push_back(np::stack(rows));
  }
  return std::pair<Carry, Y>{carry, ct::tree::unflatten(ys[0], stacked)};
}

/// All leaves of what a function returns, summed with weights: something to differentiate.
template <class T>
Array weighted_sum(const T& outputs) {
  Array total = 0;
  int k = 0;
  for (const Array& y : ct::tree::leaves(outputs)) {
    if (ct::is_floating(y.dtype())) total = total + np::sum(y * formula(y.shape(), 200 + k, 0, y.dtype()));
    ++k;
  }
  return total;
}

/// Two functions of one Array with equal values and gradients, with and without jit.
template <class F, class G>
void expect_alike(const F& f, const G& g, const Array& x, double tolerance = 1e-12) {
  const auto leaves = [](const auto& y) { return ct::tree::leaves(y); };
  const Arrays want = leaves(g(x));
  EXPECT_TRUE(close(leaves(f(x)), want, tolerance)) << "evaluated";
  EXPECT_TRUE(close(leaves(ct::jit(f)(x)), want, tolerance)) << "jit";
  const auto loss = [](const auto& h) { return [h](const Array& in) { return weighted_sum(h(in)); }; };
  const Array slope = ct::grad(loss(g))(x);
  EXPECT_TRUE(close(ct::grad(loss(f))(x), slope, tolerance)) << "grad";
  EXPECT_TRUE(close(ct::jit(ct::grad(loss(f)))(x), slope, tolerance)) << "jit of grad";
}

}  // namespace control
