// Axes of charts: ranges of data, and ticks at round numbers or at dates of a calendar.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dates.hpp"

namespace apps {

constexpr double tick_size = 12;  ///< of the labels' letters

/// Wide enough for the fonts that browsers fall back to.
double text_width(std::string_view text, double size);

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
Range padded(Range range, double share, double lonely_margin = 0);

struct Tick {
  double position;
  std::string label, context;  ///< context: a second line, such as the year below a month
};

struct Ticks {
  std::vector<Tick> ticks;
  std::string note;  ///< what labels leave out: "×10⁶", "+ 1000000"
};

/// About `count` round numbers, spaced by 1, 2 or 5 times a power of ten.
Ticks number_ticks(Range range, double count, bool whole = false);

/// As many dates, or numbers, as find room on an axis of this width.
Ticks time_ticks(Range range, TimeUnit unit, double width, bool whole);

}  // namespace apps
