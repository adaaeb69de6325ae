// A small line-and-point plot as SVG: axes with round ticks, a legend, one or more panels side by side.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace apps {

struct Series {
  std::string label, color;
  std::vector<double> x, y;
  bool points = false;
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;
  bool legend_above = false;  ///< top right, where curves fall
};

namespace detail {

/// About `count` round numbers between lo and hi.
inline std::vector<double> ticks(double lo, double hi, int count = 6) {
  const double raw = (hi - lo) / count, power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  std::vector<double> out;
  for (double t = std::ceil(lo / step) * step; t <= hi + 1e-9 * step; t += step)
    out.push_back(std::abs(t) < 1e-12 * step ? 0 : t);
  return out;
}

inline std::string draw(const Panel& panel, double left, double top, double width, double height) {
  const auto value = [&](double y) { return panel.log_y ? std::log10(std::max(y, 1e-300)) : y; };
  double x0 = 1e300, x1 = -1e300, y0 = 1e300, y1 = -1e300;
  for (const Series& s : panel.series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!std::isfinite(s.y[i])) continue;
      x0 = std::min(x0, s.x[i]), x1 = std::max(x1, s.x[i]);
      y0 = std::min(y0, value(s.y[i])), y1 = std::max(y1, value(s.y[i]));
    }
  if (x0 >= x1) x0 -= 1, x1 += 1;
  if (y0 >= y1) y0 -= 1, y1 += 1;
  const double margin = 0.05 * (y1 - y0);
  y0 -= margin, y1 += margin;
  const auto px = [&](double x) { return left + (x - x0) / (x1 - x0) * width; };
  const auto py = [&](double y) { return top + height - (value(y) - y0) / (y1 - y0) * height; };

  std::string svg =
      fmt::format("<text x='{}' y='{}' class='title'>{}</text>\n", left + width / 2, top - 14, panel.title);
  for (double t : ticks(x0, x1))
    svg += fmt::format(
        "<line x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}' class='grid'/><text x='{0:.1f}' y='{3}' "
        "class='tick' "
        "text-anchor='middle'>{4:g}</text>\n",
        px(t), top, top + height, top + height + 18, t);
  for (double t : ticks(y0, y1)) {
    if (panel.log_y && t != std::floor(t)) continue;
    const double y = top + height - (t - y0) / (y1 - y0) * height;
    svg += fmt::format(
        "<line x1='{1}' x2='{2}' y1='{0:.1f}' y2='{0:.1f}' class='grid'/><text x='{3}' y='{4:.1f}' "
        "class='tick' "
        "text-anchor='end'>{5}</text>\n",
        y, left, left + width, left - 6, y + 4, panel.log_y ? fmt::format("1e{:g}", t) : fmt::format("{:g}", t));
  }
  svg += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' class='frame'/>\n", left, top, width, height);
  svg +=
      fmt::format("<text x='{}' y='{}' class='label'>{}</text>\n", left + width / 2, top + height + 38, panel.x_label);
  svg += fmt::format("<text x='{0}' y='{1}' class='label' transform='rotate(-90 {0} {1})'>{2}</text>\n", left - 48,
                     top + height / 2, panel.y_label);
  // Bottom left, where curves that rise leave room, or top right.
  double legend = panel.legend_above ? top + 20 : top + height - 18.0 * static_cast<double>(panel.series.size()) + 6;
  const double legend_left = panel.legend_above ? left + width - 130 : left + 12;
  for (const Series& s : panel.series) {
    if (s.points) {
      for (std::size_t i = 0; i < s.x.size(); ++i)
        if (std::isfinite(s.y[i]))
          svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5' fill='{}' fill-opacity='.55'/>\n", px(s.x[i]),
                             py(s.y[i]), s.color);
    } else {
      std::string points;
      for (std::size_t i = 0; i < s.x.size(); ++i)
        if (std::isfinite(s.y[i])) points += fmt::format("{:.1f},{:.1f} ", px(s.x[i]), py(s.y[i]));
      svg += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n", points, s.color);
    }
    if (panel.series.size() > 1) {
      svg += fmt::format(
          "<rect x='{}' y='{}' width='14' height='4' fill='{}'/><text x='{}' y='{}' class='tick'>{}</text>\n",
          legend_left, legend - 6, s.color, legend_left + 20, legend, s.label);
      legend += 18;
    }
  }
  return svg;
}

}  // namespace detail

inline std::string svg_plot(const std::vector<Panel>& panels) {
  constexpr double width = 420, height = 300, left = 70, top = 50, gap = 90, bottom = 60;
  const double total = left + static_cast<double>(panels.size()) * (width + gap) - gap + 30;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif'>\n"
      "<style>.title{{font-size:15px;font-weight:600;text-anchor:middle}}.label{{font-size:12px;text-anchor:"
      "middle;fill:#444}}"
      ".tick{{font-size:11px;fill:#555}}.grid{{stroke:#e6e6e6}}.frame{{fill:none;stroke:#888}}</style>\n"
      "<rect width='100%' height='100%' fill='white'/>\n",
      total, top + height + bottom);
  for (std::size_t i = 0; i < panels.size(); ++i)
    svg += detail::draw(panels[i], left + static_cast<double>(i) * (width + gap), top, width, height);
  return svg + "</svg>\n";
}

}  // namespace apps
