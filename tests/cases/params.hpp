// The params of a case, by name.
#pragma once
#include <optional>
#include <string>

#include "cases/case_table.hpp"

namespace cases {

/// A case's params by name, as the C++ types that the API takes.
class Params {
 public:
  explicit Params(const Json& json) : json_(json) {}
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  bool is_null(const char* key) const { return json_.contains(key) && json_[key].is_null(); }
  const Json& operator[](const char* key) const { return json_.at(key); }
  std::int64_t integer(const char* key, std::int64_t otherwise) const {
    return has(key) ? json_[key].get<std::int64_t>() : otherwise;
  }
  std::int64_t integer(const char* key) const { return json_.at(key); }
  int axis(const char* key = "axis") const { return json_.at(key); }
  int axis(const char* key, int otherwise) const { return has(key) ? json_[key].get<int>() : otherwise; }
  std::optional<int> maybe_axis(const char* key = "axis") const {
    return has(key) ? std::optional(json_[key].get<int>()) : std::nullopt;
  }
  cotan::Axes axes(const char* key = "axis") const;
  bool flag(const char* key, bool otherwise = false) const { return json_.value(key, otherwise); }
  double real(const char* key, double otherwise) const { return json_.value(key, otherwise); }
  double real(const char* key) const { return json_.at(key); }
  std::string text(const char* key, const char* otherwise = "") const {
    return json_.value(key, std::string(otherwise));
  }
  /// A list of integers; one integer is a list of one.
  std::vector<std::int64_t> list(const char* key) const;
  std::vector<int> ints(const char* key) const { return json_.at(key); }
  cotan::Shape shape(const char* key = "shape") const { return json_.at(key); }
  std::optional<cotan::Shape> maybe_shape(const char* key = "shape") const {
    return has(key) ? std::optional(shape(key)) : std::nullopt;
  }
  DType dtype(const char* key = "dtype") const { return parse_dtype(json_.at(key)); }
  /// A weak scalar: an integer or a float, as the JSON has it.
  Array scalar(const char* key) const;

 private:
  const Json& json_;
};

}  // namespace cases
