// check_p: that a bool is true. checkify makes an error of a false one; where nobody did, it raises.
#pragma once
#include <source_location>

#include "core/primitive.hpp"

namespace cotan {

/// What is said where a check fails, from the values that it shows.
struct Failure final : OpaqueParam {
  std::function<std::string(std::span<const Array>)> message;
  Types shown;  ///< of the values
  std::source_location where;
  std::string describe() const override { return "<check>"; }
  /// "message At file:line."
  std::string with_line(const std::string& text) const;
};
using FailurePtr = std::shared_ptr<const Failure>;

/// Operands: a token, bools of any shape, the values to show, each with the axes of the bools in front. Result: a
/// token. Params: failure.
extern const Primitive check_p;
FailurePtr failure_of(const Params& params);
/// The number of the first false one.
std::optional<std::int64_t> first_false(const Array& predicates);

}  // namespace cotan
