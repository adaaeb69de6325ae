// What a series does not say: steps without a row, positions of a season that are never seen, codes that may
// stand for missing values.
#pragma once
#include "series.hpp"

namespace apps {

/// Sets `on_grid` and `absent`.
void find_gaps(Series& series);
/// Notes positions of full seasons without any observation: their effects are not known from the data.
void remark_on_seasons(Series& series, const DataOptions& options);
/// Notes values like -999 that stand apart from all others.
void remark_on_codes(Series& series);

}  // namespace apps
