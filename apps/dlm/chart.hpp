// Charts of a time-series model as SVG text: the series with bands and forecast, its residuals and their
// diagnostics. Every function is pure; NaN is a gap; no data whatsoever puts "nan" or "inf" into a picture.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "dates.hpp"

namespace apps {

/// An interval around a line, `level` of the probability inside.
struct Band {
  double level = 0.95;
  std::vector<double> lower = {}, upper = {};
};

/// Observations, a fitted line with its band, and a forecast; each part is left out where it is empty.
struct TimeChart {
  std::string title = "", time_label = "", value_label = "";  ///< value_label with its unit: "flow (10⁸ m³)"
  TimeUnit unit = TimeUnit::none;
  std::vector<double> time = {};  ///< increasing; empty: 1, 2, …
  std::vector<double> observed = {};
  std::vector<double> fitted = {};
  Band fitted_band = {};
  std::vector<double> forecast_time = {}, forecast = {};
  std::vector<Band> fan = {};  ///< in any order
  std::string observed_label = "observed", fitted_label = "smoothed level", forecast_label = "forecast";
  double width = 860, height = 380;
};

/// Standardised residuals over time, with the interval that holds 95 % of them under the model.
struct ResidualChart {
  std::string title = "", time_label = "", value_label = "";
  TimeUnit unit = TimeUnit::none;
  std::vector<double> time = {}, residuals = {};
  double width = 860, height = 260;
};

/// Bars for the lags 1, 2, … with the bounds ±1.96/√count of white noise.
struct AutocorrelationChart {
  std::string title = "";
  std::vector<double> values = {};  ///< as autocorrelation() gives them: lag 0 first
  std::size_t count = 0;            ///< observations behind them
  double width = 420, height = 320;
};

/// Sorted residuals against normal quantiles, the line on which they fall under the model, and the interval
/// that holds each of them with probability 95 %.
struct QuantileChart {
  std::string title = "";
  std::vector<double> residuals = {};
  bool standardised = true;  ///< the line is y = x; else it goes through the quartiles
  double width = 420, height = 320;
};

/// Residuals in bins beside the normal density of the same mean and deviation.
struct HistogramChart {
  std::string title = "", value_label = "";
  std::vector<double> residuals = {};
  double width = 420, height = 320;
};

std::string to_svg(const TimeChart& chart);
std::string to_svg(const ResidualChart& chart);
std::string to_svg(const AutocorrelationChart& chart);
std::string to_svg(const QuantileChart& chart);
std::string to_svg(const HistogramChart& chart);

/// Charts of this file under one another, in rows as given, as one picture.
std::string stack_charts(const std::vector<std::vector<std::string>>& rows);

}  // namespace apps
