// The folder of a training run: a checkpoint is a folder inside of it that appears whole or not at all, so that a kill
// at any moment loses no more than the steps since the last one.
#pragma once
#include <cotan/array.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace gpt {

using NamedTensors = std::map<std::string, cotan::Array>;

/// What is needed to go on exactly where training stopped.
struct Checkpoint {
  std::int64_t step = 0;
  NamedTensors weights = {}, optimizer = {};
  std::string config = {}, tokenizer = {}, state = {};  ///< JSON each
};

/// Writes step-000100/; then removes older ones but for the `keep` last.
void save_checkpoint(const std::filesystem::path& run, const Checkpoint& checkpoint, int keep);
/// The folder of the last whole checkpoint.
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& run);
Checkpoint load_checkpoint(const std::filesystem::path& folder);

/// A whole file as text; raises with its name.
std::string read_text(const std::filesystem::path& file);
/// Written to a file beside it, which then takes the name.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace gpt
