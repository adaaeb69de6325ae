// Values of options, from the words of a command line. All throw UsageError.
#pragma once
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "text.hpp"

namespace apps {

template <class T>
bool parses(std::string_view text, T& value) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}
int whole(const std::string& option, const std::string& text, int least, int most);
double real(const std::string& where, const std::string& text);
std::vector<std::string> pieces(const std::string& text, char separator);
/// name=rest
std::pair<std::string, std::string> named(const std::string& option, const std::string& text, const char* example);
/// name=number,number… goes into the map.
void set_values(const std::string& option, const std::string& text, std::map<std::string, std::vector<double>>& to);
template <class T>
T choice(const std::string& option, const std::string& text, const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(name);
  }
  const std::string nearest = nearest_spelling(text, names);
  complain<UsageError>("[{}] there is no {}{}; choose one of: {}.", option, shown(text),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", "));
}
/// What a file is by the end of its name must be what is written into it: `own`, or no known kind of file.
std::string named_as(const char* option, const char* format, std::initializer_list<std::string_view> own,
                     const std::string& path);
char one_character(const std::string& option, const std::string& text);

}  // namespace apps
