// A season is a set of lines in the spectrum of changes: each harmonic is measured by its neighbours, so that
// any smooth spectrum, of noise or of a random walk, is its own yardstick.
#include "season_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "statistics.hpp"

namespace apps {
namespace {

constexpr double significant = 1e-3;  // after counting the periods that were tried
constexpr double fewest_periods = 3;
constexpr int most_harmonics = 6, most_neighbours = 6;  // neighbours on each side
constexpr double longest_with_all_effects = 31;

/// Changes from each step of the grid to the next, less their mean; 0 where a value is missing, which adds
/// nothing.
struct Changes {
  std::vector<double> at;
  std::size_t known = 0;
  double squares = 0;

  Changes(const Series& s, const std::vector<double>& values) {
    if (!s.on_grid || s.n() < 2) return;
    const auto place = [&](std::size_t i) { return std::llround((s.time[i] - s.time[0]) / s.step); };
    at.assign(static_cast<std::size_t>(place(s.n() - 1)), std::numeric_limits<double>::quiet_NaN());
    double mean = 0;
    for (std::size_t i = 1; i < s.n(); ++i) {
      const double change = values[i] - values[i - 1];
      if (place(i) != place(i - 1) + 1 || !std::isfinite(change)) continue;
      at[static_cast<std::size_t>(place(i) - 1)] = change;
      mean += change;
      ++known;
    }
    for (double& change : at) {
      change = std::isnan(change) ? 0 : change - mean / static_cast<double>(known);
      squares += change * change;
    }
  }
  double length() const { return static_cast<double>(at.size()); }
  bool enough() const { return known >= 16 && 2 * known >= at.size() && squares > 0; }
  double power(double frequency) const {
    const std::complex<double> turn = std::polar(1.0, -2 * M_PI * frequency);
    std::complex<double> phase = 1, sum = 0;
    for (const double change : at) sum += change * phase, phase *= turn;
    return std::norm(sum);
  }
};

/// The probability of so much power at a frequency if the spectrum is smooth there; NaN where it has too few
/// neighbours.
double line_p_value(const Changes& changes, double frequency, double period, double power) {
  const double bin = 1 / changes.length(), periods = changes.length() / period;
  double noise = 0;
  int neighbours = 0;
  for (const int side : {-1, 1})
    for (int k = periods >= 6 ? 2 : 1, taken = 0; k <= 2 * most_neighbours && taken < most_neighbours; ++k) {
      const double near = frequency + side * k * bin, harmonic = std::round(near * period);
      const bool of_season = std::abs(near - harmonic / period) < 0.75 * bin;
      if (near < 0.5 * bin || near > 0.5 - 0.5 * bin || of_season) continue;
      noise += changes.power(near);
      ++neighbours, ++taken;
    }
  if (neighbours < 2 || !(noise > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::pow(1 + power / noise, -neighbours);  // the tail of F(2, 2 neighbours)
}

SeasonEvidence evidence_for(const Changes& changes, double period, double tried) {
  SeasonEvidence out{period, 0, 0, 1};
  double fisher = 0;
  int lines = 0, last_line = 1;
  for (int k = 1; k <= most_harmonics && k / period < 0.5 - 1 / changes.length(); ++k) {
    const double power = changes.power(k / period), p = line_p_value(changes, k / period, period, power);
    if (std::isnan(p)) continue;
    fisher -= 2 * std::log(std::max(p, 1e-300));
    out.share += 2 * power / (changes.length() * changes.squares);
    ++lines;
    if (p < 0.01) last_line = k;
  }
  if (lines) out.p_value = std::min(1.0, tried * chi_square_tail(fisher, 2 * lines));
  if (period != std::floor(period) || period > longest_with_all_effects) out.harmonics = last_line;
  return out;
}

/// Days, weeks and years, in steps.
std::vector<double> calendar_periods(const Series& s, double length) {
  constexpr double hour = 3600, day = 24 * hour, week = 7 * day, year = 365.25 * day;
  std::vector<double> periods;
  switch (unit_of(s.form)) {
    case TimeUnit::none:
      break;
    case TimeUnit::year:
      break;
    case TimeUnit::quarter:
      periods = {4};
      break;
    case TimeUnit::month:
      periods = {12};
      break;
    case TimeUnit::day:
      periods = {7, year / day};
      break;
    case TimeUnit::second:
      periods = {hour, day, week, year};
      break;
  }
  for (double& period : periods) period /= s.step;
  std::erase_if(periods, [&](double period) { return period < 3 || length / period < fewest_periods; });
  return periods;
}

/// Lags at which the autocorrelation of changes peaks, the shortest of those that are nearly as high as the
/// highest.
std::vector<double> peaks_of_autocorrelation(const Changes& changes) {
  const auto lags = static_cast<std::size_t>(std::min(changes.length() / fewest_periods, 400.0));
  const std::vector<double> r = autocorrelation(changes.at, lags);
  const double least = 3 / std::sqrt(changes.length());
  const auto peak = [&](std::size_t lag) { return r[lag] > least && r[lag] > r[lag - 1] && r[lag] >= r[lag + 1]; };
  double highest = 0;
  for (std::size_t lag = 3; lag + 1 < r.size(); ++lag)
    if (peak(lag)) highest = std::max(highest, r[lag]);
  for (std::size_t lag = 3; lag + 1 < r.size(); ++lag)
    if (peak(lag) && r[lag] > 0.7 * highest) return {static_cast<double>(lag)};
  return {};
}

bool is_multiple(double period, double of) { return std::abs(period / of - std::round(period / of)) < 0.05; }

}  // namespace

std::string SeasonEvidence::option() const {
  return fmt::format("--season {:g}", std::round(1e3 * period) / 1e3) +
         (harmonics ? fmt::format(" --harmonics {}", harmonics) : "");
}

std::vector<SeasonEvidence> find_seasons(const Series& s, const std::vector<double>& values) {
  std::vector<SeasonEvidence> out;
  const Changes changes(s, values);
  if (!changes.enough()) return out;
  const std::vector<double> calendar = calendar_periods(s, changes.length());
  for (const double period : calendar)
    out.push_back(evidence_for(changes, period, static_cast<double>(calendar.size())));
  std::erase_if(out, [](const SeasonEvidence& e) { return e.p_value > significant; });
  for (const double period : peaks_of_autocorrelation(changes)) {
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const SeasonEvidence& e) { return is_multiple(period, e.period); });
    if (known) continue;
    const SeasonEvidence found = evidence_for(changes, period, changes.length() / fewest_periods);
    if (found.p_value < significant) out.push_back(found);
  }
  return out;
}

std::string suggestion_in_words(const Series& s, const std::vector<SeasonEvidence>& seasons) {
  if (seasons.empty()) return "";
  std::string options;
  double share = 0, p_value = 0;
  for (const SeasonEvidence& season : seasons) {
    options += (options.empty() ? "" : " ") + season.option();
    share += season.share;
    p_value = std::max(p_value, season.p_value);
  }
  const std::string step = s.step_name();
  return fmt::format(
      "{} seems to fit: what repeats makes up {:.0f} % of the changes from one {} to the next ({}). The "
      "model here "
      "has no season.",
      options, 100 * std::min(share, 1.0), step.empty() || s.form == DateForm::none ? "step" : step,
      p_value < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.4f}", p_value));
}

}  // namespace apps
