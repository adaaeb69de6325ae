// cotan::lax: sorting, the largest elements, and stop_gradient.
#pragma once
#include <cotan/array.hpp>
#include <utility>
#include <vector>

namespace cotan::lax {

/// @name Sorting, and stop_gradient
/// @{
/// Sorts all operands together, along an axis, by the first `num_keys` of them; stable unless told otherwise. NaN last.
std::vector<Array> sort(const ArrayList& operands, int axis = -1, int num_keys = 1, bool is_stable = true);
/// `values` in the order that sorts `keys`, after those.
std::pair<Array, Array> sort_key_val(const ArrayLike& keys, const ArrayLike& values, int dimension = -1,
                                     bool is_stable = true);
/// The k largest along an axis, and their indices.
std::pair<Array, Array> top_k(const ArrayLike& a, int k, int axis = -1);
/// The k largest floats along an axis, and their indices. JAX may miss some on devices where that is faster; here all
/// are found.
std::pair<Array, Array> approx_max_k(const ArrayLike& a, int k, int reduction_dimension = -1);
/// The k smallest.
std::pair<Array, Array> approx_min_k(const ArrayLike& a, int k, int reduction_dimension = -1);

/// The value itself, a constant to differentiation.
Array stop_gradient(const ArrayLike& a);
/// @}

}  // namespace cotan::lax
