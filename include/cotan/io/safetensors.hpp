// Weights in safetensors files: one file, or shards with an index.
#pragma once
#include <cotan/io/named_arrays.hpp>
#include <cotan/io/path.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cotan {

/// What a safetensors file says of one of its tensors.
struct TensorInfo {
  std::string dtype;  ///< as the file has it: "F32", "BF16", "F8_E4M3"
  Shape shape;
  std::uint64_t bytes = 0;  ///< of its elements
  std::string file;         ///< the name of the file that has it: of shards, which one
};

/// Weights that are on disk: the file is mapped, and a tensor becomes an Array when it is asked for, so that a large
/// checkpoint costs what is used of it. The file is checked whole when it is opened. It may be replaced meanwhile, as
/// save_safetensors does, but not cut off.
///
///     ct::Safetensors weights("gpt2/model.safetensors");
///     for (const auto& [name, info] : weights.tensors()) …
///     ct::Array wte = weights["wte.weight"];
class Safetensors {
 public:
  /// A file, an index of shards (….safetensors.index.json), or a folder with model.safetensors or its index.
  explicit Safetensors(const FilePath& path, const std::source_location& where = COTAN_HERE);

  /// All tensors by name.
  const std::map<std::string, TensorInfo>& tensors() const;
  /// Their names, in order.
  std::vector<std::string> names() const;
  /// Whether there is a tensor of that name.
  bool contains(const std::string& name) const;
  /// What the writer noted, such as {"format", "pt"}; of shards, the notes of all of them.
  const std::map<std::string, std::string>& metadata() const;

  /// Copies one tensor into an Array. A name that is not there raises IoError, and a dtype that cotan lacks TypeError.
  Array at(const ArrayName& name) const;
  /// The same as at.
  Array operator[](const ArrayName& name) const { return at(name); }
  /// The bytes of one tensor where they lie, of any dtype; good as long as a copy of this object is.
  std::span<const std::byte> bytes(const ArrayName& name) const;
  /// All of them as Arrays.
  NamedArrays all(const std::source_location& where = COTAN_HERE) const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

/// All arrays of a safetensors file, of an index of shards or of a folder with one of them, by name.
NamedArrays load_safetensors(const FilePath& path, const std::source_location& where = COTAN_HERE);

/// Writes a safetensors file: save_safetensors("w.safetensors", {{"w", w}, {"b", b}}). It appears whole or not at all:
/// a kill leaves the file that was there before. c128 has no name in the format, and raises TypeError.
void save_safetensors(const FilePath& path, const std::map<std::string, Array>& arrays,
                      const std::map<std::string, std::string>& metadata = {},
                      const std::source_location& where = COTAN_HERE);

/// Writes shards of at most `most_bytes` of elements each (a larger tensor has one for itself) into a folder, as
/// model-00001-of-00003.safetensors …, and model.safetensors.index.json, which says what is where. The index appears
/// last: a kill leaves a folder without one rather than with shards of two checkpoints.
void save_safetensors_sharded(const FilePath& folder, const std::map<std::string, Array>& arrays,
                              std::uint64_t most_bytes = 5'000'000'000,
                              const std::map<std::string, std::string>& metadata = {},
                              const std::source_location& where = COTAN_HERE);

}  // namespace cotan
