// Arrays by name, as files have them.
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
  /// No arrays yet, of that file, which the function `reader` reads: both for messages.
  explicit NamedArrays(std::string file, std::string reader = "load_npz")
      : file_(std::move(file)), reader_(std::move(reader)) {}
  /// The array of that name; another raises, and says which there are.
  const Array& at(const ArrayName& name) const;
  /// The same, to be assigned.
  Array& at(const ArrayName& name);
  /// The same as at: no name is added by asking for it.
  const Array& operator[](const ArrayName& name) const { return at(name); }
  /// The same, to be assigned.
  Array& operator[](const ArrayName& name) { return at(name); }

 private:
  std::string file_, reader_ = "load_npz";
};

}  // namespace cotan
