// Formatting for errors: raise<ShapeError>("[add] shapes {} and {} do not fit", …).
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cotan/array.hpp>

namespace cotan {

/// Errors end with the user's line, but those about programs that cotan made: bugs, and code that cannot be compiled.
template <class E>
inline constexpr bool names_line = !std::is_same_v<E, InternalError> && !std::is_same_v<E, CompileError>;

template <class E = Error, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  std::string message = fmt::format(format, std::forward<Args>(args)...);
  if constexpr (names_line<E>) message += detail::call_note();
  throw E(message);
}

/// For conditions that only a bug in cotan can break.
inline void internal_check(bool ok, const char* what) {
  if (!ok) throw InternalError(std::string("[internal] ") + what + "; this is a bug in cotan, please report it.");
}

}  // namespace cotan

template <>
struct fmt::formatter<cotan::DType> : fmt::formatter<std::string_view> {
  auto format(cotan::DType t, fmt::format_context& ctx) const {
    return fmt::formatter<std::string_view>::format(cotan::name(t), ctx);
  }
};
template <>
struct fmt::formatter<cotan::AbstractValue> : fmt::formatter<std::string> {
  auto format(const cotan::AbstractValue& a, fmt::format_context& ctx) const {
    return fmt::formatter<std::string>::format(a.str(), ctx);
  }
};
