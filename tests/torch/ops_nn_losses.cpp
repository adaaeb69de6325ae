// Losses of torch::nn in tests/torch/cases.
#include <cotan/torch/nn.hpp>

#include "torch/ops.hpp"

namespace torch_ops {

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Input;

Tensor at(Tensors x, std::size_t i) { return i < x.size() ? x[i] : Tensor(); }
nn::Reduction reduction(const Params& p) { return p.text("reduction", "mean"); }
Function plain(Tensor (*f)(const Input&, const Tensor&, const F::LossOptions&)) {
  return [f](Tensors x, const Params& p) { return f(x[0], x[1], {reduction(p)}); };
}
F::MarginOptions margin(const Params& p, double otherwise) { return {p.real("margin", otherwise), reduction(p)}; }

const AddOps added{
    {"F.cross_entropy",
     [](Tensors x, const Params& p) {
       return F::cross_entropy(x[0], x[1],
                               {at(x, 2), p.integer("ignore_index", -100), reduction(p), p.real("label_smoothing", 0)});
     }},
    {"F.nll_loss",
     [](Tensors x, const Params& p) {
       return F::nll_loss(x[0], x[1], {at(x, 2), p.integer("ignore_index", -100), reduction(p)});
     }},
    {"F.mse_loss", plain(F::mse_loss)},
    {"F.l1_loss", plain(F::l1_loss)},
    {"F.soft_margin_loss", plain(F::soft_margin_loss)},
    {"F.smooth_l1_loss",
     [](Tensors x, const Params& p) { return F::smooth_l1_loss(x[0], x[1], {reduction(p), p.real("beta", 1)}); }},
    {"F.huber_loss",
     [](Tensors x, const Params& p) { return F::huber_loss(x[0], x[1], {reduction(p), p.real("delta", 1)}); }},
    {"F.binary_cross_entropy",
     [](Tensors x, const Params& p) { return F::binary_cross_entropy(x[0], x[1], {at(x, 2), reduction(p)}); }},
    {"F.binary_cross_entropy_with_logits",
     [](Tensors x, const Params& p) {
       return F::binary_cross_entropy_with_logits(x[0], x[1], {.reduction = reduction(p)});
     }},
    {"bce_with_logits_weighted",
     [](Tensors x, const Params&) {
       return F::binary_cross_entropy_with_logits(x[0], x[1], {.weight = x[2], .pos_weight = x[3]});
     }},
    {"F.kl_div",
     [](Tensors x, const Params& p) { return F::kl_div(x[0], x[1], {reduction(p), p.flag("log_target")}); }},
    {"F.poisson_nll_loss",
     [](Tensors x, const Params& p) {
       return F::poisson_nll_loss(x[0], x[1], {p.flag("log_input", true), p.flag("full"), 1e-8, reduction(p)});
     }},
    {"F.gaussian_nll_loss",
     [](Tensors x, const Params& p) {
       return F::gaussian_nll_loss(x[0], x[1], x[2], {p.flag("full"), 1e-6, reduction(p)});
     }},
    {"F.hinge_embedding_loss",
     [](Tensors x, const Params& p) { return F::hinge_embedding_loss(x[0], x[1], margin(p, 1)); }},
    {"F.margin_ranking_loss",
     [](Tensors x, const Params& p) { return F::margin_ranking_loss(x[0], x[1], x[2], margin(p, 0)); }},
    {"F.cosine_embedding_loss",
     [](Tensors x, const Params& p) { return F::cosine_embedding_loss(x[0], x[1], x[2], margin(p, 0)); }},
    {"F.triplet_margin_loss",
     [](Tensors x, const Params& p) {
       return F::triplet_margin_loss(
           x[0], x[1], x[2],
           {.margin = p.real("margin", 1), .p = p.real("p", 2), .swap = p.flag("swap"), .reduction = reduction(p)});
     }},
    {"F.cosine_similarity",
     [](Tensors x, const Params& p) {
       return F::cosine_similarity(x[0], x[1], {p.axis("dim", 1), p.real("eps", 1e-8)});
     }},
    {"F.pairwise_distance",
     [](Tensors x, const Params& p) {
       return F::pairwise_distance(x[0], x[1], {.p = p.real("p", 2), .keepdim = p.flag("keepdim")});
     }},
};

}  // namespace

}  // namespace torch_ops
