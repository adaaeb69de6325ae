// Gamma variates by rejection (G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables, 2000), with
// the keys that JAX uses: d (1 + c x)^3 with normal x, drawn again where 1 + c x is not positive, and with a new
// uniform number too where that rejects it. Shapes below 1 are raised by 1, and the variate is multiplied with a power
// of a uniform one.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/rejection.hpp"
#include "special/special.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// Decisions need no bit of XLA's; ours is the faster one.
Array quick_log(const Array& x) { return x.dtype() == f64 ? np::log(x) : log(x); }

Words choose(const Array& condition, const Words& a, const Words& b) {
  return {np::where(condition, a.high, b.high), np::where(condition, a.low, b.low)};
}

/// 1 / (3 sqrt d), as XLA computes it but for f32, where it takes the root from the processor.
Array scale_of(const Array& d) {
  const Array third = scalar(d.dtype(), 1.0 / 3);
  return d.dtype() == f64 || d.dtype() == f16 ? third * lax::rsqrt(d) : third / np::sqrt(d);
}

/// An attempt: its keys, the uniform number that it is held against, and what came of it.
struct Attempt {
  Words outer, inner;
  Array u, cube;        ///< cube: (1 + c x)^3
  Array again, failed;  ///< 1 + c x was not positive; it was, and u rejects it
};

/// Draws x by the inner key of an attempt whose keys and u are there.
void draw(Attempt& a, const Array& d, const Array& c) {
  const DType dtype = d.dtype();
  const auto number = [&](double value) { return scalar(dtype, value); };
  const Array x = normal_of(symmetric_of(unit_of(child(child(a.inner, 1), 0), dtype)));
  const Array v = multiply_add(x, c, number(1)), square = x * x;
  a.cube = v * v * v;
  a.again = v <= number(0);
  const Array close = a.u >= number(1) - number(0.0331) * (square * square);
  const Array far = quick_log(a.u) >= square * number(0.5) + d * (number(1) - a.cube + quick_log(a.cube));
  a.failed = ~a.again & close & far;
}

/// (1 + c x)^3 of the first x that is accepted.
Array accepted_cube(const Words& key, const Array& d, const Array& c) {
  const DType dtype = d.dtype();
  Attempt first;
  first.outer = key;
  first.inner = child(key, 1);
  first.u = unit_of(child(child(key, 2), 0), dtype);
  draw(first, d, c);
  const auto step = [&](const Attempt& old) {
    Attempt next = old;
    next.outer = choose(old.failed, child(old.outer, 0), old.outer);
    const Array number = np::where(old.failed, scalar(u32, 1), scalar(u32, 0));
    next.inner = cipher(choose(old.failed, next.outer, old.inner), {scalar(u32, 0), number});
    next.u = np::where(old.failed, unit_of(child(child(next.outer, 2), 0), dtype), old.u);
    draw(next, d, c);
    const Array active = old.again | old.failed;
    next.cube = np::where(active, next.cube, old.cube);
    next.again = active & next.again;
    next.failed = active & next.failed;
    return next;
  };
  return lax::while_loop([](const Attempt& a) { return np::any(a.again | a.failed); }, step, first).cube;
}

template <bool logarithm>
Array gamma_variate(std::span<const Array> x) {
  const Array& a = x[2];
  const DType dtype = a.dtype();
  const Array zero = scalar(dtype, 0), one = scalar(dtype, 1), third = scalar(dtype, 1.0 / 3);
  const Words key{x[0], x[1]};
  const Array large = a >= one, d = np::where(large, a, a + one) - third, c = scale_of(d);
  const Array cube = accepted_cube(child(key, 0), d, c);
  const Array u = unit_of(child(child(key, 1), 0), dtype);
  // A shape below 0 has no distribution.
  const auto checked = [&](const Array& variate) { return np::where(a < zero, scalar(dtype, np::nan), variate); };
  if constexpr (logarithm) {
    const Array power = log1p(-u);
    const Array raised = np::where(large | (power == zero), zero, power * (one / a));
    return checked(log(d) + log(cube) + raised);
  } else {
    return checked(d * cube * np::where(large, one, np::power(one - u, one / a)));
  }
}

/// The variate moves with its shape parameter so that its quantile stays.
Array by_shape(const Partial& p) { return p.t * bind1(special::random_gamma_grad_p, {p.x[2], p.y}); }
Array log_by_shape(const Partial& p) {
  const Array tiny = scalar(p.y.dtype(), format_of(p.y.dtype()).tiny), value = np::exp(p.y);
  const Array safe = np::where(value == scalar(p.y.dtype(), 0), tiny, value);
  return p.t * bind1(special::random_gamma_grad_p, {p.x[2], safe}) / safe;
}

}  // namespace

const Primitive random_gamma_p =
    rejection_sampler<2, gamma_variate<false>>("random_gamma", {nullptr, nullptr, by_shape});
const Primitive random_loggamma_p =
    rejection_sampler<2, gamma_variate<true>>("random_loggamma", {nullptr, nullptr, log_by_shape});
const ops::Listed gamma_variates_listed{&random_gamma_p, &random_loggamma_p};

}  // namespace cotan::random
