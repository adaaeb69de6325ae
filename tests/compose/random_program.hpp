// Random small programs over f64 arrays: what the composition test transforms.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "compose/draw.hpp"

namespace compose {

using Apply = std::function<Array(const Arrays& operands)>;

/// What a node computes. `plain` is the same function without any transform in it, for the oracle. `gap` is
/// how far the operands are from a point where the function has no derivative (a tie, a threshold).
struct Body {
  Apply apply;
  Apply plain = nullptr;
  std::function<double(const Arrays& operands)> gap = nullptr;
  bool reverse_only = false;  ///< has a custom_vjp rule, so forward mode must not meet it
};

/// One entry of the catalogue: makes a node for operands like these, or nothing where it does not apply.
struct Op {
  std::string name;
  int arity;
  std::function<std::optional<Body>(Draw& draw, const Arrays& like)> make;
};
/// Operations without nested programs, by family.
std::vector<Op> elementwise_ops();
std::vector<Op> shape_ops();
std::vector<Op> indexing_ops();
std::vector<Op> reduction_ops();
std::vector<Op> matrix_ops();
/// Calls of generated programs through jit, checkpoint, vmap, custom rules, and derivatives inside a program.
std::vector<Op> call_ops();

/// Smallest difference between any two elements.
double smallest_difference(const Array& a);
/// Smallest magnitude of any element.
double smallest_magnitude(const Array& a);
double largest_magnitude(const Array& a);

struct RandomProgram {
  struct Node {
    std::string name;
    std::vector<std::size_t> operands;  ///< values: inputs first, then nodes
    Body body;
  };
  std::vector<Shape> inputs, outputs;
  std::vector<Node> nodes;
  std::vector<std::size_t> results;
  bool reverse_only = false;

  /// The program as a user writes it: runs under any transform.
  Arrays operator()(const Arrays& in) const;
  /// Without nested transforms, on concrete arrays; lowers `gap` to the smallest met.
  Arrays plain(const Arrays& in, double& gap) const;
  std::string str() const;
};

struct ProgramOptions {
  int min_nodes = 2, max_nodes = 10;
  bool allow_calls = true;
  bool allow_reverse_only = false;
};
RandomProgram random_program(Draw& draw, const std::vector<Shape>& inputs, const ProgramOptions& options);
std::vector<Shape> random_inputs(Draw& draw);

}  // namespace compose
