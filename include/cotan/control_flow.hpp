// Control flow that is part of the program: scan, while_loop, fori_loop, cond, switch_, map, associative_scan.
// The functions they take are traced, once, whatever the number of steps; carries, inputs and outputs are pytrees.
#pragma once
#include <cotan/transforms.hpp>

namespace cotan {

/// Which values of a scan are kept for its backward pass. By default all that it needs; with checkpoints only the
/// carries every so many steps, and the steps in between are run again.
class ScanCheckpoint {
 public:
  constexpr ScanCheckpoint() = default;
  constexpr ScanCheckpoint(int steps) : steps_(steps) {}
  constexpr ScanCheckpoint(std::int64_t steps) : steps_(steps) {}
  /// Stands for the root of the length.
  static constexpr std::int64_t root = -1;
  constexpr std::int64_t steps() const { return steps_; }  ///< 0: no checkpoints; root: the root of the length

 private:
  std::int64_t steps_ = 0;
};
/// Memory and further work that grow with the square root of the length.
inline constexpr ScanCheckpoint sqrt_n{ScanCheckpoint::root};

namespace flat {

/// Of scan.
struct ScanOptions {
  bool reverse = false;
  std::int64_t unroll = 1;
  ScanCheckpoint checkpoint = {};
  std::optional<std::int64_t> length = {};  ///< needed where there are no xs
};
/// body: carries, slices of xs -> carries, slices of ys. Gives the last carries, then the ys.
Arrays scan(const FlatFn& body, std::span<const Array> init, std::span<const Array> xs, const ScanOptions& options,
            const Paths& carry_paths, const Paths& x_paths, std::string_view name = "scan");
/// condition: carries -> bool scalar; body: carries -> carries.
Arrays while_loop(const FlatFn& condition, const FlatFn& body, std::span<const Array> init, const Paths& carry_paths,
                  std::string_view name = "while_loop");
/// body: the number, carries -> carries.
Arrays fori_loop(const Array& lower, const Array& upper, const FlatFn& body, std::span<const Array> init,
                 const Paths& carry_paths);
/// Every branch takes `args`. The index is clamped to those there are.
Arrays switch_(const Array& index, std::span<const FlatFn> branches, std::span<const Array> args, std::string_view name,
               const Paths& output_paths);
/// combine: two lists of elements -> one, on slices of `elements` that keep `axis`.
Arrays associative_scan(const FlatFn& combine, std::span<const Array> elements, bool reverse, int axis,
                        const Paths& paths);
/// The predicate of a cond as the number of a branch.
Array as_branch(const Array& predicate);
/// f: slices of xs -> outputs, which are stacked.
Arrays map(const FlatFn& f, std::span<const Array> xs, std::optional<std::int64_t> batch_size, const Paths& paths);

/// [name] the carry has one structure, but the function returns another; `difference` is a sentence more.
[[noreturn]] void raise_structure_mismatch(std::string_view name, std::string_view what, const std::string& in,
                                           const std::string& out, const std::string& difference);

}  // namespace flat

namespace lax {

namespace detail {

/// Numbers in the place of Arrays, also inside tuples, are weak scalars.
template <class T>
struct TracedAs {
  using type = cotan::detail::AsArray<T>;
};
template <class... T>
struct TracedAs<std::tuple<T...>> {
  using type = std::tuple<typename TracedAs<T>::type...>;
};
template <class A, class B>
struct TracedAs<std::pair<A, B>> {
  using type = std::pair<typename TracedAs<A>::type, typename TracedAs<B>::type>;
};
template <class T>
using Traced = typename TracedAs<std::remove_cvref_t<T>>::type;

template <class T>
Traced<T> traced(const T& t) {
  return Traced<T>(t);
}

template <class T>
flat::Paths paths_of(std::string_view root, const T& t) {
  return [root = std::string(root), &t](std::size_t i) {
    std::vector<std::string> out;
    tree::detail::append_paths(out, root, t);
    return out[i];
  };
}

/// `next` has the structure of `like`; else an error that shows both.
template <class A, class B>
void check_structure(std::string_view name, std::string_view what, const A& like, const B& next) {
  if (tree::structure(like) != tree::structure(next))
    flat::raise_structure_mismatch(name, what, tree::outline(like), tree::outline(next), tree::difference(like, next));
}

}  // namespace detail

/// Stands for the xs of a scan that has none: lax::scan(f, init, lax::length(n)).
struct Length {
  std::int64_t steps;
};
/// No xs, so many steps.
inline Length length(std::int64_t steps) { return {steps}; }

/// Of scan.
struct ScanOptions {
  bool reverse = false;            ///< from the last slice to the first; ys stay in the order of xs
  std::int64_t unroll = 1;         ///< steps per iteration of the compiled loop
  ScanCheckpoint checkpoint = {};  ///< a number of steps, or sqrt_n
};

namespace detail {
/// Stops the compiler, with the reason, where the result of a scan's function is no pair. Returns whether it is one.
template <class Result>
constexpr bool check_step() {
  constexpr bool is_pair = [] {
    if constexpr (tree::detail::is_tuple<Result>)
      return std::tuple_size_v<Result> == 2;
    else
      return false;
  }();
  static_assert(is_pair, "scan: the function must return std::pair{next carry, y}; y may be cotan::none");
  return is_pair;
}
}  // namespace detail

/// Runs f over slices of `xs` along the first axis: f(carry, x) -> pair{next carry, y}. Gives {last carry, ys}, the
/// ys stacked along a new first axis. Where f returns no y, let it return none in its place. `jax.lax.scan`; without xs
/// lax::length(n) stands in their place.
///
///     auto [last, sums] = lax::scan([](ct::Array c, ct::Array x) { return std::pair{c + x, c + x}; }, 0.0, xs);
template <class F, class Init, class Xs>
auto scan(const F& f, const Init& init, const Xs& xs, ScanOptions options = {},
          const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  constexpr bool has_xs = !std::is_same_v<Xs, Length>;
  using Carry = detail::Traced<Init>;
  const Carry carry = detail::traced(init);
  const auto slices = [&] {
    if constexpr (has_xs)
      return detail::traced(xs);
    else
      return None{};
  }();
  const auto step = [&](const Carry& c, std::span<const Array> x) {
    if constexpr (has_xs)
      return f(c, tree::unflatten(slices, x));
    else if constexpr (std::is_invocable_v<const F&, const Carry&>)
      return f(c);
    else
      return f(c, none);
  };
  using Result = std::remove_cvref_t<decltype(step(carry, std::span<const Array>()))>;
  if constexpr (!detail::check_step<Result>()) {
    return cotan::detail::Unusable{};
  } else {
    using Y = detail::Traced<std::tuple_element_t<1, Result>>;
    std::optional<Y> like;
    const Arrays leaves = tree::leaves(carry), inputs = tree::leaves(slices);
    flat::ScanOptions flat_options{options.reverse, options.unroll, options.checkpoint, {}};
    if constexpr (!has_xs) flat_options.length = xs.steps;
    const Arrays out = flat::scan(
        [&](std::span<const Array> in) {
          const Result result = step(tree::unflatten(carry, in.subspan(0, leaves.size())), in.subspan(leaves.size()));
          const auto next = detail::traced(std::get<0>(result));
          detail::check_structure("scan", "carry", carry, next);
          like = detail::traced(std::get<1>(result));
          Arrays flat = tree::leaves(next);
          for (const Array& y : tree::leaves(*like)) flat.push_back(y);
          return flat;
        },
        leaves, inputs, flat_options, detail::paths_of("carry", carry), detail::paths_of("xs", slices));
    const auto last = std::span(out).subspan(0, leaves.size()), ys = std::span(out).subspan(leaves.size());
    return std::pair<Carry, Y>{tree::unflatten(carry, last), tree::unflatten(std::move(*like), ys)};
  }
}

/// carry = body(carry) while condition(carry), a scalar of bool: `jax.lax.while_loop`. Reverse mode does not go through
/// it.
///
///     lax::while_loop([](ct::Array v) { return v < 100.0; }, [](ct::Array v) { return v * 2.0; }, 1.0);
template <class C, class B, class Init>
auto while_loop(const C& condition, const B& body, const Init& init, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  using Carry = detail::Traced<Init>;
  const Carry carry = detail::traced(init);
  const Arrays out =
      flat::while_loop([&](std::span<const Array> in) { return Arrays{Array(condition(tree::unflatten(carry, in)))}; },
                       [&](std::span<const Array> in) {
                         const auto next = detail::traced(body(tree::unflatten(carry, in)));
                         detail::check_structure("while_loop", "carry", carry, next);
                         return tree::leaves(next);
                       },
                       tree::leaves(carry), detail::paths_of("carry", carry));
  return tree::unflatten(carry, out);
}

/// carry = body(i, carry) for i in [lower, upper). With C++ integers as bounds it is a scan, and reverse mode goes
/// through it. `jax.lax.fori_loop`.
///
///     lax::fori_loop(0, 10, [](ct::Array i, ct::Array sum) { return sum + i; }, 0);
template <class B, class Init>
auto fori_loop(const ArrayLike& lower, const ArrayLike& upper, const B& body, const Init& init) {
  using Carry = detail::Traced<Init>;
  const Carry carry = detail::traced(init);
  constexpr bool fits = std::is_invocable_v<const B&, const Array&, const Carry&>;
  static_assert(fits, "fori_loop: the function must take (Array index, carry), and return the next carry");
  if constexpr (fits) {
    const Arrays out = flat::fori_loop(
        lower.array(), upper.array(),
        [&](std::span<const Array> in) {
          const auto next = detail::traced(body(in[0], tree::unflatten(carry, in.subspan(1))));
          detail::check_structure("fori_loop", "carry", carry, next);
          return tree::leaves(next);
        },
        tree::leaves(carry), detail::paths_of("carry", carry));
    return tree::unflatten(carry, out);
  } else {
    return carry;
  }
}

namespace detail {

template <class... F, class... A>
auto choose(std::string_view name, const Array& index, const std::tuple<const F&...>& branches, const A&... args) {
  constexpr bool fits = (std::is_invocable_v<const F&, const Traced<A>&...> && ...);
  static_assert(fits, "cond, switch_: every branch must take the arguments that come after the branches");
  if constexpr (!fits) {
    return cotan::detail::Unusable{};
  } else {
    const std::tuple<Traced<A>...> in(traced(args)...);
    using First = std::tuple_element_t<0, std::tuple<const F&...>>;
    using R = Traced<decltype(std::apply(std::declval<First>(), in))>;
    std::optional<R> like;
    std::vector<FlatFunction> functions;
    std::apply(
        [&](const auto&... f) {
          (functions.push_back([&](std::span<const Array> leaves) {
            const auto result = traced(std::apply(f, tree::unflatten(in, leaves)));
            if (like)
              check_structure(name, "result of another branch", *like, result);
            else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, R>)
              like = result;
            return tree::leaves(result);
          }),
           ...);
        },
        branches);
    const std::vector<FlatFn> flat(functions.begin(), functions.end());
    const Arrays out =
        flat::switch_(index, flat, tree::leaves(in), name, [&](std::size_t i) { return paths_of("result", *like)(i); });
    return tree::unflatten(std::move(*like), out);
  }
}

}  // namespace detail

/// on_true(args…) or on_false(args…), which give trees of one structure, shapes and dtypes. Only one of them runs, but
/// under vmap over the predicate: there both do. `jax.lax.cond`.
///
///     lax::cond(np::sum(x) > 0, [](ct::Array v) { return v; }, [](ct::Array v) { return -v; }, x);
template <class T, class F, class... A>
auto cond(const ArrayLike& predicate, const T& on_true, const F& on_false, const A&... args) {
  return detail::choose("cond", flat::as_branch(predicate.array()), std::tuple<const F&, const T&>(on_false, on_true),
                        args...);
}

/// branches[index](args…), the index clamped to the branches there are: switch_(i, std::tuple{f, g}, x).
/// `jax.lax.switch`.
template <class... F, class... A>
auto switch_(const ArrayLike& index, const std::tuple<F...>& branches, const A&... args) {
  return std::apply(
      [&](const F&... f) { return detail::choose("switch_", index.array(), std::tuple<const F&...>(f...), args...); },
      branches);
}
/// The same for branches that return an Array: switch_(i, {f, g, h}, x).
template <class... A>
Array switch_(const ArrayLike& index,
              const std::vector<std::type_identity_t<std::function<Array(const detail::Traced<A>&...)>>>& branches,
              const A&... args) {
  const std::tuple<detail::Traced<A>...> in(detail::traced(args)...);
  std::vector<FlatFunction> functions;
  for (const auto& f : branches)
    functions.push_back(
        [&](std::span<const Array> leaves) { return Arrays{std::apply(f, tree::unflatten(in, leaves))}; });
  const std::vector<FlatFn> flat(functions.begin(), functions.end());
  return flat::switch_(index.array(), flat, tree::leaves(in), "switch_", [](std::size_t) { return "result"; })[0];
}

/// Of map.
struct MapOptions {
  std::optional<std::int64_t> batch_size = {};  ///< so many slices at a time, by vmap
};
/// f on each slice of xs along the first axis, one after the other, or `batch_size` at a time; results are stacked.
/// `jax.lax.map`.
template <class F, class Xs>
auto map(const F& f, const Xs& xs, MapOptions options = {}, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto slices = detail::traced(xs);
  using R = detail::Traced<decltype(f(slices))>;
  std::optional<R> like;
  const Arrays out = flat::map(
      [&](std::span<const Array> in) {
        like = detail::traced(f(tree::unflatten(slices, in)));
        return tree::leaves(*like);
      },
      tree::leaves(slices), options.batch_size, detail::paths_of("xs", slices));
  return tree::unflatten(std::move(*like), out);
}

/// Of associative_scan.
struct AssociativeScanOptions {
  bool reverse = false;  ///< results of what comes after, instead of before
  int axis = 0;          ///< of every leaf
};
/// All partial results of an associative function over slices along an axis. As in JAX, combine(a, b) is called on
/// stacks of elements, so it must treat `axis` as a batch; it is traced once. `jax.lax.associative_scan`.
///
///     lax::associative_scan([](ct::Array a, ct::Array b) { return a * b; }, xs);      // running products
template <class F, class Elements>
auto associative_scan(const F& combine, const Elements& elements, AssociativeScanOptions options = {},
                      const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto elems = detail::traced(elements);
  const Arrays leaves = tree::leaves(elems);
  const Arrays out = flat::associative_scan(
      [&](std::span<const Array> in) {
        const auto result = detail::traced(combine(tree::unflatten(elems, in.subspan(0, leaves.size())),
                                                   tree::unflatten(elems, in.subspan(leaves.size()))));
        detail::check_structure("associative_scan", "element", elems, result);
        return tree::leaves(result);
      },
      leaves, options.reverse, options.axis, detail::paths_of("element", elems));
  return tree::unflatten(elems, out);
}

}  // namespace lax
}  // namespace cotan
