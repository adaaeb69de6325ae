// cotan::lax: padding around the axes that windows move along, by name or in numbers.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace cotan::lax {

/// What is put around the axes that windows move along, zeros in convolutions: (low, high) pairs, where negative ones
/// crop; or "VALID", none; or "SAME", as many as make the result as long as lhs divided by the strides, an odd one at
/// the end
/// ("SAME_LOWER": at the beginning).
class ConvPadding {
 public:
  /// (low, high) per spatial axis.
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  ConvPadding(const char* name) : name_(name) {}
  ConvPadding(std::string name) : name_(std::move(name)) {}
  ConvPadding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  ConvPadding(Pairs pairs) : pairs_(std::move(pairs)) {}
  const std::string& name() const { return name_; }  ///< empty: the pairs hold
  /// The pairs.
  const Pairs& pairs() const { return pairs_; }

 private:
  std::string name_;
  Pairs pairs_;
};

}  // namespace cotan::lax
