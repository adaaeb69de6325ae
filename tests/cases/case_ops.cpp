#include "cases/case_ops.hpp"

#include <stdexcept>

namespace cases {

cotan::FlatFunction lookup(const Case& c) {
  static const OpTable table = [] {
    OpTable out;
    for (auto add : {add_elementwise_ops, add_reduction_ops,   add_shape_ops,  add_conv_ops,    add_indexing_ops,
                     add_linalg_ops,      add_complex_ops,     add_fft_ops,    add_random_ops,  add_more_random_ops,
                     add_composite_ops,   add_window_ops,      add_lax_ops,    add_nn_ops,      add_optax_ops,
                     add_statistics_ops,  add_editing_ops,     add_numpy_ops,  add_special_ops, add_complex_special_ops,
                     add_stats_ops,       add_image_ops,       add_signal_ops, add_spatial_ops, add_scipy_ops,
                     add_linalg_more_ops, add_scipy_linalg_ops})
      add(out);
    return out;
  }();
  const auto found = table.find(c.op);
  if (found == table.end())
    throw std::runtime_error("tests/cases names the op " + c.op + " but case_ops has no function for it");
  return [&op = found->second, params = c.params](Args x) { return op(x, Params(params)); };
}

}  // namespace cases
