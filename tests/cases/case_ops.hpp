// What each op name of the case table means in cotan: a function of the case's arrays and params.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cases/params.hpp"

namespace cases {

using Args = std::span<const Array>;
using OpFunction = std::function<Arrays(Args, const Params&)>;
using OpTable = std::map<std::string, OpFunction>;

/// Adapts functions that return one Array.
template <class F>
OpFunction one(F f) {
  return [f](Args x, const Params& p) { return Arrays{f(x, p)}; };
}

void add_elementwise_ops(OpTable& table);
void add_reduction_ops(OpTable& table);
void add_shape_ops(OpTable& table);
void add_conv_ops(OpTable& table);
void add_window_ops(OpTable& table);
void add_lax_ops(OpTable& table);
void add_indexing_ops(OpTable& table);
void add_linalg_ops(OpTable& table);
void add_linalg_more_ops(OpTable& table);
void add_scipy_linalg_ops(OpTable& table);
void add_fft_ops(OpTable& table);
void add_complex_ops(OpTable& table);
void add_random_ops(OpTable& table);
void add_more_random_ops(OpTable& table);
void add_composite_ops(OpTable& table);
void add_nn_ops(OpTable& table);
void add_optax_ops(OpTable& table);
void add_statistics_ops(OpTable& table);
void add_editing_ops(OpTable& table);
void add_numpy_ops(OpTable& table);
void add_special_ops(OpTable& table);
void add_complex_special_ops(OpTable& table);
void add_stats_ops(OpTable& table);
void add_image_ops(OpTable& table);
void add_signal_ops(OpTable& table);
void add_spatial_ops(OpTable& table);
void add_scipy_ops(OpTable& table);

/// The case as a function of its arrays; raises if no op has that name.
cotan::FlatFunction lookup(const Case& c);

}  // namespace cases
