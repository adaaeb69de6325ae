#include "core/params.hpp"

#include <algorithm>
#include <bit>

#include "core/jaxpr.hpp"

namespace cotan {

Params::Params(std::initializer_list<Item> items) : items_(items) {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.first < b.first; });
}

const ParamValue* Params::find(std::string_view name) const {
  for (const auto& [key, value] : items_)
    if (key == name) return &value;
  return nullptr;
}

Params Params::with(std::string_view name, ParamValue value) const {
  Params out = *this;
  for (auto& item : out.items_)
    if (item.first == name) {
      item.second = std::move(value);
      return out;
    }
  auto at = std::lower_bound(out.items_.begin(), out.items_.end(), name,
                             [](const Item& a, std::string_view n) { return a.first < n; });
  out.items_.insert(at, {name, std::move(value)});
  return out;
}

namespace {

bool equal(const ParamValue& a, const ParamValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<JaxprPtr>(&a)) return structurally_equal(**x, *std::get<JaxprPtr>(b));
  if (const auto* x = std::get_if<std::vector<JaxprPtr>>(&a)) {
    const auto& y = std::get<std::vector<JaxprPtr>>(b);
    return std::equal(x->begin(), x->end(), y.begin(), y.end(),
                      [](const JaxprPtr& p, const JaxprPtr& q) { return structurally_equal(*p, *q); });
  }
  if (const auto* x = std::get_if<double>(&a))  // bitwise, so that NaN parameters are equal to themselves
    return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(std::get<double>(b));
  return a == b;
}

struct Hasher {
  std::size_t operator()(bool v) const { return v; }
  std::size_t operator()(std::int64_t v) const { return std::hash<std::int64_t>{}(v); }
  std::size_t operator()(double v) const { return std::hash<std::uint64_t>{}(std::bit_cast<std::uint64_t>(v)); }
  std::size_t operator()(const std::string& v) const { return std::hash<std::string>{}(v); }
  std::size_t operator()(DType v) const { return static_cast<std::size_t>(v); }
  std::size_t operator()(const Ints& v) const {
    std::size_t seed = v.size();
    for (auto i : v) hash_combine(seed, std::hash<std::int64_t>{}(i));
    return seed;
  }
  std::size_t operator()(const JaxprPtr& v) const { return structural_hash(*v); }
  std::size_t operator()(const std::vector<JaxprPtr>& v) const {
    std::size_t seed = v.size();
    for (const auto& j : v) hash_combine(seed, structural_hash(*j));
    return seed;
  }
  std::size_t operator()(const OpaquePtr& v) const { return std::hash<const void*>{}(v.get()); }
};

}  // namespace

bool Params::operator==(const Params& other) const {
  return std::equal(items_.begin(), items_.end(), other.items_.begin(), other.items_.end(),
                    [](const Item& a, const Item& b) { return a.first == b.first && equal(a.second, b.second); });
}

std::size_t Params::hash() const {
  std::size_t seed = items_.size();
  for (const auto& [key, value] : items_) {
    hash_combine(seed, std::hash<std::string_view>{}(key));
    hash_combine(seed, std::visit(Hasher{}, value));
  }
  return seed;
}

std::size_t hash_value(const AbstractValue& aval) {
  std::size_t seed = static_cast<std::size_t>(aval.dtype) * 2 + aval.weak_type;
  for (auto d : aval.shape) hash_combine(seed, static_cast<std::size_t>(d));
  return seed;
}

}  // namespace cotan
