#include "io/tokenizer/fields.hpp"

namespace cotan::io {

namespace {
const Json null;
}

void raise_wrong_field(const std::string& where, const char* name, const char* wanted) {
  raise<IoError>("{}: the field '{}' is missing or no {}; this is no tokenizer.json, or a damaged one.", where, name,
                 wanted);
}
std::uint32_t id_of(const Json& json, const std::string& where) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > INT32_MAX)
    raise<IoError>("{}: an id is no number from 0 to {}; the file is damaged.", where, INT32_MAX);
  return json.get<std::uint32_t>();
}
std::string string_of(const Json& json, const std::string& where) {
  if (!json.is_string()) raise<IoError>("{}: a text is missing; the file is damaged.", where);
  return json.get<std::string>();
}

const Json& Part::find(const char* name) const {
  if (!json.is_object()) raise<IoError>("{}: is no object; this is no tokenizer.json, or a damaged one.", where);
  const auto found = json.find(name);
  return found == json.end() ? null : *found;
}
Part Part::at(const char* name) const { return {find(name), fmt::format("{}, {}", where, name)}; }
std::string Part::text(const char* name) const {
  const Json& field = find(name);
  if (!field.is_string()) raise_wrong_field(where, name, "text");
  return field.get<std::string>();
}
std::string Part::text(const char* name, const std::string& otherwise) const {
  return lacks(name) ? otherwise : text(name);
}
bool Part::flag(const char* name) const {
  const Json& field = find(name);
  if (!field.is_boolean()) raise_wrong_field(where, name, "true or false");
  return field.get<bool>();
}
bool Part::flag(const char* name, bool otherwise) const { return lacks(name) ? otherwise : flag(name); }
std::uint32_t Part::number(const char* name) const {
  const Json& field = find(name);
  if (!field.is_number_unsigned() || field.get<std::uint64_t>() > INT32_MAX) raise_wrong_field(where, name, "number");
  return field.get<std::uint32_t>();
}
std::vector<Part> Part::list(const char* name) const {
  const Json& field = find(name);
  if (!field.is_array()) raise_wrong_field(where, name, "list");
  std::vector<Part> out;
  for (const Json& element : field) out.push_back({element, fmt::format("{}, {} {}", where, name, out.size())});
  return out;
}

}  // namespace cotan::io
