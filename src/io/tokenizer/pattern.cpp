#include "io/tokenizer/pattern.hpp"

namespace cotan::io {

Pattern::Pattern(const Part& part) {
  if (!part.lacks("String"))
    text_ = part.text("String");
  else
    regex_.emplace(part.text("Regex"), part.where);
}

std::vector<Span> Pattern::find_all(std::string_view text) const {
  if (regex_) return regex_->find_all(text);
  std::vector<Span> out;
  if (text_.empty()) return out;
  for (std::size_t at = 0; (at = text.find(text_, at)) != text.npos; at += text_.size())
    out.push_back({at, at + text_.size()});
  return out;
}

Behavior behavior_named(const Part& part) {
  const std::string name = part.text("behavior");
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  raise<IoError>("{}: the behavior '{}' is unknown; use another tokenizer.", part.where, name);
}

void cut(std::size_t size, const std::vector<Span>& matches, Behavior behavior, bool inverted, std::vector<Span>& out) {
  struct Piece {
    Span span;
    bool is_match;
  };
  std::vector<Piece> pieces;
  std::size_t at = 0;
  for (const Span& m : matches) {
    if (m.begin > at) pieces.push_back({{at, m.begin}, inverted});
    if (!m.empty()) pieces.push_back({m, !inverted});
    at = m.end;
  }
  if (at < size) pieces.push_back({{at, size}, inverted});

  bool before = false;  // whether the piece before is a match
  bool first = true;
  bool joined = false;  // whether a match waits for what comes next
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& [span, is_match] = pieces[i];
    switch (behavior) {
      case Behavior::removed:
        if (!is_match) out.push_back(span);
        break;
      case Behavior::isolated:
        out.push_back(span);
        break;
      case Behavior::contiguous:
        if (!first && is_match == before)
          out.back().end = span.end;
        else
          out.push_back(span);
        break;
      case Behavior::merged_with_previous:
        if (is_match && !first && !before)
          out.back().end = span.end;
        else
          out.push_back(span);
        break;
      case Behavior::merged_with_next: {
        const bool waits = is_match && i + 1 < pieces.size() && !pieces[i + 1].is_match;
        if (joined)
          out.back().end = span.end;
        else
          out.push_back(span);
        joined = waits;
        break;
      }
    }
    before = is_match;
    first = false;
  }
}

}  // namespace cotan::io
