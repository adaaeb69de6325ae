// Writing safetensors files, whole and in shards.
#include <algorithm>
#include <cotan/io/safetensors.hpp>
#include <filesystem>

#include "core/error.hpp"
#include "io/file.hpp"
#include "io/json.hpp"
#include "io/safetensors_format.hpp"

namespace cotan {

namespace fs = std::filesystem;

namespace {

using Named = std::pair<const std::string, Array>;
using Notes = std::map<std::string, std::string>;

/// As JSON; a text that is no UTF-8 raises.
std::string quoted(const std::string& text, std::string_view op) {
  try {
    return io::Json(text).dump();
  } catch (const io::Json::exception&) {
    raise<ValueError>("[{}] a name or note of {} bytes is no UTF-8; give it as UTF-8.", op, text.size());
  }
}

void check(const std::map<std::string, Array>& arrays, std::string_view op) {
  for (const auto& [name, array] : arrays) {
    if (name == "__metadata__") raise<ValueError>("[{}] '__metadata__' is no name of an array; choose another.", op);
    if (!array.defined())
      raise<IoError>("[{}] the array '{}' is empty (default-constructed); give it a value first.", op, name);
    if (io::safetensors_name(array.dtype()).empty())
      raise<TypeError>("[{}] the array '{}' is {}, which the format has no name for; save real and imaginary parts.",
                       op, name, array.aval());
  }
}

/// The header of `arrays`, which follow in this order, and its length.
std::string header_of(const std::vector<const Named*>& arrays, const Notes& metadata, std::string_view op) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> notes;
    for (const auto& [key, value] : metadata) notes.push_back(quoted(key, op) + ":" + quoted(value, op));
    entries.push_back(fmt::format("\"__metadata__\":{{{}}}", fmt::join(notes, ",")));
  }
  std::uint64_t at = 0;
  for (const Named* named : arrays) {
    const auto& [name, array] = *named;
    const std::uint64_t end = at + array.nbytes();
    entries.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", quoted(name, op),
                                  io::safetensors_name(array.dtype()), fmt::join(array.shape(), ","), at, end));
    at = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  text.append((8 - text.size() % 8) % 8, ' ');  // so that elements are aligned where the file is mapped
  std::string out;
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

void write(io::OutputFile& file, std::vector<const Named*> arrays, const Notes& metadata, std::string_view op) {
  std::ranges::stable_sort(arrays, std::greater(),
                           [](const Named* n) { return io::safetensors_order(n->second.dtype()); });
  const std::string header = header_of(arrays, metadata, op);
  file.write(std::as_bytes(std::span(header)));
  io::Bytes elements;
  for (const Named* named : arrays) {
    elements.resize(named->second.nbytes());
    detail::copy_to_host(named->second, named->second.dtype(), elements.data(), op);
    file.write(elements);
  }
  file.close();
}

/// Which arrays are together in a shard, in the order of their names.
std::vector<std::vector<const Named*>> divide(const std::map<std::string, Array>& arrays, std::uint64_t most_bytes) {
  std::vector<std::vector<const Named*>> out(1);
  std::uint64_t bytes = 0;
  for (const Named& named : arrays) {
    const std::uint64_t more = named.second.nbytes();
    if (!out.back().empty() && (more > most_bytes || bytes > most_bytes - more)) {
      out.emplace_back();
      bytes = 0;
    }
    out.back().push_back(&named);
    bytes += more;
  }
  return out;
}

}  // namespace

void save_safetensors(const FilePath& path, const std::map<std::string, Array>& arrays, const Notes& metadata,
                      const std::source_location& where) {
  const detail::CallSite site(where);
  constexpr std::string_view op = "save_safetensors";
  check(arrays, op);
  std::vector<const Named*> all;
  for (const Named& named : arrays) all.push_back(&named);
  io::OutputFile file(path.str(), op);
  write(file, std::move(all), metadata, op);
  file.commit();
}

void save_safetensors_sharded(const FilePath& folder, const std::map<std::string, Array>& arrays,
                              std::uint64_t most_bytes, const Notes& metadata, const std::source_location& where) {
  const detail::CallSite site(where);
  constexpr std::string_view op = "save_safetensors_sharded";
  check(arrays, op);
  if (most_bytes == 0) raise<ValueError>("[{}] most_bytes is 0, and no shard holds nothing; give a size.", op);
  const fs::path path = folder.str();
  std::error_code error;
  fs::create_directories(path, error);
  if (error) raise<IoError>("[{}] '{}': the folder cannot be made: {}.", op, path.string(), error.message());

  const auto shards = divide(arrays, most_bytes);
  std::vector<std::unique_ptr<io::OutputFile>> files;
  std::vector<std::string> places;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    files.push_back(std::make_unique<io::OutputFile>(path / name, op));
    write(*files.back(), shards[i], metadata, op);
    for (const Named* named : shards[i]) {
      places.push_back(fmt::format("    {}: \"{}\"", quoted(named->first, op), name));
      total += named->second.nbytes();
    }
  }
  const fs::path index_path = path / "model.safetensors.index.json";
  io::OutputFile index(index_path, op);
  const std::string text = fmt::format(
      "{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": "
      "{{\n{}\n  }}\n}}\n",
      total, fmt::join(places, ",\n"));
  index.write(std::as_bytes(std::span(text)));
  index.close();
  // All is written. From here to the end there is no index, so that nobody reads shards of two checkpoints as one.
  fs::remove(index_path, error);
  for (auto& file : files) file->commit();
  index.commit();
}

}  // namespace cotan
