// What the algorithms share: matrices of a step, missing values, small products.
#pragma once
#include <cotan/dlm.hpp>

namespace cotan::dlm {

inline Array transposed(const Array& a) { return numpy::swapaxes(a, -1, -2); }
/// A matrix times a vector; leading axes are batches.
inline Array times(const Array& a, const Array& x) {
  return numpy::squeeze(numpy::matmul(a, numpy::expand_dims(x, -1)), -1);
}
inline Array outer(const Array& a, const Array& b) { return numpy::expand_dims(a, -1) * numpy::expand_dims(b, -2); }
inline Array identity_like(const Array& square) { return numpy::eye(square.shape().back(), {}, 0, square.dtype()); }
/// A C Aᵀ.
inline Array sandwich(const Array& a, const Array& c) { return numpy::matmul(numpy::matmul(a, c), transposed(a)); }
inline Array symmetric(const Array& a) { return 0.5 * (a + transposed(a)); }

/// Steps after the first, and the first before others.
inline Array without_first(const Array& a) { return a(range(1, none)); }
inline Array with_first(const Array& first, const Array& rest) {
  return numpy::concatenate({numpy::expand_dims(first, 0), rest}, 0);
}

/// By step: what the step before has, and zeros for the first.
inline Array a_step_later(const Array& a) { return with_first(numpy::zeros_like(a[0]), a(range(0, a.shape(0) - 1))); }
/// The same for matrices that may be one for all steps.
inline Array matrix_a_step_later(const Array& a) { return a.ndim() == 3 ? a_step_later(a) : a; }

/// A series as [n, p], missing values as 0, and where there are values, as 0 and 1.
struct Observations {
  Array y, seen;
};
/// Checks that shapes and dtypes fit each other. `steps`: of the series.
StateSpace checked(const StateSpace& model, const Array& y);
Observations observations(const StateSpace& model, const Array& y);

/// The matrices of one step, or of all steps with a leading axis.
struct Matrices {
  Array G, F, W, V;
};
/// Per-step matrices among constant ones, for scans: `inputs` has those that change.
class StepMatrices {
 public:
  explicit StepMatrices(const StateSpace& model);
  std::vector<Array> inputs(std::int64_t steps) const;
  Matrices of(const std::vector<Array>& slices) const;

 private:
  Matrices all_;
};
/// With a leading axis of steps, or none.
Array of_steps(const Array& matrix, std::int64_t from, std::int64_t to);

/// A state as a normal distribution.
struct Prediction {
  Array x, C;
};
/// v' S⁻¹ v + log det S of what is seen.
Array minus2_log_terms(const Array& v, const Array& S, const Array& seen);

/// F without the rows of what is missing; the covariance of what is missing is 1, apart from everything else.
Matrices only_seen(const Matrices& m, const Array& seen);
/// S⁻¹ b for a small positive definite S; b is a matrix.
Array solve_positive(const Array& s, const Array& b);

/// The steps from `from` on, before `to`; the first state is left as it is.
StateSpace between(const StateSpace& model, std::int64_t from, std::int64_t to);

/// The same for a likelihood that is known, with constants.
Criteria criteria_of(const StateSpace& model, const Array& y, const Array& minus2_log,
                     std::int64_t estimated_parameters);

Filtered filter_associative(const StateSpace& model, const Observations& o);
/// One after the other, or, where there are the observations of the step before each step, by associative_scan.
Filtered filter_square_root(const StateSpace& model, const Observations& o, const Observations* before = nullptr);
Smoothed smooth_associative(const StateSpace& model, const Observations& o);
Smoothed smooth_square_root(const StateSpace& model, const Observations& o, const Observations* before = nullptr);

/// Where the first state goes by itself, G(t-1) … G(0) x0 at step t: [n, m], of the step before each step.
Array path_a_step_later(const StateSpace& model, std::int64_t n);

/// From predicted states: innovations, their covariances and gains.
Filtered with_innovations(const StateSpace& model, const Observations& o, const Array& x, const Array& C);

}  // namespace cotan::dlm
