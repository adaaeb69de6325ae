// A file that is not UTF-8 throughout is taken as Windows-1252, which holds Latin-1: most such files are.
#include "encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "dates.hpp"
#include "text.hpp"

namespace apps {
namespace {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw CsvError("[csv] " + fmt::format(format, std::forward<Args>(args)...));
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

constexpr std::uint32_t replacement = 0xFFFD;

std::string from_utf16(std::string_view bytes, bool little) {
  std::string out;
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(little ? first | second << 8 : first << 8 | second);
  };
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint32_t code = unit(i);
    const bool leads = code >= 0xD800 && code < 0xDC00;
    if (leads && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 && unit(i + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = replacement;
    }
    append_utf8(out, code);
  }
  return out;
}

/// Text of ASCII letters in UTF-16 has a zero in every second byte.
bool looks_like_utf16(std::string_view bytes, bool little) {
  const std::size_t looked_at = std::min<std::size_t>(bytes.size() / 2 * 2, 400);
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < looked_at; i += 2) {
    if (bytes[i + (little ? 0 : 1)] == 0) return false;
    zeros += bytes[i + (little ? 1 : 0)] == 0;
  }
  return looked_at >= 4 && 5 * zeros > 2 * looked_at;  // 80 % of the pairs
}

/// What Windows-1252 has where Latin-1 has control characters, 0x80 to 0x9F; 0 where it has nothing.
constexpr std::array<std::uint16_t, 32> windows_letters = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

std::string from_windows_1252(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    std::uint32_t code = static_cast<unsigned char>(c);
    if (code >= 0x80 && code < 0xA0) code = windows_letters[code - 0x80] ? windows_letters[code - 0x80] : replacement;
    append_utf8(out, code);
  }
  return out;
}

/// How many letters of several bytes there are, and how many bytes that belong to none.
std::pair<std::size_t, std::size_t> count_utf8(std::string_view text) {
  std::size_t letters = 0, broken = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    letters += length > 1, broken += length == 0;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return {letters, broken};
}

std::string with_replacements(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length)
      out += text.substr(0, length);
    else
      append_utf8(out, replacement);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void refuse_other_files(std::string_view bytes, std::string_view name) {
  const auto begins = [&](std::string_view magic) { return bytes.starts_with(magic); };
  if (begins("\x1F\x8B")) fail("{}: this is a gzip file; unpack it first.", name);
  if (begins("PK\x03\x04") || begins("\xD0\xCF\x11\xE0"))
    fail("{}: this is a zip archive or a spreadsheet; save the sheet as CSV.", name);
  if (begins("PAR1")) fail("{}: this is a Parquet file; write it as CSV.", name);
  if (begins("%PDF")) fail("{}: this is a PDF; give the data as CSV.", name);
  if (begins(std::string_view("\xFF\xFE\0\0", 4)) || begins(std::string_view("\0\0\xFE\xFF", 4)))
    fail("{}: this is UTF-32 text; save the file as UTF-8.", name);
}

void refuse_control_characters(std::string_view text, std::string_view name) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r');
  };
  const auto bad = std::find_if(text.begin(), text.end(), control);
  if (bad != text.end())
    fail("{}:{}: byte 0x{:02X} does not belong in a text file; give a CSV file saved as UTF-8.", name,
         std::count(text.begin(), bad, '\n') + 1, static_cast<unsigned char>(*bad));
}

}  // namespace

Decoded decode(std::string_view bytes, std::string_view name) {
  refuse_other_files(bytes, name);
  Decoded out;
  const bool little = bytes.starts_with("\xFF\xFE"), big = bytes.starts_with("\xFE\xFF");
  if (little || big || looks_like_utf16(bytes, true) || looks_like_utf16(bytes, false)) {
    if (little || big) bytes.remove_prefix(2);
    if (bytes.size() % 2)
      fail("{}: this is UTF-16 text that ends within a letter; the file is cut off: save it as UTF-8.", name);
    out.text = from_utf16(bytes, little || (!big && looks_like_utf16(bytes, true)));
    out.note = "The file is UTF-16.";
    refuse_control_characters(out.text, name);
    return out;
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  refuse_control_characters(bytes, name);
  const auto [letters, broken] = count_utf8(bytes);
  if (broken == 0) {
    out.text = bytes;
  } else if (letters > broken) {
    out.text = with_replacements(bytes);
    out.note = fmt::format("The file is UTF-8 but for {} byte{}, shown as \uFFFD.", broken, broken == 1 ? "" : "s");
  } else {
    out.text = from_windows_1252(bytes);
    out.note = "The file is not UTF-8; its letters were read as Latin-1 (Windows-1252).";
  }
  return out;
}

}  // namespace apps
