// From a pattern's text to a tree.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/regex.hpp"

namespace cotan::io {

struct PatternNode {
  enum class Kind : std::uint8_t { set, sequence, alternatives, repeat, look, line_begin, line_end } kind;
  bool negated = false, lazy = false, possessive = false;
  std::uint32_t least = 0, most = 0;  ///< of a repeat
  CharacterSet set{};
  std::vector<PatternNode> children{};
};

inline constexpr std::uint32_t unlimited = UINT32_MAX;

/// Raises IoError("{where}…") that names what is not understood.
PatternNode parse_pattern(std::string_view pattern, const std::string& where);

}  // namespace cotan::io
