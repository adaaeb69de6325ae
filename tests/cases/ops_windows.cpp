// Reductions with functions of the user's, over axes and over windows, and patches.
#include <cotan/cotan.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using List = std::vector<std::int64_t>;

namespace {

lax::ConvPadding padding(const Params& p) {
  const Json& value = p["padding"];
  if (value.is_string()) return value.get<std::string>();
  return value.get<lax::ConvPadding::Pairs>();
}
List maybe_list(const Params& p, const char* key) { return p.has(key) ? p.list(key) : List{}; }

struct Reducer {
  lax::Combine function;
  Array init;
};
Reducer reducer(const Params& p, DType dtype) {
  const std::string name = p.text("computation");
  const bool real = cotan::is_inexact(dtype);
  const auto number = [&](double value) { return p.has("init") ? p.scalar("init") : Array(value).astype(dtype); };
  const auto bound = [&](const Array& all) { return p.has("init") ? p.scalar("init") : all; };
  if (name == "add") return {lax::add, number(0)};
  if (name == "mul") return {lax::mul, number(1)};
  if (name == "max") return {lax::max, bound(real ? number(-np::inf) : lax::reduce_max(np::zeros({0}, dtype), {0}))};
  if (name == "min") return {lax::min, bound(real ? number(np::inf) : lax::reduce_min(np::zeros({0}, dtype), {0}))};
  if (name == "bitwise_and") return {lax::bitwise_and, np::bitwise_not(np::zeros({}, dtype))};
  if (name == "bitwise_or") return {lax::bitwise_or, number(0)};
  if (name == "bitwise_xor") return {lax::bitwise_xor, number(0)};
  if (name == "second") return {[](const Array&, const Array& b) { return b; }, number(0)};
  return {[](const Array& a, const Array& b) { return np::logaddexp(a, b); }, number(-np::inf)};
}

lax::ConvPatchesOptions patches(const Params& p) {
  lax::ConvPatchesOptions out{
      p.list("window_strides"), padding(p), maybe_list(p, "lhs_dilation"), maybe_list(p, "rhs_dilation"), {}};
  if (p.has("dimension_numbers")) {
    const Json& layouts = p["dimension_numbers"];
    out.dimension_numbers = {layouts[0], layouts[1], layouts[2]};
  }
  return out;
}

}  // namespace

void add_window_ops(OpTable& t) {
  t["lax.reduce_window"] = one([](Args x, const Params& p) {
    const Reducer r = reducer(p, x[0].dtype());
    return lax::reduce_window(x[0], r.init, r.function, p.list("window_dimensions"),
                              {.window_strides = maybe_list(p, "window_strides"),
                               .padding = padding(p),
                               .base_dilation = maybe_list(p, "base_dilation"),
                               .window_dilation = maybe_list(p, "window_dilation")});
  });
  t["lax.reduce"] = one([](Args x, const Params& p) {
    const Reducer r = reducer(p, x[0].dtype());
    return lax::reduce(x[0], r.init, r.function, p.list("dimensions"));
  });
  t["lax.reduce_xor"] = one([](Args x, const Params& p) { return lax::reduce_xor(x[0], p.list("axes")); });
  t["lax.conv_general_dilated_patches"] = one([](Args x, const Params& p) {
    return lax::conv_general_dilated_patches(x[0], p.list("filter_shape"), patches(p));
  });
  t["lax.conv_general_dilated_local"] = one([](Args x, const Params& p) {
    return lax::conv_general_dilated_local(x[0], x[1], p.list("filter_shape"), patches(p));
  });
}

}  // namespace cases
