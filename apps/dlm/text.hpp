// Words for messages and pages: quoting, UTF-8, the nearest spelling, numbers as people write them.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// Text for a message: in quotes, short, and without bytes that could upset a terminal.
std::string shown(std::string_view text);

/// ASCII letters made small.
std::string lower(std::string_view text);

/// Bytes of the printable UTF-8 character (or ASCII character of any kind) that the text begins with; 0 if
/// it begins with none.
std::size_t utf8_length(std::string_view text);

/// Characters, not bytes.
std::size_t letters_of(std::string_view text);

/// The name that differs from `word` in a few letters at most; "" if there is none.
std::string nearest_spelling(std::string_view word, std::span<const std::string> names);

/// Text that is safe between tags and in quoted attributes, whatever its bytes.
std::string xml_escape(std::string_view text);

/// ⁻⁷ for −7.
std::string superscript(int number);

/// A number for people: `digits` significant digits, a proper minus sign, powers of ten as 1.2×10⁻⁷ where
/// zeros would only fill it up, and a dash for NaN.
std::string number_text(double value, int digits = 4);

/// Digits that tell numbers apart that lie so far from each other: three of the difference are seen, and no
/// fewer than `least` digits.
int digits_to_tell(double largest, double difference, int least);

/// Rows for a terminal: columns two spaces apart, set flush left or right.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

}  // namespace apps
