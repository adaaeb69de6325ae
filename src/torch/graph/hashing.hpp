// Hashes and exact equality of attributes of operations. Floats compare by their bits: NaN equals itself, 0.0 is not
// -0.0.
#pragma once
#include <bit>
#include <cotan/array.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cotan::torch::detail {

inline std::size_t mixed(std::size_t hash, std::uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15ull + (hash << 12) + (hash >> 4);
  return hash * 0xff51afd7ed558ccdull;
}

template <class T>
std::size_t hash_of(std::size_t hash, const T& value);
template <class T>
bool same(const T& a, const T& b);

/// What a kind of attribute hashes to, and when two are the same.
template <class T>
struct Attribute {
  static std::size_t hash(std::size_t h, const T& v) {
    if constexpr (std::is_floating_point_v<T>)
      return mixed(h, std::bit_cast<std::uint64_t>(static_cast<double>(v)));
    else if constexpr (std::is_same_v<T, std::monostate>)
      return h;
    else if constexpr (std::is_pointer_v<T>)
      return mixed(h, reinterpret_cast<std::uintptr_t>(v));
    else
      return mixed(h, static_cast<std::uint64_t>(v));
  }
  static bool equal(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::uint64_t>(static_cast<double>(a)) ==
             std::bit_cast<std::uint64_t>(static_cast<double>(b));
    else
      return a == b;
  }
};
template <>
struct Attribute<std::string> {
  static std::size_t hash(std::size_t h, const std::string& v) { return mixed(h, std::hash<std::string>()(v)); }
  static bool equal(const std::string& a, const std::string& b) { return a == b; }
};
template <class T>
struct Attribute<std::vector<T>> {
  static std::size_t hash(std::size_t h, const std::vector<T>& v) {
    h = mixed(h, v.size());
    for (const auto& e : v) h = hash_of<T>(h, e);
    return h;
  }
  static bool equal(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same<T>(a[i], b[i])) return false;
    return true;
  }
};
template <class T>
struct Attribute<std::optional<T>> {
  static std::size_t hash(std::size_t h, const std::optional<T>& v) {
    return v ? hash_of(mixed(h, 1), *v) : mixed(h, 0);
  }
  static bool equal(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }
};
template <class A, class B>
struct Attribute<std::pair<A, B>> {
  static std::size_t hash(std::size_t h, const std::pair<A, B>& v) { return hash_of(hash_of(h, v.first), v.second); }
  static bool equal(const std::pair<A, B>& a, const std::pair<A, B>& b) {
    return same(a.first, b.first) && same(a.second, b.second);
  }
};
template <class... A>
struct Attribute<std::tuple<A...>> {
  static std::size_t hash(std::size_t h, const std::tuple<A...>& v) {
    std::apply([&](const auto&... e) { ((h = hash_of(h, e)), ...); }, v);
    return h;
  }
  static bool equal(const std::tuple<A...>& a, const std::tuple<A...>& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return (same(std::get<i>(a), std::get<i>(b)) && ...);
    }(std::index_sequence_for<A...>());
  }
};

template <class T>
std::size_t hash_of(std::size_t hash, const T& value) {
  return Attribute<T>::hash(hash, value);
}
template <class T>
bool same(const T& a, const T& b) {
  return Attribute<T>::equal(a, b);
}

}  // namespace cotan::torch::detail
