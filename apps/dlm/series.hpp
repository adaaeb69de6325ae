// The series that a model is of: a column of a table, with its times, regressors and what is known of the
// future.
#pragma once
#include <string>
#include <vector>

#include "csv.hpp"
#include "options.hpp"

namespace apps {

struct Series {
  std::string name, title, value_label;
  std::string source;
  std::vector<double> y;  ///< [n], as written; NaN where missing
  bool log = false;       ///< the model is of log y

  std::string time_name;  ///< "" where rows are only counted
  DateForm form = DateForm::none;
  /// [n] and [steps of the forecast], as the time column counts them.
  std::vector<double> time, future_time;
  double step = 1;  ///< the most common one, or the middle one where none is common
  bool even = true, common = true;

  /// Known for the future too, [n + steps]; a column each.
  std::vector<std::vector<double>> regressors;
  std::vector<std::string> regressor_names;
  std::vector<double> scale;  ///< [n + steps]: standard deviations of the observations; empty: all the same

  std::vector<std::string> notes;  ///< what was decided on the way and is worth knowing

  std::size_t n() const { return y.size(); }
  std::size_t steps() const { return future_time.size(); }
  std::size_t observed() const;
  /// What the model sees: y, or its logarithm.
  std::vector<double> modelled() const;
  /// Times in steps from 0, future included; empty where all are even.
  std::vector<double> model_times() const;
  /// "1949-01", of a time or of a future one.
  std::string label(std::size_t i) const;
  /// "month", "5 days".
  std::string step_name() const;
  /// "every month", "mostly every day", "unevenly spaced".
  std::string spacing() const;
};

/// Reads the source of the options: a file, standard input or a built-in series.
Series read_series(const Options& options);

}  // namespace apps
