// What functions of tensors take: tensors, numbers, and the line of the call.
#pragma once
#include <cotan/array.hpp>
#include <cotan/torch/types.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cotan::torch {

class Tensor;

namespace detail {
/// A number that a tensor is made of, or that an operation takes.
struct Scalar {
  enum class Kind : std::uint8_t { boolean, integer, real };
  Kind kind;
  double real = 0;
  std::int64_t integer = 0;
};
template <class T>
  requires std::is_arithmetic_v<T>
constexpr Scalar scalar(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return {Scalar::Kind::boolean, static_cast<double>(value), value};
  else if constexpr (std::is_integral_v<T>)
    return {Scalar::Kind::integer, static_cast<double>(value), static_cast<std::int64_t>(value)};
  else
    return {Scalar::Kind::real, static_cast<double>(value), 0};
}

/// The line of a call, while it lasts.
class At {
 public:
  explicit At(const std::source_location& where);
  ~At();
  At(const At&) = delete;

 private:
  std::source_location where_;
  const std::source_location* outer_;
  cotan::detail::CallSite site_;
};
/// The innermost line.
const std::source_location& line();

/// What `f` gives is written into x: x.op_(…).
const Tensor& in_place(const Tensor& x, std::string_view op, const std::source_location& where,
                       const std::function<Tensor()>& f);
/// The same of an index expression, which may be a copy: then it is written into what it is of.
void write_through(const Tensor& x, std::string_view op, const std::function<Tensor()>& f);
}  // namespace detail

/// What functions of tensors take: a tensor, and the line of the call. For parameters only.
class Input {
 public:
  Input(const Tensor& tensor, std::source_location where = COTAN_HERE) : tensor_(tensor), at_(where) {}
  operator const Tensor&() const { return tensor_; }
  const Tensor* operator->() const { return &tensor_; }  ///< members of the tensor
  const Tensor& operator*() const { return tensor_; }    ///< the tensor

 private:
  const Tensor& tensor_;
  detail::At at_;
};

/// A tensor or a C++ number, and the line of the call. For parameters only.
class Operand {
 public:
  Operand(const Tensor& tensor, std::source_location where = COTAN_HERE) : tensor_(&tensor), at_(where) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T value, std::source_location where = COTAN_HERE) : number_(detail::scalar(value)), at_(where) {}
  bool is_number() const { return tensor_ == nullptr; }     ///< or a tensor
  const Tensor& tensor() const { return *tensor_; }         ///< where it is one
  const detail::Scalar& number() const { return number_; }  ///< where it is one

 private:
  const Tensor* tensor_ = nullptr;
  detail::Scalar number_{detail::Scalar::Kind::integer};
  detail::At at_;
};

/// The end of a range, where there is one: a tensor, a number, or `{}`. For parameters only.
class Bound {
 public:
  Bound() = default;
  Bound(const Tensor& tensor, std::source_location where = COTAN_HERE) { value_.emplace(tensor, where); }
  template <class T>
    requires std::is_arithmetic_v<T>
  Bound(T value, std::source_location where = COTAN_HERE) {
    value_.emplace(value, where);
  }
  explicit operator bool() const { return value_.has_value(); }
  const Operand& operator*() const { return *value_; }    ///< where there is one
  const Operand* operator->() const { return &*value_; }  ///< where there is one

 private:
  std::optional<Operand> value_;
};

namespace detail {
/// What a family of methods needs of the tensor. `Self` is Tensor, which is not complete where they are written.
template <class Self, class Family>
class Methods {
 protected:
  const Self& self() const { return static_cast<const Self&>(static_cast<const Family&>(*this)); }
  /// The tensor as an argument of a function; without a line where another argument has it.
  Input me(const std::source_location& where = {}) const { return Input(self(), where); }
  Operand operand(const std::source_location& where = {}) const { return Operand(self(), where); }
  /// What `f` gives is written into the tensor.
  template <class F>
  const Self& overwrite(std::string_view op, const std::source_location& where, F f) const {
    return in_place(self(), op, where, f);
  }
};
}  // namespace detail

}  // namespace cotan::torch
