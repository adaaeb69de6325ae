// Tensors of safetensors files as Arrays.
#include <bit>
#include <cotan/io/safetensors.hpp>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/error.hpp"
#include "io/file.hpp"
#include "io/json.hpp"
#include "io/mapped_file.hpp"
#include "io/names.hpp"
#include "io/safetensors_format.hpp"

namespace cotan {

static_assert(std::endian::native == std::endian::little, "the elements of safetensors files are read as they lie");

namespace fs = std::filesystem;

namespace {

constexpr std::string_view reader = "load_safetensors", index_ending = ".index.json";

/// The file or index of a folder.
fs::path in_folder(const fs::path& path) {
  if (!fs::is_directory(path)) return path;
  for (const char* name : {"model.safetensors.index.json", "model.safetensors"})
    if (fs::exists(path / name)) return path / name;
  raise<IoError>("[{}] '{}': the folder has no model.safetensors and no model.safetensors.index.json; give a file.",
                 reader, path.string());
}

/// Which file of the index's folder has a tensor.
std::map<std::string, std::string> read_index(const fs::path& path) {
  io::InputFile file(path, reader);
  const io::Bytes bytes = file.read_all();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const io::Json json = io::parse_json(text, file.where(), {.depth = 16, .unique_names = true});
  const auto found = json.is_object() ? json.find("weight_map") : json.end();
  if (found == json.end() || !found->is_object())
    raise<IoError>("{}: the object 'weight_map' is missing; this is no index of shards.", file.where());
  std::map<std::string, std::string> out;
  for (const auto& [tensor, shard] : found->items()) {
    // A name, not a path: an index must not make its reader look elsewhere.
    const std::string name = shard.is_string() ? shard.get<std::string>() : "";
    if (name.empty() || name == "." || name == ".." || name.find_first_of(std::string_view("/\\\0", 3)) != name.npos)
      raise<IoError>("{}, tensor '{}': its shard is no name of a file beside the index; correct the index.",
                     file.where(), tensor);
    out.emplace(tensor, name);
  }
  return out;
}

}  // namespace

struct Safetensors::Contents {
  struct Shard {
    explicit Shard(const fs::path& path) : file(path, reader), name(path.filename().string()) {
      header = io::read_safetensors_header(file.bytes(), file.where());
    }
    io::MappedFile file;
    std::string name;
    io::SafetensorsHeader header;
  };
  struct Place {
    const Shard* shard;
    const io::StoredTensor* tensor;
  };
  std::string file;
  std::map<std::string, Shard> shards;
  std::map<std::string, Place> places;
  std::map<std::string, TensorInfo> tensors;
  std::map<std::string, std::string> metadata;

  const Shard& open(const fs::path& path) {
    const auto [shard, is_new] = shards.try_emplace(path.string(), path);
    if (is_new) metadata.insert(shard->second.header.metadata.begin(), shard->second.header.metadata.end());
    return shard->second;
  }
  void add(const std::string& name, const Shard& shard, const io::StoredTensor& t) {
    places[name] = {&shard, &t};
    tensors[name] = {t.dtype_name, t.shape, t.end - t.begin, shard.name};
  }
  const Place& at(const ArrayName& name) const {
    const auto found = places.find(name.str());
    if (found != places.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [other, place] : places) names.push_back(other);
    io::raise_lacking(reader, fmt::format("'{}'", file), name, names);
  }
};

Safetensors::Safetensors(const FilePath& given, const std::source_location& where) {
  const detail::CallSite site(where);
  const fs::path path = in_folder(given.str());
  auto contents = std::make_shared<Contents>();
  contents->file = path.string();
  if (!path.string().ends_with(index_ending)) {
    const Contents::Shard& shard = contents->open(path);
    for (const auto& [name, tensor] : shard.header.tensors) contents->add(name, shard, tensor);
  } else {
    for (const auto& [name, file] : read_index(path)) {
      const Contents::Shard& shard = contents->open(path.parent_path() / file);
      const auto tensor = shard.header.tensors.find(name);
      if (tensor == shard.header.tensors.end())
        raise<IoError>("[{}] '{}', tensor '{}': is not in the shard '{}'; the shards are of another checkpoint.",
                       reader, path.string(), name, file);
      contents->add(name, shard, tensor->second);
    }
  }
  contents_ = std::move(contents);
}

const std::map<std::string, TensorInfo>& Safetensors::tensors() const { return contents_->tensors; }
const std::map<std::string, std::string>& Safetensors::metadata() const { return contents_->metadata; }
bool Safetensors::contains(const std::string& name) const { return contents_->tensors.contains(name); }
std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> out;
  for (const auto& [name, info] : contents_->tensors) out.push_back(name);
  return out;
}

std::span<const std::byte> Safetensors::bytes(const ArrayName& name) const {
  const auto& [shard, tensor] = contents_->at(name);
  return shard->file.bytes().subspan(tensor->begin, tensor->end - tensor->begin);
}

Array Safetensors::at(const ArrayName& name) const {
  const detail::CallSite site(name.where());
  const auto& [shard, tensor] = contents_->at(name);
  if (!tensor->dtype)
    raise<TypeError>("{}, tensor '{}': cotan has no dtype {}; read its bytes(), or convert the file first.",
                     shard->file.where(), name.str(), tensor->dtype_name);
  const auto elements = bytes(name);
  if (tensor->dtype != DType::bool_) return Array::from_bytes(*tensor->dtype, tensor->shape, elements);
  io::Bytes bits(elements.begin(), elements.end());  // any other byte than 0 and 1 would not be a bool to C++
  for (auto& b : bits) b = std::byte(b != std::byte{0});
  return Array::from_bytes(DType::bool_, tensor->shape, bits);
}

NamedArrays Safetensors::all(const std::source_location& where) const {
  NamedArrays out(fmt::format("'{}'", contents_->file), std::string(reader));
  for (const auto& [name, info] : contents_->tensors) out.insert_or_assign(name, at({name, where}));
  return out;
}

NamedArrays load_safetensors(const FilePath& path, const std::source_location& where) {
  return Safetensors(path, where).all(where);
}

}  // namespace cotan
