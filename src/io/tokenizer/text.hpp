// A text on its way to tokens, which knows for each byte where it comes from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cotan::io {

/// Bytes from … to.
struct Span {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

class Text {
 public:
  /// A text as a user gives it; what is no UTF-8 becomes U+FFFD. Only a tracked one knows origins, which cost memory.
  Text(std::string_view given, bool tracked);
  std::string_view bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  std::string_view part(const Span& s) const { return bytes().substr(s.begin, s.end - s.begin); }
  /// Whether its first character comes from the first one of the given text.
  bool at_start() const { return at_start_; }
  bool tracked() const { return tracked_; }
  /// The bytes of the given text that a part of this one comes from; {} of an untracked text.
  Span origin(const Span& s) const {
    if (!tracked_ || s.empty()) return {};
    return {from_[s.begin].begin, from_[s.end - 1].end};
  }
  Text slice(const Span& s) const;

 private:
  friend class Rewriter;
  struct Range {
    std::uint32_t begin, end;
  };
  Text() = default;
  void add_valid(std::string_view given, std::size_t begin, std::size_t end);
  std::string bytes_;
  std::vector<Range> from_;  ///< of each byte, whole characters; of tracked texts only
  bool tracked_ = false, at_start_ = true;
};

/// Makes another text out of one.
class Rewriter {
 public:
  explicit Rewriter(const Text& text);
  /// The bytes as they are.
  void copy(const Span& s);
  /// Other bytes, which come from where byte `like` comes from.
  void put(std::string_view bytes, std::size_t like);
  void put(char32_t c, std::size_t like);
  std::size_t size() const { return out_.size(); }
  Text finish() { return std::move(out_); }

 private:
  void begin_at(std::size_t at);
  const Text& text_;
  Text out_;
};

}  // namespace cotan::io
