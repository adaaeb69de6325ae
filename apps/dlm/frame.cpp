// The frame gives labels the room they need before it draws; marks are thinned to what a screen can show.
#include "frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "text.hpp"

namespace apps {
namespace {

constexpr double label_size = 12.5, title_size = 15;

/// Calls draw(first, last) for each run of indices at which present(i) holds.
template <class Present, class Draw>
void for_each_run(std::size_t count, Present present, Draw draw) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!present(i)) continue;
    std::size_t end = i + 1;
    while (end < count && present(end)) ++end;
    draw(i, end);
    i = end;
  }
}

}  // namespace

Frame::Frame(Range x, Range y, const FrameOptions& options) : x_(x), y_(y) {
  const double width = std::isfinite(options.width) ? std::clamp(options.width, 200.0, 4000.0) : 860;
  const double height = std::isfinite(options.height) ? std::clamp(options.height, 140.0, 4000.0) : 380;
  const std::string& title = options.title;
  const std::string legend_svg = place_legend(options.legend, title.empty() ? 10 : 34, width);
  top_ = legend_bottom_ + 14;
  Ticks y_ticks = number_ticks(y, 5);
  std::string top_label = options.value_label;
  if (!y_ticks.note.empty()) top_label += (top_label.empty() ? "" : "  ") + y_ticks.note;
  if (!top_label.empty()) top_ += 19;

  double label_room = 0;
  for (const Tick& tick : y_ticks.ticks) label_room = std::max(label_room, text_width(tick.label, tick_size));
  left_ = std::max(48.0, label_room + 18);
  plot_width_ = std::max(40.0, width - left_ - 26);
  Ticks x_ticks{options.x_ticks, ""};
  if (x_ticks.ticks.empty()) x_ticks = time_ticks(x, options.unit, plot_width_, options.whole_x);
  const bool contexts =
      std::any_of(x_ticks.ticks.begin(), x_ticks.ticks.end(), [](const Tick& tick) { return !tick.context.empty(); });
  std::string bottom_label = options.time_label;
  if (!x_ticks.note.empty()) bottom_label += (bottom_label.empty() ? "" : "  ") + x_ticks.note;
  const double bottom = 26 + (contexts ? 15 : 0) + (bottom_label.empty() ? 4 : 20);
  plot_height_ = std::max(30.0, height - top_ - bottom);
  const std::optional<Ticks> sparser =
      plot_height_ < 5 * 26 ? std::optional(number_ticks(y, std::max(1.5, plot_height_ / 34))) : std::nullopt;

  head_ = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' "
      "height='{1:.0f}' "
      "role='img' aria-label='{2}' font-family='system-ui, -apple-system, Segoe UI, Roboto, Helvetica, "
      "Arial, "
      "sans-serif'>\n<rect width='{0:.0f}' height='{1:.0f}' fill='#ffffff'/>\n",
      width, height, xml_escape(title.empty() ? "chart" : title));
  if (!title.empty())
    head_ += fmt::format("<text x='12' y='22' font-size='{}' font-weight='600' fill='{}'>{}</text>\n", title_size, ink,
                         xml_escape(title));
  head_ += legend_svg;
  if (!top_label.empty())
    head_ += fmt::format("<text x='12' y='{:.1f}' font-size='{}' fill='{}'>{}</text>\n", top_ - 13, label_size, grey,
                         xml_escape(top_label));
  draw_axes(x_ticks.ticks, sparser ? sparser->ticks : y_ticks.ticks, width);
  if (!bottom_label.empty())
    head_ += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{}' fill='{}' text-anchor='middle'>{}</text>\n",
                         left_ + plot_width_ / 2, height - 8, label_size, grey, xml_escape(bottom_label));
}

std::string Frame::with(std::string_view marks, const Readout& readout) const {
  std::string said;
  if (!readout.x.empty())
    said = fmt::format(
        "<metadata>{{\"plot\":[{:.1f},{:.1f},{:.1f},{:.1f}],\"x\":[{:.12g},{:.12g}],\"y\":[{:.12g},{:.12g}],"
        "\n{}}}</metadata>\n",
        left_, top_, plot_width_, plot_height_, x_.lo, x_.hi, y_.lo, y_.hi, readout_json(readout));
  // A nested svg clips the marks without an id, which would have to be unique in a page of several charts.
  return fmt::format(
      "{0}{8}<svg x='{1:.1f}' y='{2:.1f}' width='{3:.1f}' height='{4:.1f}' overflow='hidden'>\n{5}</svg>\n"
      "<line x1='{1:.1f}' x2='{6:.1f}' y1='{7:.1f}' y2='{7:.1f}' stroke='#8a919b'/>\n</svg>\n",
      head_, left_, top_, plot_width_, plot_height_, marks, left_ + plot_width_, top_ + plot_height_, said);
}

std::string Frame::place_legend(const std::vector<LegendItem>& legend, double y, double width) {
  std::string out;
  double x = 12;
  legend_bottom_ = legend.empty() ? y - 8 : y + 14;
  for (const LegendItem& item : legend) {
    const double item_width = 28 + text_width(item.label, label_size) + 18;
    if (x > 12 && x + item_width > width) x = 12, y += 20, legend_bottom_ += 20;
    const double middle = y + 8;
    if (item.mark == LegendItem::Mark::dots)
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", x + 11, middle, item.color);
    else if (item.mark == LegendItem::Mark::ring)
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='5' fill='none' stroke='{}' stroke-width='1.8'/>", x + 11,
                         middle, item.color);
    else if (item.mark == LegendItem::Mark::tick)
      out += fmt::format("<path d='M{:.1f},{:.1f}v12' stroke='{}' stroke-width='2'/>", x + 11, middle - 6, item.color);
    else if (item.mark == LegendItem::Mark::line)
      out +=
          fmt::format("<rect x='{:.1f}' y='{:.1f}' width='22' height='2.5' fill='{}'/>", x, middle - 1.2, item.color);
    else
      out += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='22' height='12' fill='{}' fill-opacity='{:.2f}'/>", x,
                         middle - 6, item.color, item.opacity);
    out += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{}' fill='{}'>{}</text>\n", x + 28, middle + 4.3,
                       label_size, ink, xml_escape(item.label));
    x += item_width;
  }
  return out;
}

void Frame::draw_axes(const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks, double width) {
  head_ += fmt::format("<g class='axis' stroke='{}'>\n", faint);
  for (const Tick& tick : y_ticks)
    head_ += fmt::format("<line x1='{0:.1f}' x2='{1:.1f}' y1='{2:.1f}' y2='{2:.1f}'/>\n", left_, left_ + plot_width_,
                         top_ + y(tick.position));
  head_ += "</g>\n<g class='axis' stroke='#8a919b'>\n";
  for (const Tick& tick : x_ticks)
    head_ += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>\n", left_ + x(tick.position),
                         top_ + plot_height_, top_ + plot_height_ + 5);
  head_ += fmt::format("</g>\n<g class='axis' font-size='{}' fill='{}'>\n", tick_size, grey);
  for (const Tick& tick : y_ticks)
    head_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>\n", left_ - 8,
                         top_ + y(tick.position) + 4, tick.label);
  for (const Tick& tick : x_ticks) {
    const double base = top_ + plot_height_ + 19;
    for (const auto& [text, dy] : {std::pair(&tick.label, 0.0), std::pair(&tick.context, 15.0)}) {
      if (text->empty()) continue;
      const double half = text_width(*text, tick_size) / 2;
      head_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n",
                           std::clamp(left_ + x(tick.position), half + 2, std::max(half + 2, width - half - 2)),
                           base + dy, *text);
    }
  }
  head_ += "</g>\n";
}

std::string line(const Frame& frame, const std::vector<double>& time, const std::vector<double>& values,
                 const char* color, double stroke) {
  std::string path;
  const std::size_t count = std::min(time.size(), values.size());
  const bool dense = static_cast<double>(count) > 4 * frame.width();
  const auto present = [&](std::size_t i) { return std::isfinite(time[i]) && std::isfinite(values[i]); };
  for_each_run(count, present, [&](std::size_t first, std::size_t last) {
    char command = 'M';
    const auto add = [&](double x, double y) {
      path += fmt::format("{}{:.1f},{:.1f}", command, x, y);
      command = 'L';
    };
    for (std::size_t i = first; i < last;) {
      const double x = frame.x(time[i]);
      const double y = frame.y(values[i]);
      std::size_t next = i + 1;
      double low = y, high = y, end = y;
      for (; dense && next < last && std::floor(frame.x(time[next])) == std::floor(x); ++next) {
        end = frame.y(values[next]);
        low = std::min(low, end), high = std::max(high, end);
      }
      add(x, y);
      if (next > i + 1) add(x, low), add(x, high), add(x, end);
      i = next;
    }
    if (last == first + 1) path += "h0";
  });
  if (path.empty()) return "";
  return fmt::format(
      "<path d='{}' fill='none' stroke='{}' stroke-width='{}' stroke-linecap='round' "
      "stroke-linejoin='round'/>\n",
      path, color, stroke);
}

std::string area(const Frame& frame, const std::vector<double>& time, const Band& band, const char* color,
                 double opacity) {
  std::string path;
  const std::size_t count = std::min({time.size(), band.lower.size(), band.upper.size()});
  const bool dense = static_cast<double>(count) > 4 * frame.width();
  const auto present = [&](std::size_t i) {
    return std::isfinite(time[i]) && std::isfinite(band.lower[i]) && std::isfinite(band.upper[i]);
  };
  for_each_run(count, present, [&](std::size_t first, std::size_t last) {
    std::vector<std::array<double, 3>> corners;
    for (std::size_t i = first; i < last;) {
      const double x = frame.x(time[i]);
      double low = frame.y(band.lower[i]), high = frame.y(band.upper[i]);
      std::size_t next = i + 1;
      for (; dense && next < last && std::floor(frame.x(time[next])) == std::floor(x); ++next)
        low = std::max(low, frame.y(band.lower[next])), high = std::min(high, frame.y(band.upper[next]));
      corners.push_back({x, low, high});
      i = next;
    }
    if (corners.size() == 1) {  // one step alone: a bar that can be seen
      const auto [x, low, high] = corners[0];
      corners = {{x - 3, low, high}, {x + 3, low, high}};
    }
    char command = 'M';
    const auto add = [&](double x, double y) {
      path += fmt::format("{}{:.1f},{:.1f}", command, x, y);
      command = 'L';
    };
    for (const auto& [x, low, high] : corners) add(x, high);
    for (auto corner = corners.rbegin(); corner != corners.rend(); ++corner) add((*corner)[0], (*corner)[1]);
    path += 'Z';
  });
  if (path.empty()) return "";
  return fmt::format("<path d='{}' fill='{}' fill-opacity='{:.2f}'/>\n", path, color, opacity);
}

std::string dots(const Frame& frame, const std::vector<double>& x, const std::vector<double>& y, double radius,
                 const char* color, double opacity) {
  std::string out = fmt::format("<g fill='{}' fill-opacity='{:.2f}'>\n", color, opacity);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (std::isfinite(x[i]) && std::isfinite(y[i]))
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}'/>\n", frame.x(x[i]), frame.y(y[i]), radius);
  return out + "</g>\n";
}

std::string time_lines(const Frame& frame, const std::vector<double>& time, const char* color) {
  std::string path;
  for (const double t : time) path += fmt::format("M{:.1f},0V{:.1f}", frame.x(t), frame.height());
  if (path.empty()) return "";
  return fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='1.6' stroke-dasharray='6 3'/>\n", path, color);
}

void add_bounds(Readout& readout, const Band& band, const char* color) {
  readout.columns.push_back({fmt::format("{:.3g} % from", 100 * band.level), color, band.lower});
  readout.columns.push_back({"to", color, band.upper});
}

std::string level_line(const Frame& frame, double value, const char* color, bool dashed) {
  return fmt::format("<line x1='0' x2='{0:.1f}' y1='{2:.1f}' y2='{2:.1f}' stroke='{1}'{3}/>\n", frame.width(), color,
                     frame.y(value), dashed ? " stroke-dasharray='5 4'" : "");
}

std::string message(const Frame& frame, std::string_view text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='13' fill='{}' text-anchor='middle'>{}</text>\n",
                     frame.width() / 2, frame.height() / 2, grey, text);
}

}  // namespace apps
