#include "io/tokenizer/utf8.hpp"

#include <cstring>

namespace cotan::io {

void append(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | c >> 12);
    tail(6);
  } else {
    text += static_cast<char>(0xf0 | c >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

Sequence sequence_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {1, true};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return {1, false};
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) return {i, false};
    const auto next = static_cast<unsigned char>(text[at + i]);
    unsigned least = 0x80, most = 0xbf;
    if (i == 1) {  // overlong forms, surrogates, beyond U+10FFFF
      if (first == 0xe0) least = 0xa0;
      if (first == 0xed) most = 0x9f;
      if (first == 0xf0) least = 0x90;
      if (first == 0xf4) most = 0x8f;
    }
    if (next < least || next > most) return {i, false};
  }
  return {length, true};
}

std::size_t valid_until(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if (!(eight & 0x8080808080808080u)) {
        at += sizeof eight;
        continue;
      }
    }
    const Sequence s = sequence_at(text, at);
    if (!s.valid) return at;
    at += s.length;
  }
  return text.size();
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t good = valid_until(text);
    out.append(text.substr(0, good));
    if (good == text.size()) return out;
    append(out, replacement_character);
    text.remove_prefix(good + sequence_at(text, good).length);
  }
}

}  // namespace cotan::io
