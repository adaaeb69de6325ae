// What a file gives as a pattern, {"String": …} or {"Regex": …}, and texts cut where it matches.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/fields.hpp"
#include "io/tokenizer/regex.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

class Pattern {
 public:
  explicit Pattern(const Part& part);
  explicit Pattern(std::string text) : text_(std::move(text)) {}
  std::vector<Span> find_all(std::string_view text) const;

 private:
  std::string text_;
  std::optional<Regex> regex_;
};

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
/// By its name in files; raises where it is no such name.
Behavior behavior_named(const Part& part);

/// Pieces of a text of this size that is cut at its matches.
void cut(std::size_t size, const std::vector<Span>& matches, Behavior behavior, bool inverted, std::vector<Span>& out);

/// The matches of characters that fulfil a condition, each by itself.
template <class Condition>
std::vector<Span> characters_that(std::string_view text, Condition&& fulfil) {
  std::vector<Span> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = decode(text, at);
    if (fulfil(c)) out.push_back({at, at + length});
    at += length;
  }
  return out;
}

}  // namespace cotan::io
