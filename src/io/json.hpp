// JSON of files: parsed with limits, and errors that name the file.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace cotan::io {

using Json = nlohmann::json;

struct JsonLimits {
  int depth = 64;             ///< of arrays and objects within each other
  bool unique_names = false;  ///< whether a name twice in an object is an error
};

/// Raises IoError("{where}: is no JSON …"), with the position.
Json parse_json(std::string_view text, const std::string& where, JsonLimits limits = {});

}  // namespace cotan::io
