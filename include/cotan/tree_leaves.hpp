// Pytrees: Arrays in tuples, pairs, arrays, vectors, maps, optionals, variants, plain structs and classes that list
// their fields (COTAN_TREE, tree_fields.hpp). Numbers, enums and strings inside are static metadata: part of a tree's
// structure, never traced. tree_map.hpp has map and its kin.
#pragma once
#include <array>
#include <charconv>
#include <cotan/array.hpp>
#include <cotan/tree_fields.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cotan {
class NamedArrays;  // io.hpp
}

/// `jax.tree`: functions over the Arrays of a pytree, its leaves. A pytree is an Array, a number, string or enum, or a
/// tuple, pair, array, vector, map, optional, variant, plain struct or class with COTAN_TREE of pytrees. Trees that
/// should have one structure and do not raise TreeError, which says where they differ.
///
///     struct Model { ct::Array w, b; };
///     Model next = ct::tree::map([](ct::Array p, ct::Array g) { return p - 0.1 * g; }, model, grads);
namespace cotan::tree {

template <class T>
std::string outline(const T& t);  // tree_outline.hpp

namespace detail {

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
template <>
inline constexpr bool is_map<NamedArrays> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... A>
inline constexpr bool is_variant<std::variant<A...>> = true;
template <class T>
inline constexpr bool is_static = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
                                  std::is_same_v<T, None> || std::is_same_v<T, std::monostate> ||
                                  std::is_same_v<T, std::vector<std::int64_t>> || std::is_same_v<T, std::vector<int>>;

/// Whether a class that is no plain struct is a function: a lambda, a std::function, what a transform returned. A
/// generic lambda has no one operator(), but compilers spell what it is.
template <class T>
consteval bool is_function_object() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("<lambda(") != name.npos || name.find("(lambda at") != name.npos || requires { &T::operator(); } ||
         requires { typename T::IsTransformed; };
}

/// Why a type is no pytree.
enum class Fault { none, function, not_a_tree, not_plain, base_with_fields, too_many_fields, not_tied, not_copyable };

template <class... A>
struct TypeList {};
template <class T, class Seen>
struct FaultOf;
/// The first fault of several types. `Seen` are the types around them: a type may hold vectors of itself.
template <class Seen, class... A>
consteval Fault first_fault(TypeList<A...>) {
  Fault out = Fault::none;
  ((out = out == Fault::none ? FaultOf<A, Seen>::value : out), ...);
  return out;
}
template <class T, class... Seen>
struct FaultOf<T, TypeList<Seen...>> {
  using Within = TypeList<Seen..., T>;
  static constexpr bool container = is_tuple<T> || is_variant<T> || is_sequence<T> || is_optional<T> || is_map<T>;
  static constexpr bool leaf = std::is_same_v<T, Array> || is_static<T> || (std::is_same_v<T, Seen> || ...);
  /// A fault of the type itself, whatever it holds.
  static consteval Fault own() {
    if constexpr (is_map<T>)
      return is_static<typename T::key_type> ? Fault::none : Fault::not_a_tree;
    else if constexpr (leaf || container)
      return Fault::none;
    else if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
      return Fault::function;
    else if constexpr (!std::is_class_v<T>)
      return Fault::not_a_tree;
    else if constexpr (!std::is_copy_constructible_v<T>)
      return Fault::not_copyable;
    else if constexpr (Access::listed<T>)
      return tied(static_cast<decltype(Access::list(std::declval<T&>()))*>(nullptr)) ? Fault::none : Fault::not_tied;
    else if constexpr (!std::is_aggregate_v<T>)
      return is_function_object<T>() ? Fault::function : Fault::not_plain;
    else if constexpr (base_count<T, BaseOf>() != base_count<T, EmptyBaseOf>())
      return Fault::base_with_fields;
    else
      return field_count<T> > most_fields ? Fault::too_many_fields : Fault::none;
  }
  static consteval Fault find() {
    if constexpr (own() != Fault::none || leaf)
      return own();
    else if constexpr (is_tuple<T> || is_variant<T>)
      return parts(static_cast<T*>(nullptr));
    else if constexpr (is_sequence<T> || is_optional<T>)
      return FaultOf<typename T::value_type, Within>::value;
    else if constexpr (is_map<T>)
      return FaultOf<typename T::mapped_type, Within>::value;
    else
      return parts(static_cast<decltype(fields(std::declval<T&>()))*>(nullptr));
  }
  template <class... A>
  static consteval bool tied(std::tuple<A...>*) {
    return (std::is_lvalue_reference_v<A> && ...);
  }
  template <template <class...> class Of, class... A>
  static consteval Fault parts(Of<A...>*) {
    return first_fault<Within>(TypeList<std::remove_cvref_t<A>...>{});
  }
  static constexpr Fault value = find();
};
template <class T>
inline constexpr Fault fault = FaultOf<T, TypeList<>>::value;

template <class T>
void append_static(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out += '"' + std::to_string(value.size()) + ':' + value + '"';
  } else if constexpr (std::is_same_v<T, None> || std::is_same_v<T, std::monostate>) {
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
concept Tree = detail::fault<T> == detail::Fault::none;

template <class T>
constexpr bool check();  // below

namespace detail {
template <template <class...> class Of, class... A>
constexpr void check_parts(Of<A...>*) {
  (check<std::remove_cvref_t<A>>(), ...);
}
/// Complains about the innermost type that is at fault.
template <class T>
constexpr void check_inside() {
  if constexpr (is_tuple<T> || is_variant<T>)
    check_parts(static_cast<T*>(nullptr));
  else if constexpr (is_sequence<T> || is_optional<T>)
    check<typename T::value_type>();
  else if constexpr (is_map<T>)
    check<typename T::mapped_type>();
  else
    check_parts(static_cast<decltype(fields(std::declval<T&>()))*>(nullptr));
}
}  // namespace detail

/// Stops the compiler, with the reason, where T is no pytree. What follows then treats T as static, so that this is the
/// one error. Returns whether it is one.
template <class T>
constexpr bool check() {
  using detail::Fault;
  constexpr Fault f = detail::FaultOf<T, detail::TypeList<>>::own();
  if constexpr (f == Fault::none && !Tree<T>) {
    detail::check_inside<T>();
    return false;
  }
  static_assert(
      f != Fault::function,
      "pytree: a function (a lambda, a function's name, a std::function) is no Array and no pytree, so it cannot be "
      "an argument here; capture it in the function that is transformed: [g](Array x) { return g(x); }");
  static_assert(
      f != Fault::not_a_tree,
      "pytree: a pytree is an Array, number, string or enum, or a tuple, pair, array, vector, map, optional, variant "
      "or struct of pytrees; this type is, or holds, something else (a pointer, a reference, a function …)");
  static_assert(
      f != Fault::not_plain,
      "pytree: a class with constructors, private fields or virtual functions needs COTAN_TREE(field, …) inside, which "
      "lists the fields that are part of the tree; a struct without them needs nothing");
  static_assert(f != Fault::base_with_fields,
                "pytree: a struct whose base class has fields needs COTAN_TREE_DERIVED(Base, field, …) inside");
  static_assert(
      f != Fault::too_many_fields,
      "pytree: a struct may have at most 24 fields; nest some of them in another struct, or list them by COTAN_TREE");
  static_assert(f != Fault::not_tied,
                "pytree: tree_fields() must return references to the fields: return std::tie(field, …)");
  static_assert(f != Fault::not_copyable,
                "pytree: a class must be copyable, since a transform returns copies with other Arrays");
  return f == Fault::none;
}

/// Visits every Array of `t` in order, by reference.
template <class T, class F>
void for_each(T& t, F&& f) {
  using D = std::remove_const_t<T>;
  if constexpr (std::is_same_v<D, Array>)
    f(t);
  else if constexpr (detail::is_static<D> || !Tree<D>)  // what is no tree was complained about
    (void)t;
  else if constexpr (detail::is_tuple<D>)
    std::apply([&](auto&... e) { (for_each(e, f), ...); }, t);
  else if constexpr (detail::is_sequence<D>)
    for (auto& e : t) for_each(e, f);
  else if constexpr (detail::is_map<D>)
    for (auto& [key, e] : t) for_each(e, f);
  else if constexpr (detail::is_optional<D>) {
    if (t) for_each(*t, f);
  } else if constexpr (detail::is_variant<D>)
    std::visit([&](auto& e) { for_each(e, f); }, t);
  else
    std::apply([&](auto&... e) { (for_each(e, f), ...); }, detail::fields(t));
}

namespace detail {

template <class T>
void append_structure(std::string& out, const T& t) {
  if constexpr (std::is_same_v<T, Array>)
    out += '*';
  else if constexpr (!Tree<T>)
    out += '?';
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
  } else if constexpr (is_variant<T>) {
    out += '<' + std::to_string(t.index()) + ':';
    std::visit([&](const auto& e) { append_structure(out, e); }, t);
    out += '>';
  } else {
    const auto fields_of = fields(t);
    out += '{';
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((out += field_name<T, i>(), out += '=', append_structure(out, std::get<i>(fields_of)), out += ','), ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(fields_of)>>());
    out += '}';
  }
}

template <class T>
void append_paths(std::vector<std::string>& out, const std::string& at, const T& t) {
  if constexpr (std::is_same_v<T, Array>)
    out.push_back(at);
  else if constexpr (is_static<T> || !Tree<T>)
    return;
  else if constexpr (is_tuple<T>)
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (append_paths(out, at + '[' + std::to_string(i) + ']', std::get<i>(t)), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  else if constexpr (is_sequence<T>) {
    for (std::size_t i = 0; i < t.size(); ++i) append_paths(out, at + '[' + std::to_string(i) + ']', t[i]);
  } else if constexpr (is_map<T>) {
    for (const auto& [key, e] : t) {
      std::string name;
      append_static(name, key);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key)>, std::string>) name = '"' + key + '"';
      append_paths(out, at + '[' + name + ']', e);
    }
  } else if constexpr (is_optional<T>) {
    if (t) append_paths(out, at, *t);
  } else if constexpr (is_variant<T>) {
    std::visit([&](const auto& e) { append_paths(out, at, e); }, t);
  } else {
    const auto fields_of = fields(t);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (append_paths(out, at + field_name<T, i>(), std::get<i>(fields_of)), ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(fields_of)>>());
  }
}

}  // namespace detail

/// The Arrays of `t`, in order.
template <class T>
std::vector<Array> leaves(const T& t) {
  check<T>();
  std::vector<Array> out;
  for_each(t, [&](const Array& a) { out.push_back(a); });
  return out;
}
/// What is left of a tree without its Arrays: containers, sizes, keys and static values. Equal for equal
/// trees.
template <class T>
std::string structure(const T& t) {
  check<T>();
  std::string out;
  detail::append_structure(out, t);
  return out;
}
/// Leaves and structure.
template <class T>
std::pair<std::vector<Array>, std::string> flatten(const T& t) {
  return {leaves(t), structure(t)};
}
/// A tree like `like` with other leaves.
template <class T>
T unflatten(T like, std::span<const Array> with) {
  check<T>();
  std::size_t i = 0;
  for_each(like, [&](Array& a) {
    if (i < with.size()) a = with[i];
    ++i;
  });
  if (i != with.size())
    throw TreeError("[unflatten] the tree " + outline(like) + " has " + std::to_string(i) + " leaves but got " +
                    std::to_string(with.size()) + "; give one per leaf." + cotan::detail::call_note());
  return like;
}
/// Where each leaf is: ".layers[1].w".
template <class T>
std::vector<std::string> paths(const T& t) {
  check<T>();
  std::vector<std::string> out;
  detail::append_paths(out, "", t);
  return out;
}
/// The same tree with empty leaves: an exemplar that keeps no memory alive.
template <class T>
T blank(T t) {
  check<T>();
  for_each(t, [](Array& a) { a = Array(); });
  return t;
}

}  // namespace cotan::tree
