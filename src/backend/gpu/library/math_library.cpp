// Finds declarations of the library by name and puts them in order.
#include "backend/gpu/library/math_library.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"

namespace cotan::gpu {
namespace {

using Entries = std::unordered_map<std::string_view, const LibraryEntry*>;
const Entries& entries() {
  static const Entries all = [] {
    Entries found;
    for (const auto part : {library_basics(), library_trigonometry(), library_gamma()})
      for (const LibraryEntry& entry : part) found.emplace(entry.name, &entry);
    return found;
  }();
  return all;
}

struct Collector {
  std::string text;
  std::unordered_set<std::string_view> done;

  void add(std::string_view name) {
    if (!done.insert(name).second) return;
    const auto found = entries().find(name);
    if (found == entries().end()) raise<InternalError>("[gpu] no library function {}; this is a bug in cotan.", name);
    for (std::string_view uses = found->second->uses; !uses.empty();) {
      const std::size_t end = uses.find(' ');
      add(uses.substr(0, end));
      uses = end == std::string_view::npos ? std::string_view{} : uses.substr(end + 1);
    }
    text += found->second->text;
  }
};

}  // namespace

std::string math_library(std::span<const std::string_view> names) {
  Collector collector;
  for (const std::string_view name : names) collector.add(name);
  return std::move(collector.text);
}

}  // namespace cotan::gpu
