// Tutorial 6: state-space models. From a Kalman filter written as a scan to a fitted seasonal model with a forecast.
#include <cassert>
#include <cmath>
#include <cotan/dlm.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace dlm = cotan::dlm;
using ct::Array;

// A level that wanders, seen with noise: the smallest state-space model.
struct Level {
  Array mean, variance;
};

int main() {
  // Four years of a monthly series: a trend, a season, noise. (A month is missing.)
  const std::int64_t n = 48;
  const Array month = np::arange(n, ct::f64);
  const Array noise = ct::random::normal(ct::random::key(7), {n}, ct::f64);
  Array series = 50.0 + 0.4 * month + 6.0 * np::sin(2 * M_PI * month / 12) + noise;
  series = series.at(20).set(NAN);

  // 1. A filter is a scan: predict, compare, correct. What is missing corrects nothing.
  const auto filter = [](Array log_sd, Array y) {
    const Array w = np::exp(2 * log_sd[0]), v = np::exp(2 * log_sd[1]);
    const auto step = [w, v](Level level, Array seen) {
      const Array missing = np::isnan(seen), error = np::where(missing, 0.0, seen - level.mean);
      const Array s = level.variance + v, gain = np::where(missing, 0.0, level.variance / s);
      const Level next{level.mean + gain * error, level.variance * (1.0 - gain) + w};
      return std::pair{next, np::where(missing, 0.0, np::log(s) + error * error / s)};
    };
    return np::sum(lax::scan(step, Level{y[0], 100.0}, y).second);  // -2 log L
  };
  const Array start = np::zeros({2}, ct::f64);
  std::cout << "by hand: -2 log L = " << ct::jit(filter)(start, series) << "\n";

  // 2. Its gradient and a search for the best parameters are one program, too.
  const auto fitted = ct::jit([&](Array start, Array y) {
    return ct::optim::minimize([&](const Array& p) { return filter(p, y); }, start);
  })(start, series);
  std::cout << "standard deviations " << np::exp(fitted.x) << " after " << fitted.evaluations << " evaluations\n";
  assert(fitted.converged.item<bool>());

  // 3. cotan::dlm has all that for models put together from blocks: here a trend and a season of 12 months.
  const dlm::Model model{{dlm::Trend{1}, dlm::Seasonal{12}}};
  const dlm::Estimate estimate = dlm::estimate(model, series);
  for (const auto& [name, value] : estimate.parameters)
    std::cout << "  " << name << " = " << value << " ± " << estimate.standard_errors.at(name) << "\n";
  assert(estimate.converged.item<bool>());
  // Of the first state nothing is assumed: the likelihood is the exact limit of a prior that knows ever less. So models
  // can be compared, and adding a constant to the series changes nothing.
  const dlm::Estimate elsewhere = dlm::estimate(model, series + 1000.0);
  std::cout << "log L " << estimate.criteria.log_likelihood << ", AIC " << estimate.criteria.aic
            << ", and from 1000 higher up " << elsewhere.criteria.aic << "\n";
  assert(std::abs((estimate.criteria.aic - elsewhere.criteria.aic).item<double>()) < 1e-4);

  // 4. The model as matrices; smoothing says what the level and the season were, given everything that was seen.
  const dlm::StateSpace space = dlm::state_space(model, estimate.parameters, series);
  const dlm::Fit fit = ct::jit([](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y); })(space, series);
  std::cout << "level at the end " << fit.x(-1, 0) << " ± " << fit.xstd(-1, 0) << ", slope " << fit.x(-1, 1) << "\n"
            << "the missing month was about " << fit.level(20, 0) << " ± " << fit.ystd(20, 0) << "\n";
  assert(std::abs(fit.x(-1, 1).item<double>() - 0.4) < 0.2);
  // Predictions know only what was before them: as long as the first year is not over, there are none.
  assert(std::isnan(fit.yhat(5, 0).item<double>()) && std::isfinite(fit.yhat(14, 0).item<double>()));
  const double missing_month = 50.0 + 0.4 * 20 + 6.0 * std::sin(2 * M_PI * 20 / 12);
  assert(std::abs(fit.level(20, 0).item<double>() - missing_month) < 3);

  // 5. A year ahead, with a band that widens.
  const dlm::Forecast next = dlm::forecast(space, series, 12);
  std::cout << "next year " << np::squeeze(next.y, -1) << "\n";
  assert(next.ystd(11, 0).item<double>() > next.ystd(0, 0).item<double>());

  // 6. Functions of arrays can be mapped: the same model for a thousand series, smoothed at once.
  const Array many = np::expand_dims(series, 0) + ct::random::normal(ct::random::key(8), {1000, n}, ct::f64);
  const auto smooth_all = ct::jit(ct::vmap([&](Array y) { return dlm::smooth(space, y).x; }));
  const Array states = smooth_all(many);
  std::cout << "states of 1000 series: " << states.size() << " numbers\n";
  assert((states.shape() == ct::Shape{1000, n, model.states()}));

  // 7. And as it arrives, one observation at a time.
  const auto update = ct::jit(dlm::update);
  dlm::State now = dlm::first_state(space);
  for (std::int64_t t = 0; t < n; ++t) now = update(space, now, series[t]);
  assert(std::abs((now.x[0] - next.x(0, 0)).item<double>()) < 1e-9);
  std::cout << "after the last month the next level is " << now.x[0] << "\n";
}
