// What is said about arrays: that nothing is given, their type, where they are, and lists of their axes.
#pragma once
#include <concepts>
#include <cotan/dtype.hpp>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotan {

/// No axis, no bound, no value: `in_axes = {0, none}`, `range(none, 3)`.
struct None {};
inline constexpr None none{};  ///< the value of None

/// What a dtype and a shape say about an array whose elements are not known.
struct AbstractValue {
  DType dtype = DType::f32;
  Shape shape;
  bool weak_type = false;  ///< came from a C++ scalar: gives way to other dtypes in promotion
  /// The number of elements.
  std::int64_t size() const;
  /// The number of axes.
  int ndim() const { return static_cast<int>(shape.size()); }
  std::string str() const;  ///< "f32[2,3]"
  /// Whether all three are equal.
  bool operator==(const AbstractValue&) const = default;
};

/// A place where arrays live and programs run: "native", "webgpu", or "reference", which evaluates one operation at a
/// time.
class Device {
 public:
  explicit Device(std::string name) : name_(std::move(name)) {}
  /// "native", "webgpu" or "reference".
  const std::string& name() const { return name_; }
  /// Whether it is the same device.
  bool operator==(const Device&) const = default;
  /// Whether it has that name: a.device() == "webgpu".
  bool operator==(std::string_view name) const { return name_ == name; }

 private:
  std::string name_;
};
/// Its name.
std::ostream& operator<<(std::ostream& out, const Device& device);

/// A list of axes, one axis, or none (which means all of them where a reduction takes it).
class Axes {
 public:
  Axes() = default;
  Axes(None) {}
  Axes(std::nullopt_t) {}
  Axes(const std::optional<int>& axis) {
    if (axis) axes_ = std::vector<int>{*axis};
  }
  Axes(int axis) : axes_(std::vector<int>{axis}) {}
  /// {0, 1}, {0, 1, 2} … No std::initializer_list: g++ 12 would make one of {.keepdims = true} and drop the name.
  template <std::integral... More>
  Axes(int first, int second, More... more) : axes_(std::vector<int>{first, second, static_cast<int>(more)...}) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}
  /// Whether there is a list: false of none.
  bool given() const { return axes_.has_value(); }
  /// The axes as they were given.
  const std::vector<int>& list() const { return *axes_; }
  /// Non-negative, unique axes of an array of `ndim` axes; all of them if none was given.
  std::vector<int> resolve(int ndim, std::string_view op) const;

 private:
  std::optional<std::vector<int>> axes_;
};

}  // namespace cotan
