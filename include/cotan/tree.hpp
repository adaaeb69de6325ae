// Pytrees: Arrays in tuples, pairs, arrays, vectors, maps, optionals and plain structs of those. Numbers,
// enums and strings inside are static metadata: part of a tree's structure, never traced.
#pragma once
#include <array>
#include <charconv>
#include <cotan/array.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cotan::tree {

namespace detail {

struct Anything {
  template <class T>
  operator T() const;
};
template <class T, class... A>
consteval std::size_t field_count() {
  if constexpr (sizeof...(A) > 24)
    return sizeof...(A);
  else if constexpr (requires { T{std::declval<A>()..., std::declval<Anything>()}; })
    return field_count<T, A..., Anything>();
  else
    return sizeof...(A);
}

/// References to the fields of a plain struct.
template <class T>
constexpr auto fields(T& t) {
  constexpr std::size_t n = field_count<std::remove_const_t<T>>();
  static_assert(n <= 24, "pytree: a struct may have at most 24 fields; nest some of them in another struct");
  if constexpr (n == 0)
    return std::tuple<>();
  else if constexpr (n == 1) {
    auto& [f0] = t;
    return std::tie(f0);
  } else if constexpr (n == 2) {
    auto& [f0, f1] = t;
    return std::tie(f0, f1);
  } else if constexpr (n == 3) {
    auto& [f0, f1, f2] = t;
    return std::tie(f0, f1, f2);
  } else if constexpr (n == 4) {
    auto& [f0, f1, f2, f3] = t;
    return std::tie(f0, f1, f2, f3);
  } else if constexpr (n == 5) {
    auto& [f0, f1, f2, f3, f4] = t;
    return std::tie(f0, f1, f2, f3, f4);
  } else if constexpr (n == 6) {
    auto& [f0, f1, f2, f3, f4, f5] = t;
    return std::tie(f0, f1, f2, f3, f4, f5);
  } else if constexpr (n == 7) {
    auto& [f0, f1, f2, f3, f4, f5, f6] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6);
  } else if constexpr (n == 8) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7);
  } else if constexpr (n == 9) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8);
  } else if constexpr (n == 10) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9);
  } else if constexpr (n == 11) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
  } else if constexpr (n == 12) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11);
  } else if constexpr (n == 13) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12);
  } else if constexpr (n == 14) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13);
  } else if constexpr (n == 15) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14);
  } else if constexpr (n == 16) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15);
  } else if constexpr (n == 17) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16);
  } else if constexpr (n == 18) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17);
  } else if constexpr (n == 19) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18);
  } else if constexpr (n == 20) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19);
  } else if constexpr (n == 21) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20);
  } else if constexpr (n == 22) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20,
           f21] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21);
  } else if constexpr (n == 23) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
           f22] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21, f22);
  } else if constexpr (n == 24) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
           f22, f23] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                    f20, f21, f22, f23);
  }
}

#if defined(__GNUC__) && !defined(__clang__)
// The compiler spells a pointer to a field with the field's name; this object is never defined nor read.
template <class T>
struct Named {
  T value;
};
template <class T>
extern const Named<T> unnamed;
template <auto pointer>
consteval std::string_view spelling() {
  return __PRETTY_FUNCTION__;
}
template <class T, std::size_t i>
consteval auto field_pointer() {
  return &std::get<i>(fields(unnamed<T>.value));
}
template <class T, std::size_t i>
std::string field_name() {
  constexpr std::string_view text = spelling<field_pointer<T, i>()>();
  const std::string_view head = text.substr(0, text.find(';') == text.npos ? text.size() : text.find(';'));
  const std::size_t colon = head.rfind(':');
  std::string_view name = head.substr(colon + 1);
  name = name.substr(0, name.find_first_of(")]"));
  return "." + std::string(name);
}
#else
template <class T, std::size_t i>
std::string field_name() {
  return "." + std::to_string(i);
}
#endif

template <class T>
inline constexpr bool is_tuple = false;
template <class... A>
inline constexpr bool is_tuple<std::tuple<A...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_sequence = false;
template <class T>
inline constexpr bool is_sequence<std::vector<T>> = true;
template <class T, std::size_t n>
inline constexpr bool is_sequence<std::array<T, n>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class K, class T>
inline constexpr bool is_map<std::map<K, T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_static =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, None> || std::is_same_v<T, std::vector<std::int64_t>> ||
    std::is_same_v<T, std::vector<int>>;
template <class T>
inline constexpr bool is_struct = std::is_aggregate_v<T>&& std::is_class_v<T> && !is_sequence<T>;
template <class T>
inline constexpr bool always_false = false;

template <class T>
void append_static(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out += '"' + std::to_string(value.size()) + ':' + value + '"';
  } else if constexpr (std::is_same_v<T, None>) {
    out += "None";
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "True" : "False";
  } else if constexpr (std::is_enum_v<T>) {
    out += std::to_string(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    char buffer[64];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    if constexpr (std::is_floating_point_v<T>) out += 'f';
  } else {
    for (const auto& v : value) out += std::to_string(v) + ' ';
  }
}

}  // namespace detail

/// Types that cotan's transforms take and return.
template <class T>
concept Tree = std::is_same_v<T, Array> || detail::is_static<T> || detail::is_tuple<T> ||
    detail::is_sequence<T> || detail::is_map<T> || detail::is_optional<T> || detail::is_struct<T>;

/// Visits every Array of `t` in order, by reference.
template <class T, class F>
void for_each(T& t, F&& f) {
  using D = std::remove_const_t<T>;
  if constexpr (std::is_same_v<D, Array>)
    f(t);
  else if constexpr (detail::is_static<D>)
    (void)t;
  else if constexpr (detail::is_tuple<D>)
    std::apply([&](auto&... e) { (for_each(e, f), ...); }, t);
  else if constexpr (detail::is_sequence<D>)
    for (auto& e : t) for_each(e, f);
  else if constexpr (detail::is_map<D>)
    for (auto& [key, e] : t) for_each(e, f);
  else if constexpr (detail::is_optional<D>) {
    if (t) for_each(*t, f);
  } else if constexpr (detail::is_struct<D>)
    std::apply([&](auto&... e) { (for_each(e, f), ...); }, detail::fields(t));
  else
    static_assert(detail::always_false<T>, "pytree: not an Array, container, plain struct, number or string");
}

namespace detail {

template <class T>
void append_structure(std::string& out, const T& t) {
  if constexpr (std::is_same_v<T, Array>)
    out += '*';
  else if constexpr (is_static<T>)
    append_static(out, t);
  else if constexpr (is_tuple<T>) {
    out += '(';
    std::apply([&](const auto&... e) { ((append_structure(out, e), out += ','), ...); }, t);
    out += ')';
  } else if constexpr (is_sequence<T>) {
    out += '[';
    for (const auto& e : t) {
      append_structure(out, e);
      out += ',';
    }
    out += ']';
  } else if constexpr (is_map<T>) {
    out += '{';
    for (const auto& [key, e] : t) {
      append_static(out, key);
      out += ':';
      append_structure(out, e);
      out += ',';
    }
    out += '}';
  } else if constexpr (is_optional<T>) {
    if (t)
      append_structure(out, *t);
    else
      out += "None";
  } else {
    const auto fields_of = fields(t);
    out += '{';
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((out += field_name<T, i>(), out += '=', append_structure(out, std::get<i>(fields_of)), out += ','),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(fields_of)>>());
    out += '}';
  }
}

template <class T>
void append_paths(std::vector<std::string>& out, const std::string& at, const T& t) {
  if constexpr (std::is_same_v<T, Array>)
    out.push_back(at);
  else if constexpr (is_static<T>)
    return;
  else if constexpr (is_tuple<T>)
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (append_paths(out, at + '[' + std::to_string(i) + ']', std::get<i>(t)), ...);
    }
  (std::make_index_sequence<std::tuple_size_v<T>>());
  else if constexpr (is_sequence<T>) {
    for (std::size_t i = 0; i < t.size(); ++i) append_paths(out, at + '[' + std::to_string(i) + ']', t[i]);
  }
  else if constexpr (is_map<T>) {
    for (const auto& [key, e] : t) {
      std::string name;
      append_static(name, key);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key)>, std::string>) name = '"' + key + '"';
      append_paths(out, at + '[' + name + ']', e);
    }
  }
  else if constexpr (is_optional<T>) {
    if (t) append_paths(out, at, *t);
  }
  else {
    const auto fields_of = fields(t);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (append_paths(out, at + field_name<T, i>(), std::get<i>(fields_of)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(fields_of)>>());
  }
}

}  // namespace detail

/// The Arrays of `t`, in order.
template <Tree T>
std::vector<Array> leaves(const T& t) {
  std::vector<Array> out;
  for_each(t, [&](const Array& a) { out.push_back(a); });
  return out;
}
/// What is left of a tree without its Arrays: containers, sizes, keys and static values. Equal for equal
/// trees.
template <Tree T>
std::string structure(const T& t) {
  std::string out;
  detail::append_structure(out, t);
  return out;
}
/// Leaves and structure.
template <Tree T>
std::pair<std::vector<Array>, std::string> flatten(const T& t) {
  return {leaves(t), structure(t)};
}
/// A tree like `like` with other leaves.
template <Tree T>
T unflatten(T like, std::span<const Array> with) {
  std::size_t i = 0;
  for_each(like, [&](Array& a) {
    if (i < with.size()) a = with[i];
    ++i;
  });
  if (i != with.size())
    throw TreeError("[unflatten] the tree " + structure(like) + " has " + std::to_string(i) +
                    " leaves but got " + std::to_string(with.size()) + "; give one per leaf.");
  return like;
}
/// Where each leaf is: ".layers[1].w".
template <Tree T>
std::vector<std::string> paths(const T& t) {
  std::vector<std::string> out;
  detail::append_paths(out, "", t);
  return out;
}
/// Applies f to the leaves of trees of one structure: map([](auto x, auto y) { return x + y; }, a, b).
template <class F, Tree T, Tree... Rest>
T map(F&& f, const T& first, const Rest&... rest) {
  const std::string want = structure(first);
  [[maybe_unused]] const auto check = [&](const std::string& got) {
    if (got != want)
      throw TreeError("[tree::map] the trees differ: " + want + " and " + got +
                      "; they must have one structure.");
  };
  (check(structure(rest)), ...);
  const std::array<std::vector<Array>, sizeof...(Rest)> others{leaves(rest)...};
  T out = first;
  std::size_t i = 0;
  for_each(out, [&](Array& a) {
    a = [&]<std::size_t... k>(std::index_sequence<k...>) { return f(a, others[k][i]...); }
    (std::index_sequence_for<Rest...>());
    ++i;
  });
  return out;
}
/// The same tree with empty leaves: an exemplar that keeps no memory alive.
template <Tree T>
T blank(T t) {
  for_each(t, [](Array& a) { a = Array(); });
  return t;
}

}  // namespace cotan::tree
