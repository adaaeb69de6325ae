// What optimizers have in common: groups of parameters with options, states, steps.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <map>

/// `torch.optim`.
namespace cotan::torch::optim {

/// Options of a group by PyTorch's names; flags are 0 or 1, `betas` are "beta1" and "beta2".
using Options = std::map<std::string, double, std::less<>>;

/// Parameters that are updated with the same options.
struct ParamGroup {
  std::vector<Tensor> params;
  Options options;
  /// An option by its name, to read or to set: group["lr"] = 1e-4. Another value compiles nothing.
  double& operator[](std::string_view name);
  double operator[](std::string_view name) const;  ///< to read
};

/// What an optimizer remembers, for files: torch::save of `state` and the options of groups.
struct StateDict {
  std::map<std::string, Tensor> state;  ///< "0.exp_avg": of the first parameter
  std::vector<Options> param_groups;
};

namespace detail {
struct UpdateRule;
}

/// The base of all optimizers. The update of a group is one recorded operation, by the rules of `cotan::optax`;
/// parameters and states are written in place.
///
///     torch::optim::AdamW opt(torch::nn::parameters(net), {.lr = 1e-3});
///     for (auto& [x, y] : loader) {
///       opt.zero_grad();
///       loss_of(net(x), y).backward();
///       opt.step();
///     }
class Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;

  /// Gradients are undefined again, or zeros.
  void zero_grad(bool set_to_none = true);
  /// Updates the parameters that have gradients, and runs what was recorded.
  virtual void step(std::source_location where = COTAN_HERE);
  /// Calls `closure`, which computes the loss and its gradients, and steps; gives the loss.
  virtual Tensor step(const std::function<Tensor()>& closure, std::source_location where = COTAN_HERE);
  std::vector<ParamGroup>& param_groups() { return groups_; }              ///< to look at or to change
  const std::vector<ParamGroup>& param_groups() const { return groups_; }  ///< to look at
  /// All that the next steps depend on beside the parameters. The tensors are the optimizer's own.
  virtual StateDict state_dict() const;
  /// Goes on from there; the numbers of groups and of parameters must be equal.
  virtual void load_state_dict(const StateDict& dict, std::source_location where = COTAN_HERE);
  /// What is remembered of a parameter by PyTorch's name ("exp_avg"); undefined before the first step.
  Tensor state(const Tensor& parameter, std::string_view name) const;

  /// For the library: records the update where `gate`, a 0-d bool tensor, is false or undefined; runs nothing.
  virtual void record_step(const Tensor& gate);

 protected:
  explicit Optimizer(const detail::UpdateRule& rule) : rule_(rule) {}
  /// Further parameters, with all the options that the optimizer has.
  void add_group(ParamGroup group, const std::source_location& where);

 private:
  struct Memory {
    Tensor steps;  ///< i32; parameters that always stepped together share it
    std::map<std::string, Tensor, std::less<>> fields;
  };
  void update_cohort(std::size_t group, const std::vector<std::size_t>& members, const Tensor& gate);
  void load_memory(std::size_t group, std::size_t member, const StateDict& dict, const std::string& prefix);

  const detail::UpdateRule& rule_;
  std::vector<ParamGroup> groups_;
  std::vector<std::vector<Memory>> memories_;  ///< by group, then by parameter
};

/// Parameters and options, as optimizers take several of them.
template <class OptionsOf>
struct Group {
  std::vector<Tensor> params;
  OptionsOf options = {};
};

/// The optimizer that `OptionsOf` are the options of.
template <class OptionsOf>
class OptimizerOf : public Optimizer {
 public:
  /// One group.
  explicit OptimizerOf(std::vector<Tensor> params, const OptionsOf& options = {},
                       std::source_location where = COTAN_HERE)
      : Optimizer(OptionsOf::rule()) {
    add_group({std::move(params), options.values()}, where);
  }
  /// Several groups, each with options of its own.
  explicit OptimizerOf(const std::vector<Group<OptionsOf>>& groups, std::source_location where = COTAN_HERE)
      : Optimizer(OptionsOf::rule()) {
    for (const Group<OptionsOf>& g : groups) add_group({g.params, g.options.values()}, where);
  }
  /// Further parameters.
  void add_param_group(const Group<OptionsOf>& group, std::source_location where = COTAN_HERE) {
    add_group({group.params, group.options.values()}, where);
  }
};

}  // namespace cotan::torch::optim
