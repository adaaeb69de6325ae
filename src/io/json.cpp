#include "io/json.hpp"

#include <set>

#include "core/error.hpp"

namespace cotan::io {

Json parse_json(std::string_view text, const std::string& where, JsonLimits limits) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > limits.depth)
      raise<IoError>("{}: arrays and objects lie more than {} deep in each other; this is no file of its kind.", where,
                     limits.depth);
    if (!limits.unique_names) return true;
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second)
      raise<IoError>("{}: has '{}' twice; each name may be there once.", where, parsed.get<std::string>());
    return true;
  };
  try {
    return Json::parse(text, look);
  } catch (const Json::exception& e) {
    std::string_view why = e.what();  // "[json.exception.parse_error.101] parse error at line 1, …"
    if (const auto end = why.find("] "); end != why.npos) why.remove_prefix(end + 2);
    raise<IoError>("{}: is no JSON: {}; write or download it again.", where, why);
  }
}

}  // namespace cotan::io
