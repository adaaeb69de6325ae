// The transforms: a typed skin over cotan::flat. Functions take and return pytrees (tree.hpp).
#pragma once
#include <algorithm>
#include <cotan/debug.hpp>
#include <cotan/flat.hpp>
#include <cotan/located_calls.hpp>
#include <cotan/tree.hpp>
#include <typeinfo>

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
/// The same for a selection of the arguments, which sit at positions I.
template <std::size_t... I, class T>
flat::Paths lazy_paths_at(const T& chosen) {
  return [&chosen](std::size_t leaf) {
    std::vector<std::string> out;
    std::apply([&](const auto&... a) { (tree::detail::append_paths(out, "argument " + std::to_string(I), a), ...); },
               chosen);
    return out[leaf];
  };
}
template <class T>
flat::Paths output_paths(const T& output) {
  return [&output](std::size_t i) { return "output" + (std::is_same_v<T, Array> ? "" : tree::paths(output)[i]); };
}

template <class R>
concept ValueWithAux =
    tree::detail::is_tuple<R> && std::tuple_size_v<R> == 2 && std::is_same_v<std::tuple_element_t<0, R>, Array>;

template <class... T>
auto unwrap_single(std::tuple<T...> t) {
  if constexpr (sizeof...(T) == 1)
    return std::get<0>(std::move(t));
  else
    return t;
}
/// The arguments at positions I, numbers there as Arrays.
template <std::size_t... I, class Tuple>
auto select_arguments(const Tuple& args) {
  return std::tuple<AsArray<std::tuple_element_t<I, Tuple>>...>(std::get<I>(args)...);
}
template <std::size_t... I, class Tuple, class Chosen, std::size_t... k>
auto replace_arguments(const Tuple& args, const Chosen& chosen, std::index_sequence<k...>) {
  const auto pick = [&]<std::size_t at>() -> decltype(auto) {
    constexpr std::array<std::size_t, sizeof...(I)> wanted{I...};
    constexpr std::size_t position = [&] {
      for (std::size_t p = 0; p < sizeof...(I); ++p)
        if (wanted[p] == at) return p;
      return sizeof...(I);
    }();
    if constexpr (position < sizeof...(I))
      return (std::get<position>(chosen));
    else
      return (std::get<at>(args));
  };
  return std::tuple<std::remove_cvref_t<decltype(pick.template operator()<k>())>...>(pick.template operator()<k>()...);
}
template <std::size_t k, class At>
inline constexpr bool is_among = false;
template <std::size_t k, std::size_t... I>
inline constexpr bool is_among<k, std::index_sequence<I...>> = ((k == I) || ...);
/// CallableWith for derivatives with respect to the arguments at positions `At`, of which the numbers are
/// Arrays.
template <class F, class At, class... A>
inline constexpr bool differentiable_with = []<std::size_t... k>(std::index_sequence<k...>) {
  return std::is_invocable_v<const F&, std::conditional_t<is_among<k, At>, const AsArray<A>&, const A&>...>;
}(std::index_sequence_for<A...>());
template <std::size_t... I>
using PositionsOrFirst = std::conditional_t<sizeof...(I) == 0, std::index_sequence<0>, std::index_sequence<I...>>;

}  // namespace detail

// Differentiation ---------------------------------------------------------------------------------

namespace detail {

template <std::size_t... I, class F, class... A>
auto value_and_grad_call(const F& f, std::string_view transform, const A&... a) {
  const std::tuple<Plain<A>...> args(a...);
  const auto chosen = select_arguments<I...>(args);
  using Replaced = decltype(replace_arguments<I...>(args, chosen, std::index_sequence_for<A...>()));
  using R = std::remove_cvref_t<decltype(std::apply(f, std::declval<const Replaced&>()))>;
  constexpr bool differentiable = std::is_same_v<R, Array> || ValueWithAux<R>;
  static_assert(differentiable, "grad: the function must return one scalar Array, or pair{scalar Array, aux}");
  if constexpr (differentiable) {
    std::optional<R> like;
    const auto flat_f = [&](std::span<const Array> in) {
      like = std::apply(f, replace_arguments<I...>(args, tree::unflatten(chosen, in), std::index_sequence_for<A...>()));
      return tree::leaves(*like);
    };
    const Arrays wrt = tree::leaves(chosen);
    flat::ValueAndGrad result = flat::value_and_grad(flat_f, wrt, transform, lazy_paths_at<I...>(chosen));
    return std::pair{tree::unflatten(std::move(*like), result.outputs),
                     unwrap_single(tree::unflatten(chosen, result.grads))};
  } else {
    return std::pair{Array(), unwrap_single(chosen)};
  }
}

}  // namespace detail

/// Value and gradient with respect to the first argument, or to arguments I…: {value, grads}. The function
/// returns a scalar Array, or pair{scalar, aux}; gradients have the type of the arguments.
template <std::size_t... I, class F>
auto value_and_grad(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::differentiable_with<F, detail::PositionsOrFirst<I...>, A...>
      {
        if constexpr (sizeof...(I) == 0)
          return detail::value_and_grad_call<0>(f, "value_and_grad", a...);
        else
          return detail::value_and_grad_call<I...>(f, "value_and_grad", a...);
      },
      where);
}
/// The gradient; where the function returns pair{scalar, aux}: {gradient, aux}.
template <std::size_t... I, class F>
auto grad(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::differentiable_with<F, detail::PositionsOrFirst<I...>, A...>
      {
        auto result = [&] {
          if constexpr (sizeof...(I) == 0)
            return detail::value_and_grad_call<0>(f, "grad", a...);
          else
            return detail::value_and_grad_call<I...>(f, "grad", a...);
        }();
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result.first)>, Array>)
          return std::move(result.second);
        else
          return std::pair{std::move(result.second), std::get<1>(std::move(result.first))};
      },
      where);
}

/// {f(x), directional derivative}: jvp(f, std::tuple{x}, std::tuple{tx}).
template <class F, class... A, class... B>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<B...>& tangents,
         const std::source_location& where = COTAN_HERE) {
  const detail::CallSite site(where);
  static_assert(sizeof...(A) == sizeof...(B), "jvp: as many tangents as primals are needed");
  const std::tuple<detail::AsArray<A>...> x(primals);
  const std::tuple<detail::AsArray<B>...> t(tangents);
  if (tree::structure(x) != tree::structure(t))
    throw TreeError("[jvp] primals and tangents differ in structure: " + tree::outline(x) + " and " + tree::outline(t) +
                    "; they must be alike." + tree::difference(x, t) + detail::call_note());
  using R = std::remove_cvref_t<decltype(std::apply(f, x))>;
  std::optional<R> like;
  auto [y, ty] = flat::jvp(
      [&](std::span<const Array> in) {
        like = std::apply(f, tree::unflatten(x, in));
        return tree::leaves(*like);
      },
      tree::leaves(x), tree::leaves(t), detail::lazy_paths(x));
  R out = tree::unflatten(*like, y);
  return std::pair<R, R>{std::move(out), tree::unflatten(std::move(*like), ty)};
}

namespace detail {

/// Raises where `given` has not the structure of `like`: the cotangent's or tangents' of a linear function.
template <class T, class Like>
void check_like(std::string_view what, const T& given, std::string_view whose, const Like& like) {
  if (tree::structure(given) != tree::structure(like))
    throw TreeError("[" + std::string(what) + " structure " + tree::outline(given) + " but the " + std::string(whose) +
                    " had " + tree::outline(like) + "; they must be alike." + tree::difference(given, like) +
                    call_note());
}

template <class F, class... A>
auto vjp_at(const CallLine& line, const F& f, const A&... a) {
  const CallSite site(line);
  const std::tuple<detail::AsArray<A>...> x(a...);
  using R = std::remove_cvref_t<decltype(std::apply(f, x))>;
  std::optional<R> like;
  auto [y, pull] = flat::vjp(
      [&](std::span<const Array> in) {
        like = std::apply(f, tree::unflatten(x, in));
        return tree::leaves(*like);
      },
      tree::leaves(x), "vjp", detail::lazy_paths(x));
  R out = tree::unflatten(std::move(*like), y);
  auto pullback = [pull = std::move(pull), exemplar = tree::blank(x), output = tree::blank(out), made = line.where()](
                      const detail::AsArray<R>& ct, CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    check_like("vjp] the cotangent has", ct, "output", output);
    return tree::unflatten(exemplar, pull.apply(tree::leaves(ct), detail::output_paths(ct)));
  };
  return std::pair<R, decltype(pullback)>{std::move(out), std::move(pullback)};
}

template <class F, class... A>
auto linearize_at(const CallLine& line, const F& f, const A&... a) {
  const CallSite site(line);
  const std::tuple<detail::AsArray<A>...> x(a...);
  using R = std::remove_cvref_t<decltype(std::apply(f, x))>;
  std::optional<R> like;
  auto [y, push] = flat::linearize(
      [&](std::span<const Array> in) {
        like = std::apply(f, tree::unflatten(x, in));
        return tree::leaves(*like);
      },
      tree::leaves(x), detail::lazy_paths(x));
  R out = tree::unflatten(*like, y);
  auto pushforward = [push = std::move(push), exemplar = tree::blank(std::move(*like)), arguments = tree::blank(x),
                      made = line.where()](const detail::AsArray<A>&... tangents,
                                           CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    const std::tuple<detail::AsArray<A>...> t(tangents...);
    check_like("linearize] the tangents have", t, "arguments", arguments);
    return tree::unflatten(exemplar, push.apply(tree::leaves(t), detail::lazy_paths(t)));
  };
  return std::pair<R, decltype(pushforward)>{std::move(out), std::move(pushforward)};
}

template <class F, class... A>
auto linear_transpose_at(const CallLine& line, const F& f, const A&... like) {
  return [f, x = std::tuple<detail::AsArray<A>...>(like...), made = line.where()](
             const auto& cotangent, CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    const detail::AsArray<std::remove_cvref_t<decltype(cotangent)>> ct(cotangent);
    return tree::unflatten(
        x, flat::linear_transpose(
               [&](std::span<const Array> in) { return tree::leaves(std::apply(f, tree::unflatten(x, in))); },
               tree::leaves(x), tree::leaves(ct), detail::lazy_paths(x), detail::output_paths(ct)));
  };
}

struct Vjp : LocatedCalls<Vjp> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return vjp_at(line, a...);
  }
};
struct Linearize : LocatedCalls<Linearize> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return linearize_at(line, a...);
  }
};
struct LinearTranspose : LocatedCalls<LinearTranspose> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return linear_transpose_at(line, a...);
  }
};

}  // namespace detail

/// vjp(f, args…) is {f(args…), pullback}; pullback(cotangent of the output) gives a tuple of cotangents of the
/// arguments.
inline constexpr detail::Vjp vjp{};
/// linearize(f, args…) is {f(args…), pushforward}; pushforward(tangents…) is linear and reuses what f computed.
inline constexpr detail::Linearize linearize{};
/// linear_transpose(f, like…), the transpose of a linear function at arguments like those: transpose(cotangent) gives a
/// tuple of cotangents.
inline constexpr detail::LinearTranspose linear_transpose{};

namespace detail {

template <std::size_t I, class F, class... A>
auto jacobian_call(const F& f, bool forward, const A&... a) {
  const std::tuple<Plain<A>...> args(a...);
  const auto chosen = select_arguments<I>(args);
  using In = std::tuple_element_t<0, std::remove_const_t<decltype(chosen)>>;
  using R =
      std::remove_cvref_t<decltype(std::apply(f, replace_arguments<I>(args, chosen, std::index_sequence_for<A...>())))>;
  std::optional<R> like;
  const Arrays wrt = tree::leaves(chosen);
  const Arrays blocks = flat::jacobian(
      [&](std::span<const Array> in) {
        like = std::apply(f, replace_arguments<I>(args, tree::unflatten(chosen, in), std::index_sequence_for<A...>()));
        return tree::leaves(*like);
      },
      wrt, forward, lazy_paths_at<I>(chosen));
  if constexpr (std::is_same_v<In, Array>) {
    return tree::unflatten(std::move(*like), blocks);
  } else {
    const In& in = std::get<0>(chosen);
    std::vector<In> rows;
    for (std::size_t at = 0; at < blocks.size(); at += wrt.size())
      rows.push_back(tree::unflatten(in, std::span(blocks).subspan(at, wrt.size())));
    if constexpr (std::is_same_v<R, Array>)
      return rows[0];
    else
      return rows;
  }
}

}  // namespace detail

/// All derivatives, shape (output…, input…), by forward mode. With respect to one argument. Where both output
/// and argument are trees: one tree of the argument's type per output leaf.
template <std::size_t I = 0, class F>
auto jacfwd(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::differentiable_with<F, std::index_sequence<I>, A...>
      { return detail::jacobian_call<I>(f, true, a...); },
      where);
}
/// The same by reverse mode: better with fewer outputs than inputs.
template <std::size_t I = 0, class F>
auto jacrev(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::differentiable_with<F, std::index_sequence<I>, A...>
      { return detail::jacobian_call<I>(f, false, a...); },
      where);
}
/// Second derivatives of a scalar function: forward over reverse.
template <std::size_t I = 0, class F>
auto hessian(F f, const std::source_location& where = COTAN_HERE) {
  return jacfwd<I>(jacrev<I>(std::move(f), where), where);
}

// Vectorisation -----------------------------------------------------------------------------------

/// An axis, `none`, or a list: one entry per argument, or inside it per leaf of that argument in order.
class MappedAxes {
 public:
  MappedAxes(int axis) : axis_(axis) {}
  MappedAxes(None) : axis_(flat::no_axis) {}
  MappedAxes(std::initializer_list<MappedAxes> list) : list_(list), is_list_(true) {}
  explicit MappedAxes(std::vector<MappedAxes> list) : list_(std::move(list)), is_list_(true) {}
  /// Axes of `counts[i]` leaves for each of several parts.
  std::vector<int> expand(const std::vector<std::size_t>& counts, std::string_view what) const;

 private:
  int axis_ = 0;
  std::vector<MappedAxes> list_;
  bool is_list_ = false;
};

struct VmapOptions {
  MappedAxes in_axes = 0;
  MappedAxes out_axes = 0;
};

/// Maps f over an axis of its arguments: vmap(f, {.in_axes = {0, none}, .out_axes = 1}).
template <class F>
auto vmap(F f, VmapOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), options = std::move(options)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        std::vector<std::size_t> counts;
        std::apply([&](const auto&... each) { (counts.push_back(tree::leaves(each).size()), ...); }, args);
        const std::vector<int> in_axes = options.in_axes.expand(counts, "in_axes");
        std::optional<R> like;
        const Arrays out = flat::vmap(
            [&](std::span<const Array> in) {
              like = std::apply(f, tree::unflatten(args, in));
              return tree::leaves(*like);
            },
            tree::leaves(args), in_axes,
            [&](std::size_t) {
              std::vector<std::size_t> out_counts;
              if constexpr (tree::detail::is_tuple<R>)
                std::apply([&](const auto&... each) { (out_counts.push_back(tree::leaves(each).size()), ...); }, *like);
              else
                out_counts.push_back(tree::leaves(*like).size());
              return options.out_axes.expand(out_counts, "out_axes");
            },
            detail::lazy_paths(args));
        return tree::unflatten(std::move(*like), out);
      },
      where);
}

// Compilation -------------------------------------------------------------------------------------

struct JitOptions {
  std::vector<int> static_args = {};  ///< positions of C++ numbers and strings that select a program
  std::vector<int> donate = {};       ///< positions whose buffers the call may use up; they are gone afterwards
  std::string name = "f";
};

/// f traced once per argument types and static values, and run as one program from then on.
template <class F>
class Jitted : public detail::LocatedCalls<Jitted<F>> {
 public:
  Jitted(F f, JitOptions options, const std::source_location& made = {})
      : f_(std::move(f)), options_(std::move(options)), made_(made), cache_(flat::make_jit_cache()) {}

  template <class... A>
  static constexpr bool takes = detail::CallableWith<F, A...>;
  using IsTransformed = void;
  using detail::LocatedCalls<Jitted>::operator();
  template <class... A, class Why = detail::CallReason>
    requires(!detail::CallableWith<F, A...>)
  void operator()(const A&...) const = delete;

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
  template <class... A>
  auto call(const A&... a) const {
    const std::tuple<A...> args(a...);
    using R = std::remove_cvref_t<decltype(std::apply(f_, args))>;
    tree::check<R>();
    // The key: argument types, and what of them is not an Array. Plain Arrays add nothing to it.
    std::string key = typeid(std::tuple<A...>).name();
    if constexpr (!(std::is_same_v<A, Array> && ...)) key += tree::structure(args);
    const flat::JitOptions flat_options{options_.name, donated_leaves(a...)};
    std::optional<R> like;
    std::shared_ptr<const void> payload;
    const Arrays out = flat::jit(
        *cache_, key,
        [&](std::span<const Array> in) {
          like = std::apply(f_, tree::unflatten(args, in));
          return tree::leaves(*like);
        },
        [&]() -> std::shared_ptr<const void> { return std::make_shared<const R>(tree::blank(std::move(*like))); },
        payload, tree::leaves(args), flat_options, detail::lazy_paths(args));
    return tree::unflatten(*static_cast<const R*>(payload.get()), out);
  }

  F f_;
  JitOptions options_;
  std::source_location made_;  ///< the line of jit
  std::shared_ptr<flat::JitCache> cache_;
};
template <class F>
Jitted<F> jit(F f, JitOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return Jitted<F>(std::move(f), std::move(options), where);
}

/// The program f is on arguments like these: make_jaxpr(f)(x).
template <class F>
auto make_jaxpr(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        return flat::make_jaxpr(
            [&](std::span<const Array> in) { return tree::leaves(std::apply(f, tree::unflatten(args, in))); },
            tree::leaves(args), "f", detail::lazy_paths(args));
      },
      where);
}

/// How the default device runs f on arguments like these: explain(jit(f), x).text().
template <class F, class... A>
  requires detail::CallableWith<F, A...>
Explanation explain(const F& f, const A&... a) {
  std::vector<bool> donated;
  if constexpr (requires { f.donated_leaves(a...); })
    donated =
        std::apply([&](const auto&... x) { return f.donated_leaves(x...); }, detail::call_arguments<F, A...>(a...));
  return flat::explain(make_jaxpr([&f](const auto&... x) { return f(x...); })(a...), {}, donated);
}

/// Shapes and dtypes of f's outputs without computing them: Arrays that have no elements.
template <class F>
auto eval_shape(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        std::optional<R> like;
        const Arrays out = flat::eval_shape(
            [&](std::span<const Array> in) {
              like = std::apply(f, tree::unflatten(args, in));
              return tree::leaves(*like);
            },
            tree::leaves(args), detail::lazy_paths(args));
        return tree::unflatten(std::move(*like), out);
      },
      where);
}
/// An argument for eval_shape and make_jaxpr: a shape and a dtype.
Array shape_dtype(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);

// Derivatives by hand -----------------------------------------------------------------------------

/// The value itself, a constant to differentiation.
Array stop_gradient(const ArrayLike& x);
template <tree::Tree T>
  requires(!std::is_same_v<T, Array> && !std::is_arithmetic_v<T>)
T stop_gradient(const T& t) {
  return tree::map([](const Array& a) { return stop_gradient({a, {}}); }, t, detail::CallLine({}));
}

namespace detail {

template <class T>
auto static_part(const T& arg) {
  if constexpr (tree::detail::is_static<T>)
    return std::tuple<T>(arg);
  else
    return std::tuple<>();
}
inline void append(Arrays& to, const Arrays& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace detail

/// f with a forward-mode rule. rule(primals, tangents), both tuples of the arguments, returns
/// std::pair{output, output tangent}. Numbers and strings among the arguments are static.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, std::string name = "custom_jvp", const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), rule = std::move(rule), name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        // Where the call is differentiated at once only the rule runs, else only f: either leaves the exemplar.
        auto like = std::make_shared<std::optional<R>>();
        const Arrays out = flat::custom_jvp(
            [&](std::span<const Array> in) {
              const R y = std::apply(f, tree::unflatten(args, in));
              *like = tree::blank(y);
              return tree::leaves(y);
            },
            [rule, like, exemplar = tree::blank(args)](std::span<const Array> in) {
              const std::size_t n = in.size() / 2;
              const std::pair<R, R> result =
                  rule(tree::unflatten(exemplar, in.subspan(0, n)), tree::unflatten(exemplar, in.subspan(n)));
              if (tree::structure(result.first) != tree::structure(result.second))
                throw TreeError("[custom_jvp] the rule's output " + tree::outline(result.first) + " and tangent " +
                                tree::outline(result.second) + " differ in structure; they must be alike." +
                                tree::difference(result.first, result.second) + detail::call_note());
              *like = tree::blank(result.first);
              Arrays flat_out = tree::leaves(result.first);
              detail::append(flat_out, tree::leaves(result.second));
              return flat_out;
            },
            tree::leaves(args), name);
        return tree::unflatten(**like, out);
      },
      where);
}

namespace detail {

/// What a forward rule gives for arguments in a tuple, or void where it does not take them.
template <class Forward, class Args>
struct ForwardResult;
template <class Forward, class... A>
struct ForwardResult<Forward, std::tuple<A...>> {
  static constexpr bool callable = std::is_invocable_v<const Forward&, const A&...>;
  using Type =
      std::remove_cvref_t<typename std::conditional_t<callable, std::invoke_result<const Forward&, const A&...>,
                                                      std::type_identity<void>>::type>;
};
/// Stops the compiler, with the reason, where a forward rule does not fit. Returns whether it does.
template <class Forward, class Args>
constexpr bool check_forward() {
  using Result = ForwardResult<Forward, Args>;
  static_assert(Result::callable, "custom_vjp: forward must take the arguments of the function");
  constexpr bool fits = requires(typename Result::Type& pair) {
    pair.first;
    pair.second;
  };
  static_assert(!Result::callable || fits, "custom_vjp: forward must return std::pair{output, residuals}");
  return fits;
}

template <class R, class F, class Forward, class Backward, class Args>
R custom_vjp_call(const F& f, const Forward& forward, const Backward& backward, const std::string& name,
                  const Args& args) {
  using Residuals = std::remove_cvref_t<decltype(std::declval<typename ForwardResult<Forward, Args>::Type&>().second)>;
  const auto statics =
      std::apply([](const auto&... each) { return std::tuple_cat(detail::static_part(each)...); }, args);
  struct Exemplars {
    std::optional<R> output;
    std::optional<Residuals> residuals;
  };
  auto like = std::make_shared<Exemplars>();
  const Arrays out = flat::custom_vjp(
      [&](std::span<const Array> in) {
        const R y = std::apply(f, tree::unflatten(args, in));
        like->output = tree::blank(y);
        return tree::leaves(y);
      },
      [forward, like, exemplar = tree::blank(args)](std::span<const Array> in) {
        const auto result = std::apply(forward, tree::unflatten(exemplar, in));
        like->output = tree::blank(result.first);
        like->residuals = tree::blank(result.second);
        return std::pair<Arrays, Arrays>{tree::leaves(result.first), tree::leaves(result.second)};
      },
      [backward, like, statics](std::span<const Array> in) {
        const std::size_t n = tree::leaves(*like->residuals).size();
        const Residuals residuals = tree::unflatten(*like->residuals, in.subspan(0, n));
        const R ct = tree::unflatten(*like->output, in.subspan(n));
        (void)statics;
        if constexpr (std::is_invocable_v<const Backward&, const Residuals&, const R&>)
          return tree::leaves(backward(residuals, ct));
        else
          return tree::leaves(std::apply([&](const auto&... s) { return backward(s..., residuals, ct); }, statics));
      },
      tree::leaves(args), name);
  return tree::unflatten(*like->output, out);
}

}  // namespace detail

/// f with a reverse-mode rule. forward(args…) returns std::pair{output, residuals}; backward(residuals,
/// cotangent) returns the cotangents of the arguments, as a tuple or, for one argument, by itself; an empty
/// Array among them is zero. Numbers and strings among the arguments are static; backward may take them
/// first: backward(static…, residuals, cotangent).
template <class F, class Forward, class Backward>
auto custom_vjp(F f, Forward forward, Backward backward, std::string name = "custom_vjp",
                const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
       name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        if constexpr (!detail::check_forward<Forward, std::remove_const_t<decltype(args)>>())
          return std::apply(f, args);  // of the right type, so that nothing else is said
        else
          return detail::custom_vjp_call<R>(f, forward, backward, name, args);
      },
      where);
}

namespace policy {
/// Keep all intermediate results (as without checkpoint), none, those of matrix products, or named ones.
extern const PolicyPtr everything_saveable, nothing_saveable, dots_saveable, dots_with_no_batch_dims_saveable;
PolicyPtr save_only_these_names(std::vector<std::string> names);
}  // namespace policy

/// `x` under a name that save_only_these_names can refer to.
Array checkpoint_name(const ArrayLike& x, std::string name);

struct CheckpointOptions {
  PolicyPtr policy = policy::nothing_saveable;
};
/// f whose derivative recomputes intermediate results instead of keeping them, as the policy says.
template <class F>
auto checkpoint(F f, CheckpointOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), options = std::move(options)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        std::optional<R> like;
        const Arrays out = flat::checkpoint(
            [&](std::span<const Array> in) {
              like = std::apply(f, tree::unflatten(args, in));
              return tree::leaves(*like);
            },
            tree::leaves(args), options.policy);
        return tree::unflatten(std::move(*like), out);
      },
      where);
}

}  // namespace cotan
