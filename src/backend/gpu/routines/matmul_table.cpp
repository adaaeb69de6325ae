#include "backend/gpu/routines/matmul_table.hpp"

#include <bit>
#include <filesystem>
#include <fstream>
#include <memory>

#include "core/disk_store.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view first_line = "cotan matmul tiles 1";

struct Tables {
  std::mutex mutex;
  std::map<fs::path, std::unique_ptr<TileTable>> all;
};
Tables& tables() {
  static Tables& t = *new Tables;
  return t;
}

}  // namespace

std::string class_of(const MatmulProblem& p) {
  const auto size = [](std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n)); };
  return fmt::format("{} {}{} m{} n{} k{} b{}", p.dtype, p.left.along_depth() ? 'n' : 't',
                     p.right.along_depth() ? 't' : 'n', size(p.rows), size(p.columns), size(p.depth), size(p.batch));
}

TileTable::TileTable(fs::path file) : file_(std::move(file)), tiles_(read()) {}

std::map<std::string, MatmulTile> TileTable::read() const {
  std::map<std::string, MatmulTile> out;
  std::ifstream in(file_);
  std::string line;
  if (file_.empty() || !std::getline(in, line) || !line.starts_with(first_line)) return out;
  while (std::getline(in, line)) {
    const auto at = line.find(" = ");
    if (at == std::string::npos) continue;
    try {
      out[line.substr(0, at)] = parse_tile(std::string_view(line).substr(at + 3));
    } catch (const ValueError&) {  // a line that somebody damaged
    }
  }
  return out;
}

std::optional<MatmulTile> TileTable::find(const std::string& product) const {
  const std::scoped_lock lock(mutex_);
  const auto at = tiles_.find(product);
  return at == tiles_.end() ? std::nullopt : std::optional(at->second);
}

void TileTable::add(const std::string& product, const MatmulTile& tile) {
  const std::scoped_lock lock(mutex_);
  tiles_[product] = tile;
  if (file_.empty()) return;
  tiles_.merge(read());  // what is known here stays
  std::string text(first_line);
  text += '\n';
  for (const auto& [name, t] : tiles_) text += fmt::format("{} = {}\n", name, to_string(t));
  write_file_whole(file_, {}, text);  // a disk that is full or read-only: found again next time
}

fs::path tile_file(const Capabilities& device) {
  const auto folder = cache_folder();
  if (!folder) return {};
  std::string name;
  for (const char c : fmt::format("{} {} {}", device.name, device.vendor, device.driver)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
    if (plain || (!name.empty() && name.back() != '_')) name += plain ? c : '_';
  }
  constexpr std::size_t most = 200;  // file systems allow 255
  return *folder / "tiles" / (name.substr(0, most) + ".txt");
}

TileTable& tile_table(const Capabilities& device) {
  const fs::path file = tile_file(device);
  Tables& t = tables();
  const std::scoped_lock lock(t.mutex);
  auto& table = t.all[file];
  if (!table) table = std::make_unique<TileTable>(file);
  return *table;
}

void forget_tiles() {
  Tables& t = tables();
  const std::scoped_lock lock(t.mutex);
  t.all.clear();
}

}  // namespace cotan::gpu
