// What each op name of the case table means in cotan: a function of the case's arrays and params.
#pragma once
#include <functional>
#include <optional>
#include <span>
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

using Args = std::span<const Array>;
using OpFunction = std::function<Arrays(Args, const Params&)>;
using OpTable = std::map<std::string, OpFunction>;

/// Adapts functions that return one Array.
template <class F>
OpFunction one(F f) {
  return [f](Args x, const Params& p) { return Arrays{f(x, p)}; };
}

void add_elementwise_ops(OpTable& table);
void add_reduction_ops(OpTable& table);
void add_shape_ops(OpTable& table);
void add_conv_ops(OpTable& table);
void add_window_ops(OpTable& table);
void add_lax_ops(OpTable& table);
void add_indexing_ops(OpTable& table);
void add_linalg_ops(OpTable& table);
void add_linalg_more_ops(OpTable& table);
void add_scipy_linalg_ops(OpTable& table);
void add_fft_ops(OpTable& table);
void add_complex_ops(OpTable& table);
void add_random_ops(OpTable& table);
void add_more_random_ops(OpTable& table);
void add_composite_ops(OpTable& table);
void add_nn_ops(OpTable& table);
void add_optax_ops(OpTable& table);
void add_statistics_ops(OpTable& table);
void add_editing_ops(OpTable& table);
void add_numpy_ops(OpTable& table);
void add_special_ops(OpTable& table);
void add_complex_special_ops(OpTable& table);
void add_stats_ops(OpTable& table);
void add_image_ops(OpTable& table);
void add_signal_ops(OpTable& table);
void add_spatial_ops(OpTable& table);
void add_scipy_ops(OpTable& table);

/// The case as a function of its arrays; raises if no op has that name.
cotan::FlatFunction lookup(const Case& c);

}  // namespace cases
