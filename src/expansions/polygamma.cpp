// polygamma, an element per lane: the recurrence up to where the asymptotic series holds takes as many steps
// as an element needs.
#include <cmath>
#include <limits>

#include "expansions/tools.hpp"

namespace cotan::expansions {

namespace {

Array power(const Array& x, std::int64_t n) { return bind1(ops::integer_pow_p, {x}, {{"y", n}}); }

/// (n-1)!/x^n + n!/(2 x^(n+1)) + the sum of B_2k (2k+n-1)! / ((2k)! x^(2k+n)), for x above 20 + n.
Array series(const Array& x, std::int64_t n) {
  constexpr double bernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
                                  -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
  const auto order = static_cast<double>(n);
  const Array inverse = 1.0 / x, square = inverse * inverse, first = power(inverse, n);
  Array sum = first * std::tgamma(order) + first * inverse * (std::tgamma(order + 1) / 2);
  Array ratio = first * square * (std::tgamma(order + 2) / 2);
  double m = 2;
  for (double b : bernoulli) {
    sum = sum + b * ratio;
    ratio = ratio * square * ((m + order) * (m + order + 1) / ((m + 1) * (m + 2)));
    m += 2;
  }
  return sum;
}

Array polygamma_of_one(const Array& x, std::int64_t n) {
  constexpr double far_below = -1e5;  // as far as the evaluation rule goes
  const DType dtype = x.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1), none = nan_of(dtype);
  const Array enough = scalar(dtype, 20.0 + static_cast<double>(n));
  const Array pole = (x <= zero) & (np::floor(x) == x), outside = x <= scalar(dtype, far_below);
  // Of a high order only a few terms count: what is left after one at x is less than it times 1 + x / n.
  const double least = dtype == f64 ? 1e-18 : 1e-9;
  const auto counts = [&](const Array& at, const Array& sum, const Array& term) {
    return (at <= one) | (term * (at * (1 / static_cast<double>(n)) + 1.0) >= np::abs(sum) * least);
  };
  const auto needs_more = [&](std::span<const Array> in) {
    return Arrays{(in[0] < enough) & counts(in[0], in[1], in[2])};
  };
  const auto step = [&](std::span<const Array> in) {
    const Array term = power(one / in[0], n + 1);
    return Arrays{in[0] + one, in[1] + term, term};
  };
  const Arrays out = loop_while({ops::select(pole | outside, enough, x), zero, zero}, needs_more, step);
  const double sign = n % 2 ? 1 : -1;
  const Array rest = ops::select(out[0] < enough, zero, series(ops::select(out[0] < enough, enough, out[0]), n));
  const Array y = sign * (out[1] * std::tgamma(static_cast<double>(n) + 1) + rest);
  const Array at_pole = n % 2 ? scalar(dtype, std::numeric_limits<double>::infinity()) : none;
  return ops::select(outside, none, ops::select(pole, at_pole, y));
}

Arrays polygamma(const Primitive&, std::span<const Array> x, const Params& params) {
  if (x[0].size() == 0) return {x[0]};
  const DType dtype = x[0].dtype();
  const Array flat = ops::reshape(ops::cast(x[0], wide(dtype)), {x[0].size()});
  const auto one = [&](std::span<const Array> in) { return Arrays{polygamma_of_one(in[0], params.integer("n"))}; };
  return {ops::cast(ops::reshape(for_each_lane({flat}, {}, one)[0], x[0].shape()), dtype)};
}

}  // namespace

const RuleFor<Expansion> expands_polygamma{{&ops::polygamma_p}, {polygamma}};

}  // namespace cotan::expansions
