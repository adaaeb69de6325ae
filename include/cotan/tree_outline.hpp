// Structures of pytrees for people: what messages show of them.
#pragma once
#include <cotan/tree_leaves.hpp>

namespace cotan::tree {

namespace detail {

/// A place in a tree and what is there: ".layers", "a list of 2".
struct Place {
  std::string path, what;
};
/// Elements of a list, in which many alike are said once: "Array, 12 times {w: Array}".
std::string join_elements(const std::vector<std::string>& elements);
std::string shortened(std::string outline);
std::string first_difference(const std::vector<Place>& a, const std::vector<Place>& b);

template <class T>
std::string static_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return '"' + value + '"';
  } else if constexpr (std::is_same_v<T, None> || std::is_same_v<T, std::monostate>) {
    return "none";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    char buffer[64];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  } else {
    std::vector<std::string> elements;
    for (const auto& v : value) elements.push_back(std::to_string(v));
    return '[' + join_elements(elements) + ']';
  }
}

/// f(name, field) of a struct.
template <class T, class F>
void for_each_field(const T& t, F&& f) {
  const auto all = fields(t);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (f(field_name<T, i>(), std::get<i>(all)), ...);
  }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(all)>>>());
}

template <class T>
std::string outline_of(const T& t) {
  std::vector<std::string> parts;
  if constexpr (std::is_same_v<T, Array>) {
    return "Array";
  } else if constexpr (!Tree<T>) {
    return "?";
  } else if constexpr (is_static<T>) {
    return static_text(t);
  } else if constexpr (is_tuple<T>) {
    std::apply([&](const auto&... e) { (parts.push_back(outline_of(e)), ...); }, t);
    return '(' + join_elements(parts) + (parts.size() == 1 ? ",)" : ")");
  } else if constexpr (is_sequence<T>) {
    for (const auto& e : t) parts.push_back(outline_of(e));
    return '[' + join_elements(parts) + ']';
  } else if constexpr (is_map<T>) {
    for (const auto& [key, e] : t) parts.push_back(static_text(key) + ": " + outline_of(e));
    return '{' + join_elements(parts) + '}';
  } else if constexpr (is_optional<T>) {
    return t ? outline_of(*t) : "none";
  } else if constexpr (is_variant<T>) {
    return std::visit([](const auto& e) { return outline_of(e); }, t);
  } else {
    for_each_field(
        t, [&](const std::string& name, const auto& e) { parts.push_back(name.substr(1) + ": " + outline_of(e)); });
    return '{' + join_elements(parts) + '}';
  }
}

template <class T>
void append_places(std::vector<Place>& out, const std::string& at, const T& t) {
  const auto index = [&](const std::string& i) { return at + '[' + i + ']'; };
  if constexpr (std::is_same_v<T, Array>) {
    out.push_back({at, "an Array"});
  } else if constexpr (is_static<T> || !Tree<T>) {
    out.push_back({at, outline_of(t)});
  } else if constexpr (is_tuple<T>) {
    out.push_back({at, "a tuple of " + std::to_string(std::tuple_size_v<T>)});
    std::size_t i = 0;
    std::apply([&](const auto&... e) { (append_places(out, index(std::to_string(i++)), e), ...); }, t);
  } else if constexpr (is_sequence<T>) {
    out.push_back({at, "a list of " + std::to_string(t.size())});
    for (std::size_t i = 0; i < t.size(); ++i) append_places(out, index(std::to_string(i)), t[i]);
  } else if constexpr (is_map<T>) {
    out.push_back({at, "a map"});
    for (const auto& [key, e] : t) append_places(out, index(static_text(key)), e);
  } else if constexpr (is_optional<T>) {
    if (t)
      append_places(out, at, *t);
    else
      out.push_back({at, "none"});
  } else if constexpr (is_variant<T>) {
    std::visit([&](const auto& e) { append_places(out, at, e); }, t);
  } else {
    out.push_back({at, "a struct"});
    for_each_field(t, [&](const std::string& name, const auto& e) { append_places(out, at + name, e); });
  }
}

}  // namespace detail

/// A tree's structure for people: "{layers: [2 times {w: Array, b: Array}], scale: 0.5}".
template <class T>
std::string outline(const T& t) {
  return detail::shortened(detail::outline_of(t));
}
/// Where two trees differ first: " They differ at .layers: a list of 1 and a list of 2." Nothing where it is plain to
/// see, and where they do not.
template <class A, class B>
std::string difference(const A& a, const B& b) {
  std::vector<detail::Place> first, second;
  detail::append_places(first, "", a);
  detail::append_places(second, "", b);
  return detail::first_difference(first, second);
}

}  // namespace cotan::tree
