#include "option_values.hpp"

#include <algorithm>

namespace apps {

int whole(const std::string& option, const std::string& text, int least, int most) {
  int value = 0;
  if (!parses(text, value) || value < least || value > most)
    complain<UsageError>("[{}] {} is not a whole number from {} to {}; give one.", option, shown(text), least, most);
  return value;
}

double real(const std::string& where, const std::string& text) {
  double value = 0;
  if (!parses(text, value))
    complain<UsageError>("[{}] {} is not a number; write it like 0.85 or 1e-3.", where, shown(text));
  return value;
}

std::vector<std::string> pieces(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return out;
    at = end + 1;
  }
}

std::pair<std::string, std::string> named(const std::string& option, const std::string& text, const char* example) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    complain<UsageError>("[{}] {} is not name=value; write it like {} {}.", option, shown(text), option, example);
  return {text.substr(0, at), text.substr(at + 1)};
}

void set_values(const std::string& option, const std::string& text, std::map<std::string, std::vector<double>>& to) {
  const auto [name, list] = named(option, text, "obs=120");
  std::vector<double> values;
  for (const std::string& piece : pieces(list, ',')) values.push_back(real(fmt::format("{} {}", option, name), piece));
  if (!to.emplace(name, values).second)
    complain<UsageError>("[{}] {} is given twice; give it once.", option, shown(name));
}

std::string named_as(const char* option, const char* format, std::initializer_list<std::string_view> own,
                     const std::string& path) {
  constexpr std::string_view known[] = {"csv",  "json", "svg", "html", "htm",  "xhtml", "png",     "jpg", "jpeg",
                                        "gif",  "webp", "bmp", "tif",  "tiff", "pdf",   "ps",      "eps", "tex",
                                        "docx", "doc",  "xls", "xlsx", "ods",  "zip",   "parquet", "md",  "tsv"};
  const std::size_t slash = path.find_last_of('/'), dot = path.find_last_of('.');
  if (path == "-" || dot == std::string::npos || (slash != std::string::npos && dot < slash) || dot + 1 >= path.size())
    return path;
  const std::string end = lower(std::string_view(path).substr(dot + 1));
  if (std::find(own.begin(), own.end(), end) != own.end()) return path;
  if (std::find(std::begin(known), std::end(known), end) == std::end(known)) return path;
  complain<UsageError>("[{}] {} would not be a .{} file: {} is written here; name it {}.{}, and convert that.", option,
                       shown(path), end, format, path.substr(0, dot), *own.begin());
}

char one_character(const std::string& option, const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1) complain<UsageError>("[{}] {} is not one character; give one, or tab.", option, shown(text));
  return text[0];
}

}  // namespace apps
