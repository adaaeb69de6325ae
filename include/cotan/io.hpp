// NumPy's file formats: .npy and .npz.
#pragma once
#include <cotan/array.hpp>
#include <filesystem>
#include <map>
#include <string>

namespace cotan {

Array load_npy(const std::filesystem::path& path);
void save_npy(const std::filesystem::path& path, const ArrayLike& a);
/// All arrays of an archive by name (stored or deflated).
std::map<std::string, Array> load_npz(const std::filesystem::path& path);
void save_npz(const std::filesystem::path& path, const std::map<std::string, Array>& arrays,
              bool compressed = false);

}  // namespace cotan
