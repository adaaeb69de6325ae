// A series with its model fitted: estimate, smoothing, components, forecast, diagnostics.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "chart.hpp"
#include "flags.hpp"
#include "holdout.hpp"
#include "modelling.hpp"
#include "options.hpp"
#include "season_search.hpp"
#include "series.hpp"
#include "statistics.hpp"

namespace apps {

struct Parameter {
  std::string name;
  std::vector<double> values,
      errors;  ///< errors: NaN where not estimated, or where the likelihood says nothing
  bool estimated;
};

struct SearchResult {
  double value;  ///< -2 log L without constants
  std::int64_t iterations, evaluations;
  bool converged;
};

/// Something seen at each step, with its standard deviation.
struct Path {
  std::string name;
  Part::Kind kind;
  bool is_slope;
  std::vector<double> mean, sd;
};

/// Of one unit of a regressor, at the last step.
struct Effect {
  std::string name;
  double value, sd;
  double t() const { return value / sd; }
};

struct Future {
  std::vector<double> mean, sd;  ///< of observations
};

struct Analysis {
  Series series;
  Modelling modelling;
  double level = 0.95;
  bool json_covariances = false;
  std::string method;  ///< of the search, for people; "" where nothing was estimated

  std::vector<Parameter> parameters;
  std::optional<SearchResult> search;
  double one_pass = 0;  ///< -2 log L without constants, of one pass: what a search minimises
  double aic_ = 0, bic_ = 0;

  cotan::dlm::StateSpace space;
  std::optional<cotan::dlm::Fit> fit;     ///< every field, for --json, and of the toolbox's two passes
  std::vector<double> last_x, last_sd;    ///< states at the last step
  std::vector<double> fitted, fitted_sd;  ///< the smoothed signal F x and its standard deviation
  /// From the steps before and nothing else; NaN where these do not tell, as at the start.
  std::vector<double> predicted, predicted_sd;
  std::vector<double> residuals;  ///< what was observed less what was predicted, in standard deviations
  std::size_t left_out = 0;       ///< observed values that could not be predicted
  std::vector<Path> paths;
  std::optional<cotan::dlm::Forecast> forecast;
  Future future;

  Flags flags;
  std::vector<SeasonEvidence> seasons;  ///< that the series seems to have, where the model has none
  std::optional<Holdout> holdout;       ///< of a fit without the last values; everything else is of all of them

  TestResult autocorrelation, normality, variance;
  std::vector<std::string> notes;

  /// -2 log L with constants, and what it says about the choice of a model.
  double deviance() const;
  double aic() const { return aic_; }
  double bic() const { return bic_; }
  std::size_t estimated_count() const;
  std::vector<Effect> effects() const;
  /// Mean and standard deviation of the modelled scale, as a band on the original one.
  Band band(const std::vector<double>& mean, const std::vector<double>& sd, double probability) const;
  std::vector<double> original(const std::vector<double>& mean) const;
};

Analysis analyse(const Options& options);

}  // namespace apps
