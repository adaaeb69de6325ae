// Convolutions.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace lax = cotan::lax;

namespace {

lax::ConvPadding padding(const Params& p) {
  const Json& value = p["padding"];
  if (value.is_string()) return value.get<std::string>();
  return value.get<lax::ConvPadding::Pairs>();
}
std::vector<std::int64_t> maybe_list(const Params& p, const char* key) {
  return p.has(key) ? p.list(key) : std::vector<std::int64_t>{};
}
lax::ConvDimensionNumbers dimension_numbers(const Params& p) {
  if (!p.has("dimension_numbers")) return {};
  const Json& layouts = p["dimension_numbers"];
  return {layouts[0], layouts[1], layouts[2]};
}

}  // namespace

void add_conv_ops(OpTable& t) {
  t["lax.conv_general_dilated"] = one([](Args x, const Params& p) {
    return lax::conv_general_dilated(
        x[0], x[1],
        {.window_strides = p.list("window_strides"),
         .padding = padding(p),
         .lhs_dilation = maybe_list(p, "lhs_dilation"),
         .rhs_dilation = maybe_list(p, "rhs_dilation"),
         .dimension_numbers = dimension_numbers(p),
         .feature_group_count = p.integer("feature_group_count", 1),
         .batch_group_count = p.integer("batch_group_count", 1),
         .preferred_element_type =
             p.has("preferred_element_type") ? std::optional(p.dtype("preferred_element_type")) : std::nullopt});
  });
  t["lax.conv"] =
      one([](Args x, const Params& p) { return lax::conv(x[0], x[1], p.list("window_strides"), padding(p)); });
  t["lax.conv_with_general_padding"] = one([](Args x, const Params& p) {
    return lax::conv_with_general_padding(x[0], x[1], p.list("window_strides"), padding(p), p.list("lhs_dilation"),
                                          p.list("rhs_dilation"));
  });
  t["lax.conv_transpose"] = one([](Args x, const Params& p) {
    return lax::conv_transpose(x[0], x[1],
                               {.strides = p.list("strides"),
                                .padding = padding(p),
                                .rhs_dilation = maybe_list(p, "rhs_dilation"),
                                .dimension_numbers = dimension_numbers(p),
                                .transpose_kernel = p.flag("transpose_kernel"),
                                .use_consistent_padding = p.flag("use_consistent_padding")});
  });
}

}  // namespace cases
