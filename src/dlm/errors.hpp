// Errors of this library: messages by fmt, with the line of the user's call.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cotan/error.hpp>

namespace cotan::dlm {

/// raise<ShapeError>("[dlm] x0 is {}; it must be …", …)
template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  throw_with_line<E>(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace cotan::dlm
