// Where searches start: values of parameters that the series suggests, without a search.
#include <algorithm>

#include "dlm/first_state.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// Of the observed values: how much they vary, and how much from one to the next.
Array spread(const Array& values, const Array& seen) {
  const Array n = np::maximum(np::sum(seen), 1.0), mean = np::sum(seen * values) / n;
  return np::sqrt(np::sum(seen * np::square(values - mean)) / n);
}

/// The series without the means of its seasons and without a straight line, as far as the model has those; 0 where
/// missing.
Array rest_of(const Model& model, const Array& y, const Array& seen) {
  const std::int64_t n = y.shape(0);
  Array rest = y;
  bool slope = false, season = false;
  for (const Block& b : model.blocks) {
    const auto* trend = std::get_if<Trend>(&b);
    slope = slope || (trend && trend->order > 0) || std::holds_alternative<Spline>(b);
    season = season || std::holds_alternative<Seasonal>(b) || std::holds_alternative<Harmonics>(b);
  }
  const auto without_mean = [&](const Array& a) {
    return seen * (a - np::sum(seen * a) / np::maximum(np::sum(seen), 1.0));
  };
  rest = without_mean(rest);
  if (slope) {
    const Array time = without_mean(np::arange(n, f64));
    rest = rest - time * np::sum(time * rest) / np::maximum(np::sum(time * time), 1.0);
  }
  if (season && 2 * model.season() <= n) {
    const Array phase = np::arange(n) % static_cast<std::int64_t>(model.season());
    const Array one = (np::expand_dims(np::arange(model.season()), -1) == phase).astype(f64) * seen;
    const Array means = np::matmul(one, rest) / np::maximum(np::sum(one, 1), 1.0);
    rest = seen * (rest - np::take(means, phase));
  }
  return rest;
}

/// Partial autocorrelations by Burg's method, and the share of the variance that they leave.
std::pair<Array, Array> burg(const Array& z, std::int64_t order) {
  const std::int64_t n = z.shape(0);
  struct Errors {
    Array forward, backward, partial;
  };
  const Errors end = lax::fori_loop(
      0, order,
      [&](const Array& k, const Errors& now) {
        const Array inside = (np::arange(n) > k).astype(z.dtype()), earlier = a_step_later(now.backward) * inside;
        const Array forward = now.forward * inside;
        const Array squares = np::sum(forward * forward) + np::sum(earlier * earlier);
        const Array r = 2.0 * np::sum(forward * earlier) / np::where(squares > 0, squares, 1.0);
        return Errors{forward - r * earlier, earlier - r * forward, np::where(np::arange(order) == k, r, now.partial)};
      },
      Errors{z, z, np::zeros({order}, z.dtype())});
  return {end.partial, np::prod(1.0 - np::square(end.partial))};
}

/// An autoregression of the remainder, and little noise beside it.
void take_process(Parameters& to, const AutoRegression& block, const Model& model, const Array& rest) {
  const auto [partial, share] = burg(rest, block.order);
  const Array inside = np::clip(partial, -0.97, 0.97), variance = np::mean(rest * rest);
  const Array noise = np::sqrt(np::where(variance > 0, variance, 1.0) * np::maximum(share, 1e-6));
  to[block.coefficients] = coefficients_of(inside);
  to[block.sd] = 0.9 * noise;
  if (!model.sd.empty()) to[model.sd] = 0.3 * noise;
}

}  // namespace

Parameters default_start(const Model& model, const Array& y) {
  const Array values = y.astype(f64), missing = np::isnan(values), seen = (~missing).astype(f64);
  const Array filled = np::where(missing, 0.0, values);
  const std::int64_t n = y.shape()[0];
  Array change = spread(filled, seen);
  if (n > 2) {
    const auto later = range(1, n), earlier = range(0, n - 1);
    const Array both = seen(later) * seen(earlier);
    const Array differences = spread(filled(later) - filled(earlier), both);
    change = np::where(np::sum(both) >= 2, differences, change);
  }
  const Array size = np::where(change > 0, change, 1.0);
  Parameters out;
  for (const ParameterInfo& p : parameters_of(model)) {
    if (p.kind == ParameterInfo::Kind::standard_deviation) out[p.name] = size * (p.name == model.sd ? 0.5 : 0.2);
  }
  // What changes a slope or a curvature moves the series far more, so it starts smaller.
  for (const Block& block : model.blocks) {
    if (const auto* t = std::get_if<Trend>(&block))
      for (int k = 1; k <= t->order; ++k)
        if (const std::string& name = t->sd[static_cast<std::size_t>(k)]; !name.empty() && name != t->sd[0])
          out[name] = size * 0.02;
    if (const auto* s = std::get_if<Spline>(&block)) out[s->sd] = size * 0.1;
    if (const auto* a = std::get_if<AutoRegression>(&block)) take_process(out, *a, model, rest_of(model, filled, seen));
  }
  return out;
}

}  // namespace cotan::dlm
