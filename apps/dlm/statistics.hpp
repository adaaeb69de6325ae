// Is a series of standardised residuals white noise? Autocorrelation, tests, and the distributions behind
// them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace apps {

/// A statistic with its p-value; NaN where there are too few values.
struct TestResult {
  double statistic, p_value;
  double degrees = 0;  ///< of freedom
  std::size_t lags = 0;
};
/// Ljung and Box: no autocorrelation up to `lags`, after `estimated` parameters were fitted.
TestResult ljung_box(std::span<const double> residuals, std::size_t lags, std::size_t estimated);
/// Jarque and Bera: normal skewness and kurtosis.
TestResult jarque_bera(std::span<const double> residuals);
/// The squares of the last third beside those of the first; two-sided.
TestResult heteroscedasticity(std::span<const double> residuals);

/// Sample autocorrelation at the lags 0 to `lags`; pairs with a missing end are left out. NaN where there is
/// nothing to divide by: beyond the series, and everywhere but at lag 0 of a constant one.
std::vector<double> autocorrelation(std::span<const double> values, std::size_t lags);

/// The z with P(Z < z) = p for a standard normal Z; ±infinity at 1 and 0, NaN outside.
double normal_quantile(double p);

/// P(X > x) for X of chi-square with so many degrees of freedom, and for X of F.
double chi_square_tail(double x, double degrees);
double f_tail(double x, double degrees1, double degrees2);

}  // namespace apps
