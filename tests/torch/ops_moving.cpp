// Joining, moving, gathering and sorting ops of tests/torch/cases.
#include "torch/ops.hpp"

namespace torch_ops {

namespace {

std::vector<Tensor> list(Tensors x) { return {x.begin(), x.end()}; }
std::vector<int> dims(const Params& p) { return p.has("dims") ? p.ints("dims") : std::vector<int>(); }
int dim(const Params& p, int otherwise = -1) { return p.axis("dim", otherwise); }

#define LIST(name) {#name, [](Tensors x, const Params&) { return torch::name(list(x)); }}
#define LIST_DIM(name) {#name, [](Tensors x, const Params& p) { return torch::name(list(x), dim(p, 0)); }}
#define DIAGONAL(name) {#name, [](Tensors x, const Params& p) { return torch::name(x[0], p.axis("diagonal", 0)); }}

// clang-format off
const AddOps joining{
    LIST_DIM(cat), LIST_DIM(concat), LIST_DIM(stack), LIST(hstack), LIST(vstack), LIST(dstack),
    {"meshgrid", [](Tensors x, const Params& p) { return torch::meshgrid(list(x), p.text("indexing", "ij")); }},
    DIAGONAL(tril), DIAGONAL(triu), DIAGONAL(diag),
    {"diag_embed", [](Tensors x, const Params& p) {
       return torch::diag_embed(x[0], p.axis("offset", 0), p.axis("dim1", -2), p.axis("dim2", -1));
     }},
    {"roll", [](Tensors x, const Params& p) { return torch::roll(x[0], p.list("shifts"), dims(p)); }},
    {"flip", [](Tensors x, const Params& p) { return torch::flip(x[0], dims(p)); }},
    {"fliplr", [](Tensors x, const Params&) { return torch::fliplr(x[0]); }},
    {"flipud", [](Tensors x, const Params&) { return torch::flipud(x[0]); }},
    {"rot90", [](Tensors x, const Params& p) { return torch::rot90(x[0], p.axis("k", 1), p.has("dims") ? dims(p) : std::vector<int>{0, 1}); }},
    {"repeat", [](Tensors x, const Params& p) { return torch::repeat(x[0], p.list("repeats")); }},
    {"tile", [](Tensors x, const Params& p) { return torch::tile(x[0], p.list("repeats")); }},
    {"repeat_interleave", [](Tensors x, const Params& p) {
       if (x.size() > 1) return torch::repeat_interleave(x[0], x[1], p.maybe_axis("dim"));
       return torch::repeat_interleave(x[0], p.integer("repeats"), p.maybe_axis("dim"));
     }},
    {"tril_indices", [](Tensors, const Params& p) { return torch::tril_indices(p.integer("row"), p.integer("col"), p.axis("offset", 0)); }},
    {"triu_indices", [](Tensors, const Params& p) { return torch::triu_indices(p.integer("row"), p.integer("col"), p.axis("offset", 0)); }},
};
const AddOps gathering{
    {"gather", [](Tensors x, const Params& p) { return torch::gather(x[0], dim(p), x[1]); }},
    {"take_along_dim", [](Tensors x, const Params& p) { return torch::take_along_dim(x[0], x[1], p.maybe_axis("dim")); }},
    {"index_select", [](Tensors x, const Params& p) { return torch::index_select(x[0], dim(p), x[1]); }},
    {"take", [](Tensors x, const Params&) { return torch::take(x[0], x[1]); }},
    {"masked_select", [](Tensors x, const Params&) { return torch::masked_select(x[0], x[1]); }},
    {"nonzero", [](Tensors x, const Params&) { return torch::nonzero(x[0]); }},
    {"argwhere", [](Tensors x, const Params&) { return torch::argwhere(x[0]); }},
    {"scatter", [](Tensors x, const Params& p) {
       return with_operand(x, 2, p, "value", [&](const auto& src) { return torch::scatter(x[0], dim(p), x[1], src); });
     }},
    {"scatter_add", [](Tensors x, const Params& p) { return torch::scatter_add(x[0], dim(p), x[1], x[2]); }},
    {"scatter_reduce", [](Tensors x, const Params& p) {
       return torch::scatter_reduce(x[0], dim(p), x[1], x[2], p.text("reduce"), p.flag("include_self", true));
     }},
    {"index_add", [](Tensors x, const Params& p) { return torch::index_add(x[0], dim(p), x[1], x[2], p.real("alpha", 1)); }},
    {"index_copy", [](Tensors x, const Params& p) { return torch::index_copy(x[0], dim(p), x[1], x[2]); }},
    {"index_fill", [](Tensors x, const Params& p) { return torch::index_fill(x[0], dim(p), x[1], p.real("value")); }},
    {"masked_fill", [](Tensors x, const Params& p) {
       return with_operand(x, 2, p, "value", [&](const auto& value) { return torch::masked_fill(x[0], x[1], value); });
     }},
    {"masked_scatter", [](Tensors x, const Params&) { return torch::masked_scatter(x[0], x[1], x[2]); }},
    {"masked_fill_", [](Tensors x, const Params& p) { return torch::clone(x[0]).masked_fill_(x[1], p.real("value")); }},
};
const AddOps sorting{
    {"sort", [](Tensors x, const Params& p) { return torch::sort(x[0], dim(p), p.flag("descending")); }},
    {"argsort", [](Tensors x, const Params& p) { return torch::argsort(x[0], dim(p), p.flag("descending")); }},
    {"topk", [](Tensors x, const Params& p) { return torch::topk(x[0], p.integer("k"), dim(p), p.flag("largest", true)); }},
    {"searchsorted", [](Tensors x, const Params& p) { return torch::searchsorted(x[0], x[1], p.flag("right")); }},
    {"bucketize", [](Tensors x, const Params& p) { return torch::bucketize(x[0], x[1], p.flag("right")); }},
    {"unique_all", [](Tensors x, const Params&) { return torch::unique(x[0]); }},
    {"bincount", [](Tensors x, const Params& p) { return torch::bincount(x[0], p.integer("minlength", 0)); }},
};
const AddOps casts{
    {"to", [](Tensors x, const Params& p) { return torch::to(x[0], p.dtype()); }},
    {"clone", [](Tensors x, const Params&) { return torch::clone(x[0]); }},
};
// clang-format on

}  // namespace

}  // namespace torch_ops
