// Which steps of a series find a diffuse first state, and with which gains. No variance enters into that: it is known
// before parameters are, and computed on the host.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

struct DiffuseSteps {
  std::int64_t steps;         ///< until nothing of D0 is left, or all of them
  bool found;                 ///< is nothing left?
  std::vector<double> gains;  ///< [steps, m], of one series: D f / |f|² with f = Dᵀ Z; 0 where nothing is found
  double log_infinite;        ///< the sum of log |f|² over all values that find something
  double loss;  ///< how much larger rounding is in gains than in f: the most that Z saw of D, in units of |f|
};
/// Of a model and a series whose numbers are known.
DiffuseSteps find_diffuse(const StateSpace& model, const Array& y);

}  // namespace cotan::dlm
