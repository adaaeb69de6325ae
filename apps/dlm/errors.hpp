// What the program says when it cannot go on: "[where] what is wrong; what to do."
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace apps {

/// Data or files that cannot be used: exit code 1.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A command line that makes no sense: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Error, class... Args>
[[noreturn]] void complain(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace apps
