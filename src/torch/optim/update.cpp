#include "torch/optim/update.hpp"

#include <fmt/format.h>

namespace cotan::torch::optim::detail {

Update::Update(const UpdateRule& the_rule, const Arrays& p, Arrays g, const Array& before, const Arrays& numbers,
               const std::vector<double>& chosen)
    : rule(the_rule), params(p), grads(std::move(g)), steps(before), numbers_(numbers), chosen_(chosen) {}

optax::Hyperparameter Update::operator[](std::string_view option) const {
  const auto at = rule.names.find(option);
  if (at == rule.names.end()) throw InternalError(fmt::format("[{}] no option {}", rule.name, option));
  return numbers_[static_cast<std::size_t>(std::distance(rule.names.begin(), at))];
}

double Update::constant(std::string_view option) const {
  std::size_t i = 0;
  for (const auto* list : {&rule.switches, &rule.constants})
    for (const std::string& name : *list) {
      if (name == option) return chosen_[i];
      ++i;
    }
  throw InternalError(fmt::format("[{}] the option {} is no part of the program", rule.name, option));
}

Arrays Update::through(const optax::GradientTransformation& t, const Arrays& updates,
                       const std::map<std::string, std::string>& fields) {
  optax::State former{.name = t.name(), .fields = {{"count", {steps}}}};
  for (const auto& [ours, theirs] : fields) former.fields[theirs] = state[ours];
  auto [out, next] = t.update_flat(updates, former, {.params = params});
  for (const auto& [ours, theirs] : fields) state[ours] = next.fields[theirs];
  return out;
}

Arrays Update::gradients(bool decay) {
  if (has("maximize")) grads = tu::scale(-1.0, grads);
  if (decay && has("weight_decay")) grads = through(optax::add_decayed_weights((*this)["weight_decay"]), grads);
  return grads;
}

Arrays Update::by_rate(const Arrays& updates) const {
  return optax::scale_by_learning_rate(optax::ScalarOrSchedule((*this)["lr"]))
      .update_flat(updates, {.name = "scale"}, {})
      .first;
}

std::vector<double> UpdateRule::chosen(const Options& options) const {
  std::vector<double> out;
  for (const std::string& s : switches) out.push_back(options.at(s) != 0);
  for (const std::string& s : constants) out.push_back(options.at(s));
  return out;
}

}  // namespace cotan::torch::optim::detail
