#include "ode/dopri.hpp"

#include <cotan/base.hpp>

namespace cotan::ode {

namespace np = numpy;

namespace {

Array dot(const Array& weights, const Array& rows) { return np::matmul(weights.astype(rows.dtype(), {}), rows); }
Array length(const Array& v) {
  const Array size = np::abs(v);
  return np::sqrt(np::sum(size * size));
}

/// Row i - 1: what the slopes so far count for slope i.
Array stage_weights(DType dtype) {
  return np::array({{1.0 / 5, 0, 0, 0, 0, 0, 0},
                    {3.0 / 40, 9.0 / 40, 0, 0, 0, 0, 0},
                    {44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, 0, 0},
                    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, 0, 0},
                    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656, 0, 0},
                    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0}},
                   dtype);
}
/// Rows: what slopes count for y at the end, for its error, and for y in the middle.
Array result_weights(DType dtype) {
  return np::array(
      {{35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0},
       {35.0 / 384 - 1951.0 / 21600, 0, 500.0 / 1113 - 22642.0 / 50085, 125.0 / 192 - 451.0 / 720,
        -2187.0 / 6784 + 12231.0 / 42400, 11.0 / 84 - 649.0 / 6300, -1.0 / 60},
       {6025192743.0 / 30085553152.0 / 2, 0, 51252292925.0 / 65400821598.0 / 2, -2691868925.0 / 45128329728.0 / 2,
        187940372067.0 / 1594534317056.0 / 2, -1776094331.0 / 19743644256.0 / 2, 11237099.0 / 235043384.0 / 2}},
      dtype);
}

}  // namespace

Array as_part_of(const Array& y, const Array& time) { return time.astype(real_dtype(y.dtype()), {}); }

Step dopri_step(const Slope& f, const Array& y, const Array& slope, const Array& t, const Array& dt) {
  const Array weights = stage_weights(real_dtype(y.dtype()));
  const Array shares = np::array({1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0}, dt.dtype()), h = as_part_of(y, dt);
  const Array first = np::zeros({7, y.size()}, slope.dtype()).at(0).set(slope);
  const Array slopes = lax::fori_loop(
      1, 7,
      [&](const Array& i, const Array& k) {
        const Array at = y + h * dot(lax::dynamic_index_in_dim(weights, i - 1, 0, false), k);
        return k.at(i).set(f(at, t + dt * lax::dynamic_index_in_dim(shares, i - 1, 0, false)));
      },
      first);
  const Array changes = h * dot(result_weights(real_dtype(y.dtype())), slopes);
  return {y + changes(0), slopes(-1), changes(1), y + changes(2)};
}

Polynomial dopri_polynomial(const Step& step, const Array& y, const Array& slope, const Array& dt) {
  const Array h = as_part_of(y, dt), before = h * slope, after = h * step.slope, &end = step.y,
              &middle = step.at_middle;
  return {-2.0 * before + 2.0 * after - 8.0 * y - 8.0 * end + 16.0 * middle,
          5.0 * before - 3.0 * after + 18.0 * y + 14.0 * end - 32.0 * middle,
          -4.0 * before + after - 11.0 * y - 5.0 * end + 16.0 * middle, before, y};
}

Array error_ratio(const Array& error, double rtol, double atol, const Array& y0, const Array& y1) {
  const Array share = np::abs(error) / (atol + rtol * np::maximum(np::abs(y0), np::abs(y1)));
  return np::sqrt(np::mean(share * share));
}

Array first_step(const Slope& f, const Array& y, const Array& slope, const Array& t, double rtol, double atol) {
  const Array scale = atol + np::abs(y) * rtol, size = length(y / scale), speed = length(slope / scale);
  const Array guess = np::where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / speed);
  const Array next = f(y + guess * slope, t + guess.astype(t.dtype(), {}));
  const Array bend = length((next - slope) / scale) / guess;
  const Array by_bend = np::where((speed <= 1e-15) & (bend <= 1e-15), np::maximum(1e-6, guess * 1e-3),
                                  np::power(0.01 / np::maximum(speed, bend), 1.0 / 5));
  return np::minimum(100.0 * guess, by_bend).astype(t.dtype(), {});
}

Array next_length(const Array& dt, const Array& given) {
  const Array ratio = given.astype(dt.dtype(), {});
  constexpr double most = 10.0, least = 0.2, safety = 0.9;
  const Array some = np::where(ratio == 0.0, 1.0, ratio);
  const Array factor =
      np::minimum(most, np::maximum(np::power(some, -1.0 / 5) * safety, np::where(ratio < 1.0, 1.0, least)));
  return dt * np::where(ratio == 0.0, most, factor);
}

}  // namespace cotan::ode
