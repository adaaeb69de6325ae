// Each chart fixes its ranges, asks Frame for axes and legend, and draws its marks into the frame.
#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "frame.hpp"
#include "statistics.hpp"

namespace apps {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> times_or_index(const std::vector<double>& time, std::size_t count) {
  if (!time.empty()) return time;
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(i + 1);
  return out;
}

bool all_whole(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return v == std::floor(v) || std::isnan(v); });
}

std::vector<double> finite_sorted(const std::vector<double>& values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out),
               [](double v) { return std::isfinite(v); });
  std::sort(out.begin(), out.end());
  return out;
}

bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

constexpr std::size_t most_dots = 700;  // beyond that dots merge, and a line shows more

/// Half of a band's usual width.
double usual_reach(const Band& band) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < std::min(band.lower.size(), band.upper.size()); ++i)
    widths.push_back(band.upper[i] / 2 - band.lower[i] / 2);
  widths = finite_sorted(widths);
  return widths.empty() ? 0 : widths[widths.size() / 2];
}

struct Shown {
  Range range;
  bool band_cut = false, fan_cut = false;  ///< parts of it lie outside, which the legend says
};

/// `inner` with `outer`, unless that is more than `most` times its size: then with a margin of so many halves
/// of it, and something is cut.
bool widen(Range& inner, const Range& outer, double most, double margin) {
  if (outer.empty()) return false;
  const Range all{std::min(inner.lo, outer.lo), std::max(inner.hi, outer.hi)};
  const bool flat = !(inner.half() > 1e-12 * std::max(std::abs(inner.lo), std::abs(inner.hi)));
  if (flat || all.half() <= most * inner.half()) {
    inner = all;
    return false;
  }
  const double reach = margin * inner.half();
  const Range cut{std::max(all.lo, inner.lo - reach), std::min(all.hi, inner.hi + reach)};
  inner = cut;
  return cut.lo > all.lo || cut.hi < all.hi;
}

/// The values worth showing: all, unless bands explode (a diffuse start, a forecast of a logarithm) and would
/// press the data flat. A forecast's fan may be much wider than the data: it is what the picture is about.
Shown value_range(const TimeChart& chart, const std::vector<Band>& fan) {
  constexpr double widest_band = 8, widest_fan = 50;
  Range core, band, rays;
  core.include(chart.observed), core.include(chart.fitted), core.include(chart.forecast);
  band.include(chart.fitted_band.lower), band.include(chart.fitted_band.upper);
  for (const Band& b : fan) rays.include(b.lower), rays.include(b.upper);
  if (core.empty()) {
    for (const Range& r : {band, rays}) core.include(r.lo), core.include(r.hi);
    return {padded(core, 0.05)};
  }
  // A line that hardly moves is shown in its band, not under a magnifying glass.
  const double reach = usual_reach(chart.fitted_band);
  core = {core.lo - reach, core.hi + reach};
  Shown out;
  out.fan_cut = widen(core, rays, widest_fan, widest_fan / 2);
  out.band_cut = widen(core, band, widest_band, 2);
  out.range = padded(core, 0.05);
  return out;
}

std::string percent(double level) { return fmt::format("{:.3g} %", 100 * level); }

}  // namespace

std::string to_svg(const TimeChart& chart) {
  using Mark = LegendItem::Mark;
  std::vector<Band> fan = chart.fan;
  std::erase_if(fan, [](const Band& band) { return !any_finite(band.lower) || !any_finite(band.upper); });
  std::sort(fan.begin(), fan.end(), [](const Band& a, const Band& b) { return a.level > b.level; });
  const std::size_t count =
      std::max({chart.observed.size(), chart.fitted.size(), chart.fitted_band.lower.size()});
  const std::vector<double> time = times_or_index(chart.time, count);
  const bool has_observed = any_finite(chart.observed), has_fitted = any_finite(chart.fitted);
  const bool has_band = any_finite(chart.fitted_band.lower) && any_finite(chart.fitted_band.upper);
  const bool has_forecast = any_finite(chart.forecast) && any_finite(chart.forecast_time);
  const bool dotted = chart.observed.size() <= most_dots;
  const auto fan_opacity = [&](std::size_t i) {  // of band i and those around it, on top of each other
    return 0.18 + 0.5 * static_cast<double>(i) / static_cast<double>(fan.size());
  };

  const Shown values = value_range(chart, fan);
  const std::string beyond = " (goes on outside)";
  std::vector<LegendItem> legend;
  if (has_observed) legend.push_back({dotted ? Mark::dots : Mark::line, chart.observed_label, dark});
  if (has_fitted) legend.push_back({Mark::line, chart.fitted_label, blue});
  if (has_band)
    legend.push_back({Mark::area,
                      percent(chart.fitted_band.level) + " band" + (values.band_cut ? beyond : ""), blue,
                      0.22});
  if (has_forecast) legend.push_back({Mark::line, chart.forecast_label, vermilion});
  for (std::size_t i = fan.size(); i-- > 0;)
    legend.push_back({Mark::area, percent(fan[i].level) + (values.fan_cut && i == 0 ? beyond : ""), vermilion,
                      fan_opacity(i)});

  Range x;
  for (std::size_t i = 0; i < std::min(count, time.size()); ++i) x.include(time[i]);
  Range before = x;
  x.include(chart.forecast_time);
  const Frame frame(padded(x, 0.015, 1), values.range,
                    {.title = chart.title,
                     .value_label = chart.value_label,
                     .time_label = chart.time_label,
                     .legend = legend,
                     .unit = chart.unit,
                     .width = chart.width,
                     .height = chart.height,
                     .whole_x = all_whole(time) && all_whole(chart.forecast_time)});
  std::string marks;
  if (has_band) marks += area(frame, time, chart.fitted_band, blue, 0.22);
  double beneath = 0;
  for (std::size_t i = 0; i < fan.size(); ++i) {  // layers that add up to the opacities of the legend
    marks += area(frame, chart.forecast_time, fan[i], vermilion, (fan_opacity(i) - beneath) / (1 - beneath));
    beneath = fan_opacity(i);
  }
  if (has_forecast && !before.empty()) {
    const double now = frame.x(before.hi);
    marks += fmt::format(
        "<line x1='{0:.1f}' x2='{0:.1f}' y1='0' y2='{1:.1f}' stroke='{2}' stroke-dasharray='3 4'/>\n", now,
        frame.height(), grey);
    const bool room = frame.width() - now > 34;
    marks += fmt::format("<text x='{:.1f}' y='12' font-size='11.5' fill='{}' text-anchor='{}'>now</text>\n",
                         room ? now + 5 : now - 5, grey, room ? "start" : "end");
  }
  if (has_observed && dotted) {
    marks += line(frame, time, chart.observed, light_grey, 1);
    marks += dots(frame, time, chart.observed, chart.observed.size() <= 200 ? 2.8 : 2, dark, 0.85);
  } else if (has_observed) {
    marks += line(frame, time, chart.observed, middle_grey, 1);
  }
  if (has_fitted) marks += line(frame, time, chart.fitted, blue, 2.2);
  if (has_forecast) {
    std::vector<double> line_time = chart.forecast_time, values = chart.forecast;
    for (std::size_t i = std::min(time.size(), chart.fitted.size());
         i-- > 0;)  // joined to the fitted line's end
      if (std::isfinite(time[i]) && std::isfinite(chart.fitted[i])) {
        line_time.insert(line_time.begin(), time[i]);
        values.insert(values.begin(), chart.fitted[i]);
        break;
      }
    marks += line(frame, line_time, values, vermilion, 2.2);
  }
  if (!has_observed && !has_fitted && !has_forecast) marks += message(frame, "no data to show");
  return frame.with(marks);
}

std::string to_svg(const ResidualChart& chart) {
  constexpr double bound = 1.96;
  const std::vector<double> time = times_or_index(chart.time, chart.residuals.size());
  Range x, y;
  for (std::size_t i = 0; i < std::min(time.size(), chart.residuals.size()); ++i) x.include(time[i]);
  y.include(chart.residuals);
  const double reach = std::max({2.4, y.empty() ? 0 : y.hi, y.empty() ? 0 : -y.lo});
  const Frame frame(padded(x, 0.015, 1), padded({-reach, reach}, 0.06),
                    {.title = chart.title,
                     .value_label = chart.value_label,
                     .time_label = chart.time_label,
                     .unit = chart.unit,
                     .width = chart.width,
                     .height = chart.height,
                     .whole_x = all_whole(time)});
  std::string marks =
      fmt::format("<rect x='0' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.08'/>\n",
                  frame.y(bound), frame.width(), frame.y(-bound) - frame.y(bound), blue);
  marks += level_line(frame, 0, middle_grey, false);
  marks += level_line(frame, bound, blue, true) + level_line(frame, -bound, blue, true);
  if (!any_finite(chart.residuals)) {
    marks += message(frame, "no residuals to show");
  } else if (chart.residuals.size() > most_dots) {
    marks += line(frame, time, chart.residuals, grey, 1);
  } else {
    std::string stems;
    std::vector<double> inside(chart.residuals.size(), nothing), outside = inside;
    for (std::size_t i = 0; i < std::min(time.size(), chart.residuals.size()); ++i) {
      if (!std::isfinite(time[i]) || !std::isfinite(chart.residuals[i])) continue;
      stems +=
          fmt::format("M{:.1f},{:.1f}V{:.1f}", frame.x(time[i]), frame.y(0), frame.y(chart.residuals[i]));
      (std::abs(chart.residuals[i]) > bound ? outside : inside)[i] = chart.residuals[i];
    }
    if (!stems.empty()) marks += fmt::format("<path d='{}' fill='none' stroke='#b9bec6'/>\n", stems);
    marks += dots(frame, time, inside, 2.6, dark, 0.9) + dots(frame, time, outside, 3, vermilion, 1);
  }
  return frame.with(marks);
}

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
    marks +=
        fmt::format("<rect x='0' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.1'/>\n",
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
                         frame.x(static_cast<double>(lag)) - bar / 2, std::min(zero, end), bar,
                         std::abs(end - zero), std::abs(value) > bound ? vermilion : dark);
  }
  if (!any) marks += message(frame, "no autocorrelation to show");
  return frame.with(marks);
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
  return frame.with(marks + dots(frame, theory, sample, 2.6, dark, 0.85));
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
  const double unit =
      std::clamp(2 * x.half(), 1e-280, 1e280);  // density per unit of the data, for the labels
  for (double& value : density) value /= unit;
  for (double& value : curve_y) value /= unit;
  const Frame frame(x, {0, 1.06 * highest / unit}, options);
  std::string marks;
  const double bar = frame.width() / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i)
    if (density[i] > 0)
      marks += fmt::format(
          "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='#9aa1ab' stroke='#ffffff'/>\n",
          bar * static_cast<double>(i), frame.y(density[i]), bar, frame.y(0) - frame.y(density[i]));
  return frame.with(marks + line(frame, curve_x, curve_y, blue, 2));
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
