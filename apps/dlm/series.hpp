// The series that a model is of: a column of a table, with its times, regressors and what is known of the
// future.
#pragma once
#include <string>
#include <vector>

#include "data_options.hpp"
#include "roles.hpp"

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
  double written = 0;  ///< the unit of the last digit of a time, as in Column
  double step = 1;     ///< the most common one, or the middle one where none is common
  TimeSteps counted = TimeSteps::calendar;
  std::vector<double> positions;  ///< [n + steps]: where times stand, in steps from the first one
  bool even = true;               ///< all are one step apart
  bool common = true;
  bool on_grid = true;     ///< all times are whole steps from the first one
  std::size_t absent = 0;  ///< steps between the first and the last time that have no row, where on_grid

  std::vector<ColumnUse> uses;  ///< of the file's columns

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
  /// Positions; empty where all are even.
  std::vector<double> model_times() const { return even ? std::vector<double>() : positions; }
  /// "1949-01", of a time or of a future one.
  std::string label(std::size_t i) const;
  /// "month", "5 days".
  std::string step_name() const;
  /// "every month", "mostly every day", "unevenly spaced".
  std::string spacing() const;

  // What was taken from the file, in words.
  /// "column "date" (dd/mm/yyyy)", or that the rows are counted, and why.
  std::string time_in_words() const;
  std::string values_in_words() const;
  /// ""id" (counts the rows), "note" (text)"; "" where every column is used.
  std::string ignored_in_words() const;
  /// "124 of 730 days have no row: treated as missing; 3 rows have no value"; "none missing".
  std::string gaps_in_words() const;
};

/// Reads the source of the options: a file, standard input or a built-in series.
Series read_series(const DataOptions& options);
/// Of a table that has been read.
Series series_of(const Table& table, const DataOptions& options);

}  // namespace apps
