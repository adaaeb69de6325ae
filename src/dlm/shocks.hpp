// Shocks that a model leaves out: how large a wrong value at a step, or a jump of a state, would have been.
#pragma once
#include "dlm/observe.hpp"

namespace cotan::dlm {

/// Scores of shocks to a step and their variances; score / variance is the most likely size, 1 / variance its
/// variance.
struct Shocks {
  Array value, value_variance;  ///< [p]: of an observed value alone
  Array state, state_variance;  ///< [m]: of a state from this step on
};
/// From what was seen at a step, and what is said of its state by the steps after it (`later`) and with this
/// one (`now`).
Shocks shocks(const std::vector<Look>& looks, const Adjoint& later, const Adjoint& now);

/// Sizes and standard deviations of shocks at all steps, [n, k]; NaN where the data do not determine them.
std::pair<Array, Array> sizes_of_shocks(const Array& score, const Array& variance);

}  // namespace cotan::dlm
