#include "io/tokenizer/unicode.hpp"

#include <utf8proc.h>

#include <array>
#include <memory>

#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

constexpr std::string_view category_names[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                               "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                               "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

Categories named(std::string_view name) { return *categories_by_name(name); }

std::uint8_t look_up(char32_t c) {
  return static_cast<std::uint8_t>(utf8proc_category(static_cast<utf8proc_int32_t>(c)));
}
/// Of the characters that nearly all texts are made of, at hand.
const std::array<std::uint8_t, 0x10000>& common_categories() {
  static const auto table = [] {
    auto out = std::make_unique<std::array<std::uint8_t, 0x10000>>();
    for (char32_t c = 0; c < out->size(); ++c) (*out)[c] = look_up(c);
    return out;
  }();
  return *table;
}

}  // namespace

Categories category(char32_t c) {
  static const auto& common = common_categories();
  return Categories{1} << (c < common.size() ? common[c] : look_up(c));
}

std::optional<Categories> categories_by_name(std::string_view name) {
  Categories out = 0;
  for (std::size_t i = 0; i < std::size(category_names); ++i)
    if (category_names[i] == name || category_names[i].substr(0, 1) == name) out |= Categories{1} << i;
  if (name == "LC" || name == "L&") out = named("Lu") | named("Ll") | named("Lt");
  return out ? std::optional(out) : std::nullopt;
}

bool is_space(char32_t c) {
  static const Categories separators = named("Z");
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || (category(c) & separators);
}
bool is_word(char32_t c) {
  static const Categories parts = named("L") | named("M") | named("Nd") | named("Nl") | named("Pc");
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  if (category(c) & parts) return true;
  // Joiners, and letters in circles and squares, which are symbols and alphabetic.
  return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
         (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}
bool is_punctuation(char32_t c) {
  static const Categories punctuation = named("P");
  if (c < 0x80) return (c > 32 && c < 48) || (c > 57 && c < 65) || (c > 90 && c < 97) || (c > 122 && c < 127);
  return category(c) & punctuation;
}
bool is_numeric(char32_t c) {
  static const Categories numbers = named("N");
  return category(c) & numbers;
}

char32_t lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}
char32_t folded(char32_t c) {
  return c < 0x80 ? lower(c) : lower(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}
Text lower_case(const Text& text) {
  Rewriter out(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = decode(text.bytes(), at);
    out.put(c == 0x130 ? U'i' : lower(c), at);
    if (c == 0x130) out.put(0x307, at);  // İ has no small letter of its own
    at += length;
  }
  return out.finish();
}

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
  utf8proc_int32_t state = 0;
  auto [previous, length] = decode(text, begin);
  std::size_t at = begin + length;
  while (at < text.size()) {
    const auto [c, more] = decode(text, at);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous), static_cast<utf8proc_int32_t>(c),
                                         &state))
      break;
    previous = c;
    at += more;
  }
  return at;
}

}  // namespace cotan::io
