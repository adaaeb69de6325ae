// Functions over the leaves of pytrees: map, map_with_path, reduce, stack, unstack, transpose.
#pragma once
#include <cotan/tree_leaves.hpp>
#include <cotan/tree_outline.hpp>

namespace cotan::tree {

namespace detail {

template <class A, class B>
void check_structure(std::string_view op, const std::string& want, const A& first, const B& other) {
  if (structure(other) != want)
    throw TreeError("[" + std::string(op) + "] the trees differ: " + outline(first) + " and " + outline(other) +
                    "; they must have one structure." + difference(first, other) + cotan::detail::call_note());
}
template <class T>
std::string leaf_path(const void* tree, std::size_t leaf) {
  const std::string path = paths(*static_cast<const T*>(tree))[leaf];
  return path.empty() ? "itself" : path;
}

/// The type of a map's result: T, or where f gives several Arrays as many Ts.
template <class R, class T>
struct Mapped {
  static_assert(std::is_convertible_v<R, Array>,
                "tree::map: the function must return an Array, or a tuple, pair or array of Arrays");
  using Type = T;
};
template <class T, class... R>
struct Mapped<std::tuple<R...>, T> {
  using Type = std::tuple<std::conditional_t<true, T, R>...>;
};
template <class T, class A, class B>
struct Mapped<std::pair<A, B>, T> {
  using Type = std::pair<T, T>;
};
template <class T, class R, std::size_t n>
struct Mapped<std::array<R, n>, T> {
  using Type = std::array<T, n>;
};

template <class F, class T, class... Rest>
auto map_leaves(std::string_view op, F&& f, const T& first, const Rest&... rest) {
  check<T>();
  if constexpr (sizeof...(Rest) > 0) {
    const std::string want = structure(first);
    (check_structure(op, want, first, rest), ...);
  }
  const std::array<std::vector<Array>, sizeof...(Rest)> others{leaves(rest)...};
  std::size_t leaf = 0;
  const cotan::detail::LeafScope scope(&first, leaf_path<T>, leaf);
  const auto call = [&]<std::size_t... k>(const Array& a, std::index_sequence<k...>) {
    return f(leaf, a, others[k][leaf]...);
  };
  const auto result = [&](const Array& a) { return call(a, std::index_sequence_for<Rest...>()); };
  using R = std::remove_cvref_t<decltype(result(std::declval<const Array&>()))>;
  using Out = typename Mapped<R, T>::Type;
  if constexpr (std::is_same_v<Out, T>) {
    T out = first;
    for_each(out, [&](Array& a) {
      a = result(a);
      ++leaf;
    });
    return out;
  } else {
    constexpr std::size_t n = std::tuple_size_v<R>;
    std::array<std::vector<Array>, n> columns;
    for_each(first, [&](const Array& a) {
      const R results = result(a);
      [&]<std::size_t... k>(std::index_sequence<k...>) {
        (columns[k].push_back(std::get<k>(results)), ...);
      }(std::make_index_sequence<n>());
      ++leaf;
    });
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return Out{unflatten(first, columns[k])...};
    }(std::make_index_sequence<n>());
  }
}

}  // namespace detail

namespace detail {
using cotan::detail::CallLine;
using cotan::detail::CallSite;

template <class F, class T, class... Rest>
auto map_at(const CallLine& line, F& f, const T& first, const Rest&... rest) {
  const CallSite site(line);
  return map_leaves("tree::map", [&](std::size_t, const auto&... a) { return f(a...); }, first, rest...);
}
template <class F, class T, class... Rest>
auto map_with_path_at(const CallLine& line, F& f, const T& first, const Rest&... rest) {
  const CallSite site(line);
  const std::vector<std::string> names = paths(first);
  return map_leaves(
      "tree::map_with_path", [&](std::size_t leaf, const auto&... a) { return f(names[leaf], a...); }, first, rest...);
}
}  // namespace detail

/// Applies f to the leaves of trees of one structure: map([](auto x, auto y) { return x + y; }, a, b). Where f returns
/// a tuple, pair or array of Arrays, so does map of trees: auto [params, momenta] = map(step, params, momenta, grads).
/// Of up to five trees errors name the line of the call, which cannot come after any number of them.
template <class F, class T>
auto map(F&& f, const T& t, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_at(line, f, t);
}
/// Of two trees.
template <class F, class T, class U>
auto map(F&& f, const T& t, const U& u, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_at(line, f, t, u);
}
/// Of three.
template <class F, class T, class U, class V>
auto map(F&& f, const T& t, const U& u, const V& v, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_at(line, f, t, u, v);
}
/// Of four.
template <class F, class T, class U, class V, class W>
auto map(F&& f, const T& t, const U& u, const V& v, const W& w, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_at(line, f, t, u, v, w);
}
/// Of five.
template <class F, class T, class U, class V, class W, class X>
auto map(F&& f, const T& t, const U& u, const V& v, const W& w, const X& x,
         detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_at(line, f, t, u, v, w, x);
}
/// Of more.
template <class F, class T, class... Rest>
  requires(sizeof...(Rest) > 4)
auto map(F&& f, const T& first, const Rest&... rest) {
  return detail::map_at(detail::CallLine({}), f, first, rest...);
}
/// The same with the leaf's path first: map_with_path([](const std::string& path, Array x) { … }, t).
template <class F, class T>
auto map_with_path(F&& f, const T& t, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_with_path_at(line, f, t);
}
/// Of two trees.
template <class F, class T, class U>
auto map_with_path(F&& f, const T& t, const U& u, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_with_path_at(line, f, t, u);
}
/// Of three.
template <class F, class T, class U, class V>
auto map_with_path(F&& f, const T& t, const U& u, const V& v, detail::CallLine line = detail::CallLine(COTAN_HERE)) {
  return detail::map_with_path_at(line, f, t, u, v);
}
/// Of more.
template <class F, class T, class... Rest>
  requires(sizeof...(Rest) > 2)
auto map_with_path(F&& f, const T& first, const Rest&... rest) {
  return detail::map_with_path_at(detail::CallLine({}), f, first, rest...);
}
/// Folds the leaves from the left: reduce(f, t, start) is f(f(start, a), b) …
template <class F, class T, class Start>
Start reduce(F&& f, const T& t, Start start) {
  check<T>();
  for_each(t, [&](const Array& a) { start = f(std::move(start), a); });
  return start;
}

/// The same from the first leaf on; a tree without leaves raises TreeError.
template <class F, class T>
Array reduce(F&& f, const T& t) {
  check<T>();
  Array out;
  for_each(t, [&](const Array& a) { out = out.defined() ? Array(f(out, a)) : a; });
  if (!out.defined())
    throw TreeError("[tree::reduce] the tree has no leaves; give a start." + cotan::detail::call_note());
  return out;
}
/// Folds the leaves pair by pair, so that rounding grows with the depth alone: f must be associative. `identity` is the
/// value of a tree without leaves, which else raises TreeError.
template <class F, class T>
Array reduce_associative(F&& f, const T& t, const std::optional<Array>& identity = std::nullopt) {
  check<T>();
  std::vector<Array> level = leaves(t);
  if (level.empty() && identity) return *identity;
  if (level.empty())
    throw TreeError("[tree::reduce_associative] the tree has no leaves; give an identity." +
                    cotan::detail::call_note());
  while (level.size() > 1) {
    std::vector<Array> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(f(level[i], level[i + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  return level[0];
}
/// Whether all leaves are true, each a scalar; needs values.
template <class T>
bool all(const T& t) {
  check<T>();
  bool out = true;
  for_each(t, [&](const Array& a) { out = out && static_cast<bool>(a); });
  return out;
}
/// Leaves with their paths.
template <class T>
std::vector<std::pair<std::string, Array>> leaves_with_path(const T& t) {
  const std::vector<std::string> names = paths(t);
  const std::vector<Array> values = leaves(t);
  std::vector<std::pair<std::string, Array>> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(names[i], values[i]);
  return out;
}
/// The same, and the structure.
template <class T>
std::pair<std::vector<std::pair<std::string, Array>>, std::string> flatten_with_path(const T& t) {
  return {leaves_with_path(t), structure(t)};
}

namespace detail {
/// A prefix of a tree, leaf by leaf: each Array of it stands for all leaves in its place.
template <class P, class T>
void broadcast_into(const P& prefix, T& t) {
  if constexpr (std::is_same_v<P, Array>) {
    for_each(t, [&](Array& a) { a = prefix; });
  } else if constexpr (is_tuple<P> && is_tuple<T>) {
    static_assert(std::tuple_size_v<P> == std::tuple_size_v<T>, "tree::broadcast: tuples of different lengths");
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (broadcast_into(std::get<i>(prefix), std::get<i>(t)), ...);
    }(std::make_index_sequence<std::tuple_size_v<P>>());
  } else if constexpr (is_map<P> && is_map<T>) {
    for (auto& [key, each] : t) {
      const auto found = prefix.find(key);
      if (found == prefix.end() || prefix.size() != t.size())
        throw TreeError("[tree::broadcast] the maps have different keys; the prefix must have those of the tree." +
                        cotan::detail::call_note());
      broadcast_into(found->second, each);
    }
  } else if constexpr (is_sequence<P> && is_sequence<T>) {
    if (prefix.size() != t.size())
      throw TreeError("[tree::broadcast] lists of " + std::to_string(prefix.size()) + " and " +
                      std::to_string(t.size()) + " differ in length; the prefix must be as long." +
                      cotan::detail::call_note());
    for (std::size_t i = 0; i < t.size(); ++i) broadcast_into(prefix[i], t[i]);
  } else {
    static_assert(std::is_same_v<P, T>,
                  "tree::broadcast: the prefix must be of the tree's type, or an Array in its place");
    t = prefix;
  }
}
}  // namespace detail

/// A tree like `full` whose leaves are those of `prefix`, each Array of which may stand for a whole subtree:
/// broadcast(0.1, model) has 0.1 for every leaf.
template <class P, class T>
T broadcast(const P& prefix, const T& full, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  check<T>();
  T out = full;
  if constexpr (std::is_arithmetic_v<P>)
    detail::broadcast_into(Array(prefix), out);
  else
    detail::broadcast_into(prefix, out);
  return out;
}

namespace detail {
Array stack_leaves(std::vector<Array> leaves, int axis);
std::vector<Array> unstack_leaf(const Array& leaf, int axis);
}  // namespace detail

/// Trees of one structure as one, whose leaves have a new axis: what vmap and scan map over.
template <class T>
T stack(const std::vector<T>& trees, int axis = 0, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  check<T>();
  if (trees.empty()) throw ValueError("[tree::stack] got no trees; give at least one." + cotan::detail::call_note());
  const std::string want = structure(trees[0]);
  std::vector<std::vector<Array>> columns;
  for (const T& t : trees) {
    detail::check_structure("tree::stack", want, trees[0], t);
    columns.push_back(leaves(t));
  }
  return detail::map_leaves(
      "tree::stack",
      [&](std::size_t leaf, const Array&) {
        std::vector<Array> column;
        for (const auto& c : columns) column.push_back(c[leaf]);
        return detail::stack_leaves(std::move(column), axis);
      },
      trees[0]);
}
/// The trees along an axis of the leaves, which all have it in one size.
template <class T>
std::vector<T> unstack(const T& t, int axis = 0, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  std::vector<std::vector<Array>> parts;
  std::size_t leaf = 0;
  const cotan::detail::LeafScope scope(&t, detail::leaf_path<T>, leaf);
  for_each(t, [&](const Array& a) {
    std::vector<Array> part = detail::unstack_leaf(a, axis);
    if (leaf > 0 && part.size() != parts.size())
      throw ShapeError("[tree::unstack] the leaves have " + std::to_string(parts.size()) + " and " +
                       std::to_string(part.size()) + " elements along axis " + std::to_string(axis) +
                       "; they must have as many." + cotan::detail::call_note());
    parts.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) parts[i].push_back(part[i]);
    ++leaf;
  });
  std::vector<T> out;
  for (const auto& part : parts) out.push_back(unflatten(t, part));
  return out;
}

// transpose --------------------------------------------------------------------------------------

namespace detail {

/// One container with elements of another type.
template <class C, class E>
struct With;
template <class A, class E>
struct With<std::vector<A>, E> {
  using Type = std::vector<E>;
};
template <class A, std::size_t n, class E>
struct With<std::array<A, n>, E> {
  using Type = std::array<E, n>;
};
template <class K, class A, class E>
struct With<std::map<K, A>, E> {
  using Type = std::map<K, E>;
};
template <class E>
struct With<NamedArrays, E> {
  using Type = std::map<std::string, E>;
};

inline void check_sizes(bool same) {
  if (!same)
    throw TreeError("[tree::transpose] the inner containers differ in size or keys; they must be alike." +
                    cotan::detail::call_note());
}
/// f(key, element) of a vector, an array or a map.
template <class C, class F>
void for_each_entry(C& c, F&& f) {
  if constexpr (is_map<std::remove_const_t<C>>)
    for (auto& [key, e] : c) f(key, e);
  else
    for (std::size_t i = 0; i < c.size(); ++i) f(i, c[i]);
}
/// Room for the entry of that key, in the order of keys.
template <class C, class K>
auto& entry(C& c, const K& key) {
  if constexpr (is_sequence<C> && requires { c.emplace_back(); })
    if (c.size() <= key) c.resize(key + 1);
  return c[key];
}
template <class A, class B>
bool same_keys(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  if constexpr (is_map<A>)
    for (const auto& [key, e] : a)
      if (!b.contains(key)) return false;
  return true;
}

template <class C>
struct ElementOf {
  static_assert(is_sequence<C> || is_map<C>,
                "tree::transpose: takes a tuple, pair, vector, array or map of such; this is something else");
  using Type = typename C::value_type;
};
template <class K, class A>
struct ElementOf<std::map<K, A>> {
  using Type = A;
};
template <>
struct ElementOf<NamedArrays> {
  using Type = Array;
};
template <class C, class K>
const auto& at_key(const C& c, const K& key) {
  return c.at(key);
}

}  // namespace detail

/// A tuple, vector, array or map of such, inside out: a vector of pairs is a pair of vectors, and back.
template <class Outer>
auto transpose(const Outer& t, const std::source_location& where = COTAN_HERE) {
  using namespace detail;
  const CallSite site(where);
  check<Outer>();
  if constexpr (is_tuple<Outer>) {
    using First = std::tuple_element_t<0, Outer>;
    constexpr auto positions = std::make_index_sequence<std::tuple_size_v<Outer>>();
    if constexpr (is_tuple<First>) {
      const auto row = [&]<std::size_t i, std::size_t... o>(std::index_sequence<o...>) {
        return std::tuple{std::get<i>(std::get<o>(t))...};
      };
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return std::tuple { row.template operator()<i>(positions)... };
      }(std::make_index_sequence<std::tuple_size_v<First>>());
    } else {
      return [&]<std::size_t... o>(std::index_sequence<o...>) {
        const First& first = std::get<0>(t);
        (check_sizes(same_keys(first, std::get<o>(t))), ...);
        using Row = std::tuple<typename ElementOf<std::tuple_element_t<o, Outer>>::Type...>;
        typename With<First, Row>::Type out{};
        for_each_entry(first,
                       [&](const auto& key, const auto&) { entry(out, key) = Row{at_key(std::get<o>(t), key)...}; });
        return out;
      }(positions);
    }
  } else {
    using Inner = typename ElementOf<Outer>::Type;
    if constexpr (is_tuple<Inner>) {
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        std::tuple<typename With<Outer, std::tuple_element_t<i, Inner>>::Type...> out{};
        for_each_entry(t,
                       [&](const auto& key, const auto& e) { ((entry(std::get<i>(out), key) = std::get<i>(e)), ...); });
        return out;
      }(std::make_index_sequence<std::tuple_size_v<Inner>>());
    } else {
      typename With<Inner, typename With<Outer, typename ElementOf<Inner>::Type>::Type>::Type out{};
      const Inner* first = nullptr;
      for_each_entry(t, [&](const auto& key, const Inner& e) {
        if (!first) first = &e;
        check_sizes(same_keys(*first, e));
        for_each_entry(e, [&](const auto& inner, const auto& x) { entry(entry(out, inner), key) = x; });
      });
      return out;
    }
  }
}

}  // namespace cotan::tree
