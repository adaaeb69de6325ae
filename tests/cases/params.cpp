#include "cases/params.hpp"

namespace cases {

cotan::Axes Params::axes(const char* key) const {
  if (!has(key)) return {};
  return json_[key].is_array() ? cotan::Axes(json_[key].get<std::vector<int>>()) : cotan::Axes(json_[key].get<int>());
}

std::vector<std::int64_t> Params::list(const char* key) const {
  const Json& value = json_.at(key);
  if (value.is_number()) return {value.get<std::int64_t>()};
  return value;
}

Array Params::scalar(const char* key) const {
  const Json& value = json_.at(key);
  return value.is_number_integer() ? Array(value.get<std::int64_t>()) : Array(value.get<double>());
}

}  // namespace cases
