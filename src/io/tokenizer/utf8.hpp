// UTF-8, character by character.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cotan::io {

inline bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }

/// What stands in place of bytes that are no UTF-8.
inline constexpr char32_t replacement_character = 0xfffd;

struct Decoded {
  char32_t c;
  std::uint32_t length;  ///< in bytes
};
/// The character at `at` of a text that is valid.
inline Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xe0) return {(first & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (first < 0xf0) return {(first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f), 3};
  return {(first & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f), 4};
}
/// Where the character before `at` of a text that is valid begins.
inline std::size_t before(std::string_view text, std::size_t at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}
void append(std::string& text, char32_t c);
inline std::string utf8(char32_t c) {
  std::string out;
  append(out, c);
  return out;
}

/// How many bytes from `at` on are one character, or are replaced by one U+FFFD: as many as could begin a character,
/// the way Python's errors="replace" and browsers count.
struct Sequence {
  std::size_t length;
  bool valid;
};
Sequence sequence_at(std::string_view text, std::size_t at);
/// Where the first byte is that belongs to no character; the size of the text where all is valid.
std::size_t valid_until(std::string_view text);
/// With U+FFFD for what is no UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace cotan::io
