// What options of torch::nn are made of: numbers per axis, and what losses do with their elements.
#pragma once
#include <concepts>
#include <cotan/torch/tensor.hpp>
#include <initializer_list>
#include <string>
#include <vector>

namespace cotan::torch::nn {

/// A number for each spatial axis, or one for all of them: 2, {2, 1}.
class PerAxis {
 public:
  using IsSetting = void;  ///< nothing of it is trained
  template <std::integral T>
  PerAxis(T all) : numbers_{static_cast<std::int64_t>(all)} {}
  PerAxis(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  PerAxis(std::vector<std::int64_t> numbers) : numbers_(std::move(numbers)) {}
  /// One for each of `axes` axes; `op` and `what` are for messages.
  std::vector<std::int64_t> of(int axes, std::string_view op, std::string_view what) const;

 private:
  std::vector<std::int64_t> numbers_;
};

/// What is put around images: numbers on both sides of each axis; or "valid", none; or "same", as many as keep sizes.
class Padding {
 public:
  using IsSetting = void;  ///< nothing of it is trained
  template <std::integral T>
  Padding(T all) : numbers_(all) {}
  Padding(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  Padding(PerAxis numbers) : numbers_(std::move(numbers)) {}
  Padding(const char* name) : name_(name) {}
  Padding(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }    ///< empty: the numbers hold
  const PerAxis& numbers() const { return numbers_; }  ///< where there is no name

 private:
  std::string name_;
  PerAxis numbers_ = 0;
};

/// What a loss gives: its elements, their mean, their sum, or (kl_div) their sum by the size of the batch. By name too:
/// {.reduction = "sum"}.
class Reduction {
 public:
  using IsSetting = void;  ///< nothing of it is trained
  /// Which.
  enum Kind : std::uint8_t { none, mean, sum, batchmean };
  Reduction(Kind kind) : kind_(kind) {}
  Reduction(const char* name) : kind_(named(name)) {}
  Reduction(const std::string& name) : kind_(named(name)) {}
  /// Which it is.
  Kind kind() const { return kind_; }

 private:
  static Kind named(std::string_view name);
  Kind kind_;
};

}  // namespace cotan::torch::nn
