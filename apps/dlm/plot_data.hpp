// Small questions that all charts ask of their data.
#pragma once
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "nothing.hpp"

namespace apps {

inline std::vector<double> times_or_index(const std::vector<double>& time, std::size_t count) {
  if (!time.empty()) return time;
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(i + 1);
  return out;
}

inline bool all_whole(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v) || std::isnan(v); });
}

inline std::vector<double> finite_sorted(const std::vector<double>& values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return std::isfinite(v); });
  std::sort(out.begin(), out.end());
  return out;
}

inline bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace apps
