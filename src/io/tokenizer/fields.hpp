// Fields of tokenizer.json, with errors that say where in it they are.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "io/json.hpp"

namespace cotan::io {

/// A part of the file, and how messages call it: "[Tokenizer] 'tokenizer.json', normalizer".
struct Part {
  const Json& json;
  std::string where;

  /// The field, or null where it is missing.
  const Json& find(const char* name) const;
  /// An object, an array, or anything within this one.
  Part at(const char* name) const;
  std::string text(const char* name) const;
  std::string text(const char* name, const std::string& otherwise) const;
  bool flag(const char* name) const;
  bool flag(const char* name, bool otherwise) const;
  std::uint32_t number(const char* name) const;
  /// The elements of an array, each with its place.
  std::vector<Part> list(const char* name) const;
  std::string type() const { return text("type"); }
  /// Neither there nor null.
  bool lacks(const char* name) const { return find(name).is_null(); }
};

/// What a number, text or object is not.
[[noreturn]] void raise_wrong_field(const std::string& where, const char* name, const char* wanted);
std::uint32_t id_of(const Json& json, const std::string& where);
std::string string_of(const Json& json, const std::string& where);

}  // namespace cotan::io
