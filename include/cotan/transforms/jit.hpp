// Functions traced once and run as one program.
#pragma once
#include <algorithm>
#include <cotan/transforms/ahead_of_time.hpp>
#include <typeinfo>

namespace cotan {

namespace flat {
/// The program that a call of flat::jit with these runs, traced where it is not in the cache.
Program jit_program(JitCache& cache, const std::string& key, const FlatFn& f,
                    const std::function<std::shared_ptr<const void>()>& make_payload,
                    std::shared_ptr<const void>& payload, std::span<const Array> args, const JitOptions& options,
                    const Paths& paths);
}  // namespace flat

/// Of jit. Positions of arguments count from 0.
struct JitOptions {
  std::vector<int> static_args = {};  ///< positions of C++ numbers and strings that select a program
  std::vector<int> donate = {};       ///< positions whose buffers the call may use up; they are gone afterwards
  std::string name = "f";             ///< in printed programs, profiles and messages
};

/// What jit returns: call it as the function. Copies share the programs.
template <class F>
class Jitted : public detail::LocatedCalls<Jitted<F>> {
 public:
  Jitted(F f, JitOptions options, const std::source_location& made = {})
      : f_(std::move(f)), options_(std::move(options)), made_(made), cache_(flat::make_jit_cache()) {}

  template <class... A>
  static constexpr bool takes = detail::CallableWith<F, A...>;
  using IsTransformed = void;  ///< for the library: a function, not a pytree
  using detail::LocatedCalls<Jitted>::operator();
  template <class... A, class Why = detail::CallReason>
    requires(!detail::CallableWith<F, A...>)
  void operator()(const A&...) const = delete;

  /// A call from that line; for the library. Users call the object.
  template <class... A>
  auto at_line(const detail::CallLine& line, const A&... a) const {
    const detail::CallSite site(line, made_);
    check_static(a...);
    if constexpr (!static_cast<bool>((tree::check<detail::Plain<A>>() & ... & true))) {
      return detail::Unusable{};
    } else if constexpr (detail::numbers_are_dynamic<F, A...>) {
      if constexpr (std::is_invocable_v<const F&, const A&...>)
        if (any_static<A...>()) return call<detail::Plain<A>...>(a...);
      return call<detail::AsArray<detail::Plain<A>>...>(a...);
    } else {
      return call<detail::Plain<A>...>(a...);
    }
  }

  /// The program for arguments like these, which may be ct::shape_dtype's: .compile() makes it ready to run, so that
  /// nothing is traced or compiled at the first call. `jax.jit(f).lower`.
  ///
  ///     const auto step = ct::jit(f).lower(ct::shape_dtype({64, 3})).compile();
  template <class... A>
  auto lower(const A&... a) const {
    if constexpr (detail::numbers_are_dynamic<F, A...> && std::is_invocable_v<const F&, const A&...>)
      if (any_static<A...>())
        throw ValueError(
            "[jit] lower traces a number that the function takes as an Array, and static_args names it; take "
            "it as a C++ number in the function." +
            detail::call_note());
    if constexpr (detail::numbers_are_dynamic<F, A...>)
      return lower_as<detail::AsArray<detail::Plain<A>>...>(a...);
    else
      return lower_as<detail::Plain<A>...>(a...);
  }
  /// The same, with the program itself. `jax.jit(f).trace`.
  template <class... A>
  auto trace(const A&... a) const {
    auto lowered = lower(a...);
    Program program = lowered.program();
    return traced_of(std::move(lowered), std::move(program));
  }
  /// Shapes and dtypes of the output for arguments like these: Arrays without elements. `jax.jit(f).eval_shape`.
  template <class... A>
  auto eval_shape(const A&... a) const {
    return lower(a...).out_info();
  }

  /// Which leaves of such arguments a call gives up; empty: none.
  template <class... A>
  std::vector<bool> donated_leaves(const A&... a) const {
    std::vector<bool> out;
    if (options_.donate.empty()) return out;
    int position = 0;
    [[maybe_unused]] const auto mark = [&](std::size_t count) {
      const auto& list = options_.donate;
      out.insert(out.end(), count, std::find(list.begin(), list.end(), position++) != list.end());
    };
    (mark(tree::leaves(a).size()), ...);
    return out;
  }

 private:
  template <class... A>
  bool any_static() const {
    constexpr bool number[] = {std::is_arithmetic_v<A>..., false};
    for (int i : options_.static_args)
      if (i < static_cast<int>(sizeof...(A)) && number[i]) return true;
    return false;
  }
  template <class... A>
  void check_static(const A&... a) const {
    if (options_.static_args.empty() && options_.donate.empty()) return;
    for (const auto* list : {&options_.static_args, &options_.donate})
      for (int i : *list)
        if (i < 0 || i >= static_cast<int>(sizeof...(A)))
          throw ValueError("[jit] static_args and donate name argument " + std::to_string(i) + " but the call has " +
                           std::to_string(sizeof...(A)) + "; arguments count from 0." + detail::call_note());
    const bool array[] = {!tree::leaves<detail::Plain<A>>(a).empty()..., false};
    for (int i : options_.static_args)
      if (array[i])
        throw TypeError("[jit] argument " + std::to_string(i) +
                        " holds Arrays and cannot be static; pass C++ numbers and strings." + detail::call_note());
  }
  /// run(flat::jit or flat::jit_program, with their arguments); gives the output's exemplar and what run gave.
  template <class Run, class... A>
  auto with_cache(const Run& run, const A&... a) const {
    const std::tuple<A...> args(a...);
    detail::Flattened flat(f_, args);
    using R = typename decltype(flat)::Output;
    tree::check<R>();
    // The key: argument types, and what of them is not an Array. Plain Arrays add nothing to it.
    std::string key = typeid(std::tuple<A...>).name();
    if constexpr (!(std::is_same_v<A, Array> && ...)) key += tree::structure(args);
    const flat::JitOptions flat_options{options_.name, donated_leaves(a...)};
    std::shared_ptr<const void> payload;
    auto out = run(
        *cache_, key, FlatFn(flat),
        [&]() -> std::shared_ptr<const void> {
          return std::make_shared<const R>(tree::blank(std::move(flat.output())));
        },
        payload, tree::leaves(args), flat_options, detail::lazy_paths(args));
    return std::pair{std::static_pointer_cast<const R>(payload), std::move(out)};
  }
  template <class... A>
  auto call(const A&... a) const {
    const auto [like, out] = with_cache(&flat::jit, a...);
    return tree::unflatten(*like, out);
  }
  template <class... A>
  auto lower_as(const A&... a) const {
    const detail::CallSite site(made_);
    check_static(a...);
    auto [like, program] = with_cache(&flat::jit_program, a...);
    std::vector<Array> outputs = flat::outputs_of(program);
    outputs.resize(tree::leaves(*like).size());  // what has effects gives a token behind its results
    auto out = tree::unflatten(*like, outputs);
    using R = decltype(out);
    const std::tuple<A...> args(a...);
    return Lowered<F, R, A...>(*this, tree::unflatten(args, flat::without_elements(tree::leaves(args))), std::move(out),
                               std::move(program), donated_leaves(a...));
  }
  template <class R, class... A>
  static Traced<F, R, A...> traced_of(Lowered<F, R, A...> lowered, Program program) {
    return {std::move(lowered), std::move(program)};
  }

  F f_;
  JitOptions options_;
  std::source_location made_;  ///< the line of jit
  std::shared_ptr<flat::JitCache> cache_;
};
/// f traced once per structure, shapes and dtypes of its arguments, and run as one compiled program from then on;
/// `jax.jit`. C++ numbers are traced where f takes Arrays in their place, else they and strings are static: each value
/// is a program. Keep what jit returns; the programs are its own.
///
///     const auto step = ct::jit([](ct::Array x, ct::Array rate) { return x - rate * ct::grad(loss)(x); });
///     x = step(x, 0.1);
template <class F>
Jitted<F> jit(F f, JitOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return Jitted<F>(std::move(f), std::move(options), where);
}

}  // namespace cotan
