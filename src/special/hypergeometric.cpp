// Kummer's and Gauss's hypergeometric functions by their series, after a transformation to where all its terms have one
// sign or it converges fast, and their derivatives by the parameters. What did not converge is NaN.
#include <cotan/control_flow.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>

#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

/// The sum of (a)_k (b)_k/(c)_k x^k/k! times `first`; without b the other one's.
struct Sum {
  Array a;
  std::optional<Array> b;
  Array c, x, first;
  enum class By { none, a, b, c } by = By::none;  ///< the parameter to differentiate by

  /// Where `active`, else anything.
  Array value(const Array& active, double most_steps) const {
    const double epsilon = epsilon_of(x) / 2;
    const Array zero = np::zeros_like(x);
    // Still summing; k; the term and its derivative; the sum of what is wanted; what has converged.
    using Carry = std::tuple<Array, Array, Array, Array, Array>;
    const auto step = [&](const Carry& s) {
      const auto& [on, k, term, slope, sum] = s;
      const Array by_c = x / ((c + k) * (k + 1.0)), with_b = b ? Array((*b + k) * by_c) : by_c,
                  ratio = (a + k) * with_b;
      const Array next = term * ratio;
      Array change = slope;
      if (by == By::a) change = slope * ratio + term * with_b;
      if (by == By::b) change = slope * ratio + term * ((a + k) * by_c);
      if (by == By::c) change = slope * ratio - next / (c + k);
      const Array& added = by == By::none ? next : change;
      const Array more = sum + added;
      // Terms may be small before they grow.
      Array begun = a + k > 0.0;
      if (b) begun = begun & (*b + k > 0.0);
      begun = begun & (np::abs(ratio) < 1.0) & (c + k > 0.0);
      const Array settled = begun & (np::abs(added) <= epsilon * (1.0 - np::abs(ratio)) * np::abs(more)) & (k > 2.0);
      const Array ended = (next == 0.0) & (change == 0.0);
      return Carry{on & ~settled & ~ended & (k < most_steps), k + 1.0, next, change, np::where(on, more, sum)};
    };
    const Carry end = lax::while_loop([](const Carry& s) { return np::any(std::get<0>(s)); }, step,
                                      Carry{active, zero, first, zero, by == By::none ? first : zero});
    return std::get<4>(end);
  }
};

// 1F1 -----------------------------------------------------------------------------------------------------

/// exp(x) 1F1(b - a, b, -x) is 1F1(a, b, x).
Array kummer(Operands in, Sum::By by) {
  const Array &a = in[0], &b = in[1], &x = in[2];
  const Array negative = x < 0.0, y = np::abs(x), other = np::where(negative, b - a, a);
  const double most = pick(x, 80, 600);
  const Array near = y < most, z = np::where(near, y, 1.0), first = np::where(negative, np::exp(-z), 1.0);
  const auto sum = [&](Sum::By wanted) {
    return Sum{other, std::nullopt, b, z, first, wanted}.value(near & (b != 0.0), 5000);
  };
  if (by == Sum::By::none) return sum(by);
  const Array by_a = sum(Sum::By::a);
  const Array value =
      by == Sum::By::a ? np::where(negative, -by_a, by_a) : sum(Sum::By::c) + np::where(negative, by_a, 0.0);
  return np::where(near, value, np::nan);
}

/// For large |x|: gamma(b)/gamma(a) exp(x) x^(a - b) (1 + (b - a)(1 - a)/x + ...).
Array kummer_far(const Array& a, const Array& b, const Array& x) {
  namespace sp = scipy::special;
  const Array negative = x < 0.0, p = np::where(negative, b - a, a), inverse = 1.0 / np::maximum(np::abs(x), 50.0);
  Array term = 1.0, sum = 1.0;
  for (int k = 0; k < 20; ++k) {
    term = term * ((b - p + double(k)) * (1.0 - p + double(k)) * inverse * (1.0 / (k + 1)));
    sum = sum + term;
  }
  return sp::gamma(b) / sp::gamma(p) * np::exp(np::maximum(x, 0.0) - (p - b) * np::log(inverse)) * sum;
}

Array hyp1f1(Operands in) {
  const Array &a = in[0], &b = in[1], &x = in[2];
  const Array near = np::abs(x) < pick(x, 80, 600);
  const Array value = np::where(near, kummer(in, Sum::By::none), kummer_far(a, b, x));
  const Array edges = np::where(b == 0.0, np::inf, np::where(a == b, np::exp(x), value));
  return np::where(np::isnan(a + b + x), np::nan, np::where(a == 0.0, 1.0, edges));
}

// 2F1 -----------------------------------------------------------------------------------------------------

Array is_whole(const Array& x) { return x == np::floor(x); }

/// For z from 0 to below 1.
Array gauss(const Array& a, const Array& b, const Array& c, const Array& z, const Array& active) {
  namespace sp = scipy::special;
  const Array d = c - a - b, one = np::ones_like(z);
  const Array polynomial = ((a <= 0.0) & is_whole(a)) | ((b <= 0.0) & is_whole(b));
  // From z to 1 - z, unless terms nearly cancel there.
  const Array moved = active & (z > 0.9) & ~polynomial & (np::abs(d - np::rint(d)) > 1e-3), direct = active & ~moved;
  const Array series = Sum{a, b, c, np::where(direct, z, 0.5), one}.value(direct, 400000);
  const Array s = np::where(moved, 1.0 - z, 0.05), e = np::where(moved, d, 0.5);
  const Array first = Sum{a, b, 1.0 - e, s, one}.value(moved, 5000),
              second = Sum{c - a, c - b, 1.0 + e, s, one}.value(moved, 5000);
  const auto over = [](const Array& p) {
    return np::where((p <= 0.0) & is_whole(p), 0.0, 1.0 / sp::gamma(np::where((p <= 0.0) & is_whole(p), 1.0, p)));
  };
  const Array of_moved = sp::gamma(c) * (sp::gamma(e) * over(c - a) * over(c - b) * first +
                                         np::power(s, e) * sp::gamma(-e) * over(a) * over(b) * second);
  const Array slow = direct & ~polynomial & (z > pick(z, 0.99995, 0.9999));
  return np::where(moved, of_moved, np::where(slow, np::nan, series));
}

Array hyp2f1(Operands in) {
  namespace sp = scipy::special;
  const Array &a = in[0], &b = in[1], &c = in[2], &x = in[3];
  const Array d = c - a - b, trivial = (x == 0.0) | (((a == 0.0) | (b == 0.0)) & (c != 0.0));
  const Array pole = (c <= 0.0) & is_whole(c), beyond = (x > 1.0) | ((x == 1.0) & (d <= 0.0));
  const Array regular = ~(trivial | pole | (x >= 1.0) | np::isnan(a + b + c + x));
  // Pfaff's transformation takes negative x to between 0 and 1, Euler's makes series converge faster.
  const Array negative = x < 0.0, euler = ~negative & (d < 0.0);
  const Array z = np::where(regular, np::where(negative, x / (x - 1.0), x), 0.5),
              rest = np::where(regular, 1.0 - x, 1.0);
  const Array p = np::where(euler, c - a, a), q = np::where(negative | euler, c - b, b);
  const Array power = np::where(negative, np::power(rest, -a), np::where(euler, np::power(rest, d), 1.0));
  const Array inside = power * gauss(p, q, c, z, regular);
  const Array at_1 = sp::gamma(c) * sp::gamma(d) / (sp::gamma(c - a) * sp::gamma(c - b));
  const Array value = np::where(beyond, np::inf, np::where(x == 1.0, at_1, inside));
  return np::where(np::isnan(a + b + c + x), np::nan, np::where(trivial, 1.0, np::where(pole, np::inf, value)));
}

template <Sum::By by>
Array hyp1f1_by(Operands in) {
  return kummer(in, by);
}
template <Sum::By by>
Array hyp2f1_by(Operands in) {
  const Array &x = in[3], inside = np::abs(x) < 0.9999;
  const Array value = Sum{in[0], in[1], in[2], np::where(inside, x, 0.0), np::ones_like(x), by}.value(inside, 400000);
  return np::where(inside, value, np::nan);
}

template <const Primitive* derivative>
Array by_parameter(const Partial& p) {
  return p.t * bind1(*derivative, p.x);
}

}  // namespace

const Primitive hyp1f1_a_p = composed<hyp1f1_by<Sum::By::a>>(
    "hyp1f1_a", {not_known<&hyp1f1_a_p>, not_known<&hyp1f1_a_p>, not_known<&hyp1f1_a_p>});
const Primitive hyp1f1_b_p = composed<hyp1f1_by<Sum::By::c>>(
    "hyp1f1_b", {not_known<&hyp1f1_b_p>, not_known<&hyp1f1_b_p>, not_known<&hyp1f1_b_p>});
const Primitive hyp1f1_p =
    composed<hyp1f1>("hyp1f1", {by_parameter<&hyp1f1_a_p>, by_parameter<&hyp1f1_b_p>, [](const Partial& p) {
                                  const Array &a = p.x[0], &b = p.x[1];
                                  return p.t * (a / b * bind1(hyp1f1_p, {a + 1.0, b + 1.0, p.x[2]}));
                                }});

const Primitive hyp2f1_a_p = composed<hyp2f1_by<Sum::By::a>>(
    "hyp2f1_a", {not_known<&hyp2f1_a_p>, not_known<&hyp2f1_a_p>, not_known<&hyp2f1_a_p>, not_known<&hyp2f1_a_p>});
const Primitive hyp2f1_b_p = composed<hyp2f1_by<Sum::By::b>>(
    "hyp2f1_b", {not_known<&hyp2f1_b_p>, not_known<&hyp2f1_b_p>, not_known<&hyp2f1_b_p>, not_known<&hyp2f1_b_p>});
const Primitive hyp2f1_c_p = composed<hyp2f1_by<Sum::By::c>>(
    "hyp2f1_c", {not_known<&hyp2f1_c_p>, not_known<&hyp2f1_c_p>, not_known<&hyp2f1_c_p>, not_known<&hyp2f1_c_p>});
const Primitive hyp2f1_p = composed<hyp2f1>(
    "hyp2f1", {by_parameter<&hyp2f1_a_p>, by_parameter<&hyp2f1_b_p>, by_parameter<&hyp2f1_c_p>, [](const Partial& p) {
                 const Array &a = p.x[0], &b = p.x[1], &c = p.x[2];
                 return p.t * (a * b / c * bind1(hyp2f1_p, {a + 1.0, b + 1.0, c + 1.0, p.x[3]}));
               }});

}  // namespace cotan::special
