// Params: the static parameters of an equation, sorted by name; printed, compared and hashed generically.
#pragma once
#include <cotan/flat.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace cotan {

using Ints = std::vector<std::int64_t>;

/// A parameter that only its primitive understands (user rules, policies); equal only to itself.
struct OpaqueParam {
  virtual ~OpaqueParam() = default;
  virtual std::string describe() const = 0;
};
using OpaquePtr = std::shared_ptr<const OpaqueParam>;

using ParamValue =
    std::variant<bool, std::int64_t, double, std::string, DType, Ints, JaxprPtr, std::vector<JaxprPtr>, OpaquePtr>;

class Params {
 public:
  using Item = std::pair<std::string_view, ParamValue>;  // names are string literals
  Params() = default;
  Params(std::initializer_list<Item> items);

  const std::vector<Item>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  template <class T>
  const T& get(std::string_view name) const {
    const ParamValue* value = find(name);
    if (!value || !std::holds_alternative<T>(*value))
      raise<InternalError>("[internal] parameter '{}' is missing or of another type; this is a bug in cotan.", name);
    return std::get<T>(*value);
  }
  bool flag(std::string_view name) const { return get<bool>(name); }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  const Ints& ints(std::string_view name) const { return get<Ints>(name); }
  DType dtype(std::string_view name) const { return get<DType>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const JaxprPtr& jaxpr(std::string_view name) const { return get<JaxprPtr>(name); }
  const std::vector<JaxprPtr>& jaxprs(std::string_view name) const { return get<std::vector<JaxprPtr>>(name); }
  /// A copy with `name` set to `value`.
  Params with(std::string_view name, ParamValue value) const;

  bool operator==(const Params& other) const;
  std::size_t hash() const;

 private:
  const ParamValue* find(std::string_view name) const;
  std::vector<Item> items_;
};

inline void hash_combine(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
}
std::size_t hash_value(const AbstractValue& aval);

}  // namespace cotan
