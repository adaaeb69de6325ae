// What an optimizer does to parameters that step together: a rule on Arrays, made of optax's.
#pragma once
#include <cotan/optax/contrib.hpp>
#include <cotan/optax/tree_utils.hpp>
#include <cotan/torch/optim/optimizers.hpp>
#include <map>

namespace cotan::torch::optim::detail {

namespace tu = optax::tree_utils::flat;

/// A field of the state: like each parameter, or a scalar for each.
struct StateField {
  std::string name;
  double start = 0;
  bool is_scalar = false;
};

/// What a rule works on.
class Update {
 public:
  Update(const UpdateRule& rule, const Arrays& params, Arrays grads, const Array& steps, const Arrays& numbers,
         const std::vector<double>& chosen);
  const UpdateRule& rule;
  const Arrays& params;
  Arrays grads;
  std::map<std::string, Arrays, std::less<>> state;  ///< by PyTorch's names
  const Array steps;                                 ///< i32: those before this one
  Array count() const { return steps + 1; }          ///< of this one
  /// An option, as an argument of the program.
  optax::Hyperparameter operator[](std::string_view option) const;
  /// Whether an option is not 0: part of the program.
  bool has(std::string_view option) const { return constant(option) != 0; }
  /// The value of an option that is part of the program.
  double constant(std::string_view option) const;
  /// What a transformation of optax makes of updates; its fields are those of the state by the names given.
  Arrays through(const optax::GradientTransformation& t, const Arrays& updates,
                 const std::map<std::string, std::string>& fields = {});
  /// Gradients + weight_decay parameters, and downhill; what most rules begin with.
  Arrays gradients(bool decay = true);
  /// -lr updates.
  Arrays by_rate(const Arrays& updates) const;

 private:
  const Arrays& numbers_;
  const std::vector<double>& chosen_;
};

struct UpdateRule {
  const char* name;
  /// What is added to the parameters.
  Arrays (*updates)(Update&);
  /// The state that there is with these options.
  std::vector<StateField> (*fields)(const Options&);
  /// Options that choose the program by being 0 or not, and those whose value is part of it.
  std::vector<std::string> switches = {}, constants = {};
  Options names = {};        ///< all options
  bool of_matrices = false;  ///< and of nothing else

  std::vector<double> chosen(const Options& options) const;
};

}  // namespace cotan::torch::optim::detail
