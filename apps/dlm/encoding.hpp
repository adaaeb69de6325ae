// The bytes of a file as UTF-8 text: byte-order marks, UTF-16, and the one-byte letters of Western Europe.
#pragma once
#include <string>
#include <string_view>

namespace apps {

struct Decoded {
  std::string text;       ///< UTF-8 throughout
  std::string note = "";  ///< what was assumed, for people; "" for UTF-8
};

/// Throws CsvError for what is no text: archives, spreadsheets, stray control characters. `name` stands for
/// the file in messages.
Decoded decode(std::string_view bytes, std::string_view name);

}  // namespace apps
