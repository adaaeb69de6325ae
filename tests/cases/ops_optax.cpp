// optax: losses, projections, numerics.
#include <cotan/cotan.hpp>
#include <cotan/optax.hpp>

#include "cases/case_ops.hpp"

namespace cases {

namespace optax = cotan::optax;
namespace projections = cotan::optax::projections;
using cotan::ArrayLike;
using optax::Hyperparameter;

namespace {

/// The axes of a loss, and its mask, which comes last.
optax::Reduced reduced(Args x, const Params& p, std::size_t before) {
  optax::Reduced out;
  if (p.has("axis")) out.axis = p.axes();
  if (x.size() > before) out.where = x[before];
  return out;
}
optax::CosineOptions cosine(Args x, const Params& p) {
  const optax::Reduced r = reduced(x, p, 2);
  return {p.real("epsilon", 0), r.axis, r.where};
}
Array second(Args x) { return x.size() > 1 ? x[1] : Array(); }

void add_losses_of_values(OpTable& t) {
  t["optax.squared_error"] = one([](Args x, const Params&) { return optax::squared_error(x[0], second(x)); });
  t["optax.l2_loss"] = one([](Args x, const Params&) { return optax::l2_loss(x[0], second(x)); });
  t["optax.log_cosh"] = one([](Args x, const Params&) { return optax::log_cosh(x[0], second(x)); });
  t["optax.huber_loss"] =
      one([](Args x, const Params& p) { return optax::huber_loss(x[0], second(x), p.real("delta", 1)); });
  t["optax.cosine_similarity"] =
      one([](Args x, const Params& p) { return optax::cosine_similarity(x[0], x[1], cosine(x, p)); });
  t["optax.cosine_distance"] =
      one([](Args x, const Params& p) { return optax::cosine_distance(x[0], x[1], cosine(x, p)); });
  t["optax.ctc_loss"] = one([](Args x, const Params& p) {
    return optax::ctc_loss(x[0], x[1], x[2], x[3], {.blank_id = p.integer("blank_id", 0)});
  });
  t["optax.ranking_softmax_loss"] = one([](Args x, const Params&) {
    return optax::ranking_softmax_loss(x[0], x[1], {.where = x.size() > 2 ? x[2] : Array()});
  });
  t["optax.dice_loss"] = one([](Args x, const Params& p) {
    return optax::dice_loss(x[0], x[1],
                            {.smooth = p.real("smooth", 1),
                             .alpha = p.real("alpha", 0.5),
                             .beta = p.real("beta", 0.5),
                             .reduction = p.text("reduction", "mean"),
                             .ignore_background = p.flag("ignore_background")});
  });
  t["optax.multiclass_generalized_dice_loss"] =
      one([](Args x, const Params&) { return optax::multiclass_generalized_dice_loss(x[0], x[1]); });
  t["optax.binary_dice_loss"] = one([](Args x, const Params&) { return optax::binary_dice_loss(x[0], x[1]); });
  t["optax.ntxent"] =
      one([](Args x, const Params& p) { return optax::ntxent(x[0], x[1], p.real("temperature", 0.07)); });
  t["optax.triplet_margin_loss"] = one([](Args x, const Params& p) {
    return optax::triplet_margin_loss(
        x[0], x[1], x[2],
        {.axis = p.axis("axis", -1), .norm_degree = p.real("norm_degree", 2), .margin = p.real("margin", 1)});
  });
}

void add_losses_of_classes(OpTable& t) {
  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&)> plain[] = {
      {"sigmoid_binary_cross_entropy", optax::sigmoid_binary_cross_entropy},
      {"safe_softmax_cross_entropy", optax::safe_softmax_cross_entropy},
      {"hinge_loss", optax::hinge_loss},
      {"perceptron_loss", optax::perceptron_loss},
      {"sparsemax_loss", optax::sparsemax_loss},
      {"multiclass_hinge_loss", optax::multiclass_hinge_loss},
      {"multiclass_perceptron_loss", optax::multiclass_perceptron_loss},
      {"multiclass_sparsemax_loss", optax::multiclass_sparsemax_loss}};
  for (const auto& [name, f] : plain)
    t[std::string("optax.") + name] = one([f = f](Args x, const Params&) { return f(x[0], x[1]); });
  const std::pair<const char*, Array (*)(const ArrayLike&, const ArrayLike&, const optax::Reduced&)> of_rows[] = {
      {"softmax_cross_entropy", optax::softmax_cross_entropy},
      {"softmax_cross_entropy_with_integer_labels", optax::softmax_cross_entropy_with_integer_labels},
      {"kl_divergence", optax::kl_divergence},
      {"kl_divergence_with_log_targets", optax::kl_divergence_with_log_targets},
      {"generalized_kl_divergence", optax::generalized_kl_divergence},
      {"convex_kl_divergence", optax::convex_kl_divergence}};
  for (const auto& [name, f] : of_rows)
    t[std::string("optax.") + name] = one([f = f](Args x, const Params& p) { return f(x[0], x[1], reduced(x, p, 2)); });
  t["optax.poly_loss_cross_entropy"] = one([](Args x, const Params& p) {
    return optax::poly_loss_cross_entropy(x[0], x[1], p.real("epsilon", 2), reduced(x, p, 2));
  });
  t["optax.sigmoid_focal_loss"] = one([](Args x, const Params& p) {
    return optax::sigmoid_focal_loss(
        x[0], x[1], p.has("alpha") ? std::optional(Hyperparameter(p.real("alpha"))) : std::nullopt, p.real("gamma", 2));
  });
  t["optax.smooth_labels"] =
      one([](Args x, const Params& p) { return optax::smooth_labels(x[0], p.real("alpha"), reduced(x, p, 1)); });
}

void add_projections(OpTable& t) {
  using Scaled = Array (*)(const Array&, const Hyperparameter&, const std::source_location&);
  const std::pair<const char*, Scaled> scaled[] = {
      {"hypercube", projections::projection_hypercube<Array>}, {"simplex", projections::projection_simplex<Array>},
      {"l1_sphere", projections::projection_l1_sphere<Array>}, {"l1_ball", projections::projection_l1_ball<Array>},
      {"l2_sphere", projections::projection_l2_sphere<Array>}, {"l2_ball", projections::projection_l2_ball<Array>},
      {"linf_ball", projections::projection_linf_ball<Array>}};
  for (const auto& [name, f] : scaled)
    t[std::string("projections.projection_") + name] =
        one([f = f](Args x, const Params& p) { return f(x[0], p.real("scale", 1), {}); });
  t["projections.projection_non_negative"] =
      one([](Args x, const Params&) { return projections::projection_non_negative(x[0]); });
  t["projections.projection_box"] =
      one([](Args x, const Params&) { return projections::projection_box(x[0], x[1], x[2]); });
  t["projections.projection_vector"] =
      one([](Args x, const Params&) { return projections::projection_vector(x[0], x[1]); });
  t["projections.projection_hyperplane"] =
      one([](Args x, const Params& p) { return projections::projection_hyperplane(x[0], x[1], p.real("b")); });
  t["projections.projection_halfspace"] =
      one([](Args x, const Params& p) { return projections::projection_halfspace(x[0], x[1], p.real("b")); });
}

}  // namespace

void add_optax_ops(OpTable& t) {
  add_losses_of_values(t);
  add_losses_of_classes(t);
  add_projections(t);
  t["optax.safe_norm"] = one(
      [](Args x, const Params& p) { return optax::safe_norm(x[0], p.real("min_norm"), p.axes(), p.flag("keepdims")); });
  t["optax.safe_root_mean_squares"] =
      one([](Args x, const Params& p) { return optax::safe_root_mean_squares(x[0], p.real("min_rms")); });
  t["optax.safe_increment"] = one([](Args x, const Params&) { return optax::safe_increment(x[0]); });
  t["optax.unitwise_norm"] = one([](Args x, const Params&) { return optax::unitwise_norm(x[0]); });
  t["optax.nnls"] =
      one([](Args x, const Params& p) { return optax::nnls(x[0], x[1], static_cast<int>(p.integer("iters"))); });
  t["optax.power_iteration"] = [](Args x, const Params&) {
    const auto [value, vector] = optax::power_iteration(x[0]);
    return Arrays{value, vector};
  };
  t["optax.matrix_inverse_pth_root"] =
      one([](Args x, const Params& p) { return optax::matrix_inverse_pth_root(x[0], p.axis("p")).first; });
}

}  // namespace cases
