// What a convolution is, beside its operands: the parameters of conv_general_dilated as one value.
#pragma once
#include "ops/ops.hpp"

namespace cotan::ops {

/// A spec says which axis of an array is (batch, feature, spatial…); for the kernel, (out feature, in
/// feature, spatial…). The lists have one entry per spatial axis, in the order of the specs.
struct ConvParams {
  Ints lhs_spec, rhs_spec, out_spec;
  Ints window_strides, padding_low, padding_high, lhs_dilation, rhs_dilation;
  std::int64_t feature_group_count = 1, batch_group_count = 1;

  ConvParams() = default;
  explicit ConvParams(const Params& p);
  Params params() const;
  /// The groups' number, whichever axis they divide: at most one of the two counts is not 1.
  std::int64_t groups() const { return feature_group_count * batch_group_count; }
};

Array conv_general_dilated(const Array& lhs, const Array& rhs, const ConvParams& c);

}  // namespace cotan::ops
