// What Unicode says of characters: categories, normal forms, capitals, what a reader takes for one character.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/tokenizer/text.hpp"

namespace cotan::io {

/// General categories as bits, to be asked for several at once.
using Categories = std::uint32_t;
Categories category(char32_t c);
/// Of "L", "Lu", "Nd" …; nothing where there is no such category.
std::optional<Categories> categories_by_name(std::string_view name);

/// The property White_Space.
bool is_space(char32_t c);
/// What belongs to a word in regular expressions: letters, marks, decimal digits, connectors.
bool is_word(char32_t c);
bool is_punctuation(char32_t c);  ///< ASCII's symbols too
bool is_numeric(char32_t c);

char32_t lower(char32_t c);  ///< of one character; U+0130 has two, see lower_case
/// Equal for characters that differ in case alone.
char32_t folded(char32_t c);
Text lower_case(const Text& text);

enum class NormalForm { c, d, kc, kd };
Text normal_form(const Text& text, NormalForm form);

/// Where the group of characters that a reader takes for one ends.
std::size_t grapheme_end(std::string_view text, std::size_t begin);

}  // namespace cotan::io
