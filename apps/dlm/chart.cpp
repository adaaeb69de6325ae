// Each chart fixes its ranges, asks Frame for axes and legend, and draws its marks into the frame.
#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "frame.hpp"
#include "plot_data.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace apps {

std::string to_svg(const AutocorrelationChart& chart) {
  const std::size_t lags = chart.values.empty() ? 0 : chart.values.size() - 1;
  const double bound = chart.count > 0 ? 1.96 / std::sqrt(static_cast<double>(chart.count)) : nothing;
  double reach = std::isfinite(bound) ? 1.6 * bound : 0.5;
  for (std::size_t lag = 1; lag <= lags; ++lag)
    if (std::isfinite(chart.values[lag])) reach = std::max(reach, 1.1 * std::abs(chart.values[lag]));
  reach = std::min(reach, 1.1);
  const Frame frame({0.2, static_cast<double>(std::max<std::size_t>(lags, 1)) + 0.8}, {-reach, reach},
                    {.title = chart.title,
                     .value_label = "autocorrelation",
                     .time_label = "lag",
                     .width = chart.width,
                     .height = chart.height,
                     .whole_x = true});
  std::string marks;
  if (std::isfinite(bound)) {
    marks += fmt::format("<rect x='0' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.1'/>\n",
                         frame.y(bound), frame.width(), frame.y(-bound) - frame.y(bound), blue);
    marks += level_line(frame, bound, blue, true) + level_line(frame, -bound, blue, true);
  }
  marks += level_line(frame, 0, middle_grey, false);
  const double bar = std::clamp(0.55 * frame.width() / static_cast<double>(lags + 1), 1.0, 14.0);
  bool any = false;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    const double value = chart.values[lag];
    if (!std::isfinite(value)) continue;
    any = true;
    const double zero = frame.y(0), end = frame.y(value);
    marks += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>\n",
                         frame.x(static_cast<double>(lag)) - bar / 2, std::min(zero, end), bar, std::abs(end - zero),
                         std::abs(value) > bound ? vermilion : dark);
  }
  if (!any) marks += message(frame, "no autocorrelation to show");
  if (!chart.interactive || !any) return frame.with(marks);
  Readout readout{.columns = {{"autocorrelation", dark, {chart.values.begin() + 1, chart.values.end()}}}};
  for (std::size_t lag = 1; lag <= lags; ++lag)
    readout.x.push_back(static_cast<double>(lag)), readout.labels.push_back(fmt::format("lag {}", lag));
  return frame.with(marks, readout);
}

std::string to_svg(const QuantileChart& chart) {
  const std::vector<double> sorted = finite_sorted(chart.residuals);
  const auto n = static_cast<double>(sorted.size());
  double center = 0, scale = 1;
  if (!chart.standardised && !sorted.empty()) {
    const auto quartile = [&](double p) {
      const double place = p * (n - 1), below = std::floor(place);
      const auto i = static_cast<std::size_t>(below);
      const double next = sorted[std::min(i + 1, sorted.size() - 1)];
      return sorted[i] * (1 - (place - below)) + next * (place - below);
    };
    const double low = quartile(0.25), high = quartile(0.75);
    center = low / 2 + high / 2;
    scale = (high / 2 - low / 2) / normal_quantile(0.75);
  }
  // Every point up to a thousand; of more, all of the tails and a share of the middle.
  std::vector<double> theory, sample;
  Band band;
  const std::size_t stride = sorted.size() / 1000 + 1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i % stride != 0 && i >= 100 && i + 100 < sorted.size()) continue;
    const double p = (static_cast<double>(i) + 0.625) / (n + 0.25), z = normal_quantile(p);
    theory.push_back(z);
    sample.push_back(sorted[i]);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double error = 1.96 * scale * std::sqrt(p * (1 - p) / n) / density;
    band.lower.push_back(center + scale * z - error);
    band.upper.push_back(center + scale * z + error);
  }
  Range x, y;
  x.include(theory);
  if (x.empty()) x = {-2, 2};
  const double reach = 1.06 * std::max({std::abs(x.lo), std::abs(x.hi), 0.5});
  y.include(sample);
  y.include(center - scale * reach), y.include(center + scale * reach);
  const Frame frame({-reach, reach}, padded(y, 0.04),
                    {.title = chart.title,
                     .value_label = "residual quantiles",
                     .time_label = "normal quantiles",
                     .width = chart.width,
                     .height = chart.height});
  std::string marks = area(frame, theory, band, blue, 0.12);
  marks += line(frame, {-reach, reach}, {center - scale * reach, center + scale * reach}, blue, 1.6);
  if (sorted.empty()) return frame.with(message(frame, "no residuals to show"));
  marks += dots(frame, theory, sample, 2.6, dark, 0.85);
  if (!chart.interactive) return frame.with(marks);
  Readout readout{.x = theory,
                  .labels = std::vector<std::string>(theory.size(), ""),
                  .columns = {{"residual", dark, sample}, {"normal", blue, theory}}};
  return frame.with(marks, readout);
}

std::string to_svg(const HistogramChart& chart) {
  const std::vector<double> sorted = finite_sorted(chart.residuals);
  Range data;
  data.include(sorted);
  const Range x = padded(data, 0.02, 1);
  const FrameOptions options{.title = chart.title,
                             .value_label = "density",
                             .time_label = chart.value_label,
                             .width = chart.width,
                             .height = chart.height};
  if (sorted.empty()) {
    const Frame frame(x, {0, 1}, options);
    return frame.with(message(frame, "no residuals to show"));
  }
  // Everything in units of the range, so that no scale overflows: positions 0 to 1, density per range.
  const auto n = static_cast<double>(sorted.size());
  const double spread = x.fraction(sorted[sorted.size() * 3 / 4]) - x.fraction(sorted[sorted.size() / 4]);
  const double bin_width = spread > 0 ? 2 * spread / std::cbrt(n) : 0.25;  // Freedman and Diaconis
  const auto bins = static_cast<std::size_t>(std::clamp(std::ceil(1 / bin_width), 5.0, 60.0));
  std::vector<double> density(bins, 0.0);
  double mean = 0, variance = 0;
  for (const double value : sorted) {
    const double position = x.fraction(value);
    const auto bin = std::min(bins - 1, static_cast<std::size_t>(position * static_cast<double>(bins)));
    density[bin] += static_cast<double>(bins) / n;
    mean += position / n;
  }
  for (const double value : sorted) variance += (x.fraction(value) - mean) * (x.fraction(value) - mean) / n;
  const double deviation = std::sqrt(variance);
  double highest = *std::max_element(density.begin(), density.end());
  std::vector<double> curve_x, curve_y;
  if (deviation > 1e-9)
    for (int i = 0; i <= 120; ++i) {
      const double position = i / 120.0, z = (position - mean) / deviation;
      curve_x.push_back(x.lo * (1 - position) + x.hi * position);
      curve_y.push_back(std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::numbers::pi)));
      highest = std::max(highest, curve_y.back());
    }
  const double unit = std::clamp(2 * x.half(), 1e-280, 1e280);  // density per unit of the data, for the labels
  for (double& value : density) value /= unit;
  for (double& value : curve_y) value /= unit;
  const Frame frame(x, {0, 1.06 * highest / unit}, options);
  std::string marks;
  const double bar = frame.width() / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i)
    if (density[i] > 0)
      marks +=
          fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='#9aa1ab' stroke='#ffffff'/>\n",
                      bar * static_cast<double>(i), frame.y(density[i]), bar, frame.y(0) - frame.y(density[i]));
  marks += line(frame, curve_x, curve_y, blue, 2);
  if (!chart.interactive) return frame.with(marks);
  Readout readout{.columns = {{"density", dark, density}}};
  const auto edge = [&](std::size_t i) {
    return x.lo + 2 * x.half() * static_cast<double>(i) / static_cast<double>(bins);
  };
  for (std::size_t i = 0; i < bins; ++i) {
    readout.x.push_back(edge(i) / 2 + edge(i + 1) / 2);
    readout.labels.push_back(fmt::format("{} to {}", number_text(edge(i), 3), number_text(edge(i + 1), 3)));
  }
  return frame.with(marks, readout);
}

std::string stack_charts(const std::vector<std::vector<std::string>>& rows) {
  const auto attribute = [](const std::string& svg, std::string_view name) {
    const std::size_t begin = svg.find(fmt::format(" {}='", name));
    return begin == std::string::npos ? 0.0 : std::strtod(svg.c_str() + begin + name.size() + 3, nullptr);
  };
  constexpr double gap = 20;
  std::string body;
  double width = 0, y = 0;
  for (const std::vector<std::string>& row : rows) {
    double x = 0, tallest = 0;
    for (const std::string& svg : row) {
      if (!svg.starts_with("<svg")) continue;
      body += fmt::format("<svg x='{:.0f}' y='{:.0f}'", x, y) + svg.substr(4);
      x += attribute(svg, "width") + gap;
      tallest = std::max(tallest, attribute(svg, "height"));
    }
    width = std::max(width, x - gap);
    y += tallest > 0 ? tallest + gap : 0;
  }
  width = std::max(width, 1.0), y = std::max(y - gap, 1.0);
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' "
      "height='{1:.0f}'>\n"
      "<rect width='{0:.0f}' height='{1:.0f}' fill='#ffffff'/>\n{2}</svg>\n",
      width, y, body);
}

}  // namespace apps
