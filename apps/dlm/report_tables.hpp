// Tables of a report.
#pragma once
#include "analysis.hpp"
#include "report.hpp"

namespace apps {

ReportTable parameter_table(const Analysis& analysis);
ReportTable likelihood_table(const Analysis& analysis);
ReportTable test_table(const Analysis& analysis);
ReportTable forecast_table(const Analysis& analysis);
ReportTable state_table(const Analysis& analysis);
ReportTable flag_table(const Analysis& analysis);
ReportTable holdout_table(const Analysis& analysis);
ReportTable effect_table(const Analysis& analysis);

/// "95 %".
std::string percent(double level);

}  // namespace apps
