// How well the last values of a series are forecast from those before them, beside a forecast that needs no
// model.
#pragma once
#include <string>
#include <vector>

#include "chart.hpp"
#include "series.hpp"

namespace apps {

/// Of forecasts, on the original scale; NaN where nothing can be told.
struct Accuracy {
  double mae, rmse;  ///< mean absolute error, root of the mean squared one
  double mase;       ///< mae over that of the naive forecast one season (or step) ahead within the values before
};

struct Holdout {
  std::size_t first = 0, rows = 0;      ///< rows of the series from the first value held back to the last one
  std::size_t values = 0;               ///< those of them that were observed
  std::vector<double> forecast, naive;  ///< [rows]
  std::vector<Band> bands;              ///< of the forecast, [rows] each, the narrow one first
  std::vector<std::size_t> inside;      ///< values inside of each band
  std::size_t season = 0;               ///< that the naive forecast repeats; 0: it repeats the last value
  Accuracy of_model, of_naive;
  bool converged = true;  ///< the search on the values before
};

/// The row of the `count`-th last value; complains where a series has too few.
std::size_t first_held_back(const Series& series, std::size_t count);
/// The series that ends before a row; what was held back is its future.
Series ending_before(const Series& series, std::size_t row);
/// Scores a forecast of the rows from `row` on.
Holdout score(const Series& series, std::size_t row, const std::vector<double>& forecast,
              const std::vector<Band>& bands, const std::vector<Season>& seasons);

/// "the same time one season (12 steps) before", "the last value before".
std::string naive_in_words(const Holdout& holdout);
/// What the scores say, in sentences.
std::string verdict_in_words(const Holdout& holdout);

}  // namespace apps
