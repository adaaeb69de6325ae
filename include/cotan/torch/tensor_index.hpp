// What may stand in an index of a tensor.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <variant>

namespace cotan::torch {

using cotan::None;                            ///< a new dimension of size 1: x(torch::None()); an open end of a Slice
inline constexpr cotan::Ellipsis Ellipsis{};  ///< as many whole dimensions as are left

/// start:stop:step of Python; torch::None() leaves an end open.
class Slice {
 public:
  /// An end: a number or None().
  struct End {
    End(None) {}
    template <class T>
      requires std::is_integral_v<T>
    End(T i) : value(static_cast<std::int64_t>(i)) {}
    std::optional<std::int64_t> value;
  };
  Slice(End start = None(), End stop = None(), std::int64_t step = 1)
      : start_(start.value), stop_(stop.value), step_(step) {}
  std::optional<std::int64_t> start() const { return start_; }  ///< where it is given
  std::optional<std::int64_t> stop() const { return stop_; }    ///< where it is given
  std::int64_t step() const { return step_; }                   ///< 1 unless given

 private:
  std::optional<std::int64_t> start_, stop_;
  std::int64_t step_;
};

/// An integer, a Slice, None(), Ellipsis, or a tensor of integers or bools.
class TensorIndex {
 public:
  using Spec = std::variant<std::int64_t, Slice, None, cotan::Ellipsis, Tensor>;  ///< what it is
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  TensorIndex(T i, std::source_location where = COTAN_HERE) : spec_(static_cast<std::int64_t>(i)), where_(where) {}
  TensorIndex(Slice slice, std::source_location where = COTAN_HERE) : spec_(slice), where_(where) {}
  TensorIndex(None none, std::source_location where = COTAN_HERE) : spec_(none), where_(where) {}
  TensorIndex(cotan::Ellipsis rest, std::source_location where = COTAN_HERE) : spec_(rest), where_(where) {}
  TensorIndex(Tensor tensor, std::source_location where = COTAN_HERE) : spec_(std::move(tensor)), where_(where) {}
  const Spec& spec() const { return spec_; }                    ///< what it is
  const std::source_location& where() const { return where_; }  ///< the line of the caller

 private:
  Spec spec_;
  std::source_location where_;
};

}  // namespace cotan::torch
