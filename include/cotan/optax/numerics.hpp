// Small numerics beside optimizers: safe norms, powers of matrices, least squares, noise.
#pragma once
#include <cotan/optax/tree_utils.hpp>

namespace cotan::optax {

/// count + 1, but no more than the dtype can hold.
Array safe_increment(const ArrayLike& count);
/// The same as safe_increment.
Array safe_int32_increment(const ArrayLike& count);
/// The norm of all elements, at least min_norm, with a gradient of 0 there.
Array safe_norm(const ArrayLike& x, const Hyperparameter& min_norm, const Axes& axis = {}, bool keepdims = false);
/// The root of the mean of squares, at least min_rms, with a gradient of 0 there.
Array safe_root_mean_squares(const ArrayLike& x, const Hyperparameter& min_rms);
/// The norm of all elements of a tree.
template <tree::Tree T>
Array global_norm(const T& t, const std::source_location& where = COTAN_HERE) {
  return tree_utils::tree_norm(t, 2, false, where);
}
/// See tree_utils::tree_update_moment.
template <tree::Tree T>
T update_moment(const T& updates, const T& moments, const Hyperparameter& decay, int order) {
  return tree_utils::tree_update_moment(updates, moments, decay, order);
}
/// See tree_utils::tree_update_moment_per_elem_norm.
template <tree::Tree T>
T update_moment_per_elem_norm(const T& updates, const T& moments, const Hyperparameter& decay, int order) {
  return tree_utils::tree_update_moment_per_elem_norm(updates, moments, decay, order);
}
/// See tree_utils::tree_update_infinity_moment.
template <tree::Tree T>
T update_infinity_moment(const T& updates, const T& moments, const Hyperparameter& decay, const Hyperparameter& eps) {
  return tree_utils::tree_update_infinity_moment(updates, moments, decay, eps);
}
/// See tree_utils::tree_bias_correction.
template <tree::Tree T>
T bias_correction(const T& moments, const Hyperparameter& decay, const ArrayLike& count) {
  return tree_utils::tree_bias_correction(moments, decay, count);
}

namespace detail {
Array scaled_gradient(const Array& x, const Hyperparameter& scale);
}
/// The same values; gradients come back times `scale`.
template <tree::Tree T>
T scale_gradient(const T& inputs, const Hyperparameter& scale) {
  Arrays out;
  for (const Array& a : tree::leaves(inputs)) out.push_back(detail::scaled_gradient(a, scale));
  return tree::unflatten(inputs, out);
}

/// Of power_iteration.
struct PowerIterationOptions {
  Array v0 = {};  ///< where it begins; by default drawn from [-1, 1) with `key`
  int num_iters = 100;
  double error_tolerance = 1e-6;
  Array key = {};  ///< by default that of 0
};
/// The eigenvalue of the largest size of a symmetric matrix, and its vector.
std::pair<Array, Array> power_iteration(const ArrayLike& matrix, const PowerIterationOptions& options = {});
/// Of matrix_inverse_pth_root.
struct PthRootOptions {
  int num_iters = 100;
  double ridge_epsilon = 1e-6, error_tolerance = 1e-6;
};
/// matrix^(-1/p) of a symmetric positive matrix by Newton's iteration, for p = 1, 2, 4, 8, and its error. In f32.
std::pair<Array, Array> matrix_inverse_pth_root(const ArrayLike& matrix, int p, const PthRootOptions& options = {});
/// The x of least |A x - b| without negative elements, by accelerated projected gradients; b is [m] or [m, k].
Array nnls(const ArrayLike& A, const ArrayLike& b, int iters, const std::optional<Hyperparameter>& L = std::nullopt);

/// Independent normal numbers by mean and logarithm of the standard deviation; what multi_normal gives.
class MultiNormalDiagFromLogScale {
 public:
  MultiNormalDiagFromLogScale(const ArrayLike& loc, const ArrayLike& log_scale);
  /// Draws of shape (shape…, that of the parameters).
  Array sample(const Shape& shape, const ArrayLike& key) const;
  /// The logarithm of the density, summed over the axes of the parameters.
  Array log_prob(const ArrayLike& x) const;
  /// The logarithm of the standard deviation.
  const Array& log_scale() const { return log_scale_; }
  /// Mean and logarithm of the standard deviation.
  std::vector<Array> params() const { return {mean_, log_scale_}; }

 private:
  Array mean_, log_scale_;
};
/// That distribution.
MultiNormalDiagFromLogScale multi_normal(const ArrayLike& loc, const ArrayLike& log_scale);

}  // namespace cotan::optax
