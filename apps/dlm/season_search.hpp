// Which seasons a series seems to have: those of its calendar, and those that its autocorrelation shows.
#pragma once
#include <string>
#include <vector>

#include "series.hpp"

namespace apps {

struct SeasonEvidence {
  double period;   ///< in steps
  int harmonics;   ///< that describe it; 0: an effect for each step
  double share;    ///< of the variance of changes from step to step
  double p_value;  ///< of so strong a line in a spectrum that is smooth there, times the periods that were tried
  /// "--season 12".
  std::string option() const;
};

/// Seasons that stand out of `values` [n], at the times of a series; at most one that no calendar explains.
/// Trends, random walks and autoregressions have smooth spectra, and make no season.
std::vector<SeasonEvidence> find_seasons(const Series& series, const std::vector<double>& values);

/// "--season 12 seems to fit: …"; "" where there is none.
std::string suggestion_in_words(const Series& series, const std::vector<SeasonEvidence>& seasons);

}  // namespace apps
