// What loops and branches share; and both as those of C++, which they are while jit is disabled.
#pragma once
#include <cotan/flat.hpp>

namespace cotan::flat {

/// Raises for an empty one.
void check_all_defined(std::span<const Array> arrays, std::string_view name, const Paths& paths);

/// At least one step.
Arrays scan_without_jit(const FlatFn& body, std::span<const Array> init, std::span<const Array> xs, std::int64_t length,
                        bool reverse);
Arrays while_without_jit(const FlatFn& condition, const FlatFn& body, std::span<const Array> init);
/// The branch that an index with a value is clamped to.
std::size_t branch_of(const Array& index, std::size_t branches);

}  // namespace cotan::flat
