#include "control/fuzz_program.hpp"

#include <algorithm>

namespace control {

namespace {

constexpr std::int64_t max_elements = 16;

using Unary = std::function<Array(const Array&)>;
using Binary = std::function<Array(const Array&, const Array&)>;
struct UnaryOp {
  const char* name;
  int min_rank;
  Unary apply;
};
const std::vector<UnaryOp>& unary_ops() {
  static const std::vector<UnaryOp> ops{
      {"sin", 0, [](const Array& a) { return np::sin(a); }},
      {"tanh", 0, [](const Array& a) { return np::tanh(a); }},
      {"square", 0, [](const Array& a) { return 0.5 * a * a; }},
      {"gauss", 0, [](const Array& a) { return np::exp(-a * a); }},
      {"negative", 0, [](const Array& a) { return 0.3 - a; }},
      {"sum", 1, [](const Array& a) { return 0.5 * np::sum(a, 0); }},
      {"max", 1, [](const Array& a) { return np::max(a, 0); }},
      {"mean", 1, [](const Array& a) { return np::mean(a); }},
      {"cumsum", 1, [](const Array& a) { return 0.4 * np::cumsum(a, 0); }},
      {"sort", 1, [](const Array& a) { return np::sort(a, 0); }},
      {"reverse", 1, [](const Array& a) { return a[ct::range(ct::none, ct::none, -1)]; }},
      {"first", 1, [](const Array& a) { return a[0]; }},
      {"transpose", 2, [](const Array& a) { return np::transpose(a); }},
      {"flatten", 2, [](const Array& a) { return a.flatten(); }},
      {"largest", 1, [](const Array& a) { return np::max(a, 0) * a[np::argmax(a.flatten()) % a.shape(0)]; }},
      {"product", 2, [](const Array& a) { return 0.5 * np::matmul(a, np::matrix_transpose(a)); }},
  };
  return ops;
}
struct BinaryOp {
  const char* name;
  Binary apply;  ///< of equal shapes
};
const std::vector<BinaryOp>& binary_ops() {
  static const std::vector<BinaryOp> ops{
      {"add", [](const Array& a, const Array& b) { return a + b; }},
      {"multiply", [](const Array& a, const Array& b) { return a * b; }},
      {"blend", [](const Array& a, const Array& b) { return 0.7 * a - 0.6 * np::cos(b); }},
      {"where", [](const Array& a, const Array& b) { return np::where(a > b, a * b, a + 0.2); }},
      {"divide", [](const Array& a, const Array& b) { return a / (1.5 + b * b); }},
      {"maximum", [](const Array& a, const Array& b) { return np::maximum(a, b); }},
  };
  return ops;
}
/// The shape that a function gives, found by evaluation.
Shape shape_of(const Unary& f, const Shape& shape) { return f(formula(shape, 0)).shape(); }

}  // namespace

std::size_t pick(Draw& draw, std::size_t count) {
  const int n = static_cast<int>(count), a = draw.below(n), b = draw.below(n);
  return static_cast<std::size_t>(std::max(a, b));
}
std::string value_name(std::size_t value) { return "v" + std::to_string(value); }

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

Array fitted(const Array& value, const Shape& shape) {
  return value.shape() == shape ? value : np::broadcast_to(np::mean(value), shape);
}

Arrays Block::operator()(Arrays values, Way way) const {
  for (const Node& n : nodes)
    for (const Array& v : n.run(values, way)) values.push_back(v);
  Arrays out;
  for (const Result& r : results) {
    const Array v = fitted(values[r.value], r.shape);
    out.push_back(r.squash ? 1.2 * np::tanh(0.7 * v) : v);
  }
  return out;
}

std::string Block::str(const std::string& indent) const {
  std::string out;
  for (const Node& n : nodes) {
    std::string line = n.text;
    for (std::size_t at = 0; (at = line.find('\n', at)) != line.npos; at += 1 + indent.size())
      line.insert(at + 1, indent);
    out += indent + line + "\n";
  }
  out += indent + "return";
  for (const Result& r : results)
    out += (r.squash ? " squashed " : " ") + value_name(r.value) + ":" + ct::describe(r.shape);
  return out + "\n";
}

Node random_operation(Draw& draw, const std::vector<Shape>& values) {
  const std::size_t a = pick(draw, values.size());
  if (draw.one_in(2)) {
    const std::size_t b = pick(draw, values.size());
    const BinaryOp& op = draw.pick(binary_ops());
    return {std::string(op.name) + "(" + value_name(a) + ", " + value_name(b) + ")",
            [=, &op](const Arrays& v, Way) { return Arrays{op.apply(v[a], fitted(v[b], v[a].shape()))}; },
            {values[a]}};
  }
  for (;;) {
    const UnaryOp& op = draw.pick(unary_ops());
    if (static_cast<int>(values[a].size()) < op.min_rank) continue;
    const Shape shape = shape_of(op.apply, values[a]);
    if (elements(shape) > max_elements) continue;
    return {std::string(op.name) + "(" + value_name(a) + ")",
            [=, &op](const Arrays& v, Way) { return Arrays{op.apply(v[a])}; },
            {shape}};
  }
}

Block random_block(Draw& draw, std::vector<Shape>& values, const Limits& limits) {
  Block block;
  for (int n = draw.between(1, limits.nodes); n > 0; --n) {
    const bool loop = limits.depth > 0 && draw.one_in(3);
    block.nodes.push_back(loop ? random_loop(draw, values, limits) : random_operation(draw, values));
    Node& node = block.nodes.back();
    node.text = value_name(values.size()) + " = " + node.text;
    block.forward_only |= node.forward_only;
    values.insert(values.end(), node.results.begin(), node.results.end());
  }
  return block;
}

std::string LoopProgram::str() const {
  std::string out = "inputs";
  for (const Shape& s : inputs) out += " f64" + ct::describe(s);
  return out + "\n" + block->str("  ");
}

LoopProgram random_loop_program(Draw& draw) {
  static const std::vector<Shape> shapes{{}, {2}, {3}, {4}, {2, 2}, {3, 2}, {2, 3}, {3, 1}};
  LoopProgram program;
  for (int n = draw.between(1, 3); n > 0; --n) program.inputs.push_back(draw.pick(shapes));
  const bool allow_while = draw.one_in(4);
  std::vector<Shape> values = program.inputs;
  Block block = random_block(draw, values, {0, 2, false});
  const int loops = draw.between(1, 2);
  for (int n = 0; n < loops; ++n) {
    Node node = random_loop(draw, values, {2, 3, allow_while});
    node.text = value_name(values.size()) + " = " + node.text;
    values.insert(values.end(), node.results.begin(), node.results.end());
    block.forward_only |= node.forward_only;
    block.nodes.push_back(std::move(node));
  }
  // What the last loop gives, and another value.
  const std::size_t last = block.nodes.back().results.size();
  for (std::size_t k = values.size() - last; k < values.size(); ++k) block.results.push_back({k, values[k], false});
  const std::size_t other = pick(draw, values.size());
  block.results.push_back({other, values[other], false});
  program.block = std::make_shared<const Block>(std::move(block));
  return program;
}

}  // namespace control
