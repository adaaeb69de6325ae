// The two passes of reverse mode as two functions, each compiled once.
#pragma once
#include <cotan/transforms/chosen_arguments.hpp>
#include <cotan/transforms/jit.hpp>
#include <cotan/tree.hpp>

namespace cotan {

namespace flat {
/// The linear program of a forward pass, without the values that it keeps.
struct BackwardPass {
  std::int64_t number = 0;  ///< its own
  /// Residuals and cotangents of the outputs -> cotangents of the differentiated arguments.
  std::function<Arrays(std::span<const Array> residuals, std::span<const Array> cotangents, const Paths& outputs)>
      apply;
};
/// The forward pass: outputs, what is kept, and the backward pass.
struct ForwardPass {
  Arrays outputs, residuals;
  BackwardPass backward;
};
/// Of the outputs only the first `differentiated()`, asked once f has run, get cotangents; without it all do.
ForwardPass forward_pass(const FlatFn& f, std::span<const Array> primals, std::string_view transform,
                         const Paths& paths, const std::function<std::size_t()>& differentiated = {});
}  // namespace flat

/// What fwd keeps for bwd: a pytree, so it may go in and out of jitted functions.
template <class Output, class Chosen>
class VjpResiduals {
 public:
  VjpResiduals() = default;
  VjpResiduals(flat::ForwardPass pass, const Output& output, const Chosen& chosen)
      : values_(std::move(pass.residuals)),
        program_(pass.backward.number),
        saved_(
            std::make_shared<const Saved>(Saved{std::move(pass.backward), tree::blank(output), tree::blank(chosen)})) {}
  /// The cotangents of the arguments from that of the output.
  Chosen pull_back(const Output& cotangent) const {
    if (tree::structure(cotangent) != tree::structure(saved_->output))
      throw TreeError("[fwd_and_bwd] the cotangent has structure " + tree::outline(cotangent) + " but the output had " +
                      tree::outline(saved_->output) + "; they must be alike." + detail::call_note());
    return tree::unflatten(saved_->chosen,
                           saved_->pass.apply(values_, tree::leaves(cotangent), detail::output_paths(cotangent)));
  }
  /// A pytree of the values.
  COTAN_TREE(values_, program_)

 private:
  struct Saved {
    flat::BackwardPass pass;
    Output output;
    Chosen chosen;
  };
  std::vector<Array> values_;
  std::int64_t program_ = 0;  ///< tells programs apart that keep values of the same types
  std::shared_ptr<const Saved> saved_;
};

namespace detail {

template <class F, std::size_t... I>
auto forward_of(F f, std::index_sequence<I...>) {
  return [f = std::move(f)]<class... A>(const A&... a)
    requires differentiable_with<F, std::index_sequence<I...>, A...>
  {
    const std::tuple<Plain<A>...> args(a...);
    const auto chosen = select_arguments<I...>(args);
    const auto of_chosen = function_of_chosen<I...>(f, args);
    Flattened flat(of_chosen, chosen);
    using R = typename decltype(flat)::Output;
    flat::ForwardPass pass = flat::forward_pass(flat, tree::leaves(chosen), "fwd_and_bwd", lazy_paths_at<I...>(chosen));
    R out = flat.filled(pass.outputs);
    VjpResiduals<R, std::remove_const_t<decltype(chosen)>> residuals(std::move(pass), out, chosen);
    return std::pair{std::move(out), std::move(residuals)};
  };
}
struct Backward {
  template <class Output, class Chosen>
  auto operator()(const VjpResiduals<Output, Chosen>& residuals, const std::type_identity_t<Output>& cotangent) const {
    return unwrap_chosen(residuals.pull_back(cotangent));
  }
  template <class... T>
  static auto unwrap_chosen(std::tuple<T...> t) {
    if constexpr (sizeof...(T) == 1)
      return std::get<0>(std::move(t));
    else
      return t;
  }
};

}  // namespace detail

/// {fwd, bwd}, both jitted: fwd(args…) is std::pair{f(args…), residuals}, and bwd(residuals, cotangent) the cotangent
/// of the first argument, or a tuple of those of arguments I…. Unlike vjp's pullback, bwd is compiled once for all
/// calls. `jax.fwd_and_bwd`.
///
///     const auto [fwd, bwd] = ct::fwd_and_bwd<0, 1>(layer);
///     const auto [y, residuals] = fwd(x, w);
///     const auto [gx, gw] = bwd(residuals, np::ones_like(y));
template <std::size_t... I, class F>
auto fwd_and_bwd(F f, const std::source_location& where = COTAN_HERE) {
  return std::pair{jit(detail::forward_of(std::move(f), detail::PositionsOrFirst<I...>{}), {.name = "fwd"}, where),
                   jit(detail::Backward{}, {.name = "bwd"}, where)};
}

}  // namespace cotan
