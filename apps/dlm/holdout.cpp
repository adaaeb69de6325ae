// Values are found by their time, so that a row that is not there shifts no season.
#include "holdout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "errors.hpp"
#include "nothing.hpp"
#include "text.hpp"

namespace apps {
namespace {

long long place_of(const Series& s, std::size_t row) { return std::llround((s.time[row] - s.time[0]) / s.step); }

/// The values before a row, by the step at which they were observed.
class Past {
 public:
  Past(const Series& s, std::size_t row) : series_(s) {
    for (std::size_t i = 0; i < row; ++i) {
      if (std::isnan(s.y[i])) continue;
      if (!std::isnan(last_)) changes_ += std::abs(s.y[i] - last_), ++change_count_;
      last_ = s.y[i];
      if (s.on_grid) at_[place_of(s, i)] = s.y[i];
    }
  }
  /// The value so many seasons before a row, of the latest season that has one; NaN where none has.
  double season_before(std::size_t row, std::size_t season) const {
    if (at_.empty()) return nothing;
    const auto step = static_cast<long long>(season);
    for (long long place = place_of(series_, row) - step; place >= at_.begin()->first; place -= step)
      if (const auto found = at_.find(place); found != at_.end()) return found->second;
    return nothing;
  }
  double last() const { return last_; }
  /// The mean absolute difference of values so many steps apart; NaN where there are none.
  double mean_change(std::size_t steps) const {
    double sum = 0;
    std::size_t pairs = 0;
    if (steps == 1 && !series_.on_grid) sum = changes_, pairs = change_count_;  // from each value to the next
    for (const auto& [place, value] : at_)
      if (const auto before = at_.find(place - static_cast<long long>(steps)); before != at_.end())
        sum += std::abs(value - before->second), ++pairs;
    return pairs && sum > 0 ? sum / static_cast<double>(pairs) : nothing;
  }

 private:
  const Series& series_;
  std::map<long long, double> at_;
  double last_ = nothing, changes_ = 0;
  std::size_t change_count_ = 0;
};

/// The season to repeat: the longest whole one of which two periods were seen, else one of no whole number of
/// steps.
std::size_t season_to_repeat(const Past& past, const std::vector<Season>& seasons) {
  std::size_t whole = 0, other = 0;
  for (const Season& season : seasons) {
    const auto steps = static_cast<std::size_t>(std::llround(season.period));
    if (std::isnan(past.mean_change(steps))) continue;
    std::size_t& to = season.period == std::floor(season.period) ? whole : other;
    to = std::max(to, steps);
  }
  return whole ? whole : other;
}

Accuracy accuracy(const Series& s, std::size_t row, const std::vector<double>& forecast, double scale) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = 0; i < forecast.size(); ++i) {
    const double error = s.y[row + i] - forecast[i];
    if (std::isnan(error)) continue;
    sum += std::abs(error), squares += error * error, ++count;
  }
  if (count == 0) return {nothing, nothing, nothing};
  return {sum / count, std::sqrt(squares / count), sum / count / scale};
}

/// The probability of no more than `inside` of `count` values in a band that holds each with probability
/// `level`.
double chance_of_so_few(std::size_t inside, std::size_t count, double level) {
  double sum = 0;
  const auto n = static_cast<double>(count);
  for (std::size_t k = 0; k <= inside; ++k) {
    const auto i = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(level) +
                    (n - i) * std::log1p(-level));
  }
  return std::min(sum, 1.0);
}

}  // namespace

std::size_t first_held_back(const Series& s, std::size_t count) {
  if (count >= s.observed())
    complain<InputError>("[--holdout] {} of {} values cannot be held back, as none would be left to fit; give fewer.",
                         count, s.observed());
  std::size_t row = s.n();
  for (std::size_t left = count; left > 0;)
    if (!std::isnan(s.y[--row])) --left;
  return row;
}

Series ending_before(const Series& s, std::size_t row) {
  Series out = s;
  std::size_t end = s.n();
  while (std::isnan(s.y[end - 1])) --end;
  out.source = fmt::format("{} without what --holdout leaves out", s.source);
  out.y.resize(row);
  out.time.resize(row);
  out.future_time.assign(s.time.begin() + static_cast<std::ptrdiff_t>(row),
                         s.time.begin() + static_cast<std::ptrdiff_t>(end));
  for (std::vector<double>& regressor : out.regressors) regressor.resize(end);
  if (!out.scale.empty()) out.scale.resize(end);
  out.notes.clear();
  return out;
}

Holdout score(const Series& s, std::size_t row, const std::vector<double>& forecast, const std::vector<Band>& bands,
              const std::vector<Season>& seasons) {
  Holdout out;
  out.first = row;
  out.rows = forecast.size();
  out.forecast = forecast;
  out.bands = bands;
  const Past past(s, row);
  out.season = season_to_repeat(past, seasons);
  for (std::size_t i = 0; i < out.rows; ++i) {
    const double before = out.season ? past.season_before(row + i, out.season) : past.last();
    out.naive.push_back(std::isnan(before) ? past.last() : before);
    out.values += !std::isnan(s.y[row + i]);
  }
  const double scale = past.mean_change(out.season ? out.season : 1);
  out.of_model = accuracy(s, row, out.forecast, scale);
  out.of_naive = accuracy(s, row, out.naive, scale);
  for (const Band& band : bands) {
    std::size_t inside = 0;
    for (std::size_t i = 0; i < out.rows; ++i) inside += s.y[row + i] >= band.lower[i] && s.y[row + i] <= band.upper[i];
    out.inside.push_back(inside);
  }
  return out;
}

std::string naive_in_words(const Holdout& h) {
  return h.season ? fmt::format("the value one season ({} steps) before", h.season) : "the last value before";
}

std::string verdict_in_words(const Holdout& h) {
  const std::string naive = h.season ? "repeating the last season" : "repeating the last value";
  const double change = h.of_model.mae / h.of_naive.mae - 1;
  std::string out;
  if (!std::isfinite(change))
    out = h.of_naive.mae == 0 ? fmt::format("There is nothing to beat: {} makes no error here.", naive)
                              : "The model says nothing of these values.";
  else if (std::abs(change) < 0.05)
    out = fmt::format("The model's mean absolute error is about that of {}.", naive);
  else if (change < 0)
    out = fmt::format("The model's mean absolute error is {:.0f} % smaller than that of {}.", -100 * change, naive);
  else
    out = fmt::format("The model's mean absolute error is {} % larger than that of {}: it does not earn its keep here.",
                      number_text(100 * change, change > 1 ? 3 : 2), naive);
  for (std::size_t i = 0; i < h.bands.size(); ++i)
    out += fmt::format("{}{} {} the {:g} % band",
                       i ? ", " : fmt::format(" Of {} value{}, ", h.values, h.values == 1 ? "" : "s"), h.inside[i],
                       h.inside[i] == 1 ? "lies in" : "lie in", 100 * h.bands[i].level);
  out += ".";
  if (!h.bands.empty() && chance_of_so_few(h.inside.back(), h.values, h.bands.back().level) < 0.01)
    out += " The bands seem too narrow.";
  if (h.values < 8) out += fmt::format(" {} value{} little about either.", h.values, h.values == 1 ? " says" : "s say");
  if (!h.converged) out += " The search without these values did not converge.";
  return out;
}

}  // namespace apps
