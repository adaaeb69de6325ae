// Tiles that were found by trying them (tuning.hpp), kept in a file for the next start: one for each adapter and
// driver.
#pragma once
#include <filesystem>
#include <map>
#include <mutex>

#include "backend/gpu/routines/matmul.hpp"

namespace cotan::gpu {

/// Products that get the same tile: of one dtype, whose operands lie in memory alike, of sizes up to a factor of two.
std::string class_of(const MatmulProblem& problem);

class TileTable {
 public:
  /// `file` empty: in memory alone. What cannot be read is as good as not there.
  explicit TileTable(std::filesystem::path file);
  std::optional<MatmulTile> find(const std::string& product) const;
  /// Also in the file, beside what other processes have found meanwhile.
  void add(const std::string& product, const MatmulTile& tile);

 private:
  std::map<std::string, MatmulTile> read() const;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<std::string, MatmulTile> tiles_;
};
/// Of the device, in the folder of caches.
TileTable& tile_table(const Capabilities& device);
/// Where that is; empty: nowhere.
std::filesystem::path tile_file(const Capabilities& device);
/// Reads the files again at next use: for tests.
void forget_tiles();

}  // namespace cotan::gpu
