#include "run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cotan/io.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace gpt {

namespace fs = std::filesystem;

namespace {

constexpr const char* prefix = "step-";
constexpr const char* unfinished = ".writing-";

/// What is in a folder reaches the disk before its new name does.
void sync(const fs::path& path) {
  const int handle = ::open(path.c_str(), O_RDONLY);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

std::vector<fs::path> checkpoints(const fs::path& run) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run, ignored))
    if (entry.is_directory() && entry.path().filename().string().starts_with(prefix)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("{} cannot be read.", file.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  const fs::path temporary = file.string() + unfinished;
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw std::runtime_error(fmt::format("{} cannot be written; is the disk full?", file.string()));
  }
  sync(temporary);
  fs::rename(temporary, file);
}

void save_checkpoint(const fs::path& run, const Checkpoint& c, int keep) {
  fs::create_directories(run);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run))  // of runs that were killed
    if (entry.path().filename().string().starts_with(unfinished)) fs::remove_all(entry.path(), ignored);
  const std::string name = fmt::format("{}{:08}", prefix, c.step);
  const fs::path temporary = run / (unfinished + name);
  fs::create_directory(temporary);
  cotan::save_safetensors((temporary / "model.safetensors").string(), c.weights, {{"format", "pt"}});
  if (!c.optimizer.empty()) cotan::save_safetensors((temporary / "optimizer.safetensors").string(), c.optimizer);
  write_text(temporary / "config.json", c.config);
  write_text(temporary / "tokenizer.json", c.tokenizer);
  write_text(temporary / "state.json", c.state);
  for (const auto& entry : fs::directory_iterator(temporary)) sync(entry.path());
  sync(temporary);
  fs::remove_all(run / name, ignored);
  fs::rename(temporary, run / name);
  sync(run);
  auto all = checkpoints(run);
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < all.size(); ++i) fs::remove_all(all[i], ignored);
}

std::optional<fs::path> last_checkpoint(const fs::path& run) {
  const auto all = checkpoints(run);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

Checkpoint load_checkpoint(const fs::path& folder) {
  Checkpoint out;
  const auto tensors = [](const fs::path& file) {
    NamedTensors all;
    const cotan::Safetensors weights(file.string());
    for (const std::string& name : weights.names()) all[name] = weights[name];
    return all;
  };
  out.config = read_text(folder / "config.json");
  out.tokenizer = fs::exists(folder / "tokenizer.json") ? read_text(folder / "tokenizer.json") : "";
  out.weights = tensors(folder / "model.safetensors");
  if (fs::exists(folder / "optimizer.safetensors")) out.optimizer = tensors(folder / "optimizer.safetensors");
  if (fs::exists(folder / "state.json")) out.state = read_text(folder / "state.json");
  return out;
}

}  // namespace gpt
