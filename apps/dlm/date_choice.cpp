// The column's name decides, then how evenly a reading spaces the rows; what stays open is refused.
#include "date_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace apps {
namespace {

std::size_t count_of(const DateReading& reading) {
  return static_cast<std::size_t>(
      std::count_if(reading.times.begin(), reading.times.end(), [](double t) { return !std::isnan(t); }));
}

std::string listed(const std::vector<DateCandidate>& all, auto text) {
  std::string out;
  for (const DateCandidate& c : all) out += (out.empty() ? "" : " or ") + text(c);
  return out;
}

DateOutcome refuse(const std::vector<DateCandidate>& all) {
  DateOutcome out{.share = 1};
  const std::vector<double>& first = all[0].reading.times;
  for (std::size_t i = 0; i < first.size(); ++i) {  // the first field on which they differ
    const auto text = [&](const DateCandidate& c) { return format_time(c.reading.times[i], c.reading.form); };
    if (std::isnan(first[i])) continue;
    out.row = i;
    if (std::any_of(all.begin(), all.end(), [&](const DateCandidate& c) { return text(c) != text(all[0]); })) break;
  }
  const std::size_t count = count_of(all[0].reading);
  out.problem = fmt::format(
      "may be {}, and {}; say {}.",
      listed(all,
             [&](const DateCandidate& c) {
               return fmt::format("{} ({})", format_time(c.reading.times[out.row], c.reading.form), c.reading.format);
             }),
      count == 1 ? "the one date does not tell"
                 : fmt::format("all {} dates fit each reading without one that spaces them clearly more evenly", count),
      listed(all, [](const DateCandidate& c) { return c.option; }));
  return out;
}

DateOutcome take(std::vector<DateCandidate>& all, std::size_t chosen, const std::string& since) {
  DateReading reading = std::move(all[chosen].reading);
  reading.why = fmt::format("{}, since {}; {} reads them otherwise{}", reading.format, since,
                            all[chosen == 0 ? 1 : 0].option, reading.why.empty() ? "" : "; " + reading.why);
  return {.reading = std::move(reading), .share = 1};
}

/// Within living memory and not in the future, but for a plan of the years to come.
bool is_recent(const DateReading& reading) {
  const std::chrono::year_month_day now(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  constexpr int living_memory = 1950, plan = 2;
  return std::all_of(reading.times.begin(), reading.times.end(), [&](double t) {
    const double year = year_of(t, reading.form);
    return std::isnan(t) || (year >= living_memory && year <= static_cast<int>(now.year()) + plan);
  });
}

/// The candidate that spaces the rows clearly more evenly than all others, or alone puts them in order.
std::optional<std::size_t> most_even(const std::vector<DateCandidate>& all, bool& another_in_order) {
  std::vector<double> scores;
  for (const DateCandidate& c : all) scores.push_back(regularity(c.reading.times));
  const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  double second = 0;
  another_in_order = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == best) continue;
    second = std::max(second, scores[i]);
    another_in_order = another_in_order || in_order(all[i].reading.times);
  }
  constexpr std::size_t enough = 4, plenty = 6;
  const std::size_t count = count_of(all[best].reading);
  const bool clear =
      (count >= enough && scores[best] >= 0.6 && scores[best] >= 2 * second) || (count >= plenty && !another_in_order);
  return clear && in_order(all[best].reading.times) ? std::optional(best) : std::nullopt;
}

}  // namespace

bool same(const DateReading& a, const DateReading& b) {
  if (a.form != b.form) return false;
  for (std::size_t i = 0; i < a.times.size(); ++i)
    if (a.times[i] != b.times[i] && !(std::isnan(a.times[i]) && std::isnan(b.times[i]))) return false;
  return true;
}

DateOutcome choose_reading(std::vector<DateCandidate> all, NamedUnit named) {
  const auto is_named = [&](const DateCandidate& c) { return c.unit == named; };
  if (named != NamedUnit::none && std::any_of(all.begin(), all.end(), is_named))
    std::erase_if(all, [&](const DateCandidate& c) { return !is_named(c); });
  const auto recent = [](const DateCandidate& c) { return is_recent(c.reading); };
  if (std::any_of(all.begin(), all.end(), recent))
    std::erase_if(all, [&](const DateCandidate& c) { return c.rare && !recent(c); });
  if (all.empty()) return {};
  if (all.size() == 1) return {.reading = std::move(all[0].reading), .share = 1};
  bool another_in_order = false;
  if (const std::optional<std::size_t> best = most_even(all, another_in_order))
    return take(all, *best, another_in_order ? "that spaces the rows evenly" : "that puts the rows in order");
  const auto usual = [&](const DateCandidate& c) { return !c.rare && recent(c); };
  if (std::count_if(all.begin(), all.end(), usual) == 1 &&
      std::all_of(all.begin(), all.end(), [&](const DateCandidate& c) { return usual(c) || c.rare; }))
    return take(all, static_cast<std::size_t>(std::find_if(all.begin(), all.end(), usual) - all.begin()),
                "that is usual");
  return refuse(all);
}

}  // namespace apps
