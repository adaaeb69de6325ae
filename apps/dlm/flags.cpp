// An outlier looks like two jumps that undo each other, a jump like outliers around it: the larger |t| tells
// which it was.
#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "statistics.hpp"

namespace apps {
namespace {

constexpr double expected_false_flags = 0.5, least_threshold = 3;

std::vector<double> in_deviations(const ShockPath& path) {
  std::vector<double> out;
  for (std::size_t i = 0; i < path.size.size(); ++i) out.push_back(path.size[i] / path.sd[i]);
  return out;
}

std::size_t finite_in(const std::vector<double>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
}

/// The clearest row of each run of rows beyond the threshold on one side.
std::vector<Flag> peaks(const ShockPath& path, Flag::Kind kind, double threshold) {
  std::vector<Flag> out;
  bool running = false;
  for (std::size_t i = 0; i < path.size.size(); ++i) {
    const Flag flag{kind, i, path.size[i], path.sd[i]};
    const bool beyond = std::abs(flag.t()) > threshold;
    if (beyond && running && (flag.size > 0) == (out.back().size > 0)) {
      if (std::abs(flag.t()) > std::abs(out.back().t())) out.back() = flag;
    } else if (beyond) {
      out.push_back(flag);
    }
    running = beyond;
  }
  return out;
}

/// Whether another event explains a flag: one next to it that is clearer. At the ends of a series both kinds
/// are the same.
bool explained(const Flag& flag, const std::vector<Flag>& others) {
  constexpr double same = 1e-6;
  return std::any_of(others.begin(), others.end(), [&](const Flag& other) {
    const std::size_t apart = std::max(flag.row, other.row) - std::min(flag.row, other.row);
    if (apart > 1) return false;
    const double lead = std::abs(other.t()) - std::abs(flag.t());
    return lead > same || (std::abs(lead) <= same && other.kind == Flag::Kind::outlier && flag.kind != other.kind);
  });
}

}  // namespace

Flags find_flags(const ShockPath& values, const ShockPath& level) {
  Flags out;
  out.t_of_values = in_deviations(values);
  out.t_of_level = in_deviations(level);
  out.tests = finite_in(out.t_of_values) + finite_in(out.t_of_level);
  if (out.tests == 0) return out;
  out.threshold =
      std::max(least_threshold, -normal_quantile(expected_false_flags / 2 / static_cast<double>(out.tests)));
  std::vector<Flag> all = peaks(values, Flag::Kind::outlier, out.threshold);
  const std::vector<Flag> shifts = peaks(level, Flag::Kind::level_shift, out.threshold);
  all.insert(all.end(), shifts.begin(), shifts.end());
  for (const Flag& flag : all)
    if (!explained(flag, all)) out.found.push_back(flag);
  std::stable_sort(out.found.begin(), out.found.end(), [](const Flag& a, const Flag& b) { return a.row < b.row; });
  return out;
}

std::string name_of(Flag::Kind kind) { return kind == Flag::Kind::outlier ? "outlier" : "level shift"; }

std::string threshold_in_words(const Flags& flags) {
  return fmt::format("|t| > {:.2f}, where {} in {} tests is expected if the model is right", flags.threshold,
                     flags.threshold > least_threshold ? "half of one" : "less than half of one", flags.tests);
}

}  // namespace apps
