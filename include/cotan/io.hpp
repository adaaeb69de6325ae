// NumPy's file formats: .npy and .npz.
#pragma once
#include <cotan/array.hpp>
#include <map>
#include <string>

namespace cotan {

/// The name of an array, with the line where it was asked for.
class ArrayName {
 public:
  template <class S>
    requires std::is_convertible_v<const S&, std::string>
  ArrayName(const S& name, std::source_location where = COTAN_HERE) : name_(name), where_(where) {}
  /// The name.
  const std::string& str() const { return name_; }
  /// The line of the caller.
  const std::source_location& where() const { return where_; }

 private:
  std::string name_;
  std::source_location where_;
};

/// The arrays of a file by their names: a std::map, and a pytree as one. Asking for a name that the file lacks raises,
/// and the message says what it has; add others with insert_or_assign.
class NamedArrays : public std::map<std::string, Array> {
 public:
  NamedArrays() = default;
  explicit NamedArrays(std::string file) : file_(std::move(file)) {}
  /// The array of that name; another raises, and says which there are.
  const Array& at(const ArrayName& name) const;
  /// The same, to be assigned.
  Array& at(const ArrayName& name);
  /// The same as at: no name is added by asking for it.
  const Array& operator[](const ArrayName& name) const { return at(name); }
  /// The same, to be assigned.
  Array& operator[](const ArrayName& name) { return at(name); }

 private:
  std::string file_;
};

/// Where a file is: a string or a std::filesystem::path, whose header this one does without.
class FilePath {
 public:
  template <class S>
    requires std::is_convertible_v<const S&, std::string>
  FilePath(const S& path) : text_(path) {}
  template <class P>
    requires(!std::is_convertible_v<const P&, std::string> &&
             requires(const P& path) { path.lexically_normal().string(); })
  FilePath(const P& path) : text_(path.string()) {}
  /// The path.
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

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
