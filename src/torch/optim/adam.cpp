// Adam and its kin: means of gradients by means of their squares.
#include <cotan/numpy.hpp>

#include "torch/optim/update.hpp"

namespace cotan::torch::optim {

using namespace detail;
namespace np = numpy;

namespace {

Options of_adam(const auto& o) {
  return {{"lr", o.lr},
          {"beta1", o.betas.first},
          {"beta2", o.betas.second},
          {"weight_decay", o.weight_decay},
          {"maximize", o.maximize}};
}
Options joined(Options all, const Options& more) {
  all.insert(more.begin(), more.end());
  return all;
}

/// The root of 1 - beta2^count: PyTorch adds eps before it corrects for the start in some places.
Array start(const Update& u) {
  return np::sqrt(1.0 - np::power(u["beta2"].array(), u.count().astype(u["beta2"].array().dtype())));
}
optax::Hyperparameter eps_by(const Update& u, const Array& factor) { return Array(u["eps"].array() * factor); }

Arrays moments(Update& u, const Arrays& g) {
  if (!u.has("amsgrad"))
    return u.through(optax::scale_by_adam({.b1 = u["beta1"], .b2 = u["beta2"], .eps = u["eps"]}), g,
                     {{"exp_avg", "mu"}, {"exp_avg_sq", "nu"}});
  // The largest mean of squares is taken before the correction.
  const Array root = start(u);
  const auto scaled = optax::scale_by_amsgrad(
      {.b1 = u["beta1"], .b2 = u["beta2"], .eps = eps_by(u, root), .bias_correction_nu = false});
  return tu::scale(root, u.through(scaled, g, {{"exp_avg", "mu"}, {"exp_avg_sq", "nu"}, {"max_exp_avg_sq", "nu_max"}}));
}
std::vector<StateField> moment_fields(const Options& o) {
  std::vector<StateField> out{{"exp_avg"}, {"exp_avg_sq"}};
  if (o.contains("amsgrad") && o.at("amsgrad") != 0) out.push_back({"max_exp_avg_sq"});
  return out;
}
/// Weights decay by themselves, or in the gradient.
Arrays decayed(Update& u, bool decoupled, Arrays (*scaled)(Update&, const Arrays&)) {
  Arrays out = scaled(u, u.gradients(!decoupled));
  if (decoupled && u.has("weight_decay")) out = u.through(optax::add_decayed_weights(u["weight_decay"]), out);
  return u.by_rate(out);
}

Arrays rectified(Update& u, const Arrays& g) {
  return u.through(optax::scale_by_radam({.b1 = u["beta1"], .b2 = u["beta2"], .eps = eps_by(u, 1.0 / start(u))}), g,
                   {{"exp_avg", "mu"}, {"exp_avg_sq", "nu"}});
}

/// PyTorch's momentum grows with the steps, other than optax's.
Arrays with_nesterov(Update& u, const Arrays& g) {
  const auto momentum = [&](const Array& count) {
    const Array decay = u["momentum_decay"].array();
    return Array(u["beta1"].array() * (1.0 - 0.5 * np::power(0.96, count.astype(decay.dtype()) * decay)));
  };
  const Array now = momentum(u.count()), next = momentum(u.count() + 1);
  const Arrays mean = u.state["exp_avg"] = tu::update_moment(g, u.state["exp_avg"], u["beta1"], 1);
  const Arrays square = u.state["exp_avg_sq"] = tu::update_moment(g, u.state["exp_avg_sq"], u["beta2"], 2);
  const Arrays corrected = tu::bias_correction(square, u["beta2"], u.count());
  Arrays out;
  for (std::size_t i = 0; i < g.size(); ++i) {
    Array& product = u.state["mu_product"][i];
    product = product * now.astype(product.dtype());
    const DType t = g[i].dtype();
    const Array of_gradient = (1.0 - now.astype(t)) / (1.0 - product);
    const Array of_mean = next.astype(t) / (1.0 - product * next.astype(t));
    out.push_back((of_gradient * g[i] + of_mean * mean[i]) / (np::sqrt(corrected[i]) + u["eps"].like(g[i])));
  }
  return out;
}

}  // namespace

Options AdamOptions::values() const { return joined(of_adam(*this), {{"eps", eps}, {"amsgrad", amsgrad}}); }
const UpdateRule& AdamOptions::rule() {
  static const UpdateRule rule{.name = "Adam",
                               .updates = [](Update& u) { return decayed(u, false, moments); },
                               .fields = moment_fields,
                               .switches = {"amsgrad", "maximize", "weight_decay"},
                               .names = AdamOptions().values()};
  return rule;
}

Options AdamWOptions::values() const { return joined(of_adam(*this), {{"eps", eps}, {"amsgrad", amsgrad}}); }
const UpdateRule& AdamWOptions::rule() {
  static const UpdateRule rule{.name = "AdamW",
                               .updates = [](Update& u) { return decayed(u, true, moments); },
                               .fields = moment_fields,
                               .switches = {"amsgrad", "maximize", "weight_decay"},
                               .names = AdamWOptions().values()};
  return rule;
}

Options RAdamOptions::values() const {
  return joined(of_adam(*this), {{"eps", eps}, {"decoupled_weight_decay", decoupled_weight_decay}});
}
const UpdateRule& RAdamOptions::rule() {
  static const UpdateRule rule{
      .name = "RAdam",
      .updates = [](Update& u) { return decayed(u, u.has("decoupled_weight_decay"), rectified); },
      .fields = moment_fields,
      .switches = {"decoupled_weight_decay", "maximize", "weight_decay"},
      .names = RAdamOptions().values()};
  return rule;
}

Options NAdamOptions::values() const {
  return joined(of_adam(*this),
                {{"eps", eps}, {"momentum_decay", momentum_decay}, {"decoupled_weight_decay", decoupled_weight_decay}});
}
const UpdateRule& NAdamOptions::rule() {
  static const UpdateRule rule{
      .name = "NAdam",
      .updates = [](Update& u) { return decayed(u, u.has("decoupled_weight_decay"), with_nesterov); },
      .fields =
          [](const Options&) {
            return std::vector<StateField>{
                {"exp_avg"}, {"exp_avg_sq"}, {.name = "mu_product", .start = 1, .is_scalar = true}};
          },
      .switches = {"decoupled_weight_decay", "maximize", "weight_decay"},
      .names = NAdamOptions().values()};
  return rule;
}

Options AdamaxOptions::values() const { return joined(of_adam(*this), {{"eps", eps}}); }
const UpdateRule& AdamaxOptions::rule() {
  static const UpdateRule rule{
      .name = "Adamax",
      .updates =
          [](Update& u) {
            return u.by_rate(u.through(optax::scale_by_adamax({.b1 = u["beta1"], .b2 = u["beta2"], .eps = u["eps"]}),
                                       u.gradients(), {{"exp_avg", "mu"}, {"exp_inf", "nu"}}));
          },
      .fields = [](const Options&) { return std::vector<StateField>{{"exp_avg"}, {"exp_inf"}}; },
      .switches = {"maximize", "weight_decay"},
      .names = AdamaxOptions().values()};
  return rule;
}

Options LionOptions::values() const { return of_adam(*this); }
const UpdateRule& LionOptions::rule() {
  static const UpdateRule rule{.name = "Lion",
                               .updates =
                                   [](Update& u) {
                                     return decayed(u, true, [](Update& v, const Arrays& g) {
                                       return v.through(optax::scale_by_lion({.b1 = v["beta1"], .b2 = v["beta2"]}), g,
                                                        {{"exp_avg", "mu"}});
                                     });
                                   },
                               .fields = [](const Options&) { return std::vector<StateField>{{"exp_avg"}}; },
                               .switches = {"maximize", "weight_decay"},
                               .names = LionOptions().values()};
  return rule;
}

}  // namespace cotan::torch::optim
