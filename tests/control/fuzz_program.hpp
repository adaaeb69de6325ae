// Random programs with nested loops that can be evaluated in two ways: with lax's control flow, or with the
// same steps in C++ loops and selections.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compose/draw.hpp"
#include "control/support.hpp"

namespace control {

using compose::Draw;

enum class Way { lax, unrolled };

/// Makes new values from those there are.
struct Node {
  std::string text;  ///< of several lines where it has a body
  std::function<Arrays(const Arrays& values, Way way)> run;
  std::vector<Shape> results;
  bool forward_only = false;  ///< has a while_loop
};

/// Nodes one after the other; each sees all values before it. Gives some values, made to fit shapes.
struct Block {
  struct Result {
    std::size_t value;
    Shape shape;
    bool squash;  ///< into ±1.2, so that what is carried stays tame
  };
  std::vector<Node> nodes;
  std::vector<Result> results;
  bool forward_only = false;

  Arrays operator()(Arrays values, Way way) const;
  std::string str(const std::string& indent) const;
};
using BlockPtr = std::shared_ptr<const Block>;

/// What a generated block may contain.
struct Limits {
  int depth;         ///< of loops in it
  int nodes;         ///< at most
  bool allow_while;  ///< while_loop has no reverse mode
};

/// A value in the shape that is wanted: itself, or its mean everywhere.
Array fitted(const Array& value, const Shape& shape);
std::int64_t elements(const Shape& shape);
/// The number of a value. Late ones are likelier, so that programs are deep and not only wide.
std::size_t pick(Draw& draw, std::size_t count);
/// "v3"
std::string value_name(std::size_t value);

/// One loop or branch over values of these shapes; body by random_block.
Node random_loop(Draw& draw, const std::vector<Shape>& values, const Limits& limits);
/// One operation without a nested program.
Node random_operation(Draw& draw, const std::vector<Shape>& values);
/// Nodes over values of these shapes, without results.
Block random_block(Draw& draw, std::vector<Shape>& values, const Limits& limits);

struct LoopProgram {
  std::vector<Shape> inputs;
  BlockPtr block;
  Arrays operator()(const Arrays& in, Way way) const { return (*block)(in, way); }
  std::string str() const;
};
LoopProgram random_loop_program(Draw& draw);

}  // namespace control
