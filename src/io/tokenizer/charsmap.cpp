// The normalizer of SentencePiece models: a table of texts and what stands in their place, compiled into a trie in two
// arrays (of the library darts-clone), in Base64.
#include <array>

#include "io/tokenizer/normalizers.hpp"
#include "io/tokenizer/unicode.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

std::string from_base64(std::string_view text, const std::string& where) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = digits.find(c);
    if (digit == digits.npos) raise<IoError>("{}: the table is not in Base64; the file is damaged.", where);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return out;
}

class Charsmap : public Normalizer {
 public:
  explicit Charsmap(const Part& part) {
    const std::string table = from_base64(part.text("precompiled_charsmap"), part.where);
    const auto number = [&](std::size_t at) {
      std::uint32_t out = 0;
      for (unsigned i = 0; i < 4; ++i) out |= std::uint32_t{static_cast<unsigned char>(table[at + i])} << (8 * i);
      return out;
    };
    if (table.empty()) return;  // changes nothing
    const std::size_t bytes = table.size() < 4 ? 0 : number(0);
    if (table.size() < 4 || bytes % 4 != 0 || bytes == 0 || bytes > table.size() - 4)
      raise<IoError>("{}: the table is cut off; the file is damaged.", part.where);
    for (std::size_t at = 4; at < 4 + bytes; at += 4) units_.push_back(number(at));
    texts_ = table.substr(4 + bytes);
    if (valid_until(texts_) != texts_.size())
      raise<IoError>("{}: the table holds texts that are no UTF-8; the file is damaged.", part.where);
    for (std::size_t c = 0; c < alone_.size(); ++c) {
      const char one = static_cast<char>(c);
      alone_[c] = replacement({&one, 1});
    }
  }

  Text apply(const Text& text) const override {
    if (units_.empty()) return text;
    Rewriter out(text);
    const std::string_view bytes = text.bytes();
    for (std::size_t at = 0; at < bytes.size();) {
      // ASCII before ASCII is a character by itself, but for a line's end of two.
      const bool simple =
          is_ascii(bytes[at]) && bytes[at] != '\r' && (at + 1 == bytes.size() || is_ascii(bytes[at + 1]));
      const std::size_t end = simple ? at + 1 : grapheme_end(bytes, at);
      const auto whole = simple         ? alone_[static_cast<std::size_t>(bytes[at])]
                         : end - at < 6 ? replacement(bytes.substr(at, end - at))
                                        : std::nullopt;
      if (whole)
        put(*whole, bytes, {at, end}, out);
      else if (simple)
        out.copy({at, end});
      else
        by_character(bytes, {at, end}, out);
      at = end;
    }
    return out.finish();
  }

 private:
  /// Character for character; what is left comes from the last one.
  static void put(std::string_view text, std::string_view bytes, const Span& instead, Rewriter& out) {
    std::size_t like = instead.begin;
    for (std::size_t at = 0; at < text.size();) {
      const auto [c, length] = decode(text, at);
      out.put(c, like);
      at += length;
      if (const std::size_t next = like + decode(bytes, like).length; next < instead.end) like = next;
    }
  }
  void by_character(std::string_view bytes, const Span& s, Rewriter& out) const {
    for (std::size_t at = s.begin; at < s.end;) {
      const std::size_t length = decode(bytes, at).length;
      if (const auto other = replacement(bytes.substr(at, length)))
        put(*other, bytes, {at, at + length}, out);
      else
        out.copy({at, at + length});
      at += length;
    }
  }

  /// What stands in place of the shortest entry that `key` begins with.
  std::optional<std::string_view> replacement(std::string_view key) const {
    const auto offset = [](std::uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
    std::size_t at = offset(units_[0]);
    for (const char c : key) {
      const auto label = static_cast<unsigned char>(c);
      at ^= label;
      if (label == 0 || at >= units_.size() || (units_[at] & (1u << 31 | 0xff)) != label) return {};
      const bool has_leaf = units_[at] >> 8 & 1;
      at ^= offset(units_[at]);
      if (!has_leaf) continue;
      if (at >= units_.size()) return {};
      const std::size_t begin = units_[at] & ((1u << 31) - 1);
      if (begin >= texts_.size()) return {};
      const std::size_t end = std::min(texts_.find('\0', begin), texts_.size());
      if (!is_boundary(begin)) return {};
      return std::string_view(texts_).substr(begin, end - begin);
    }
    return {};
  }
  bool is_boundary(std::size_t at) const { return (static_cast<unsigned char>(texts_[at]) & 0xc0) != 0x80; }

  std::vector<std::uint32_t> units_;
  std::string texts_;  ///< each ends with a zero
  std::array<std::optional<std::string_view>, 128> alone_;
};

}  // namespace

NormalizerPtr make_charsmap(const Part& part) {
  if (part.lacks("precompiled_charsmap")) return nullptr;
  return std::make_unique<Charsmap>(part);
}

}  // namespace cotan::io
