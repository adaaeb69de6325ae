// What functions of cotan::lax with windows and products do with their options.
#pragma once
#include <cotan/flat.hpp>
#include <cotan/lax/indexing.hpp>
#include <cotan/lax/padding.hpp>
#include <optional>

#include "core/params.hpp"

namespace cotan::lax {

/// Sums of a few of these stay in range; primitives raise on sizes that reach it.
inline constexpr std::int64_t too_long = std::int64_t{1} << 61;
/// The size of an axis once its elements are so far apart.
std::int64_t dilated(std::int64_t size, std::int64_t dilation);
/// (low, high) per axis for a padding by name: SAME, SAME_LOWER or VALID.
ConvPadding::Pairs padding_by_name(std::string_view op, const std::string& name, const Ints& sizes, const Ints& windows,
                                   const Ints& strides, const Ints& window_dilation);
/// Axes of an operation's operand, counted from the start; raises naming `op` where one is not there.
Ints resolved(const Array& a, const std::vector<std::int64_t>& axes, std::string_view op);
/// Operands in the dtype in which a product whose result is to be of the `wanted` one is computed.
Arrays in_preferred_type(std::span<const Array> operands, std::optional<DType> wanted);
/// What primitives call a mode.
const char* mode_name(GatherScatterMode mode);

}  // namespace cotan::lax
