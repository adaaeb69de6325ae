// Likelihoods of models that are the same at every step, and whose first state is distributed as the next one would be
// had nothing been seen: stationary, or diffuse. There a covariance differs from the one before it by the square of one
// vector (the Chandrasekhar recursions of Morf, Sidhu and Kailath), so that a step moves vectors and no matrix. Nothing
// is left out: it is as exact as the filter.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

/// What such a likelihood needs to know of a series and a model, whatever its parameters are: where the steps that find
/// a diffuse first state lead, which they do with gains that no parameter changes.
struct Opening {
  /// Of the steps after those, [n, 1 + gaps]: the series with something in the place of what is missing, and for each
  /// gap a series that is 1 there and else 0. Whatever was put there is taken out again: a gap is an effect of which
  /// nothing is known.
  Array y;
  Array x;  ///< [1 + gaps, m]: states before the first of them
  /// Their covariance is a sum: of `spread_of_errors` [m, m] times V, and of `spread` [k, m, m] times how often W has
  /// `noise` [k, m, m] of each kind.
  Array spread_of_errors;
  std::optional<Array> noise, spread;
  /// Where there are stationary states: what errors of each of the steps that find the others did to those, [m, steps].
  std::optional<Array> errors;
  std::int64_t settling;  ///< steps for which covariances are matrices, until they are small
  Array minus2_log;       ///< what the steps before them add to the likelihood
};
/// None where the recursions are not possible, or not worth it. Parameters of the model may be any.
std::optional<Opening> opening_of(const Model& model, const Parameters& parameters, const Array& y);
/// What each step after those says: innovations of all series, [n, 1 + gaps], and their variance, [n].
struct Innovations {
  Array v, S;
};
Innovations innovations(const StateSpace& model, const Opening& opening);
/// -2 log L without constants.
Array minus2_log_likelihood(const StateSpace& model, const Opening& opening);

}  // namespace cotan::dlm
