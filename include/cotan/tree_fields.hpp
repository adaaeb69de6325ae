// The fields of a struct: of a plain one by structured bindings, of any class that lists them by COTAN_TREE.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

/// In a class, which may have constructors, private fields and base classes: its fields, as a pytree. The class must be
/// copyable. By hand it is a public member: auto tree_fields() const { return std::tie(weight, bias); }
///
///     class Linear : public Module { … COTAN_TREE(weight, bias) };
#define COTAN_TREE(...)                                        \
  friend struct ::cotan::tree::detail::Access;                 \
  auto tree_fields() const { return ::std::tie(__VA_ARGS__); } \
  using TreeBase = void;                                       \
  static constexpr const char* tree_names() { return #__VA_ARGS__; }
/// COTAN_TREE with the fields of a base class, which is a pytree, in front: COTAN_TREE_DERIVED(Base, field, …).
#define COTAN_TREE_DERIVED(Base, ...)                                                                                 \
  friend struct ::cotan::tree::detail::Access;                                                                        \
  auto tree_fields() const {                                                                                          \
    return ::std::tuple_cat(::cotan::tree::detail::fields(static_cast<const Base&>(*this)), ::std::tie(__VA_ARGS__)); \
  }                                                                                                                   \
  using TreeBase = Base;                                                                                              \
  static constexpr const char* tree_names() { return #__VA_ARGS__; }

namespace cotan::tree::detail {

// What a class says of itself; a friend of classes with COTAN_TREE, so that it may stand in any section.
struct Access {
  template <class T>
  static constexpr bool listed = requires(T& t) { t.tree_fields(); };
  template <class T>
  static constexpr bool named = requires { T::tree_names(); };
  template <class T>
  static constexpr auto list(T& t) {
    return t.tree_fields();
  }
  template <class T>
  static constexpr std::string_view names() {
    return T::tree_names();
  }
  template <class T>
  static constexpr auto base() {
    return std::type_identity<typename T::TreeBase>{};
  }
};

struct Anything {
  template <class T>
  operator T() const;
};
/// What initialises a base class of D and nothing else.
template <class D>
struct BaseOf {
  template <class B>
    requires(std::is_base_of_v<B, D> && !std::is_same_v<B, D>)
  operator B() const;
};
template <class D>
struct EmptyBaseOf {
  template <class B>
    requires(std::is_base_of_v<B, D> && !std::is_same_v<B, D> && std::is_empty_v<B>)
  operator B() const;
};

inline constexpr std::size_t most_fields = 24;

/// Initialisers that an aggregate takes: its base classes, then its fields.
template <class T, class... A>
consteval std::size_t initialiser_count() {
  if constexpr (sizeof...(A) > most_fields + 4)
    return sizeof...(A);
  else if constexpr (requires { T{std::declval<A>()..., std::declval<Anything>()}; })
    return initialiser_count<T, A..., Anything>();
  else
    return sizeof...(A);
}
template <class T, template <class> class Base, class... A>
consteval std::size_t base_count() {
  if constexpr (requires { T{std::declval<A>()..., std::declval<Base<T>>()}; })
    return base_count<T, Base, A..., Base<T>>();
  else
    return sizeof...(A);
}
/// Fields of its own, where all base classes are empty.
template <class T>
inline constexpr std::size_t field_count = initialiser_count<T>() - base_count<T, EmptyBaseOf>();

/// References to the fields of a plain struct of `n` fields.
template <std::size_t n, class T>
constexpr auto bound_fields(T& t) {
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
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20);
  } else if constexpr (n == 22) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21);
  } else if constexpr (n == 23) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
                    f22);
  } else if constexpr (n == 24) {
    auto& [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22,
           f23] = t;
    return std::tie(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21,
                    f22, f23);
  }
}

/// References to the fields of a class that lists them: const where the object is.
template <class T, class Listed>
constexpr auto listed_fields(const Listed& listed) {
  return std::apply(
      [](auto&... f) {
        return std::tuple<std::conditional_t<std::is_const_v<T>, const std::remove_cvref_t<decltype(f)>,
                                             std::remove_cvref_t<decltype(f)>>&...>(
            const_cast<std::remove_cvref_t<decltype(f)>&>(f)...);
      },
      listed);
}

/// References to the fields of `t`.
template <class T>
constexpr auto fields(T& t) {
  using D = std::remove_const_t<T>;
  if constexpr (Access::listed<D>)
    return listed_fields<T>(Access::list(const_cast<D&>(t)));
  else
    return bound_fields<field_count<D>>(t);
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
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
/// Of "… [with auto pointer = (& unnamed<M>.Named<M>::value.M::w); …]" and "… [pointer = &unnamed<M>.value.w]": "w".
consteval std::string_view last_name(std::string_view text) {
  const std::size_t end = text.find(';') == text.npos ? text.size() : text.find(';');
  std::string_view head = text.substr(0, end);
  while (!head.empty() && (head.back() == ')' || head.back() == ']')) head.remove_suffix(1);
  return head.substr(head.find_last_of(":.") + 1);
}
/// The i-th of "a, b, c".
consteval std::string_view listed_name(std::string_view names, std::size_t i) {
  for (; i > 0; --i) names.remove_prefix(names.find(',') + 1);
  names = names.substr(0, names.find(','));
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  while (!names.empty() && names.back() == ' ') names.remove_suffix(1);
  return names;
}
#if defined(__clang__) && __clang_major__ < 18  // pointers to fields are no template arguments there yet
inline constexpr bool fields_have_names = false;
#else
inline constexpr bool fields_have_names = true;
#endif
template <class T, std::size_t i>
std::string field_name() {
  if constexpr (!Access::listed<T> && fields_have_names) {
    constexpr std::string_view name = last_name(spelling<field_pointer<T, i>()>());
    return std::string(".").append(name);  // g++ 12 warns of "." + …, wrongly
  } else if constexpr (!Access::named<T>) {
    return "." + std::to_string(i);
  } else if constexpr (std::is_void_v<typename decltype(Access::base<T>())::type>) {
    constexpr std::string_view name = listed_name(Access::names<T>(), i);
    return std::string(".").append(name);  // g++ 12 warns of "." + …, wrongly
  } else {
    using Base = typename decltype(Access::base<T>())::type;
    constexpr std::size_t inherited = std::tuple_size_v<decltype(fields(std::declval<Base&>()))>;
    if constexpr (i < inherited)
      return field_name<Base, i>();
    else {
      constexpr std::string_view name = listed_name(Access::names<T>(), i - inherited);
      return std::string(".").append(name);  // g++ 12 warns of "." + …, wrongly
    }
  }
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace cotan::tree::detail
