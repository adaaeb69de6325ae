// What is known of the first state of a model made of blocks.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

/// Coefficients of an autoregression -> partial autocorrelations, which are all within ±1 where it is stationary; and
/// back.
Array partial_of(const Array& coefficients);
Array coefficients_of(const Array& partial);

/// C = G C Gᵀ + W of an autoregression: G has its coefficients (`name`) in the first column. Raises where the process
/// is known not to be stationary; NaN where that shows later.
Array stationary_covariance(const Array& G, const Array& W, const std::string& name);

/// x0 and C0 of the toolbox, or those that the model gives.
void take_toolbox_first_state(StateSpace& s, const Model& model, const Array& y);
/// D0 of the states with a 1, and the steps that find it where `y` and the matrices are known.
void take_diffuse_states(StateSpace& s, const std::vector<double>& diffuse, const Array& y);

}  // namespace cotan::dlm
