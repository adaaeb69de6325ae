// Each chart fixes its ranges, asks Frame for axes and legend, and draws its marks into the frame.
#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <optional>

namespace apps {
namespace {

// Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
constexpr const char* blue = "#0072B2";
constexpr const char* vermilion = "#D55E00";
constexpr const char* ink = "#222222";
constexpr const char* grey = "#5f6670";
constexpr const char* faint = "#e4e7eb";

constexpr double tick_size = 12, label_size = 12.5, title_size = 15;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Letters, not bytes; wide enough for the fonts that browsers fall back to.
double text_width(std::string_view text, double size) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.6 * size * static_cast<double>(letters);
}

std::string typographic(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

// ---- ranges

struct Range {
  double lo = std::numeric_limits<double>::infinity(), hi = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (std::isfinite(value)) lo = std::min(lo, value), hi = std::max(hi, value);
  }
  void include(const std::vector<double>& values) {
    for (const double value : values) include(value);
  }
  bool empty() const { return lo > hi; }
  double half() const { return hi / 2 - lo / 2; }  // the whole may not fit a double
  /// 0 at lo, 1 at hi.
  double fraction(double value) const { return (value / 2 - lo / 2) / half(); }
};

/// Room around the data, and a sensible range where there is no data or only one value.
Range padded(Range range, double share, double lonely_margin = 0) {
  if (range.empty()) return {0, 1};
  constexpr double largest = std::numeric_limits<double>::max();
  const double magnitude = std::max(std::abs(range.lo), std::abs(range.hi));
  double margin = 2 * share * range.half();
  if (range.half() <= 1e-13 * magnitude && lonely_margin > 0)
    margin = lonely_margin;
  else if (magnitude < 1e-304)
    margin = 1;
  else if (range.half() <= 1e-13 * magnitude)
    margin = 0.05 * magnitude;
  return {std::max(range.lo - margin, -largest), std::min(range.hi + margin, largest)};
}

// ---- ticks

struct Tick {
  double position;
  std::string label, context;  ///< context: a second line, such as the year below a month
};

struct Ticks {
  std::vector<Tick> ticks;
  std::string note;  ///< what labels leave out: "×10⁶", "+ 1000000"
};

/// 12345.6 as 12 345.6, with thin spaces.
std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  if (end - begin > 4)
    for (std::size_t i = end - 3; i > begin && i<end; i = i> 3 ? i - 3 : 0) text.insert(i, "\u2009");
  return typographic(text);
}

/// About `count` round numbers, spaced by 1, 2 or 5 times a power of ten.
Ticks number_ticks(Range range, double count, bool whole = false) {
  const double raw = range.half() / count * 2, power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.2 ? 2 : raw / power < 7 ? 5 : 10);
  if (whole) step = std::max(step, 1.0);
  const double first = std::ceil(range.lo / step - 1e-9), last = std::floor(range.hi / step + 1e-9);
  const double largest = std::max(std::abs(first), std::abs(last)) * step;

  Ticks out;
  int exponent = 0;
  if (largest >= 1e6 || (largest > 0 && largest < 1e-2))
    exponent = 3 * static_cast<int>(std::floor(std::log10(largest) / 3));
  const double base = largest / step > 1e6 ? std::floor(first / 1000) * 1000 : 0;
  if (base != 0) exponent = 0;
  const double unit = std::pow(10.0, exponent);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)), 0, 12);
  for (double i = first; i <= last && out.ticks.size() < 50; ++i)
    out.ticks.push_back({i * step, grouped(i == base ? 0 : (i - base) * (step / unit), decimals), ""});
  if (exponent != 0) out.note = "×10" + superscript(exponent);
  if (base != 0) {
    const std::string amount = fmt::format("{:.15g}", std::abs(base * step));
    out.note = (base < 0 ? "− " : "+ ") + amount;
    if (step / unit < 1e-6)  // fixed-point labels would all read 0.000000
      for (std::size_t i = 0; i < out.ticks.size(); ++i)
        out.ticks[i].label = typographic(fmt::format("{:g}", (first + static_cast<double>(i) - base) * step));
  }
  return out;
}

constexpr const char* month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  return value - ((value % step) + step) % step;
}

/// A calendar as the axis counts it. Ticks come in three families: whole months (so years too), whole days,
/// whole seconds.
class Calendar {
 public:
  explicit Calendar(TimeUnit unit) : unit_(unit) {}

  enum class Family { seconds, days, months };
  struct Step {
    Family family;
    std::int64_t size;
  };

  /// Whether std::chrono can tell the date at every position of the range.
  bool covers(Range range) const {
    const double per_year = unit_ == TimeUnit::year      ? 1
                            : unit_ == TimeUnit::quarter ? 4
                            : unit_ == TimeUnit::month   ? 12
                            : unit_ == TimeUnit::day     ? 366
                                                         : 366 * 86400.0;
    return std::max(std::abs(range.lo), std::abs(range.hi)) < 20000 * per_year;
  }
  /// Fine to coarse, none finer than the unit.
  std::vector<Step> steps() const {
    std::vector<Step> out;
    const auto add = [&](Family family, std::int64_t scale, std::initializer_list<std::int64_t> sizes) {
      for (const std::int64_t size : sizes) out.push_back({family, scale * size});
    };
    if (unit_ == TimeUnit::second) {
      for (const std::int64_t scale : {1, 60}) add(Family::seconds, scale, {1, 5, 15, 30});
      add(Family::seconds, 3600, {1, 3, 6, 12});
    }
    if (unit_ == TimeUnit::second || unit_ == TimeUnit::day) add(Family::days, 1, {1, 2, 7, 14});
    if (unit_ == TimeUnit::quarter) add(Family::months, 1, {3, 6});
    if (unit_ != TimeUnit::year && unit_ != TimeUnit::quarter) add(Family::months, 1, {1, 3, 6});
    for (const std::int64_t scale : {1, 10, 100, 1000}) add(Family::months, 12 * scale, {1, 2, 5});
    return out;
  }
  /// The step's ticks in the range; none when there would be too many to read.
  std::vector<Tick> ticks(Range range, Step step) const {
    constexpr std::int64_t most = 16;
    const std::int64_t first = count(range.lo, step.family), last = count(range.hi, step.family);
    std::vector<Tick> out;
    if ((last - first) / step.size > most) return out;
    std::string context;
    const std::int64_t phase =
        step.family == Family::days && step.size % 7 == 0 ? 4 : 0;  // weeks begin on Monday
    for (std::int64_t i = floor_to(first - phase, step.size) + phase; i <= last + 1; i += step.size) {
      Tick tick = tick_at(i, step);
      if (tick.position < range.lo || tick.position > range.hi) continue;
      if (tick.context == context)
        tick.context.clear();
      else
        context = tick.context;
      out.push_back(std::move(tick));
    }
    return out;
  }

 private:
  using Days = std::chrono::sys_days;

  static Days day(double days) {
    return Days(std::chrono::days(static_cast<std::int64_t>(std::floor(days))));
  }
  static std::chrono::year_month month(std::int64_t months) {
    const std::int64_t year = floor_to(months, 12) / 12;
    return std::chrono::year(static_cast<int>(year)) / static_cast<int>(months - 12 * year + 1);
  }
  double days_at(double position) const { return unit_ == TimeUnit::second ? position / 86400 : position; }
  /// Whole months (from year 0), days or seconds (from 1970) up to the position.
  std::int64_t count(double position, Family family) const {
    double whole = position;
    if (family == Family::days) whole = days_at(position);
    if (family == Family::months) {
      if (unit_ == TimeUnit::year) whole = 12 * position;
      if (unit_ == TimeUnit::quarter) whole = 3 * position;
      if (unit_ == TimeUnit::day || unit_ == TimeUnit::second) {
        const std::chrono::year_month_day date(day(days_at(position)));
        whole = 12.0 * static_cast<int>(date.year()) + static_cast<unsigned>(date.month()) - 1;
      }
    }
    return static_cast<std::int64_t>(std::floor(whole));
  }
  Tick tick_at(std::int64_t i, Step step) const {
    const auto number = static_cast<double>(i);
    const auto clock_scale = unit_ == TimeUnit::second ? 86400.0 : 1.0;
    if (step.family == Family::months) {
      const std::chrono::year_month at = month(i);
      const double position =
          unit_ == TimeUnit::year      ? number / 12
          : unit_ == TimeUnit::quarter ? number / 3
          : unit_ == TimeUnit::month
              ? number
              : clock_scale * static_cast<double>(Days(at / 1).time_since_epoch().count());
      const std::string year = fmt::format("{}", static_cast<int>(at.year()));
      const unsigned index = static_cast<unsigned>(at.month()) - 1;
      if (step.size % 12 == 0) return {position, typographic(year), ""};
      if (unit_ == TimeUnit::quarter) return {position, fmt::format("Q{}", index / 3 + 1), year};
      return {position, month_names[index], year};
    }
    const double days = step.family == Family::days ? number : std::floor(number / 86400);
    const std::chrono::year_month_day date(day(days));
    const std::string of_month = fmt::format("{} {}", static_cast<unsigned>(date.day()),
                                             month_names[static_cast<unsigned>(date.month()) - 1]);
    const std::string year = fmt::format("{}", static_cast<int>(date.year()));
    if (step.family == Family::days) return {number * clock_scale, of_month, year};
    const auto rest = static_cast<std::int64_t>(number - days * 86400);
    const std::string clock = step.size < 60
                                  ? fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
                                  : fmt::format("{:02}:{:02}", rest / 3600, rest / 60 % 60);
    return {number, clock, of_month + " " + year};
  }

  TimeUnit unit_;
};

/// Whether labels centred on the ticks keep clear of each other, in both lines.
bool labels_fit(const std::vector<Tick>& ticks, Range range, double width) {
  constexpr double gap = 14;
  double label_end = -1e9, context_end = -1e9;
  for (const Tick& tick : ticks) {
    const double x = width * range.fraction(tick.position);
    const double half_label = text_width(tick.label, tick_size) / 2;
    const double half_context = text_width(tick.context, tick_size) / 2;
    if (x - half_label < label_end + gap) return false;
    label_end = x + half_label;
    if (tick.context.empty()) continue;
    if (x - half_context < context_end + gap) return false;
    context_end = x + half_context;
  }
  return true;
}

Ticks time_ticks(Range range, TimeUnit unit, double width, bool whole) {
  const Calendar calendar(unit);
  if (unit != TimeUnit::none && calendar.covers(range))
    for (const Calendar::Step step : calendar.steps()) {
      std::vector<Tick> ticks = calendar.ticks(range, step);
      if (!ticks.empty() && labels_fit(ticks, range, width)) return {std::move(ticks), ""};
    }
  for (double count = std::max(2.0, width / 70); count > 1; count *= 0.8)
    if (Ticks out = number_ticks(range, count, whole); labels_fit(out.ticks, range, width)) return out;
  return number_ticks(range, 1, whole);
}

// ---- the frame

struct LegendItem {
  enum class Mark { dots, line, area } mark;
  std::string label;
  const char* color;
  double opacity = 1;
};

/// Axes, grid, title and legend around a plot area whose marks are drawn in between.
class Frame {
 public:
  Frame(std::string_view title, std::string_view value_label, std::string_view time_label,
        const std::vector<LegendItem>& legend, Range x, Range y, TimeUnit unit, double width, double height,
        bool whole_x = false)
      : x_(x), y_(y) {
    width = std::isfinite(width) ? std::clamp(width, 200.0, 4000.0) : 860;
    height = std::isfinite(height) ? std::clamp(height, 140.0, 4000.0) : 380;
    const std::string legend_svg = place_legend(legend, title.empty() ? 10 : 34, width);
    top_ = legend_bottom_ + 14;
    Ticks y_ticks = number_ticks(y, 5);
    std::string top_label(value_label);
    if (!y_ticks.note.empty()) top_label += (top_label.empty() ? "" : "  ") + y_ticks.note;
    if (!top_label.empty()) top_ += 19;

    double label_room = 0;
    for (const Tick& tick : y_ticks.ticks)
      label_room = std::max(label_room, text_width(tick.label, tick_size));
    left_ = std::max(48.0, label_room + 18);
    plot_width_ = std::max(40.0, width - left_ - 26);
    Ticks x_ticks = time_ticks(x, unit, plot_width_, whole_x);
    const bool contexts = std::any_of(x_ticks.ticks.begin(), x_ticks.ticks.end(),
                                      [](const Tick& tick) { return !tick.context.empty(); });
    std::string bottom_label(time_label);
    if (!x_ticks.note.empty()) bottom_label += (bottom_label.empty() ? "" : "  ") + x_ticks.note;
    const double bottom = 26 + (contexts ? 15 : 0) + (bottom_label.empty() ? 4 : 20);
    plot_height_ = std::max(30.0, height - top_ - bottom);
    const std::optional<Ticks> sparser =
        plot_height_ < 5 * 26 ? std::optional(number_ticks(y, std::max(1.5, plot_height_ / 34)))
                              : std::nullopt;

    head_ = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' "
        "height='{1:.0f}' "
        "role='img' aria-label='{2}' font-family='system-ui, -apple-system, Segoe UI, Roboto, Helvetica, "
        "Arial, "
        "sans-serif'>\n<rect width='{0:.0f}' height='{1:.0f}' fill='#ffffff'/>\n",
        width, height, xml_escape(title.empty() ? "chart" : title));
    if (!title.empty())
      head_ += fmt::format("<text x='12' y='22' font-size='{}' font-weight='600' fill='{}'>{}</text>\n",
                           title_size, ink, xml_escape(title));
    head_ += legend_svg;
    if (!top_label.empty())
      head_ += fmt::format("<text x='12' y='{:.1f}' font-size='{}' fill='{}'>{}</text>\n", top_ - 13,
                           label_size, grey, xml_escape(top_label));
    draw_axes(x_ticks.ticks, sparser ? sparser->ticks : y_ticks.ticks, width);
    if (!bottom_label.empty())
      head_ +=
          fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{}' fill='{}' text-anchor='middle'>{}</text>\n",
                      left_ + plot_width_ / 2, height - 8, label_size, grey, xml_escape(bottom_label));
  }

  double width() const { return plot_width_; }
  double height() const { return plot_height_; }
  double x(double value) const { return bounded(plot_width_ * x_.fraction(value)); }
  double y(double value) const { return bounded(plot_height_ * (1 - y_.fraction(value))); }

  /// The picture with marks in the plot area's coordinates. A nested svg clips them without an id, which
  /// would have to be unique in a page of several charts.
  std::string with(std::string_view marks) const {
    return fmt::format(
        "{0}<svg x='{1:.1f}' y='{2:.1f}' width='{3:.1f}' height='{4:.1f}' overflow='hidden'>\n{5}</svg>\n"
        "<line x1='{1:.1f}' x2='{6:.1f}' y1='{7:.1f}' y2='{7:.1f}' stroke='#8a919b'/>\n</svg>\n",
        head_, left_, top_, plot_width_, plot_height_, marks, left_ + plot_width_, top_ + plot_height_);
  }

 private:
  static double bounded(double coordinate) {
    return std::isfinite(coordinate) ? std::clamp(coordinate, -1e5, 1e5) : 0;
  }

  std::string place_legend(const std::vector<LegendItem>& legend, double y, double width) {
    std::string out;
    double x = 12;
    legend_bottom_ = legend.empty() ? y - 8 : y + 14;
    for (const LegendItem& item : legend) {
      const double item_width = 28 + text_width(item.label, label_size) + 18;
      if (x > 12 && x + item_width > width) x = 12, y += 20, legend_bottom_ += 20;
      const double middle = y + 8;
      if (item.mark == LegendItem::Mark::dots)
        out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", x + 11, middle, item.color);
      else if (item.mark == LegendItem::Mark::line)
        out += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='22' height='2.5' fill='{}'/>", x, middle - 1.2,
                           item.color);
      else
        out += fmt::format(
            "<rect x='{:.1f}' y='{:.1f}' width='22' height='12' fill='{}' fill-opacity='{:.2f}'/>", x,
            middle - 6, item.color, item.opacity);
      out += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{}' fill='{}'>{}</text>\n", x + 28,
                         middle + 4.3, label_size, ink, xml_escape(item.label));
      x += item_width;
    }
    return out;
  }

  void draw_axes(const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks, double width) {
    head_ += fmt::format("<g stroke='{}'>\n", faint);
    for (const Tick& tick : y_ticks)
      head_ += fmt::format("<line x1='{0:.1f}' x2='{1:.1f}' y1='{2:.1f}' y2='{2:.1f}'/>\n", left_,
                           left_ + plot_width_, top_ + y(tick.position));
    head_ += "</g>\n<g stroke='#8a919b'>\n";
    for (const Tick& tick : x_ticks)
      head_ += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>\n",
                           left_ + x(tick.position), top_ + plot_height_, top_ + plot_height_ + 5);
    head_ += fmt::format("</g>\n<g font-size='{}' fill='{}'>\n", tick_size, grey);
    for (const Tick& tick : y_ticks)
      head_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>\n", left_ - 8,
                           top_ + y(tick.position) + 4, tick.label);
    for (const Tick& tick : x_ticks) {
      const double base = top_ + plot_height_ + 19;
      for (const auto& [text, dy] : {std::pair(&tick.label, 0.0), std::pair(&tick.context, 15.0)}) {
        if (text->empty()) continue;
        const double half = text_width(*text, tick_size) / 2;
        head_ +=
            fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n",
                        std::clamp(left_ + x(tick.position), half + 2, std::max(half + 2, width - half - 2)),
                        base + dy, *text);
      }
    }
    head_ += "</g>\n";
  }

  Range x_, y_;
  double left_ = 0, top_ = 0, plot_width_ = 0, plot_height_ = 0, legend_bottom_ = 0;
  std::string head_;
};

// ---- marks

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

/// A line with gaps. Of points in one pixel column only the outer ones and the ends are drawn, so that a
/// million of them make a picture of the usual size. A point on its own becomes a dot.
std::string line(const Frame& frame, const std::vector<double>& time, const std::vector<double>& values,
                 const char* color, double stroke, std::string_view more = "") {
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
      "stroke-linejoin='round'{}/>\n",
      path, color, stroke, more);
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

std::string dots(const Frame& frame, const std::vector<double>& x, const std::vector<double>& y,
                 double radius, const char* color, double opacity) {
  std::string out = fmt::format("<g fill='{}' fill-opacity='{:.2f}'>\n", color, opacity);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (std::isfinite(x[i]) && std::isfinite(y[i]))
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}'/>\n", frame.x(x[i]), frame.y(y[i]), radius);
  return out + "</g>\n";
}

std::string level_line(const Frame& frame, double value, const char* color, bool dashed) {
  return fmt::format("<line x1='0' x2='{0:.1f}' y1='{2:.1f}' y2='{2:.1f}' stroke='{1}'{3}/>\n", frame.width(),
                     color, frame.y(value), dashed ? " stroke-dasharray='5 4'" : "");
}

std::string message(const Frame& frame, std::string_view text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='13' fill='{}' text-anchor='middle'>{}</text>\n",
                     frame.width() / 2, frame.height() / 2, grey, text);
}

bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

constexpr std::size_t most_dots = 700;  // beyond that dots merge, and a line shows more

/// The range of values worth showing: all, unless bands explode (a diffuse start, a long forecast of a trend)
/// and would press the data flat.
Range value_range(const TimeChart& chart, const std::vector<Band>& fan) {
  Range core, all;
  for (Range* range : {&core, &all}) {
    range->include(chart.observed);
    range->include(chart.fitted);
    range->include(chart.forecast);
  }
  for (const Band* band : {&chart.fitted_band}) all.include(band->lower), all.include(band->upper);
  for (const Band& band : fan) all.include(band.lower), all.include(band.upper);
  if (!core.empty() && core.half() > 1e-12 * std::max(std::abs(core.lo), std::abs(core.hi)) &&
      all.half() > 4 * core.half()) {
    all.lo = std::max(all.lo, core.lo - 2 * core.half());
    all.hi = std::min(all.hi, core.hi + 2 * core.half());
  }
  return padded(all, 0.05);
}

std::string percent(double level) { return fmt::format("{:.3g} %", 100 * level); }

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length > 1)
      out += text.substr(0, length);
    else if (length == 0 || c == '\x7F' || (c < ' ' && c != '\t' && c != '\n'))
      out += "\uFFFD";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string superscript(int number) {
  constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(number)) out += c == '-' ? "⁻" : digits[c - '0'];
  return out;
}

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

  std::vector<LegendItem> legend;
  if (has_observed) legend.push_back({dotted ? Mark::dots : Mark::line, chart.observed_label, "#4a4f57"});
  if (has_fitted) legend.push_back({Mark::line, chart.fitted_label, blue});
  if (has_band) legend.push_back({Mark::area, percent(chart.fitted_band.level) + " band", blue, 0.22});
  if (has_forecast) legend.push_back({Mark::line, chart.forecast_label, vermilion});
  for (std::size_t i = fan.size(); i-- > 0;)
    legend.push_back({Mark::area, percent(fan[i].level), vermilion, fan_opacity(i)});

  Range x;
  for (std::size_t i = 0; i < std::min(count, time.size()); ++i) x.include(time[i]);
  Range before = x;
  x.include(chart.forecast_time);
  const Frame frame(chart.title, chart.value_label, chart.time_label, legend, padded(x, 0.015, 1),
                    value_range(chart, fan), chart.unit, chart.width, chart.height,
                    all_whole(time) && all_whole(chart.forecast_time));
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
    marks += line(frame, time, chart.observed, "#b9bec6", 1);
    marks += dots(frame, time, chart.observed, chart.observed.size() <= 200 ? 2.8 : 2, "#4a4f57", 0.85);
  } else if (has_observed) {
    marks += line(frame, time, chart.observed, "#8a919b", 1);
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
  const Frame frame(chart.title, chart.value_label, chart.time_label, {}, padded(x, 0.015, 1),
                    padded({-reach, reach}, 0.06), chart.unit, chart.width, chart.height, all_whole(time));
  std::string marks =
      fmt::format("<rect x='0' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.08'/>\n",
                  frame.y(bound), frame.width(), frame.y(-bound) - frame.y(bound), blue);
  marks += level_line(frame, 0, "#8a919b", false);
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
    marks += dots(frame, time, inside, 2.6, "#4a4f57", 0.9) + dots(frame, time, outside, 3, vermilion, 1);
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
  const Frame frame(chart.title, "autocorrelation", "lag", {},
                    {0.2, static_cast<double>(std::max<std::size_t>(lags, 1)) + 0.8}, {-reach, reach},
                    TimeUnit::none, chart.width, chart.height, true);
  std::string marks;
  if (std::isfinite(bound)) {
    marks +=
        fmt::format("<rect x='0' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.1'/>\n",
                    frame.y(bound), frame.width(), frame.y(-bound) - frame.y(bound), blue);
    marks += level_line(frame, bound, blue, true) + level_line(frame, -bound, blue, true);
  }
  marks += level_line(frame, 0, "#8a919b", false);
  const double bar = std::clamp(0.55 * frame.width() / static_cast<double>(lags + 1), 1.0, 14.0);
  bool any = false;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    const double value = chart.values[lag];
    if (!std::isfinite(value)) continue;
    any = true;
    const double zero = frame.y(0), end = frame.y(value);
    marks += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>\n",
                         frame.x(static_cast<double>(lag)) - bar / 2, std::min(zero, end), bar,
                         std::abs(end - zero), std::abs(value) > bound ? vermilion : "#4a4f57");
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
  const Frame frame(chart.title, "residual quantiles", "normal quantiles", {}, {-reach, reach},
                    padded(y, 0.04), TimeUnit::none, chart.width, chart.height);
  std::string marks = area(frame, theory, band, blue, 0.12);
  marks += line(frame, {-reach, reach}, {center - scale * reach, center + scale * reach}, blue, 1.6);
  if (sorted.empty()) return frame.with(message(frame, "no residuals to show"));
  return frame.with(marks + dots(frame, theory, sample, 2.6, "#4a4f57", 0.85));
}

std::string to_svg(const HistogramChart& chart) {
  const std::vector<double> sorted = finite_sorted(chart.residuals);
  Range data;
  data.include(sorted);
  const Range x = padded(data, 0.02, 1);
  if (sorted.empty()) {
    const Frame frame(chart.title, "density", chart.value_label, {}, x, {0, 1}, TimeUnit::none, chart.width,
                      chart.height);
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
  const Frame frame(chart.title, "density", chart.value_label, {}, x, {0, 1.06 * highest / unit},
                    TimeUnit::none, chart.width, chart.height);
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

std::vector<double> autocorrelation(std::span<const double> values, std::size_t lags) {
  const std::size_t n = values.size();
  double largest = 0, mean = 0;
  std::size_t present = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value)), ++present;
  const double scale = largest > 0 ? largest : 1;  // squares of the scaled values cannot overflow
  std::vector<double> centred(n, nothing);
  for (const double value : values)
    if (std::isfinite(value)) mean += value / scale / static_cast<double>(present);
  for (std::size_t i = 0; i < n; ++i)
    if (std::isfinite(values[i])) centred[i] = values[i] / scale - mean;

  std::vector<double> out(lags + 1, nothing);
  double variance = 0;
  for (std::size_t lag = 0; lag <= lags && lag < n; ++lag) {
    double sum = 0;
    std::size_t pairs = 0;
    for (std::size_t i = 0; i + lag < n; ++i) {
      const double product = centred[i] * centred[i + lag];
      if (!std::isnan(product)) sum += product, ++pairs;
    }
    if (pairs == 0) continue;
    // With nothing missing this divides by n at every lag, the usual estimate; missing pairs scale it down.
    const double covariance = sum / static_cast<double>(pairs + lag);
    if (lag == 0) {
      variance = covariance;
      out[0] = 1;
    } else if (variance > 1e-24) {  // less is rounding of a constant series
      out[lag] = covariance / variance;
    }
  }
  return out;
}

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return nothing;
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p == 0) return -std::numeric_limits<double>::infinity();
  // Newton on log Φ(z) = log p. The logarithm of Φ is concave and increasing, so the first step lands left of
  // the solution and the others climb to it, from any start.
  double z = -std::sqrt(-2 * std::log(p));
  for (int i = 0; i < 50; ++i) {
    const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    if (below <= 0 || density <= 0) break;
    const double step = std::log(p / below) * (below / density);
    z += step;
    if (std::abs(step) <= 1e-15 * (1 + std::abs(z))) break;
  }
  return std::min(z, 0.0);
}

}  // namespace apps
