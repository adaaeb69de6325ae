#include "backend/native/routines/conv_problem.hpp"

namespace cotan::native {

Convolution conv_problem(const ops::ConvParams& params, const StridedOperand& lhs, const StridedOperand& rhs,
                         const StridedOperand& out) {
  // Axis i of a spec: batch and feature, or the kernel's output and input features, then the spatial ones.
  const auto lhs_axis = [&](std::size_t i) { return params.lhs_spec[i]; };
  const auto rhs_axis = [&](std::size_t i) { return params.rhs_spec[i]; };
  const auto out_axis = [&](std::size_t i) { return params.out_spec[i]; };
  const std::int64_t batch = out.shape[out_axis(0)], in = rhs.shape[rhs_axis(1)],
                     features = rhs.shape[rhs_axis(0)] / params.groups();

  Convolution c;
  c.batch = {batch, lhs.strides[lhs_axis(0)], 0, out.strides[out_axis(0)]};
  c.in_features = {in, lhs.strides[lhs_axis(1)], rhs.strides[rhs_axis(1)], 0};
  c.out_features = {features, 0, rhs.strides[rhs_axis(0)], out.strides[out_axis(1)]};
  const ConvAxis& divided = params.batch_group_count > 1 ? c.batch : c.in_features;
  c.groups = {params.groups(), divided.size * divided.lhs, features * c.out_features.rhs,
              features * c.out_features.out};
  for (std::size_t i = 0; i < params.window_strides.size(); ++i)
    c.spatial.push_back({.lhs_size = lhs.shape[lhs_axis(2 + i)],
                         .window = rhs.shape[rhs_axis(2 + i)],
                         .out_size = out.shape[out_axis(2 + i)],
                         .stride = params.window_strides[i],
                         .padding_low = params.padding_low[i],
                         .lhs_dilation = params.lhs_dilation[i],
                         .rhs_dilation = params.rhs_dilation[i],
                         .lhs = lhs.strides[lhs_axis(2 + i)],
                         .rhs = rhs.strides[rhs_axis(2 + i)],
                         .out = out.strides[out_axis(2 + i)]});
  return c;
}

}  // namespace cotan::native
