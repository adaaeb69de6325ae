// DiskStore: values by key, in files that outlive the process. Damaged files are as good as none, files are written
// whole or not at all, and any number of threads and processes may share a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace cotan {

class DiskStore {
 public:
  /// `most_bytes`: what all files with this ending may take together, the least recently used go first; 0: any.
  DiskStore(std::filesystem::path folder, std::string ending, std::uint64_t most_bytes = 0);
  std::optional<std::string> load(std::string_view key) const;
  /// Whether it could be written: a full or read-only disk is no error.
  bool store(std::string_view key, std::string_view value);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void make_room(std::uint64_t bytes);
  const std::filesystem::path folder_;
  const std::string ending_;
  const std::uint64_t most_bytes_;
  std::mutex mutex_;
  std::optional<std::uint64_t> bytes_;  ///< in the folder, as far as this process knows
};

/// What COTAN_CACHE_DIR names; nothing where it is "off", or not set (empty counts as that).
std::optional<std::filesystem::path> chosen_cache_folder();
/// The same; where it is not set, the user's own: $XDG_CACHE_HOME/cotan or ~/.cache/cotan.
std::optional<std::filesystem::path> cache_folder();

/// Writes a whole file under another name and gives it its own at the end. False where it cannot.
bool write_file_whole(const std::filesystem::path& path, std::string_view head, std::string_view content);

}  // namespace cotan
