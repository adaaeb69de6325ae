// One step of the exact filter (Koopman and Durbin): observed values one after the other, of a state of which nothing
// may be known in some directions. Forwards for filters, backwards for smoothers.
#pragma once
#include "dlm/transition.hpp"

namespace cotan::dlm {

/// What is known of a state before a step: N(x, C) + D δ, δ diffuse.
struct Belief {
  Array x, C;
  std::optional<Array> D = {};     ///< [m, d]; columns that were found are exactly 0
  std::optional<Array> size = {};  ///< [m]: the most that the rows of D have been, which rounding is measured by
};
Belief first_belief(const StateSpace& model);

/// What one observed value says.
struct Look {
  Array Z;         ///< [m]: what it sees of the state
  Array v, S, K;   ///< innovation, its (finite) variance, and the gain of the state before it moves on
  Array M;         ///< C Z
  Array weight;    ///< 1 / S where it is seen and S is all of its variance, else 0
  Array infinite;  ///< its infinite variance: |Dᵀ Z|², or 1 where `finds` is not so
  Array finds;     ///< is it seen, and does it find a direction of D?
  Array seen;      ///< is it seen, and predicted with a finite variance? As 0 and 1
};
struct Observed {
  std::vector<Look> looks;
  Belief after;
  Array minus2_log;  ///< without constants
};
Observed observe(const Matrices& m, const Belief& before, const Array& y, const Array& seen);
/// To the next step.
Belief moved_on(const Transition& transition, const Matrices& m, const Belief& now);

/// What the steps after a state say about it: of the finite variance, and where D is left, of the infinite one.
struct Adjoint {
  Array r, N;
  std::optional<Array> r1 = {}, N1 = {}, N2 = {};
};
Adjoint nothing_after(const StateSpace& model);
/// With the terms that a state with D needs; they are zero after the last of it was found.
Adjoint with_diffuse_terms(const Adjoint& a);
/// Before the state moved on, and before its values were seen.
Adjoint moved_back(const Transition& transition, const Matrices& m, const Adjoint& after);
Adjoint observed_back(const std::vector<Look>& looks, const Adjoint& after);
/// The state given everything; variances of what nothing was ever seen of are infinite.
Prediction smoothed(const Belief& before, const Adjoint& a);
/// Combinations Z [k, m] of it, and their variances, without the whole of its covariance.
struct Combined {
  Array mean, variance;  ///< [k]
};
Combined combined(const Array& Z, const Belief& before, const Adjoint& a);
/// C with infinite variances of states in D.
Array with_infinite(const Belief& b);
/// Of observed values: is their variance infinite?
Array unknown_values(const Array& F, const Belief& b);

/// Scans over steps: `inputs` beside others, and the matrices of a step out of them.
class StepInputs {
 public:
  StepInputs(const StateSpace& model, const Observations& o) : matrices_(model) {
    all = {o.y, o.seen};
    for (const Array& a : matrices_.inputs(o.y.shape()[0])) all.push_back(a);
  }
  Matrices matrices(const std::vector<Array>& in) const { return matrices_.of({in.begin() + 2, in.end()}); }
  std::vector<Array> all;

 private:
  StepMatrices matrices_;
};

/// How the backward pass of a filter keeps its covariances: few of them where all would be too many.
ScanCheckpoint kept_steps(const StateSpace& model, std::int64_t steps);

struct ExactPass {
  Belief each;  ///< before each step, with a leading axis of steps
  Belief end;
  Array minus2_log;
};
/// One step after the other, from the model's first state or another.
ExactPass filter_exact(const StateSpace& model, const Observations& o, const std::optional<Belief>& first = {});
/// Innovations of predictions, infinite variances where they are.
Filtered filtered_of(const StateSpace& model, const Observations& o, const Belief& each);
struct ExactSmoothed {
  Prediction each;
  Adjoint start;
};
ExactSmoothed smooth_exact(const StateSpace& model, const Observations& o, const Belief& each, const Adjoint& end);

/// The steps that find a diffuse first state, exactly, and those after it.
struct Split {
  StateSpace first, rest;  ///< the rest has no first state yet
  Observations first_o, rest_o;
  bool has_rest;

  Split(const StateSpace& model, const Observations& o);
  /// The state when the first steps end. If something of D0 is left, against expectation, the result is NaN.
  void go_on_from(const Belief& end);
};

/// The state after the last step, whatever is left to find of it then.
Belief after_last(const StateSpace& model, const Observations& o);

}  // namespace cotan::dlm
