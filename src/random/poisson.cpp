// Poisson variates: Knuth's method (a product of uniform numbers against e^-rate) below 10, transformed rejection above
// (W. Hörmann, The transformed rejection method for generating Poisson random variables, 1993). All elements share the
// keys of a step.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/rejection.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// How many uniform numbers it takes until their product is below e^-rate, less one.
Array by_knuth(std::span<const Array> x) {
  struct Sum {
    Words key;
    Array count, log_product;
  };
  const Words position{x[2], x[3]};
  const Array limit = -x[4], zero = np::zeros_like(limit), one = scalar(f32, 1);
  const auto step = [&](const Sum& s) {
    const Array u = unit_of(cipher(child(s.key, 1), position), f32);
    return Sum{child(s.key, 0), np::where(s.log_product > limit, s.count + one, s.count), s.log_product + log(u)};
  };
  const Sum first{{x[0], x[1]}, zero, zero};
  return lax::while_loop([&](const Sum& s) { return np::any(s.log_product > limit); }, step, first).count - one;
}

/// For rates of 10 and more. Nothing is drawn where there is none.
Array by_rejection(const Words& key, const Array& rate, const Array& wanted) {
  const auto number = [](double value) { return scalar(f32, value); };
  const Words position = positions(rate.shape());
  const Array b = number(0.931) + number(2.53) * np::sqrt(rate), a = number(-0.059) + number(0.02483) * b,
              inverse_alpha = number(1.1239) + number(1.1328) / (b - number(3.4)),
              v_r = number(0.9277) - number(3.6224) / (b - number(2)), log_rate = log(rate);
  struct Attempt {
    Words key;
    Array value, accepted;
  };
  const auto step = [&](const Attempt& now) {
    const Array u = unit_of(cipher(child(now.key, 1), position), f32) - number(0.5);
    const Array v = unit_of(cipher(child(now.key, 2), position), f32), us = number(0.5) - np::abs(u);
    const Array k = np::floor((number(2) * a / us + b) * u + rate + number(0.43));
    const Array s = log(v * inverse_alpha / (a / (us * us) + b));
    const Array t = k * log_rate - rate - lax::lgamma(k + number(1));
    const Array surely = (us >= number(0.07)) & (v <= v_r);
    const Array never = (k < number(0)) | ((us < number(0.013)) & (v > us));
    const Array accept = surely | (~never & (s <= t));
    // As in JAX the last of those that are accepted counts, while other elements still wait.
    return Attempt{child(now.key, 0), np::where(accept, k, now.value), now.accepted | accept};
  };
  const Array any_wanted = np::any(wanted);
  return lax::while_loop([&](const Attempt& now) { return any_wanted & ~np::all(now.accepted); }, step,
                         Attempt{key, np::full_like(rate, -1.0), np::zeros(rate.shape(), bool_)})
      .value;
}

}  // namespace

const Primitive random_knuth_p = rejection_sampler<4, by_knuth>("random_knuth");
const ops::Listed poisson_listed{&random_knuth_p};

Array poisson(const ArrayLike& key, const ArrayLike& lam, const std::optional<Shape>& shape, DType dtype) {
  check_key("poisson", key);
  check_integer("poisson", key, dtype);
  np::check_real("random.poisson", lam);
  const Shape result = shape_of_draws("poisson", shape, {{"lam", lam}});
  const Array rate = ops::broadcast_to(lax::stop_gradient(ops::cast(lam, f32)), result);
  const Array zero = scalar(f32, 0), small = np::isnan(rate) | (rate < scalar(f32, 10));
  const Words words = words_of_key(key), position = positions(result);
  const Array of_small =
      bind1(random_knuth_p, {words.high, words.low, position.high, position.low, np::where(small, rate, zero)});
  const Array of_large = by_rejection(words, np::where(small, scalar(f32, 1e5), rate), ~small);
  return ops::cast(np::where(rate == zero, zero, np::where(small, of_small, of_large)), dtype);
}

}  // namespace cotan::random
