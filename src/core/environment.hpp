// The environment variables that the library reads, in one table, and the only way to read them.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cotan::environment {

struct Variable {
  std::string_view name;
  std::string_view values;
  std::string_view purpose;
  bool for_tests = false;  ///< to make a machine look smaller or slower than it is
};

/// All of them, as docs/environment.md lists them.
std::span<const Variable> variables();
/// docs/environment.md.
std::string page();

/// The value, or nothing where the variable is not set or empty. The name must be in the table.
std::optional<std::string> text(std::string_view name);
/// Whether the variable is 1, true, yes or on; 0, false, no, off and nothing are not, and anything else is an error.
bool is_on(std::string_view name);
/// A whole number of at least `least`, or an error that says so.
std::optional<std::int64_t> number(std::string_view name, std::int64_t least = 1);
/// One of `values`, or an error that lists them.
std::optional<std::string> one_of(std::string_view name, std::initializer_list<std::string_view> values);

}  // namespace cotan::environment
