// Evaluates scalar expressions node by node, by the letter of expr.hpp: what back ends must compute.
#pragma once
#include <cstring>
#include <span>

#include "expr/expr.hpp"

namespace expr_test {

using cotan::expr::Expr;

/// The bits of a node's value from those of its operands'. Not of variables and loads, whose values others know.
std::uint64_t evaluate(const cotan::expr::Node& node, std::span<const std::uint64_t> operands);

/// A program of one expression; its loads read `inputs` by buffer number, whatever their offset.
class Interpreter {
 public:
  explicit Interpreter(Expr result);
  /// From and to the bits of elements.
  std::uint64_t run_bits(std::initializer_list<std::uint64_t> inputs);
  template <class T, class... Inputs>
  T run(Inputs... inputs) {
    return from_bits<T>(run_bits({to_bits(inputs)...}));
  }
  /// Operations, but for those that only rename bits.
  int size() const;

  template <class T>
  static std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  template <class T>
  static T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }

 private:
  struct Step {
    Expr node;
    std::vector<std::size_t> operands;  ///< earlier steps
  };
  std::vector<Step> steps_;
  std::vector<std::uint64_t> values_;
};

}  // namespace expr_test
