// Ticks: the finest family of round steps whose labels keep clear of each other.
#include "axis.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "text.hpp"

namespace apps {
namespace {

std::string typographic(std::string number) {
  if (number.starts_with('-')) number.replace(0, 1, "−");
  return number;
}

/// 12345.6 as 12 345.6, with thin spaces.
std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  if (end - begin > 4)
    for (std::size_t i = end - 3; i > begin && i < end; i = i > 3 ? i - 3 : 0) text.insert(i, "\u2009");
  return typographic(text);
}

constexpr const char* month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::int64_t floor_to(std::int64_t value, std::int64_t step) { return value - ((value % step) + step) % step; }

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
    const std::int64_t phase = step.family == Family::days && step.size % 7 == 0 ? 4 : 0;  // weeks begin on Monday
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

  static Days day(double days) { return Days(std::chrono::days(static_cast<std::int64_t>(std::floor(days)))); }
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
      const double position = unit_ == TimeUnit::year      ? number / 12
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
    const std::string of_month =
        fmt::format("{} {}", static_cast<unsigned>(date.day()), month_names[static_cast<unsigned>(date.month()) - 1]);
    const std::string year = fmt::format("{}", static_cast<int>(date.year()));
    if (step.family == Family::days) return {number * clock_scale, of_month, year};
    const auto rest = static_cast<std::int64_t>(number - days * 86400);
    const std::string clock = step.size < 60 ? fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
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

}  // namespace

double text_width(std::string_view text, double size) { return 0.6 * size * static_cast<double>(letters_of(text)); }

Range padded(Range range, double share, double lonely_margin) {
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

Ticks number_ticks(Range range, double count, bool whole) {
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

}  // namespace apps
