// Optimizers without two moments: gradient steps, scalings by squares, matrices made orthogonal.
#include <algorithm>
#include <cmath>
#include <cotan/numpy.hpp>

#include "torch/optim/update.hpp"

namespace cotan::torch::optim {

using namespace detail;
namespace np = numpy;

namespace {

Arrays each(const Arrays& a, const Arrays& b, const auto& f) {
  Arrays out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(f(a[i], b[i]));
  return out;
}
Arrays with_momentum(Update& u, const Arrays& g, bool nesterov) {
  return u.through(optax::trace({.decay = u["momentum"], .nesterov = nesterov}), g, {{"momentum_buffer", "trace"}});
}
std::vector<StateField> buffer(const Options& o) {
  return o.at("momentum") != 0 ? std::vector<StateField>{{"momentum_buffer"}} : std::vector<StateField>{};
}

Arrays sgd(Update& u) {
  Arrays g = u.gradients();
  if (!u.has("momentum")) return u.by_rate(g);
  // The first gradient comes in whole.
  if (u.has("dampening")) g = tu::scale(Array(np::where(u.steps == 0, 1.0, 1.0 - u["dampening"].array())), g);
  return u.by_rate(with_momentum(u, g, u.has("nesterov")));
}

Arrays adagrad(Update& u) {
  const Arrays g = u.gradients();
  const Arrays sums = u.state["sum"] = tu::add(u.state["sum"], tu::mul(g, g));
  const Array decay = u["lr_decay"].array();
  const Array slower = 1.0 / (1.0 + u.steps.astype(decay.dtype()) * decay);
  // eps is outside of the root, other than in optax.
  const Arrays scaled =
      each(g, sums, [&](const Array& x, const Array& s) { return x / (np::sqrt(s) + u["eps"].like(x)); });
  return u.by_rate(tu::scale(slower, scaled));
}

Arrays rmsprop(Update& u) {
  const optax::ScaleByRmsOptions options{.decay = u["alpha"], .eps = u["eps"], .eps_in_sqrt = false};
  const Arrays g = u.gradients();
  Arrays out = u.has("centered")
                   ? u.through(optax::scale_by_stddev(options), g, {{"square_avg", "nu"}, {"grad_avg", "mu"}})
                   : u.through(optax::scale_by_rms(options), g, {{"square_avg", "nu"}});
  if (u.has("momentum")) out = with_momentum(u, out, false);
  return u.by_rate(out);
}

double rate_factor(AdjustLr how, double rows, double columns) {
  if (how == AdjustLr::match_rms_adamw) return 0.2 * std::sqrt(std::max(rows, columns));
  const double ratio = rows / columns;
  return std::sqrt(how == AdjustLr::original ? std::max(1.0, ratio) : ratio);
}
Arrays muon(Update& u) {
  const Arrays g = u.gradients(false);
  const Arrays mean = u.state["momentum_buffer"] = tu::update_moment(g, u.state["momentum_buffer"], u["momentum"], 1);
  const Arrays ahead = u.has("nesterov") ? tu::update_moment(g, mean, u["momentum"], 1) : mean;
  const auto how = static_cast<AdjustLr>(u.constant("adjust_lr_fn"));
  Arrays out;
  for (const Array& x : ahead) {
    // The norm is eps at least.
    const Array lacks = np::maximum(u["eps"].like(x) - np::sqrt(np::sum(x * x)), 0.0);
    const Array y =
        optax::contrib::newton_schulz(x, {.ns_steps = static_cast<int>(u.constant("ns_steps")), .eps = lacks});
    out.push_back(rate_factor(how, static_cast<double>(x.shape(0)), static_cast<double>(x.shape(1))) * y);
  }
  if (u.has("weight_decay")) out = u.through(optax::add_decayed_weights(u["weight_decay"]), out);
  return u.by_rate(out);
}

}  // namespace

Options SGDOptions::values() const {
  return {{"lr", lr},
          {"momentum", momentum},
          {"dampening", dampening},
          {"weight_decay", weight_decay},
          {"nesterov", nesterov},
          {"maximize", maximize}};
}
const UpdateRule& SGDOptions::rule() {
  static const UpdateRule rule{.name = "SGD",
                               .updates = sgd,
                               .fields = buffer,
                               .switches = {"dampening", "maximize", "momentum", "nesterov", "weight_decay"},
                               .names = SGDOptions().values()};
  return rule;
}

Options AdagradOptions::values() const {
  return {{"lr", lr},
          {"lr_decay", lr_decay},
          {"weight_decay", weight_decay},
          {"initial_accumulator_value", initial_accumulator_value},
          {"eps", eps},
          {"maximize", maximize}};
}
const UpdateRule& AdagradOptions::rule() {
  static const UpdateRule rule{
      .name = "Adagrad",
      .updates = adagrad,
      .fields =
          [](const Options& o) {
            return std::vector<StateField>{{.name = "sum", .start = o.at("initial_accumulator_value")}};
          },
      .switches = {"maximize", "weight_decay"},
      .names = AdagradOptions().values()};
  return rule;
}

Options RMSpropOptions::values() const {
  return {{"lr", lr},
          {"alpha", alpha},
          {"eps", eps},
          {"weight_decay", weight_decay},
          {"momentum", momentum},
          {"centered", centered},
          {"maximize", maximize}};
}
const UpdateRule& RMSpropOptions::rule() {
  static const UpdateRule rule{.name = "RMSprop",
                               .updates = rmsprop,
                               .fields =
                                   [](const Options& o) {
                                     std::vector<StateField> out = buffer(o);
                                     out.push_back({"square_avg"});
                                     if (o.at("centered") != 0) out.push_back({"grad_avg"});
                                     return out;
                                   },
                               .switches = {"centered", "maximize", "momentum", "weight_decay"},
                               .names = RMSpropOptions().values()};
  return rule;
}

Options MuonOptions::values() const {
  return {{"lr", lr},
          {"weight_decay", weight_decay},
          {"momentum", momentum},
          {"nesterov", nesterov},
          {"eps", eps},
          {"ns_steps", ns_steps},
          {"adjust_lr_fn", static_cast<double>(adjust_lr_fn)},
          {"maximize", 0}};
}
const UpdateRule& MuonOptions::rule() {
  static const UpdateRule rule{.name = "Muon",
                               .updates = muon,
                               .fields = [](const Options&) { return std::vector<StateField>{{"momentum_buffer"}}; },
                               .switches = {"maximize", "nesterov", "weight_decay"},
                               .constants = {"adjust_lr_fn", "ns_steps"},
                               .names = MuonOptions().values(),
                               .of_matrices = true};
  return rule;
}

}  // namespace cotan::torch::optim
