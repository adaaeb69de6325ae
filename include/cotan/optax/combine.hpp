// Transformations of transformations: chains, masks, parts of a tree, conditions, accumulation, injected options.
#pragma once
#include <cotan/optax/transformation.hpp>

namespace cotan::optax {

/// One after the other; the state has a part for each.
GradientTransformation chain(std::vector<GradientTransformation> transformations);
/// The same of any number of arguments.
template <class... T>
  requires(std::is_same_v<T, GradientTransformation> && ...)
GradientTransformation chain(const GradientTransformation& first, const T&... rest) {
  return chain(std::vector<GradientTransformation>{first, rest...});
}
/// chain with names for the parts of the state: named_chain({{"clip", clip(1.0)}, {"adam", adam({.learning_rate =
/// 0.1})}}). Equal names raise.
GradientTransformation named_chain(const std::vector<std::pair<std::string, GradientTransformation>>& transformations);

/// Which leaves: all or none, those whose path or the struct they are in is listed (".head", ".layers[0].w"), or a
/// function of path and leaf that says true.
class Mask {
 public:
  Mask() = default;
  template <class B>
    requires std::is_same_v<B, bool>
  Mask(B all_of_them) : all_(all_of_them) {}
  Mask(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  Mask(std::initializer_list<std::string> paths) : paths_(std::vector<std::string>(paths)) {}
  template <class F>
    requires std::is_invocable_r_v<bool, const F&, const std::string&, const Array&>
  Mask(F f) : function_(std::move(f)) {}
  /// Of each leaf. Paths that name no leaf raise.
  std::vector<bool> of(const Arrays& leaves, const std::function<std::vector<std::string>()>& paths) const;
  /// Of one leaf.
  bool of_one(const std::string& path, const Array& leaf) const;
  /// Whether it is all leaves, whatever they are.
  bool is_all() const { return all_ && !paths_ && !function_; }

 private:
  bool all_ = true;
  std::optional<std::vector<std::string>> paths_;
  std::function<bool(const std::string&, const Array&)> function_;
};
/// Labels of leaves: by path or the struct they are in, or by a function of path and leaf.
class Labels {
 public:
  Labels(std::map<std::string, std::string> by_path) : by_path_(std::move(by_path)) {}
  template <class F>
    requires std::is_invocable_r_v<std::string, const F&, const std::string&, const Array&>
  Labels(F f) : function_(std::move(f)) {}
  /// Of each leaf; one without a label raises.
  std::vector<std::string> of(const Arrays& leaves, const std::function<std::vector<std::string>()>& paths) const;

 private:
  std::map<std::string, std::string> by_path_;
  std::function<std::string(const std::string&, const Array&)> function_;
};

/// `inner` on some leaves; the others pass unchanged, and are not there for `inner`.
GradientTransformation masked(const GradientTransformation& inner, const Mask& mask);
/// A transformation for each label. `optax.partition`, once multi_transform.
GradientTransformation partition(const std::map<std::string, GradientTransformation>& transformations,
                                 const Labels& labels);
/// The same as partition.
GradientTransformation multi_transform(const std::map<std::string, GradientTransformation>& transformations,
                                       const Labels& labels);
/// No updates for the leaves of a mask, which stay as they are.
GradientTransformation freeze(const Mask& mask);
/// `optimizer` for all leaves but those of a mask, which stay as they are.
GradientTransformation selective_transform(const GradientTransformation& optimizer, const Mask& freeze_mask);
/// `inner` on one vector of all leaves, which have one dtype.
GradientTransformation flatten(const GradientTransformation& inner);

/// Updates as they come.
GradientTransformation identity();
/// Updates of zeros.
GradientTransformation set_to_zero();
/// A function of the leaves of updates and, where they were given, of the parameters.
GradientTransformation stateless(std::function<Arrays(const Arrays& updates, const std::optional<Arrays>& params)> f);
/// A function of a leaf of the updates and, where there are parameters, of its parameter (else an empty Array).
GradientTransformation stateless_with_tree_map(std::function<Array(const Array& update, const Array& param)> f);
/// The same transformation: all take what Extra holds.
GradientTransformation with_extra_args_support(const GradientTransformation& transformation);

/// Whether at that step; the losses given are in `given`.
using ConditionFn = std::function<Array(const Array& step, const Given& given)>;
/// `inner` where the condition holds, else updates pass unchanged.
GradientTransformation conditionally_transform(const GradientTransformation& inner, ConditionFn should_transform);
/// `inner` where the condition holds, else updates are zeros.
GradientTransformation conditionally_mask(const GradientTransformation& inner, ConditionFn should_transform);
/// `inner` where all gradients are finite, else no step; after so many of these in a row they are taken all the same.
GradientTransformation apply_if_finite(const GradientTransformation& inner, int max_consecutive_errors);

/// Whether MultiSteps leaves gradients out, and what it notes in its state.
struct Skip {
  Array should_skip;                        ///< bool
  std::map<std::string, Array> notes = {};  ///< fields of the state's part "skip_state"
};
/// What decides that, of the leaves of gradients, the step and the parameters.
using ShouldSkipUpdateFunction =
    std::function<Skip(const Arrays& updates, const Array& gradient_step, const std::optional<Arrays>& params)>;
/// Gradients with a NaN or an infinity are left out.
Skip skip_not_finite(const Arrays& updates, const Array& gradient_step, const std::optional<Arrays>& params);
/// Gradients whose squared norm reaches a bound are left out.
ShouldSkipUpdateFunction skip_large_updates(double max_squared_norm);

/// Of MultiSteps.
struct MultiStepsOptions {
  bool use_grad_mean = true;                            ///< the mean of the gradients, else their sum
  ShouldSkipUpdateFunction should_skip_update_fn = {};  ///< none: all count
  std::optional<DType> accumulator_dtype = {};          ///< by default that of the parameters (optax: f32)
};
/// Gradients of several steps are one step of an optimizer: zeros in between. `optax.MultiSteps`.
class MultiSteps : public GradientTransformation {
 public:
  MultiSteps(const GradientTransformation& optimizer, std::int64_t every_k, const MultiStepsOptions& options = {});
  MultiSteps(const GradientTransformation& optimizer, const Schedule& every_k, const MultiStepsOptions& options = {});
  /// bool: whether the last update was one of the optimizer.
  Array has_updated(const State& state) const;
  /// Itself.
  GradientTransformation gradient_transformation() const { return *this; }
};
/// Of lookahead.
struct LookaheadOptions {
  std::int64_t sync_period = 5;         ///< steps after which slow and fast parameters meet
  Hyperparameter slow_step_size = 0.5;  ///< the share of the way that the slow ones go
  bool reset_state = false;             ///< whether the fast optimizer starts anew then
};
/// Of fast and slow parameters: init and update take LookaheadParams in the place of parameters.
GradientTransformation lookahead(const GradientTransformation& fast_optimizer, const LookaheadOptions& options = {});

namespace detail {
using Injected = std::map<std::string, ScalarOrSchedule>;
GradientTransformation inject(std::function<GradientTransformation(const std::map<std::string, Array>&)> rebuild,
                              Injected hyperparams, std::optional<DType> dtype);
template <class T>
inline constexpr bool is_hyperparameter =
    std::is_same_v<T, Hyperparameter> || std::is_same_v<T, ScalarOrSchedule> ||
    std::is_same_v<T, std::optional<Hyperparameter>> || std::is_same_v<T, std::optional<ScalarOrSchedule>>;
/// f(name, field) for the hyperparameters among the fields of options.
template <class Options, class F>
void for_each_hyperparameter(Options& options, F&& f) {
  const auto fields = tree::detail::fields(options);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto one = [&](const std::string& name, auto& field) {
      if constexpr (is_hyperparameter<std::remove_cvref_t<decltype(field)>>) f(name.substr(1), field);
    };
    (one(tree::detail::field_name<std::remove_const_t<Options>, i>(), std::get<i>(fields)), ...);
  }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(fields)>>>());
}
}  // namespace detail

/// Of inject_hyperparams.
struct InjectOptions {
  std::vector<std::string> static_args = {};   ///< names that stay out
  std::optional<DType> hyperparam_dtype = {};  ///< by default the widest of the parameters
};
/// An optimizer whose numbers and schedules are in its state, in the part "hyperparams": tree_utils::tree_set changes
/// them between steps of one compiled program.
///
///     auto opt = optax::inject_hyperparams(optax::adam, optax::AdamOptions{.learning_rate = 1e-3});
///     auto state = opt.init(params);
///     state = optax::tree_utils::tree_set(state, {{"learning_rate", np::full({}, 1e-4)}});
template <class Options>
GradientTransformation inject_hyperparams(GradientTransformation (*factory)(const Options&), const Options& options,
                                          const InjectOptions& inject = {}) {
  const auto is_static = [names = inject.static_args](const std::string& name) {
    for (const std::string& s : names)
      if (s == name) return true;
    return false;
  };
  detail::Injected found;
  detail::for_each_hyperparameter(options, [&](const std::string& name, const auto& field) {
    if (is_static(name)) return;
    if constexpr (requires { field.has_value(); }) {
      if (field) found.emplace(name, ScalarOrSchedule(*field));
    } else {
      found.emplace(name, ScalarOrSchedule(field));
    }
  });
  const auto rebuild = [factory, options](const std::map<std::string, Array>& values) {
    Options with = options;
    detail::for_each_hyperparameter(with, [&](const std::string& name, auto& field) {
      if (const auto at = values.find(name); at != values.end()) field = Hyperparameter(at->second);
    });
    return factory(with);
  };
  return detail::inject(rebuild, found, inject.hyperparam_dtype);
}
/// The same as inject_hyperparams.
template <class Options>
GradientTransformation inject_stateful_hyperparams(GradientTransformation (*factory)(const Options&),
                                                   const Options& options, const InjectOptions& inject = {}) {
  return inject_hyperparams(factory, options, inject);
}

}  // namespace cotan::optax
