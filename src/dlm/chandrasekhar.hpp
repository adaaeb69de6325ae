// Likelihoods of models that are the same at every step and whose first state is distributed as if nothing had been
// observed before: stationary, or diffuse. There each covariance differs from the one before it by the square of one
// vector (the Chandrasekhar recursions of Morf, Sidhu and Kailath), so that a step moves vectors and no matrix. It is
// as exact as the filter.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

/// The part of such a likelihood that depends on a series and a model but not on parameters: where the steps that find
/// a diffuse first state lead. Their gains depend on no parameter.
struct Opening {
  /// Of the steps after those, [n, 1 + gaps]: the series with missing values filled in, and for each gap a series that
  /// is 1 there and 0 elsewhere. The filled values cancel: a gap is treated as an effect of unknown size.
  Array y;
  Array x;  ///< [1 + gaps, m]: states before the first of them
  /// Their covariance is a sum: of `spread_of_errors` [m, m] times V, and of `spread` [k, m, m] times how often W has
  /// `noise` [k, m, m] of each kind.
  Array spread_of_errors;
  std::optional<Array> noise, spread;
  /// Where there are stationary states: the effect on them of an error in each of the first steps, [m, steps].
  std::optional<Array> errors;
  std::int64_t settling;  ///< steps for which covariances are matrices, until they are small
  Array minus2_log;       ///< what the steps before them add to the likelihood
};
/// Nothing where the recursions do not apply, or do not pay. Parameters of the model may have any values.
std::optional<Opening> opening_of(const Model& model, const Parameters& parameters, const Array& y);
/// What each step after those says: innovations of all series, [n, 1 + gaps], and their variance, [n].
struct Innovations {
  Array v, S;
};
Innovations innovations(const StateSpace& model, const Opening& opening);
/// -2 log L without constants.
Array minus2_log_likelihood(const StateSpace& model, const Opening& opening);

}  // namespace cotan::dlm
