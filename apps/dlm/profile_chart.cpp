// A season by its phase: whiskers where phases are few, a band where they are many.
#include <fmt/format.h>

#include "chart.hpp"
#include "frame.hpp"
#include "plot_data.hpp"

namespace apps {

std::string to_svg(const ProfileChart& chart) {
  using Mark = LegendItem::Mark;
  constexpr std::size_t most_whiskers = 31;
  const bool many = chart.position.size() > most_whiskers;
  const bool moves = any_finite(chart.earlier);
  Range x, y;
  x.include(chart.position);
  y.include(chart.mean), y.include(chart.band.lower), y.include(chart.band.upper), y.include(chart.earlier),
      y.include(chart.neutral);
  std::vector<LegendItem> legend = {{many ? Mark::line : Mark::dots, chart.mean_label, blue},
                                    {Mark::area, fmt::format("{:.3g} % band", 100 * chart.band.level), blue, 0.22}};
  if (moves) legend.push_back({Mark::line, chart.earlier_label, middle_grey});
  const Range across = x.empty() ? Range{0, 1} : Range{x.lo - (many ? 0 : 0.6), x.hi + (many ? 0 : 0.6)};
  const Frame frame(across, padded(y, 0.06),
                    {.title = chart.title,
                     .value_label = chart.value_label,
                     .time_label = chart.phase_label,
                     .legend = legend,
                     .width = chart.width,
                     .height = chart.height,
                     .whole_x = true,
                     .x_ticks = chart.ticks});
  if (!any_finite(chart.mean)) return frame.with(message(frame, "no season to show"));
  std::string marks = level_line(frame, chart.neutral, middle_grey, false);
  if (moves) marks += line(frame, chart.position, chart.earlier, middle_grey, 1.4);
  if (many) {
    marks += area(frame, chart.position, chart.band, blue, 0.22) + line(frame, chart.position, chart.mean, blue, 2.2);
  } else {
    std::string whiskers;
    for (std::size_t i = 0; i < chart.position.size(); ++i)
      if (std::isfinite(chart.band.lower[i]) && std::isfinite(chart.band.upper[i]))
        whiskers += fmt::format("M{:.1f},{:.1f}V{:.1f}", frame.x(chart.position[i]), frame.y(chart.band.lower[i]),
                                frame.y(chart.band.upper[i]));
    if (!whiskers.empty())
      marks += fmt::format("<path d='{}' fill='none' stroke='{}' stroke-opacity='0.35' stroke-width='7'/>\n", whiskers,
                           blue);
    marks += line(frame, chart.position, chart.mean, blue, 1) + dots(frame, chart.position, chart.mean, 3.4, blue, 1);
  }
  if (!chart.interactive) return frame.with(marks);
  Readout readout{chart.position, chart.labels, {{chart.mean_label, blue, chart.mean}}};
  add_bounds(readout, chart.band, blue);
  if (moves) readout.columns.push_back({chart.earlier_label, middle_grey, chart.earlier});
  return frame.with(marks, readout);
}

}  // namespace apps
