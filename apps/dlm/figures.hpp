// Which charts show which part of an analysis.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis.hpp"

namespace apps {

/// What a chart is for: a page lets readers point at values, a picture of its own has a title.
enum class Use { picture, page };

/// The trend or spline: what people call the level. Null where a model has none, or where regressors keep the
/// series away from it.
const Path* level_path(const Analysis& analysis);
/// Residuals that there are.
std::size_t residual_count(const Analysis& analysis);

std::string series_chart(const Analysis& analysis, Use use);
/// The end of the series, the model's signal there, and the fan.
std::string forecast_chart(const Analysis& analysis, Use use);
/// What was held back, as it was forecast and as it came.
std::string holdout_chart(const Analysis& analysis);
std::string component_chart(const Analysis& analysis, const Path& path, Use use);
/// Each season by its phase.
std::vector<std::string> profile_charts(const Analysis& analysis, Use use);
std::string residual_chart(const Analysis& analysis, Use use);
/// Autocorrelation, quantiles and histogram of the residuals.
std::vector<std::string> diagnostic_charts(const Analysis& analysis, Use use);

}  // namespace apps
