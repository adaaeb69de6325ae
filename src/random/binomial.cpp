// Binomial variates: sums of geometric ones where few successes are likely, transformed rejection with squeeze
// elsewhere (BTRS: W. Hörmann, The generation of binomial random variates, 1993). All elements share the keys of a
// step.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/rejection.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// How many tries until success, added up, are within `count`.
Array by_inversion(std::span<const Array> x) {
  struct Sum {
    Words key;
    Array successes, tries;
  };
  const Words position{x[2], x[3]};
  const Array &count = x[4], log_failure = log1p(-x[5]);
  const DType dtype = count.dtype();
  const Array zero = np::zeros_like(count), one = scalar(dtype, 1);
  const auto step = [&](const Sum& s) {
    const Array u = unit_of(cipher(child(s.key, 0), position), dtype);
    return Sum{child(s.key, 1), np::where(s.tries <= count, s.successes + one, s.successes),
               s.tries + np::ceil(log(u) / log_failure)};
  };
  const Sum first{{x[0], x[1]}, zero, zero};
  return lax::while_loop([&](const Sum& s) { return np::any(s.tries <= count); }, step, first).successes - one;
}

/// log k! less Stirling's formula for it.
Array stirling_rest(const Array& k) {
  constexpr double exact[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                              0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                              0.00925546218271273, 0.00833056343336287};
  const auto number = [&](double value) { return scalar(k.dtype(), value); };
  const Array next = k + number(1), square = next * next;
  Array rest = (number(1.0 / 12) - (number(1.0 / 360) - number(1.0 / 1260) / square) / square) / next;
  for (int i = 9; i >= 0; --i) rest = np::where(k < number(i + 1), number(exact[i]), rest);
  return rest;
}

/// What BTRS needs to know of n tries of probability p.
struct Squeeze {
  Array n, p, b, a, c, v_r, ratio, alpha, mode;
  Squeeze(const Array& tries, const Array& probability) : n(tries), p(probability) {
    const Array deviation = np::sqrt(n * p * (number(1) - p));
    b = number(1.15) + number(2.53) * deviation;
    a = number(-0.0873) + number(0.0248) * b + number(0.01) * p;
    c = n * p + number(0.5);
    v_r = number(0.92) - number(4.2) / b;
    ratio = p / (number(1) - p);
    alpha = (number(2.83) + number(5.1) / b) * deviation;
    mode = np::floor((n + number(1)) * p);
  }
  Array number(double value) const { return scalar(n.dtype(), value); }
  /// The logarithm of the bound that decides on k.
  Array bound(const Array& k) const {
    const Array one = number(1), half = number(0.5);
    return (mode + half) * log((mode + one) / (ratio * (n - mode + one))) +
           (n + one) * log((n - mode + one) / (n - k + one)) + (k + half) * log(ratio * (n - k + one) / (k + one)) +
           stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(k) - stirling_rest(n - k);
  }
};

/// Nothing is drawn where there is none wanted.
Array by_rejection_with_squeeze(const Words& key, const Squeeze& s, const Array& wanted, const Array& accepted) {
  struct Attempt {
    Words key;
    Array value, accepted;
  };
  const Words position = positions(s.n.shape());
  const DType dtype = s.n.dtype();
  const auto step = [&](const Attempt& now) {
    const Array u = unit_of(cipher(child(now.key, 1), position), dtype) - s.number(0.5);
    const Array v = unit_of(cipher(child(now.key, 2), position), dtype), us = s.number(0.5) - np::abs(u);
    const Array surely = (us >= s.number(0.07)) & (v <= s.v_r);
    const Array k = np::floor((s.number(2) * s.a / us + s.b) * u + s.c);
    const Array never = (k < s.number(0)) | (k > s.n);
    const Array level = log(v * s.alpha / (s.a / (us * us) + s.b));
    const Array accept = surely | (~never & (level <= s.bound(k)));
    // As in JAX the last of those that are accepted counts, while other elements still wait.
    return Attempt{child(now.key, 0), np::where(accept, k, now.value), now.accepted | accept};
  };
  const Array any_wanted = np::any(wanted);
  return lax::while_loop([&](const Attempt& now) { return any_wanted & ~np::all(now.accepted); }, step,
                         Attempt{key, np::full_like(s.n, -1.0), accepted})
      .value;
}

}  // namespace

const Primitive random_inversion_p = rejection_sampler<4, by_inversion>("random_inversion");
const ops::Listed binomial_listed{&random_inversion_p};

Array binomial(const ArrayLike& key, const ArrayLike& n, const ArrayLike& p, const std::optional<Shape>& shape,
               DType dtype) {
  check_draw("binomial", key, {}, dtype);
  np::check_real("random.binomial", n);
  np::check_real("random.binomial", p);
  const Shape result = shape_of_draws("binomial", shape, {{"n", n}, {"p", p}});
  const Array probability = ops::broadcast_to(lax::stop_gradient(np::to_inexact(p)), result);
  const DType drawn = probability.dtype();
  check_floating("binomial", key, drawn);
  const auto number = [&](double value) { return scalar(drawn, value); };
  const Array tries = ops::broadcast_to(lax::stop_gradient(ops::cast(n, drawn)), result), count = np::floor(tries);
  // The rarer of success and failure is drawn.
  const Array rare = probability < number(0.5), q = np::where(rare, probability, number(1) - probability);
  const Array no_count = np::isnan(tries) | (tries < number(0)), infinite = np::isinf(tries), no_p = np::isnan(q),
              invalid = (q < number(0)) | no_p | no_count;
  const Array safe = np::where((q < number(0)) | no_p, number(0.01), q);
  const Array few = no_count | (tries * safe <= number(10));
  const Words words = words_of_key(key), position = positions(result);
  const Array of_few = bind1(
      random_inversion_p, {words.high, words.low, position.high, position.low, np::where(few, count, number(0)), safe});
  const Squeeze squeeze(np::where(few, number(1e4), count), np::where(few, number(0.5), safe));
  const Array of_many = by_rejection_with_squeeze(words, squeeze, ~few & ~infinite, infinite & (safe == number(0)));
  Array out = ops::cast(np::where(few, of_few, of_many), dtype);
  out = np::where(invalid, scalar(dtype, np::nan), out);
  out = np::where(infinite & ~invalid, scalar(dtype, np::inf), out);
  return np::where(rare | no_count | no_p | infinite, out, ops::cast(count, dtype) - out);
}

Array multinomial(const ArrayLike& key, const ArrayLike& n, const ArrayLike& p, const MultinomialOptions& options) {
  check_draw("multinomial", key, {}, options.dtype);
  if (p->ndim() == 0) raise<ShapeError>("[random.multinomial] p is {}; it must have an axis of outcomes.", p->aval());
  const Array both[] = {n, p};
  const DType dtype = np::inexact_result_type(both).dtype;
  const Shape shape = options.shape.value_or(p->shape());
  check_shape("multinomial", shape);
  check_fits("multinomial", "p", p->shape(), shape);
  const Shape batch(shape.begin(), shape.end() - (shape.empty() ? 0 : 1));
  check_fits("multinomial", "n", n->shape(), batch);
  check_floating("multinomial", key, dtype);
  check_probabilities("multinomial", np::to_inexact(p));
  const Array tries = ops::broadcast_to(ops::cast(n, dtype), batch);
  const Array chances = np::moveaxis(ops::broadcast_to(ops::cast(p, dtype), shape), -1, 0);
  // Of what is left, each outcome gets its share of the probability that is left.
  const Array left = np::flip(np::cumsum(np::flip(chances, 0), 0), 0), zero = scalar(dtype, 0);
  const Array shares = np::clip(chances / np::where(left == zero, scalar(dtype, 1), left), zero, scalar(dtype, 1));
  const auto step = [&](const Array& rest, const std::pair<Array, Array>& in) {
    const Array count = binomial(in.second, rest, in.first, {}, dtype);
    return std::pair{rest - count, count};
  };
  const std::pair<Array, Array> xs{shares, split(key, chances.shape(0))};
  const Array counts = lax::scan(step, tries, xs, {.unroll = options.unroll}).second;
  return ops::cast(np::moveaxis(counts, 0, -1), options.dtype);
}

}  // namespace cotan::random
