#include "io/tokenizer/byte_level.hpp"

#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<std::int16_t, 0x144> bytes;

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool printable = (b > 0x20 && b < 0x7f) || (b > 0xa0 && b != 0xad);
      const char32_t c = printable ? static_cast<char32_t>(b) : next++;
      characters[b] = utf8(c);
      bytes[c] = static_cast<std::int16_t>(b);
    }
  }
};
const Alphabet& alphabet() {
  static const Alphabet out;
  return out;
}

}  // namespace

const std::array<std::string, 256>& byte_characters() { return alphabet().characters; }
std::optional<unsigned char> byte_of(char32_t c) {
  const auto& bytes = alphabet().bytes;
  if (c >= bytes.size() || bytes[c] < 0) return {};
  return static_cast<unsigned char>(bytes[c]);
}

void put_byte_level(const Text& text, const Span& s, Rewriter& out) {
  const auto& characters = byte_characters();
  const std::string_view bytes = text.bytes();
  for (std::size_t at = s.begin; at < s.end;) {
    std::size_t end = at;
    while (end < s.end && bytes[end] > ' ' && bytes[end] < 0x7f) ++end;  // these are what they were
    if (end > at) out.copy({at, end});
    if (end < s.end) out.put(characters[static_cast<unsigned char>(bytes[end])], end);
    at = end + 1;
  }
}

Text with_prefix(const Text& text, const Span& s, std::string_view prefix) {
  Rewriter out(text);
  if (!s.empty()) out.put(prefix, s.begin);
  out.copy(s);
  return out.finish();
}

}  // namespace cotan::io
