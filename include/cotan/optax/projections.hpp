// The nearest point of a set: of a tree as one vector.
#pragma once
#include <cotan/optax/transformation.hpp>

namespace cotan::optax::projections {

/// The same functions on lists of leaves.
namespace flat {
Arrays non_negative(const Arrays& x);                                          ///< see projection_non_negative
Arrays box(const Arrays& x, const Arrays& lower, const Arrays& upper);         ///< see projection_box
Arrays hypercube(const Arrays& x, const Hyperparameter& scale);                ///< see projection_hypercube
Arrays simplex(const Arrays& x, const Hyperparameter& scale);                  ///< see projection_simplex
Arrays l1_sphere(const Arrays& x, const Hyperparameter& scale);                ///< see projection_l1_sphere
Arrays l1_ball(const Arrays& x, const Hyperparameter& scale);                  ///< see projection_l1_ball
Arrays l2_sphere(const Arrays& x, const Hyperparameter& scale);                ///< see projection_l2_sphere
Arrays l2_ball(const Arrays& x, const Hyperparameter& scale);                  ///< see projection_l2_ball
Arrays linf_ball(const Arrays& x, const Hyperparameter& scale);                ///< see projection_linf_ball
Arrays vector(const Arrays& x, const Arrays& a);                               ///< see projection_vector
Arrays hyperplane(const Arrays& x, const Arrays& a, const Hyperparameter& b);  ///< see projection_hyperplane
Arrays halfspace(const Arrays& x, const Arrays& a, const Hyperparameter& b);   ///< see projection_halfspace
}  // namespace flat

namespace detail {
template <class T, class F>
T project(const T& x, const std::source_location& where, const F& f) {
  const cotan::detail::CallSite site(where);
  return tree::unflatten(x, f(tree::leaves(x)));
}
}  // namespace detail

/// No element below 0.
template <tree::Tree T>
T projection_non_negative(const T& x, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, flat::non_negative);
}
/// Elements between those of `lower` and `upper`, trees of the same structure.
template <tree::Tree T>
T projection_box(const T& x, const T& lower, const T& upper, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where,
                         [&](const Arrays& a) { return flat::box(a, tree::leaves(lower), tree::leaves(upper)); });
}
/// Elements in [0, scale].
template <tree::Tree T>
T projection_hypercube(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::hypercube(a, scale); });
}
/// Elements that are not negative and have the sum `scale`.
template <tree::Tree T>
T projection_simplex(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::simplex(a, scale); });
}
/// The sum of |element| is `scale`.
template <tree::Tree T>
T projection_l1_sphere(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::l1_sphere(a, scale); });
}
/// The sum of |element| is at most `scale`.
template <tree::Tree T>
T projection_l1_ball(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::l1_ball(a, scale); });
}
/// The norm is `scale`.
template <tree::Tree T>
T projection_l2_sphere(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::l2_sphere(a, scale); });
}
/// The norm is at most `scale`.
template <tree::Tree T>
T projection_l2_ball(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::l2_ball(a, scale); });
}
/// Elements in [-scale, scale].
template <tree::Tree T>
T projection_linf_ball(const T& x, const Hyperparameter& scale = 1, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& a) { return flat::linf_ball(a, scale); });
}
/// A multiple of `a`.
template <tree::Tree T>
T projection_vector(const T& x, const T& a, const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& v) { return flat::vector(v, tree::leaves(a)); });
}
/// The product with `a` is `b`.
template <tree::Tree T>
T projection_hyperplane(const T& x, const T& a, const Hyperparameter& b,
                        const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& v) { return flat::hyperplane(v, tree::leaves(a), b); });
}
/// The product with `a` is at most `b`.
template <tree::Tree T>
T projection_halfspace(const T& x, const T& a, const Hyperparameter& b,
                       const std::source_location& where = COTAN_HERE) {
  return detail::project(x, where, [&](const Arrays& v) { return flat::halfspace(v, tree::leaves(a), b); });
}

}  // namespace cotan::optax::projections
