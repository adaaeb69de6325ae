// Steps of optimizers: which parameters are updated together, and where results go.
#include <fmt/format.h>

#include <algorithm>
#include <cotan/device.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/run.hpp>

#include "torch/optim/lists.hpp"
#include "torch/optim/update.hpp"

namespace cotan::torch {

namespace detail {

/// C++ numbers that are arguments of the program; how many there are is part of it.
struct Numbers {
  Arrays arrays;
};
template <>
struct Parameter<Numbers> {
  using Attr = std::size_t;
  static Attr record(Recorder& recorder, const std::vector<double>& numbers) {
    for (const double n : numbers) recorder.number(n);
    return numbers.size();
  }
  static Numbers read(const Attr& count, OperandReader& reader) {
    Numbers out;
    for (std::size_t i = 0; i < count; ++i) out.arrays.push_back(reader.number());
    return out;
  }
};

}  // namespace detail

using namespace torch::detail;

namespace optim {

using detail::StateField;
using detail::Update;
using detail::UpdateRule;

namespace {

using Rule = const UpdateRule*;
using FieldNames = std::vector<std::string>;

/// New parameters, new fields of the state one after the other, and the new count.
Arrays updated(const Arrays& params, const Arrays& grads, const Arrays& state, const Array& steps,
               const std::optional<Array>& gate, const Numbers& numbers, Rule rule, const std::vector<double>& chosen,
               const FieldNames& fields) {
  Update update(*rule, params, grads, steps, numbers.arrays, chosen);
  const auto n = static_cast<std::ptrdiff_t>(params.size());
  auto next = state.begin();
  for (const std::string& field : fields) {
    update.state[field] = Arrays(next, next + n);
    next += n;
  }
  const Arrays change = rule->updates(update);
  Arrays out = optax::detail::apply_updates(params, change);
  for (const std::string& field : fields) {
    const Arrays& news = update.state[field];
    out.insert(out.end(), news.begin(), news.end());
  }
  out.push_back(update.count());
  Arrays before = params;
  before.insert(before.end(), state.begin(), state.end());
  before.push_back(steps);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = out[i].astype(before[i].dtype());
    if (gate) out[i] = numpy::where(*gate, before[i], out[i]);
  }
  return out;
}

Tensor filled(const Tensor& like, double value, bool is_scalar) {
  const Array a = numpy::full(is_scalar ? Shape() : like.sizes(), value, like.dtype());
  return from(device_put(a, like.impl().type()->device));
}
Tensor no_steps(const Tensor& like) { return from(device_put(numpy::zeros({}, i32), like.impl().type()->device)); }

}  // namespace

double& ParamGroup::operator[](std::string_view name) {
  const auto at = options.find(name);
  if (at != options.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [key, value] : options) names.push_back(key);
  throw_with_line<ValueError>(
      fmt::format("[optim] a group has no option \"{}\"; it has [{}].", name, fmt::join(names, ", ")));
}
double ParamGroup::operator[](std::string_view name) const { return const_cast<ParamGroup&>(*this)[name]; }

Optimizer::~Optimizer() = default;

void Optimizer::add_group(ParamGroup group, const std::source_location& where) {
  const At at(where);
  if (group.params.empty())
    throw_with_line<ValueError>(fmt::format("[{}] got no parameters; give those of a module.", rule_.name));
  for (const auto& [option, value] : group.options)
    if (!(value >= 0))
      throw_with_line<ValueError>(
          fmt::format("[{}] the option {} is {}; it must not be negative.", rule_.name, option, value));
  if (group.options.contains("nesterov") && group["nesterov"] != 0 &&
      (group["momentum"] == 0 || (group.options.contains("dampening") && group["dampening"] != 0)))
    throw_with_line<ValueError>(fmt::format("[{}] nesterov needs momentum, and a dampening of 0.", rule_.name));
  for (std::size_t i = 0; i < group.params.size(); ++i) {
    const Tensor& p = group.params[i];
    if (!p.defined() || !p.is_leaf())
      throw_with_line<ValueError>(fmt::format("[{}] parameter {} is {}; only leaves can be optimized.", rule_.name, i,
                                              p.defined() ? "a result of operations" : "undefined"));
    if (!is_floating(p.dtype()))
      throw_with_line<TypeError>(
          fmt::format("[{}] parameter {} is {}; parameters are floats.", rule_.name, i, p.impl().type()->str()));
    if (rule_.of_matrices && p.dim() != 2)
      throw_with_line<ShapeError>(
          fmt::format("[{}] parameter {} is {}, and no matrix; give others to another optimizer.", rule_.name, i,
                      p.impl().type()->str()));
    const auto is_it = [&](const Tensor& other) { return other.is_same(p); };
    bool twice = std::any_of(group.params.begin(), group.params.begin() + static_cast<std::ptrdiff_t>(i), is_it);
    for (const ParamGroup& g : groups_) twice |= std::any_of(g.params.begin(), g.params.end(), is_it);
    if (twice)
      throw_with_line<ValueError>(
          fmt::format("[{}] parameter {} is there twice; name each of them once.", rule_.name, i));
  }
  memories_.emplace_back(group.params.size());
  groups_.push_back(std::move(group));
}

void Optimizer::zero_grad(bool set_to_none) {
  const no_grad off;
  for (const ParamGroup& group : groups_)
    for (const Tensor& p : group.params) {
      if (!p.grad().defined()) continue;
      p.set_grad(set_to_none ? Tensor() : from(numpy::zeros(p.sizes(), p.dtype())));
    }
}

void Optimizer::step(std::source_location where) {
  const At at(where);
  record_step({});
  mark_step();
}

Tensor Optimizer::step(const std::function<Tensor()>& closure, std::source_location where) {
  const At at(where);
  const Tensor loss = [&] {
    const enable_grad on;
    return closure();
  }();
  record_step({});
  mark_step();
  return loss;
}

void Optimizer::record_step(const Tensor& gate) {
  const no_grad off;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    // Parameters that stepped together so far share the tensor that counts.
    std::vector<std::pair<Tensor, std::vector<std::size_t>>> cohorts;
    Tensor fresh;
    for (std::size_t i = 0; i < groups_[g].params.size(); ++i) {
      if (!groups_[g].params[i].grad().defined()) continue;
      Tensor& steps = memories_[g][i].steps;
      if (!steps.defined()) {
        if (!fresh.defined()) fresh = no_steps(groups_[g].params[i]);
        steps = fresh;
      }
      auto at = std::find_if(cohorts.begin(), cohorts.end(), [&](const auto& c) { return c.first.is_same(steps); });
      if (at == cohorts.end()) at = cohorts.insert(at, {steps, {}});
      at->second.push_back(i);
    }
    fresh = {};
    for (auto& [steps, members] : cohorts) {
      steps = {};
      update_cohort(g, members, gate);
    }
  }
}

void Optimizer::update_cohort(std::size_t g, const std::vector<std::size_t>& members, const Tensor& gate) {
  static const auto op = define("optimizer_step", {.differentiable = false}, updated);
  ParamGroup& group = groups_[g];
  const std::vector<StateField> fields = rule_.fields(group.options);
  std::vector<Tensor> params, grads, state;
  FieldNames names;
  for (const std::size_t i : members) {
    params.push_back(group.params[i]);
    grads.push_back(params.back().grad());
  }
  for (const StateField& field : fields) {
    names.push_back(field.name);
    for (const std::size_t i : members) {
      Tensor& t = memories_[g][i].fields[field.name];
      if (!t.defined()) t = filled(group.params[i], field.start, field.is_scalar);
      state.push_back(t);
    }
  }
  std::vector<double> numbers;
  for (const auto& [option, value] : rule_.names) numbers.push_back(group[option]);
  Value result = op.value(params, grads, state, memories_[g][members[0]].steps, gate, numbers, &rule_,
                          rule_.chosen(group.options), names);
  write_all(params, result, "step");
  write_all(state, result, "step");
  const Tensor steps = tensor_of(result);
  for (const std::size_t i : members) memories_[g][i].steps = steps;
}

// States ----------------------------------------------------------------------------------------

Tensor Optimizer::state(const Tensor& parameter, std::string_view name) const {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t i = 0; i < groups_[g].params.size(); ++i) {
      if (!groups_[g].params[i].is_same(parameter)) continue;
      if (name == "step") return memories_[g][i].steps;
      const auto at = memories_[g][i].fields.find(name);
      return at == memories_[g][i].fields.end() ? Tensor() : at->second;
    }
  throw_with_line<ValueError>(fmt::format("[{}] that tensor is none of the optimizer's parameters.", rule_.name));
}

StateDict Optimizer::state_dict() const {
  StateDict out;
  std::size_t number = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    out.param_groups.push_back(groups_[g].options);
    for (const Memory& m : memories_[g]) {
      const std::string prefix = fmt::format("{}.", number++);
      if (m.steps.defined()) out.state[prefix + "step"] = m.steps;
      for (const auto& [name, t] : m.fields) out.state[prefix + name] = t;
    }
  }
  return out;
}

void Optimizer::load_memory(std::size_t g, std::size_t i, const StateDict& dict, const std::string& prefix) {
  Memory m;
  const Tensor& p = groups_[g].params[i];
  const std::string device = p.impl().type()->device;
  for (auto at = dict.state.lower_bound(prefix); at != dict.state.end() && at->first.starts_with(prefix); ++at) {
    const std::string name = at->first.substr(prefix.size());
    const Array a = at->second.array();
    if (name == "step") {
      const auto steps = static_cast<std::int32_t>(a.item<double>());
      // Those that are equally far step together.
      for (const Memory& other : memories_[g])
        if (other.steps.defined() && other.steps.item<std::int32_t>() == steps) m.steps = other.steps;
      if (!m.steps.defined()) m.steps = from(device_put(numpy::full({}, steps, i32), device));
      continue;
    }
    if (a.ndim() != 0 && a.shape() != p.sizes())
      throw_with_line<ShapeError>(fmt::format("[load_state_dict] {} is {}, and the parameter {}; they must be alike.",
                                              at->first, describe(a.dtype(), a.shape()), p.impl().type()->str()));
    m.fields[name] = from(device_put(a.astype(p.dtype()), device));
  }
  memories_[g][i] = std::move(m);
}

void Optimizer::load_state_dict(const StateDict& dict, std::source_location where) {
  const At at(where);
  if (dict.param_groups.size() != groups_.size())
    throw_with_line<ValueError>(
        fmt::format("[load_state_dict] the state is of {} groups of parameters, and the optimizer has {}.",
                    dict.param_groups.size(), groups_.size()));
  std::size_t number = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (const auto& [name, value] : dict.param_groups[g]) groups_[g].options[name] = value;
    memories_[g].assign(groups_[g].params.size(), {});
    for (std::size_t i = 0; i < groups_[g].params.size(); ++i) load_memory(g, i, dict, fmt::format("{}.", number++));
  }
}

}  // namespace optim

}  // namespace cotan::torch
