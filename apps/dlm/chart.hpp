// Charts of a time-series model as SVG text: the series with bands and forecast, its residuals and their
// diagnostics. Every function is pure; NaN is a gap; no data whatsoever puts "nan" or "inf" into a picture.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "axis.hpp"
#include "dates.hpp"

namespace apps {

/// An interval around a line, `level` of the probability inside.
struct Band {
  double level = 0.95;
  std::vector<double> lower = {}, upper = {};
};

/// Rows at which something happened, such as a holiday.
struct Events {
  std::string name;
  std::vector<double> time;
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
  std::vector<double> reference = {};  ///< another forecast, of the same times
  std::string reference_label = "";
  double known_until = std::numeric_limits<double>::quiet_NaN();  ///< where a forecast begins; NaN: after all of `time`
  std::string known_label = "now";
  std::vector<std::size_t> outliers = {}, level_shifts = {};  ///< rows of `time`
  std::vector<Events> events = {};
  double width = 860, height = 380;
  bool interactive = false;              ///< with what a page says where a reader points, here and below
  std::vector<std::string> labels = {};  ///< of time and forecast_time, for that
};

/// Standardised residuals over time, with the interval that holds 95 % of them under the model.
struct ResidualChart {
  std::string title = "", time_label = "", value_label = "";
  TimeUnit unit = TimeUnit::none;
  std::vector<double> time = {}, residuals = {};
  double width = 860, height = 260;
  bool interactive = false;
  std::vector<std::string> labels = {};
};

/// Bars for the lags 1, 2, … with the bounds ±1.96/√count of white noise.
struct AutocorrelationChart {
  std::string title = "";
  std::vector<double> values = {};  ///< as autocorrelation() gives them: lag 0 first
  std::size_t count = 0;            ///< observations behind them
  double width = 420, height = 320;
  bool interactive = false;
};

/// Sorted residuals against normal quantiles, the line on which they fall under the model, and the interval
/// that holds each of them with probability 95 %.
struct QuantileChart {
  std::string title = "";
  std::vector<double> residuals = {};
  bool standardised = true;  ///< the line is y = x; else it goes through the quartiles
  double width = 420, height = 320;
  bool interactive = false;
};

/// Residuals in bins beside the normal density of the same mean and deviation.
struct HistogramChart {
  std::string title = "", value_label = "";
  std::vector<double> residuals = {};
  double width = 420, height = 320;
  bool interactive = false;
};

/// The effects of a season by the phase of the season, and as they were once.
struct ProfileChart {
  std::string title = "", value_label = "", phase_label = "";
  std::vector<double> position = {};  ///< increasing
  std::vector<std::string> labels = {};
  std::vector<Tick> ticks = {};  ///< none: round numbers
  std::vector<double> mean = {}, earlier = {};
  Band band = {};
  double neutral = 0;  ///< no effect
  std::string mean_label = "effect", earlier_label = "earlier";
  double width = 860, height = 280;
  bool interactive = false;
};

std::string to_svg(const TimeChart& chart);
std::string to_svg(const ResidualChart& chart);
std::string to_svg(const AutocorrelationChart& chart);
std::string to_svg(const QuantileChart& chart);
std::string to_svg(const HistogramChart& chart);
std::string to_svg(const ProfileChart& chart);

/// Charts of this file under one another, in rows as given, as one picture.
std::string stack_charts(const std::vector<std::vector<std::string>>& rows);

}  // namespace apps
