// Likelihoods of models that are the same at every step, and whose first state is distributed as the next one would be had
// nothing been seen: stationary, or diffuse. There a covariance differs from the one before it by the square of one vector (the
// Chandrasekhar recursions of Morf, Sidhu and Kailath), so that a step moves vectors and no matrix. Nothing is left out: it is
// as exact as the filter.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

/// What such a likelihood needs to know of a series and a model, whatever its parameters are.
struct Opening {
  /// [n, 1 + gaps]: the series with something in the place of what is missing, and for each gap a series that is 1 there and
  /// else 0. Whatever was put there is taken out again: a gap is an effect of which nothing is known.
  Array y;
  /// Of the first steps, which are filtered with matrices: gains [k, m] of those that find a diffuse first state, and which do.
  Array gains, finds;
  Array minus2_log;  ///< what these add to the likelihood
};
/// None where the recursions are not possible, or not worth it. Parameters of the model may be any.
std::optional<Opening> opening_of(const Model& model, const Parameters& parameters, const Array& y);
/// -2 log L without constants.
Array minus2_log_likelihood(const StateSpace& model, const Opening& opening);

}  // namespace cotan::dlm
