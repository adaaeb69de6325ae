// A series over time: observations, bands, forecast, and what was flagged in it; and its residuals.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart.hpp"
#include "frame.hpp"
#include "plot_data.hpp"

namespace apps {
namespace {

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
  core.include(chart.reference);
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

/// Something at the rows of `time`, or at the times after it, in a column of both.
std::vector<double> in_rows(std::size_t before, std::vector<double> values, std::size_t rows) {
  values.insert(values.begin(), before, nothing);
  values.resize(rows, nothing);
  return values;
}

std::vector<double> at_rows(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<double> out;
  for (const std::size_t row : rows) out.push_back(values.at(row));
  return out;
}

/// What a reader is told at each time; a forecast of times that were observed stands beside the observation.
Readout readout_of(const TimeChart& chart, const std::vector<double>& time, const std::vector<Band>& fan) {
  Readout out{.x = time, .labels = chart.labels, .zoom = true};
  std::size_t before = time.size();
  if (const auto first =
          std::find(time.begin(), time.end(), chart.forecast_time.empty() ? nothing : chart.forecast_time[0]);
      first != time.end())
    before = static_cast<std::size_t>(first - time.begin());
  out.x.resize(before);
  const std::size_t rows = std::max(time.size(), before + chart.forecast_time.size());
  out.x.insert(out.x.end(), chart.forecast_time.begin(), chart.forecast_time.end());
  const auto add = [&](const std::string& name, const char* color, std::size_t from,
                       const std::vector<double>& values) {
    if (any_finite(values)) out.columns.push_back({name, color, in_rows(from, values, rows)});
  };
  const auto add_band = [&](const Band& band, const char* color, std::size_t from) {
    if (any_finite(band.lower))
      add_bounds(out, {band.level, in_rows(from, band.lower, rows), in_rows(from, band.upper, rows)}, color);
  };
  add(chart.observed_label, dark, 0, chart.observed);
  add(chart.fitted_label, blue, 0, chart.fitted);
  add_band(chart.fitted_band, blue, 0);
  add(chart.forecast_label, vermilion, before, chart.forecast);
  if (!fan.empty()) add_band(fan[0], vermilion, before);
  add(chart.reference_label, middle_grey, before, chart.reference);
  return out;
}

/// Values and jumps that were not expected, and events that were.
std::string flags_of(const TimeChart& chart, const Frame& frame, const std::vector<double>& time) {
  std::string out = time_lines(frame, at_rows(time, chart.level_shifts), purple);
  for (const std::size_t row : chart.outliers)
    if (std::isfinite(chart.observed.at(row)))
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='6.5' fill='none' stroke='{}' stroke-width='1.8'/>\n",
                         frame.x(time[row]), frame.y(chart.observed[row]), vermilion);
  for (std::size_t k = 0; k < chart.events.size(); ++k) {
    std::string path;
    for (const double t : chart.events[k].time)
      path += fmt::format("M{:.1f},{:.1f}v-9", frame.x(t), frame.height() - 11 * static_cast<double>(k));
    out += fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='2'/>\n", path, green);
  }
  return out;
}

}  // namespace

std::string to_svg(const TimeChart& chart) {
  using Mark = LegendItem::Mark;
  std::vector<Band> fan = chart.fan;
  std::erase_if(fan, [](const Band& band) { return !any_finite(band.lower) || !any_finite(band.upper); });
  std::sort(fan.begin(), fan.end(), [](const Band& a, const Band& b) { return a.level > b.level; });
  const std::size_t count = std::max({chart.observed.size(), chart.fitted.size(), chart.fitted_band.lower.size()});
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
    legend.push_back(
        {Mark::area, percent(chart.fitted_band.level) + " band" + (values.band_cut ? beyond : ""), blue, 0.22});
  if (has_forecast) legend.push_back({Mark::line, chart.forecast_label, vermilion});
  for (std::size_t i = fan.size(); i-- > 0;)
    legend.push_back(
        {Mark::area, percent(fan[i].level) + (values.fan_cut && i == 0 ? beyond : ""), vermilion, fan_opacity(i)});

  if (any_finite(chart.reference)) legend.push_back({Mark::line, chart.reference_label, middle_grey});
  if (!chart.outliers.empty()) legend.push_back({Mark::ring, "outlier", vermilion});
  if (!chart.level_shifts.empty()) legend.push_back({Mark::tick, "level shift", purple});
  for (const Events& events : chart.events) legend.push_back({Mark::tick, events.name, green});

  Range x;
  for (std::size_t i = 0; i < std::min(count, time.size()); ++i) x.include(time[i]);
  Range before = x;
  if (std::isfinite(chart.known_until)) before.hi = chart.known_until;
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
    marks += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='0' y2='{1:.1f}' stroke='{2}' stroke-dasharray='3 4'/>\n",
                         now, frame.height(), grey);
    const bool room = frame.width() - now > 34;
    marks += fmt::format("<text x='{:.1f}' y='12' font-size='11.5' fill='{}' text-anchor='{}'>{}</text>\n",
                         room ? now + 5 : now - 5, grey, room ? "start" : "end", chart.known_label);
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
    for (std::size_t i = std::min(time.size(), chart.fitted.size()); i-- > 0;)  // joined to the fitted line's end
      if (std::isfinite(time[i]) && std::isfinite(chart.fitted[i])) {
        line_time.insert(line_time.begin(), time[i]);
        values.insert(values.begin(), chart.fitted[i]);
        break;
      }
    marks += line(frame, line_time, values, vermilion, 2.2);
    marks += line(frame, chart.forecast_time, chart.reference, middle_grey, 1.6);
  }
  marks += flags_of(chart, frame, time);
  if (!has_observed && !has_fitted && !has_forecast) marks += message(frame, "no data to show");
  return chart.interactive ? frame.with(marks, readout_of(chart, time, fan)) : frame.with(marks);
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
      stems += fmt::format("M{:.1f},{:.1f}V{:.1f}", frame.x(time[i]), frame.y(0), frame.y(chart.residuals[i]));
      (std::abs(chart.residuals[i]) > bound ? outside : inside)[i] = chart.residuals[i];
    }
    if (!stems.empty()) marks += fmt::format("<path d='{}' fill='none' stroke='#b9bec6'/>\n", stems);
    marks += dots(frame, time, inside, 2.6, dark, 0.9) + dots(frame, time, outside, 3, vermilion, 1);
  }
  if (!chart.interactive) return frame.with(marks);
  return frame.with(
      marks, {.x = time, .labels = chart.labels, .columns = {{"residual", dark, chart.residuals}}, .zoom = true});
}

}  // namespace apps
