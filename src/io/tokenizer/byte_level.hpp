// GPT-2's way to write any bytes as printable characters, so that a vocabulary of bytes is a vocabulary of texts.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "io/tokenizer/text.hpp"

namespace cotan::io {

/// The character that stands for each byte: itself where it is printable, else one from U+0100 on.
const std::array<std::string, 256>& byte_characters();
/// The byte that a character stands for.
std::optional<unsigned char> byte_of(char32_t c);

/// Writes a part of a text byte by byte.
void put_byte_level(const Text& text, const Span& s, Rewriter& out);
/// A part of a text behind a prefix, which counts as part of its first character; an empty one stays so.
Text with_prefix(const Text& text, const Span& s, std::string_view prefix);

/// The pattern that GPT-2 cuts texts with.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace cotan::io
