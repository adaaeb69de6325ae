// NumPy's file formats: .npy and .npz.
#pragma once
#include <cotan/io/named_arrays.hpp>
#include <cotan/io/path.hpp>

namespace cotan {

/// The array of an .npy file, in its dtype, complex ones too; `np.load`. Structures and objects raise IoError.
Array load_npy(const FilePath& path, const std::source_location& where = COTAN_HERE);
/// Writes an .npy file that `np.load` reads. bf16 is written as its 16 bits (V2).
void save_npy(const FilePath& path, const ArrayLike& a);
/// All arrays of an .npz archive by name, compressed or not: load_npz("weights.npz").at("w").
NamedArrays load_npz(const FilePath& path, const std::source_location& where = COTAN_HERE);
/// Writes an .npz archive, as `np.savez` or `np.savez_compressed`: save_npz("w.npz", {{"w", w}, {"b", b}}).
void save_npz(const FilePath& path, const std::map<std::string, Array>& arrays, bool compressed = false,
              const std::source_location& where = COTAN_HERE);

namespace numpy {

/// load_npy: `np.load` of an .npy file. Of an .npz archive use load_npz.
inline Array load(const FilePath& path, const std::source_location& where = COTAN_HERE) {
  return load_npy(path, where);
}
/// save_npy.
inline void save(const FilePath& path, const ArrayLike& a) { save_npy(path, a); }
/// save_npz, not compressed.
inline void savez(const FilePath& path, const std::map<std::string, Array>& arrays,
                  const std::source_location& where = COTAN_HERE) {
  save_npz(path, arrays, false, where);
}

}  // namespace numpy

}  // namespace cotan
