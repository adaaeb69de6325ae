// Arrays by name, and which of the names was meant.
#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "io/names.hpp"

namespace cotan {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// How many letters must be put in, taken out or changed to make one of the other; capitals count as small ones.
std::size_t distance(const std::string& from, const std::string& to) {
  const std::string a = lower(from), b = lower(to);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

/// The name that was probably meant, or nothing where none is near.
std::string nearest(const std::string& name, const std::vector<std::string>& names) {
  std::string out;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& other : names)
    if (const std::size_t d = distance(name, other); d < least) {
      least = d;
      out = other;
    }
  return out;
}

std::vector<std::string> names_of(const std::map<std::string, Array>& arrays) {
  std::vector<std::string> out;
  for (const auto& [name, array] : arrays) out.push_back(name);
  return out;
}

}  // namespace

void io::raise_lacking(std::string_view reader, const std::string& file, const ArrayName& name,
                       const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  const detail::CallSite site(name.where());
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) quoted.push_back(fmt::format("'{}'", names[i]));
  std::string has = names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(quoted, ", "));
  if (names.size() > most) has += fmt::format(" and {} more", names.size() - most);
  const std::string meant = nearest(name.str(), names);
  raise<IoError>("[{}] {} has no array '{}'; {}{}.", reader, file.empty() ? "this list" : file, name.str(),
                 meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant), has);
}

const Array& NamedArrays::at(const ArrayName& name) const {
  const auto found = find(name.str());
  if (found == end()) io::raise_lacking(reader_, file_, name, names_of(*this));
  return found->second;
}
Array& NamedArrays::at(const ArrayName& name) {
  const auto found = find(name.str());
  if (found == end()) io::raise_lacking(reader_, file_, name, names_of(*this));
  return found->second;
}

}  // namespace cotan
