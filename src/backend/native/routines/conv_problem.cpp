#include "backend/native/routines/conv_problem.hpp"

#include "backend/native/routines/routine_call.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"

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

namespace {

void convolve(const RoutineCall& call) {
  const auto &lhs = call.routine.operands[0], &rhs = call.routine.operands[1];
  const Shape& out = call.program.buffers[static_cast<std::size_t>(call.routine.results[0])].type.shape;
  const Convolution problem = conv_problem(ops::ConvParams(call.routine.params), {lhs.type.shape, lhs.strides},
                                           {rhs.type.shape, rhs.strides}, {out, ops::strides_of(out)});
  dispatch(lhs.type.dtype, [&]<class T>() {
    conv<T>(problem, reinterpret_cast<const T*>(call.operand(0)), reinterpret_cast<const T*>(call.operand(1)),
            reinterpret_cast<T*>(call.result(0)));
  });
}

bool always(std::span<const AbstractValue>, const Params&) { return true; }

}  // namespace

const RuleFor<NativeRoutine> runs_conv{{&ops::conv_general_dilated_p},
                                       {.run = convolve, .takes_strides = true, .pays = always}};

}  // namespace cotan::native
