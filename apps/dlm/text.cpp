// Bytes may come from anywhere: what is not UTF-8 is shown as an escape, and replaced in pages.
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace apps {
namespace {

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one word into
/// the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  while (!text.empty() && out.size() < longest) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length > 1)
      out += text.substr(0, length);
    else if (c == '\n' || c == '\r' || c == '\t')
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    else if (length == 0 || c < ' ' || c == '\x7F')
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return fmt::format("\"{}{}\"", out, text.empty() ? "" : "…");
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : (lead & 0xF0) == 0xE0       ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool too_long = code < (length == 2 ? 0xA0u : length == 3 ? 0x800u : 0x10000u);  // C1 controls too
  const bool surrogate = code >= 0xD800 && code < 0xE000, noncharacter = (code & 0xFFFE) == 0xFFFE;
  return too_long || surrogate || noncharacter || code > 0x10FFFF ? 0 : length;
}

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string nearest_spelling(std::string_view word, std::span<const std::string> names) {
  constexpr std::size_t longest = 60;  // beyond that nobody mistypes a name, and the cost is quadratic
  if (word.size() > longest || word.find_first_not_of("0123456789.+-") == std::string_view::npos) return "";
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    if (name.size() > longest) continue;
    const std::size_t distance = edit_distance(lower(word), lower(name));
    if (distance < least && distance < word.size()) nearest = name, least = distance;
  }
  return nearest;
}

std::string xml_escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length > 1)
      out += text.substr(0, length);
    else if (length == 0 || c == '\x7F' || (c < ' ' && c != '\t' && c != '\n'))
      out += "\uFFFD";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string superscript(int number) {
  constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(number)) out += c == '-' ? "⁻" : digits[c - '0'];
  return out;
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  digits = std::clamp(digits, 1, 17);
  const double magnitude = std::abs(value);
  std::string text;
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= std::max(1e7, std::pow(10.0, digits)))) {
    text = fmt::format("{:.{}e}", magnitude, digits - 1);
    const std::size_t e = text.find('e');
    text = text.substr(0, e) + "×10" + superscript(std::atoi(text.c_str() + e + 1));
  } else {
    const int before_point = magnitude > 0 ? static_cast<int>(std::floor(std::log10(magnitude))) + 1 : 1;
    text = fmt::format("{:.{}f}", magnitude, std::max(0, digits - before_point));
  }
  return std::signbit(value) && value != 0 ? "−" + text : text;
}

int digits_to_tell(double largest, double difference, int least) {
  if (!(largest > 0) || !(difference > 0) || !std::isfinite(largest)) return least;
  return std::clamp(static_cast<int>(std::floor(std::log10(largest)) - std::floor(std::log10(difference))) + 3, least,
                    16);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], letters_of(row[i]));
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string room(widths[i] - letters_of(row[i]), ' ');
      line += (i ? "  " : " ") + (right[i] ? room + row[i] : row[i] + room);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace apps
