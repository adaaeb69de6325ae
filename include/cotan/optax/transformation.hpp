// What all of optax is made of: gradient transformations and their states.
#pragma once
#include <cotan/flat.hpp>
#include <cotan/optax/hyperparameters.hpp>
#include <cotan/tree.hpp>
#include <map>

namespace cotan::optax {

/// What a transformation remembers: named arrays, and the states of those inside it. It is a pytree, so that it passes
/// through jit, scan, vmap and files, and can be donated.
struct State {
  std::string name;                                       ///< of the transformation, or its name in a named_chain
  std::map<std::string, std::vector<Array>> fields = {};  ///< "count": one Array; "mu": one for each leaf
  std::vector<State> parts = {};                          ///< of chain: one for each link
  /// The one Array of a field of this state itself; tree_utils::tree_get looks inside too.
  const Array& operator[](const std::string& field) const;
  /// The part of that name.
  const State& part(const std::string& part_name) const;
  COTAN_TREE(name, fields, parts)
};

/// A state that remembers nothing, for transformations of one's own.
inline State init_empty_state(std::string name = "empty") { return {.name = std::move(name)}; }

/// Fast and slow parameters of lookahead.
template <class P>
struct LookaheadParams {
  P fast, slow;
  /// Both are `params`.
  static LookaheadParams init_synced(const P& params) { return {params, params}; }
};

/// What some transformations need beside gradients and parameters.
template <class P>
struct Extra {
  Array value = {};                                   ///< the loss at the parameters
  std::optional<P> grad = {};                         ///< its gradient there; by default the gradients given
  std::function<Array(const P&)> value_fn = {};       ///< the loss as a function (optax's `obj_fn` too)
  std::function<P(const P&, int step)> grad_fn = {};  ///< its gradient as a function
};

/// The same on flat lists.
struct Given {
  std::optional<Arrays> params = {};                                ///< where they were given
  std::function<std::vector<std::string>()> paths = {};             ///< of the leaves: ".layers[1].w"
  Array value = {};                                                 ///< the loss at the parameters
  std::optional<Arrays> grad = {};                                  ///< its gradient
  std::function<Array(std::span<const Array>)> value_fn = {};       ///< the loss
  std::function<Arrays(std::span<const Array>, int)> grad_fn = {};  ///< its gradient
};

/// Gradients to updates, with a memory: `optax.GradientTransformation`. Optimizers are such, and what they are made of.
///
///     auto opt = optax::chain(optax::clip_by_global_norm(1.0), optax::adamw({.learning_rate = 1e-3}));
///     auto state = opt.init(params);
///     auto [updates, next] = opt.update(grads, state, params);
///     params = optax::apply_updates(params, updates);
class GradientTransformation {
 public:
  /// Leaves of the parameters to the first state.
  using Init = std::function<State(const Given&)>;
  /// Leaves of gradients to those of updates, and the next state.
  using Update = std::function<std::pair<Arrays, State>(const Arrays& gradients, const State&, const Given&)>;
  /// By the functions on flat lists; the name is that of its states, and what errors say.
  GradientTransformation(std::string name, Init init, Update update);

  /// The state before the first step.
  template <tree::Tree P>
  State init(const P& params, const std::source_location& where = COTAN_HERE) const {
    const cotan::detail::CallSite site(where);
    return init_flat({.params = tree::leaves(params), .paths = [&] { return tree::paths(params); }});
  }
  /// Updates like the gradients, and the next state. A pure function.
  template <tree::Tree G>
  std::pair<G, State> update(const G& gradients, const State& state,
                             const std::source_location& where = COTAN_HERE) const {
    const cotan::detail::CallSite site(where);
    auto [updates, next] =
        update_flat(tree::leaves(gradients), state, {.paths = [&] { return tree::paths(gradients); }});
    return {tree::unflatten(gradients, updates), std::move(next)};
  }
  /// The same with the parameters, which many transformations need, and what else they may.
  template <tree::Tree G, tree::Tree P>
  auto update(const G& gradients, const State& state, const P& params, const Extra<P>& extra = {},
              const std::source_location& where = COTAN_HERE) const {
    const cotan::detail::CallSite site(where);
    constexpr bool looks_ahead = std::is_same_v<P, LookaheadParams<G>>;
    if constexpr (!looks_ahead) tree::detail::check_structure(name_, tree::structure(params), params, gradients);
    Given given{.params = tree::leaves(params), .paths = [&] { return tree::paths(params); }, .value = extra.value};
    if (extra.grad) given.grad = tree::leaves(*extra.grad);
    if (extra.value_fn)
      given.value_fn = [&](std::span<const Array> at) { return extra.value_fn(tree::unflatten(params, at)); };
    if (extra.grad_fn)
      given.grad_fn = [&](std::span<const Array> at, int step) {
        return tree::leaves(extra.grad_fn(tree::unflatten(params, at), step));
      };
    auto [updates, next] = update_flat(tree::leaves(gradients), state, given);
    if constexpr (looks_ahead)
      return std::pair<P, State>{tree::unflatten(params, updates), std::move(next)};
    else
      return std::pair<G, State>{tree::unflatten(gradients, updates), std::move(next)};
  }

  /// Of flat lists.
  State init_flat(const Given& given) const;
  /// Of flat lists.
  std::pair<Arrays, State> update_flat(const Arrays& gradients, const State& state, const Given& given) const;
  /// What its states are called.
  const std::string& name() const { return name_; }
  /// The same for leaves that are complex too, which others refuse.
  GradientTransformation of_complex_too() const;

 private:
  std::string name_;
  bool of_complex_ = false;
  Init init_;
  Update update_;
};

namespace detail {
Arrays apply_updates(const Arrays& params, const Arrays& updates);
Arrays incremental_update(const Arrays& news, const Arrays& olds, const Hyperparameter& step_size);
Arrays periodic_update(const Arrays& news, const Arrays& olds, const Array& steps, std::int64_t period);

/// A function of lists of leaves on trees of one structure; the result is like the first.
template <class F, class T, class U>
T map_trees(std::string_view op, const F& f, const T& first, const U& second, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  tree::detail::check_structure(op, tree::structure(first), first, second);
  return tree::unflatten(first, f(tree::leaves(first), tree::leaves(second)));
}
}  // namespace detail

/// params + updates, in the dtypes of the parameters.
template <tree::Tree P, tree::Tree U>
P apply_updates(const P& params, const U& updates, const std::source_location& where = COTAN_HERE) {
  return detail::map_trees("apply_updates", detail::apply_updates, params, updates, where);
}
/// step_size new + (1 - step_size) old: an average that follows.
template <tree::Tree P>
P incremental_update(const P& new_tensors, const P& old_tensors, const Hyperparameter& step_size,
                     const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) { return detail::incremental_update(a, b, step_size); };
  return detail::map_trees("incremental_update", f, new_tensors, old_tensors, where);
}
/// The new tensors at every `update_period`-th step, else the old ones.
template <tree::Tree P>
P periodic_update(const P& new_tensors, const P& old_tensors, const ArrayLike& steps, std::int64_t update_period,
                  const std::source_location& where = COTAN_HERE) {
  const auto f = [&](const Arrays& a, const Arrays& b) {
    return detail::periodic_update(a, b, steps.array(), update_period);
  };
  return detail::map_trees("periodic_update", f, new_tensors, old_tensors, where);
}

}  // namespace cotan::optax
