// What every transform needs: which calls there are, what a transform returns, and its arguments as lists of Arrays.
#pragma once
#include <cotan/debug.hpp>
#include <cotan/flat.hpp>
#include <cotan/located_calls.hpp>
#include <cotan/tree_leaves.hpp>

namespace cotan {

namespace detail {

/// String literals are kept as strings.
template <class T>
using Plain = std::conditional_t<std::is_array_v<T> && std::is_convertible_v<const T&, std::string>, std::string, T>;
/// C++ numbers where an Array is wanted are weak scalars.
template <class T>
using AsArray = std::conditional_t<std::is_arithmetic_v<T>, Array, T>;
/// Numbers are traced where the function takes Arrays in their place; else they are static.
template <class F, class... A>
inline constexpr bool numbers_are_dynamic =
    (std::is_arithmetic_v<A> || ...) && std::is_invocable_v<const F&, const AsArray<A>&...>;

/// Whether f can be called, with numbers as Arrays or as they are. What the transforms return is constrained
/// by it, so that jit can ask whether grad(f) takes Arrays in the place of numbers. Named packs there, not
/// const auto&...: g++ 12 crashes on two such lambdas with decltype(a) in equal requires-clauses.
/// Arguments that are no pytrees fit here too: what is called then says so, in one line.
template <class F, class... A>
concept CallableWith =
    !(tree::Tree<Plain<A>> && ...) ||
    std::disjunction_v<std::is_invocable<const F&, const AsArray<A>&...>, std::is_invocable<const F&, const A&...>>;

// Why a call of what a transform returned does not compile: these names are what the compiler shows.
struct the_function_takes_other_arguments_or_another_number_of_them;
struct the_function_must_take_Arrays_or_pytrees_of_Arrays_where_it_is_differentiated;

/// What a call gives that the compiler has complained about: anything, so that nothing else is said.
struct Unusable {
  Array first, second;
  template <class T>
  operator T() const;
};
template <class Call, class... A>
concept Usable = !(tree::Tree<Plain<A>> && ...) || std::is_invocable_v<const Call&, const A&...>;

/// What a transform returns: calls `Call` with arguments that are pytrees. For calls that do not fit there is a deleted
/// overload with the reason in its name, so that the compiler says that instead of listing constraints.
template <class Reason, class Call>
class Transformed : public LocatedCalls<Transformed<Reason, Call>> {
 public:
  Transformed(Call call, const std::source_location& made) : call_(std::move(call)), made_(made) {}
  template <class... A>
  static constexpr bool takes = Usable<Call, A...>;
  using IsTransformed = void;
  using LocatedCalls<Transformed>::operator();
  template <class... A, class Why = Reason>
    requires(!Usable<Call, A...>)
  void operator()(const A&...) const = delete;

  template <class... A>
  auto at_line(const CallLine& line, const A&... a) const {
    const CallSite site(line, made_);
    if constexpr (static_cast<bool>((tree::check<Plain<A>>() & ... & true)))
      return call_(a...);
    else
      return Unusable{};
  }

 private:
  Call call_;
  std::source_location made_;  ///< the line of the transform
};
template <class Reason, class Call>
Transformed<Reason, Call> transformed(Call call, const std::source_location& made) {
  return {std::move(call), made};
}
using CallReason = the_function_takes_other_arguments_or_another_number_of_them;
using DerivativeReason = the_function_must_take_Arrays_or_pytrees_of_Arrays_where_it_is_differentiated;

/// The arguments as the function takes them: numbers as Arrays where it allows that, else as they are.
template <class F, class... A>
auto call_arguments(const A&... a) {
  if constexpr (numbers_are_dynamic<F, A...>)
    return std::tuple<AsArray<Plain<A>>...>(a...);
  else
    return std::tuple<Plain<A>...>(a...);
}

/// A function of pytrees as one of lists of Arrays, at arguments in a tuple. Each call leaves its output behind, as
/// whose likeness `filled` makes a tree of a list of results.
template <class F, class Args>
class Flattened {
 public:
  using Result = std::remove_cvref_t<decltype(std::apply(std::declval<const F&>(), std::declval<const Args&>()))>;
  static constexpr bool returns = !std::is_void_v<Result>;
  static_assert(returns, "the function returns nothing; let it return an Array, or a pytree of Arrays");
  using Output = std::conditional_t<returns, Result, Array>;
  Flattened(const F& f, const Args& args) : f_(f), args_(args) {}
  Arrays operator()(std::span<const Array> leaves) {
    if constexpr (returns) output_ = std::apply(f_, tree::unflatten(args_, leaves));
    return tree::leaves(*output_);
  }
  const Args& arguments() const { return args_; }
  Output& output() { return *output_; }
  Output filled(std::span<const Array> leaves) { return tree::unflatten(std::move(*output_), leaves); }

 private:
  const F& f_;
  const Args& args_;
  std::optional<Output> output_;
};

/// Names of flat leaves for messages: "argument 0.layers[1].w".
template <class... A>
std::vector<std::string> argument_paths(const std::tuple<A...>& args) {
  std::vector<std::string> out;
  std::size_t k = 0;
  std::apply([&](const auto&... a) { (tree::detail::append_paths(out, "argument " + std::to_string(k++), a), ...); },
             args);
  return out;
}
template <class T>
flat::Paths lazy_paths(const T& args) {
  return [&args](std::size_t i) { return argument_paths(args)[i]; };
}

/// What a transform returns that takes the arguments of `f` and gives what f gives: `run(flat, leaves)` computes the
/// leaves of the output with flat, which is f on lists of Arrays.
template <class F, class Run>
auto like_function(F f, Run run, const std::source_location& where) {
  return transformed<CallReason>(
      [f = std::move(f), run = std::move(run)]<class... A>(const A&... a)
        requires CallableWith<F, A...>
      {
        const auto args = call_arguments<F, A...>(a...);
        Flattened flat(f, args);
        return flat.filled(run(flat, tree::leaves(args)));
      },
      where);
}

template <class T>
flat::Paths output_paths(const T& output) {
  return [&output](std::size_t i) { return "output" + (std::is_same_v<T, Array> ? "" : tree::paths(output)[i]); };
}

}  // namespace detail

}  // namespace cotan
