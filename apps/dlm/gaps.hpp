// What a series does not say: weekends and hours that are not there, positions of a season that are never seen, codes
// that may stand for missing values.
#pragma once
#include "series.hpp"

namespace apps {

/// Notes positions of full seasons without any observation: their effects are not known from the data.
void remark_on_seasons(Series& series, const DataOptions& options);
/// Notes days without weekends that are counted by the calendar.
void remark_on_business_days(Series& series, const DataOptions& options);
/// Notes years that are of another calendar.
void remark_on_years(Series& series);
/// Notes steps that mostly have no row.
void remark_on_many_gaps(Series& series, const DataOptions& options);
/// Notes an hour that is not there when clocks go forward: local time.
void remark_on_clock_changes(Series& series);
/// Notes values like -999 that stand apart from all others; refuses those that no fit could survive, such as 1e30.
void check_codes(Series& series, const DataOptions& options);

}  // namespace apps
