// Durbin and Koopman's smoothing errors u and r with their variances D and N: V u and W r are the smoothed
// disturbances, and u / D and r / N are de Jong and Penzer's estimates of shocks that are not in the model, even where
// V or W is 0.
#include "dlm/shocks.hpp"

#include <cmath>
#include <limits>

namespace cotan::dlm {

namespace np = numpy;

Shocks shocks(const std::vector<Look>& looks, const Adjoint& later, const Adjoint& now) {
  std::vector<Array> score, variance;
  Adjoint after = later;
  for (std::size_t i = looks.size(); i-- > 0;) {
    const Look& look = looks[i];
    score.insert(score.begin(), look.weight * look.v - np::sum(look.K * after.r));
    variance.insert(variance.begin(), look.weight + np::sum(look.K * times(after.N, look.K)));
    if (i > 0) after = observed_back({look}, after);
  }
  return {np::stack(score), np::stack(variance), now.r, np::diagonal(now.N)};
}

std::pair<Array, Array> sizes_of_shocks(const Array& score, const Array& variance) {
  const double rounding =
      1e4 * (variance.dtype() == f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon());
  const Array tells = variance > rounding * np::max(variance, 0, true);
  const Array known = np::where(tells, variance, 1.0);
  return {np::where(tells, score / known, NAN), np::where(tells, 1.0 / np::sqrt(known), NAN)};
}

}  // namespace cotan::dlm
