// Reductions of tests/torch/cases.
#include <limits>

#include "torch/ops.hpp"

namespace torch_ops {

namespace {

torch::Dims dims(const Params& p) {
  if (!p.has("dim")) return {};
  return p["dim"].is_array() ? torch::Dims(p.ints("dim")) : torch::Dims(p.axis("dim"));
}
bool keep(const Params& p) { return p.flag("keepdim"); }
std::optional<torch::DType> dtype(const Params& p) { return p.has("dtype") ? std::optional(p.dtype()) : std::nullopt; }

#define OVER(name) {#name, [](Tensors x, const Params& p) { return torch::name(x[0], dims(p), keep(p)); }}
#define SPREAD(name) \
  {#name, [](Tensors x, const Params& p) { return torch::name(x[0], dims(p), p.real("correction", 1), keep(p)); }}
#define WHERE(name) {#name, [](Tensors x, const Params& p) { return torch::name(x[0], p.maybe_axis("dim"), keep(p)); }}
#define EXTREMUM(name)                                 \
  {#name, [](Tensors x, const Params& p) -> Results {  \
     if (!p.has("dim")) return torch::name(x[0]);      \
     return torch::name(x[0], p.axis("dim"), keep(p)); \
   }}
#define ALONG(name) {#name, [](Tensors x, const Params& p) { return torch::name(x[0], p.axis("dim")); }}

// clang-format off
const AddOps added{
    OVER(nansum), OVER(nanmean), OVER(amax), OVER(amin), OVER(any), OVER(all), OVER(logsumexp),
    SPREAD(var), SPREAD(std), SPREAD(var_mean), SPREAD(std_mean), WHERE(argmax), WHERE(argmin), WHERE(aminmax),
    EXTREMUM(max), EXTREMUM(min), EXTREMUM(median), ALONG(cummax), ALONG(cummin), ALONG(logcumsumexp),
    {"sum", [](Tensors x, const Params& p) { return torch::sum(x[0], dims(p), keep(p), dtype(p)); }},
    {"mean", [](Tensors x, const Params& p) { return torch::mean(x[0], dims(p), keep(p), dtype(p)); }},
    {"prod", [](Tensors x, const Params& p) {
       return p.has("dim") ? torch::prod(x[0], p.axis("dim"), keep(p), dtype(p)) : torch::prod(x[0], dtype(p));
     }},
    {"count_nonzero", [](Tensors x, const Params& p) { return torch::count_nonzero(x[0], dims(p)); }},
    {"norm", [](Tensors x, const Params& p) {
       const auto infinite = std::numeric_limits<double>::infinity();
       const bool text = p.has("p") && p["p"].is_string();
       return torch::norm(x[0], text ? (p.text("p") == "inf" ? infinite : -infinite) : p.real("p", 2), dims(p), keep(p));
     }},
    {"kthvalue", [](Tensors x, const Params& p) { return torch::kthvalue(x[0], p.integer("k"), p.axis("dim", -1), keep(p)); }},
    {"cumsum", [](Tensors x, const Params& p) { return torch::cumsum(x[0], p.axis("dim"), dtype(p)); }},
    {"cumprod", [](Tensors x, const Params& p) { return torch::cumprod(x[0], p.axis("dim"), dtype(p)); }},
    {"diff", [](Tensors x, const Params& p) { return torch::diff(x[0], p.axis("n", 1), p.axis("dim", -1)); }},
};
// clang-format on

}  // namespace

}  // namespace torch_ops
