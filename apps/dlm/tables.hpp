// What is said of an analysis in tables: on the terminal, in JSON, in CSV.
#pragma once
#include <string>

#include "analysis.hpp"

namespace apps {

/// "100 values, 1871 to 1970, every year; 2 rows have no value".
std::string series_in_words(const Analysis& analysis);
/// Digits that tell forecast, lower and upper apart.
int forecast_digits(const Analysis& analysis, int least);
/// A number with digits enough for its standard error.
std::string with_error(double value, double error);
/// "−442 ± 145"; a factor where the logarithm is modelled.
std::string size_of_flag(const Analysis& analysis, const Flag& flag);
/// "maximum likelihood by L-BFGS: 14 iterations, converged".
std::string search_in_words(const Analysis& analysis);
/// "p = 0.03", "p < 0.0001".
std::string p_text(double p);
/// What a test says at 5 %: `fine` or `doubt`, or that it says nothing.
std::string verdict(const TestResult& test, const std::string& fine, const std::string& doubt);

std::string summary_text(const Analysis& analysis);
std::string forecast_text(const Analysis& analysis);
std::string holdout_text(const Analysis& analysis);
std::string json_text(const Analysis& analysis);
std::string csv_text(const Analysis& analysis);

}  // namespace apps
