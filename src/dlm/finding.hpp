// How the steps that find a diffuse first state transform states, errors and noise. Their gains depend on no parameter,
// so that all of it is linear, and computed once, on the host.
#pragma once
#include "dlm/diffuse_steps.hpp"

namespace cotan::dlm {

using Numbers = std::vector<double>;

/// Of a model of one series that is the same at every step.
class Finding {
 public:
  Finding(const StateSpace& s, const DiffuseSteps& found);

  /// After the last of them, where errors have the variance V, and states the noise W (empty: none): [m, m].
  Array covariance(double V, const Numbers& W) const;
  /// Of series side by side, [n, series]; as rows, [series, m].
  Array states(const Array& y) const;
  /// Each column: the effect of an error of 1 in one of the steps on the estimate, [m, steps].
  Array errors() const;
  /// Steps after them until covariances are near their limit. The recursions subtract from covariances, and would keep
  /// the rounding errors of large first ones; where a few steps see much less than a period, this takes some time.
  std::int64_t settling(std::int64_t most) const;

 private:
  const double* gain(std::size_t t) const { return found_.gains.data() + t * m_; }
  /// G X and Zᵀ X of a matrix with so many columns.
  Numbers moved_on(const Numbers& X, std::size_t columns) const;
  Numbers seen(const Numbers& X, std::size_t columns) const;
  /// States of each column after a step that sees `y` with this gain.
  Numbers step(Numbers X, const double* y, const double* gain, std::size_t columns) const;
  /// The covariance after a step. No gain: the best one.
  Numbers step_of_covariance(Numbers C, const double* gain, double V, const Numbers& W) const;
  Numbers covariance_of(double V, const Numbers& W) const;

  const DiffuseSteps& found_;
  std::size_t m_, steps_;
  Numbers G_, Z_;
};

}  // namespace cotan::dlm
