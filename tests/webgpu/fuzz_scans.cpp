#include "webgpu/fuzz_scans.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace fuzz_scans {

namespace {

// Operations ------------------------------------------------------------------------------------------
// None has a kink: an f32 device may stand on its other side. All of them keep values near one, where sums do not.

using Apply = Array (*)(const Arrays& x, int axis);
struct Op {
  const char* name;
  int weight;
  std::size_t operands;
  bool along_axis;
  Apply apply;
};

Array normalized(const Array& a, int axis) {
  const Array centred = a - np::mean(a, axis, true);
  return centred / np::sqrt(np::mean(np::square(centred), axis, true) + 1e-3);
}
double scale_of_product(const Array& a) { return 1 / std::sqrt(static_cast<double>(a.shape(-1))); }

const std::vector<Op>& ops() {
  static const std::vector<Op> all{
      {"tanh", 2, 1, false, [](const Arrays& x, int) { return np::tanh(x[0]); }},
      {"sin", 1, 1, false, [](const Arrays& x, int) { return np::sin(x[0]); }},
      {"gauss", 1, 1, false, [](const Arrays& x, int) { return np::exp(-0.5 * x[0] * x[0]); }},
      {"square", 1, 1, false, [](const Arrays& x, int) { return 0.5 * x[0] * x[0]; }},
      {"add", 3, 2, false, [](const Arrays& x, int) { return x[0] + 0.5 * x[1]; }},
      {"multiply", 3, 2, false, [](const Arrays& x, int) { return x[0] * x[1]; }},
      {"divide", 1, 2, false, [](const Arrays& x, int) { return x[0] / (1.5 + x[1] * x[1]); }},
      {"sum", 3, 1, true, [](const Arrays& x, int axis) { return 0.2 * np::sum(x[0], axis, true); }},
      {"mean", 3, 1, true, [](const Arrays& x, int axis) { return np::mean(x[0], axis, true); }},
      {"normalized", 4, 1, true, [](const Arrays& x, int axis) { return normalized(x[0], axis); }},
      {"softmax", 2, 1, true,
       [](const Arrays& x, int axis) { return np::exp(x[0] - np::logsumexp(x[0], axis, true)); }},
      {"cumsum", 1, 1, true, [](const Arrays& x, int axis) { return 0.2 * np::cumsum(x[0], axis); }},
      {"flip", 1, 1, true, [](const Arrays& x, int axis) { return np::flip(x[0], axis); }},
      {"transpose", 1, 1, false, [](const Arrays& x, int) { return np::swapaxes(x[0], -1, -2); }},
      {"matmul", 5, 2, false, [](const Arrays& x, int) { return scale_of_product(x[0]) * np::matmul(x[0], x[1]); }},
  };
  return all;
}
const Op& op_of(const std::string& name) {
  return *std::find_if(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; });
}

std::int64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}
/// Of a result where the shapes of operands fit.
std::optional<Shape> broadcast(Shape a, Shape b) {
  if (a.size() < b.size()) std::swap(a, b);
  for (std::size_t k = 1; k <= b.size(); ++k) {
    std::int64_t &m = a[a.size() - k], n = b[b.size() - k];
    if (m != n && m != 1 && n != 1) return std::nullopt;
    m = std::max(m, n);
  }
  return a;
}
std::optional<Shape> shape_of(const std::string& op, const std::vector<Shape>& x, int axis) {
  constexpr std::int64_t deepest_product = 130;
  Shape out = x[0];
  if (op == "matmul") {
    if (x[0].size() < 2 || x[1].size() < 2 || x[0].back() != x[1][x[1].size() - 2]) return std::nullopt;
    if (x[0].back() > deepest_product || x[0].back() == 1) return std::nullopt;
    const auto batch = broadcast(Shape(x[0].begin(), x[0].end() - 2), Shape(x[1].begin(), x[1].end() - 2));
    if (!batch) return std::nullopt;
    out = *batch;
    out.push_back(x[0][x[0].size() - 2]);
    out.push_back(x[1].back());
  } else if (op == "transpose") {
    if (out.size() < 2) return std::nullopt;
    std::swap(out[out.size() - 1], out[out.size() - 2]);
  } else if (op == "sum" || op == "mean") {
    out[static_cast<std::size_t>(axis)] = 1;
  } else if (x.size() == 2) {
    return broadcast(x[0], x[1]);
  }
  return out;
}

// Running ---------------------------------------------------------------------------------------------

/// In the shape of the carry, whatever it was.
Array fitted(const Array& v, const Array& like) {
  if (v.shape() == like.shape()) return v;
  const auto joint = broadcast(v.shape(), like.shape());
  return np::broadcast_to(joint && *joint == like.shape() ? v : np::mean(v), like.shape());
}
Array next_carry(Next way, const Array& carry, const Array& v) {
  switch (way) {
    case Next::squashed:
      return 1.2 * np::tanh(v + 0.3 * carry);
    case Next::added:
      return carry + 0.5 * v;
    default:
      return normalized(carry + v, -1);
  }
}
/// Each result counts, each element otherwise.
Array scalar_of(const Arrays& results) {
  Array sum = 0;
  for (const Array& r : results) sum = sum + np::mean(np::square(r)) + np::mean(np::sin(r + 0.3));
  return sum;
}

}  // namespace

std::vector<Shape> Scan::input_shapes() const {
  std::vector<Shape> out = carries;
  for (Shape s : xs) {
    s.insert(s.begin(), steps);
    out.push_back(s);
  }
  out.insert(out.end(), constants.begin(), constants.end());
  return out;
}

std::pair<Arrays, Arrays> Scan::step(const Arrays& carry, const Arrays& x, const Arrays& constant) const {
  Arrays values = carry;
  values.insert(values.end(), x.begin(), x.end());
  values.insert(values.end(), constant.begin(), constant.end());
  for (const Node& n : nodes) {
    Arrays operands;
    for (std::size_t o : n.operands) operands.push_back(values[o]);
    values.push_back(op_of(n.name).apply(operands, n.axis));
  }
  Arrays after, out;
  for (std::size_t k = 0; k < carry.size(); ++k)
    after.push_back(next_carry(ways[k], carry[k], fitted(values[next[k]], carry[k])));
  for (std::size_t y : ys) out.push_back(values[y]);
  return {after, out};
}

Arrays Scan::run(const Arrays& inputs) const {
  const auto first = inputs.begin(), x_at = first + static_cast<std::ptrdiff_t>(carries.size()),
             constants_at = x_at + static_cast<std::ptrdiff_t>(xs.size());
  const Arrays init(first, x_at), slices(x_at, constants_at), constant(constants_at, inputs.end());
  const auto outer = [&](const Arrays& c, const Arrays& x) {
    if (!inner_steps) return step(c, x, constant);
    const auto inner = [&](const Arrays& d) { return step(d, x, constant); };
    return lax::scan(inner, c, lax::length(inner_steps));
  };
  auto [last, out] = lax::scan(outer, init, slices, {.reverse = reverse});
  last.insert(last.end(), out.begin(), out.end());
  return last;
}

Arrays Scan::operator()(const Arrays& inputs) const {
  if (!gradient) return run(inputs);
  return ct::grad([&](const Arrays& in) { return scalar_of(run(in)); })(inputs);
}

std::string Scan::str() const {
  std::string out = gradient ? "gradient of a scan" : "scan";
  out += " of " + std::to_string(steps) + " steps";
  if (inner_steps) out += ", each a scan of " + std::to_string(inner_steps);
  if (reverse) out += ", reverse";
  std::size_t number = 0;
  const auto list = [&](const char* what, const std::vector<Shape>& shapes) {
    for (const Shape& s : shapes) out += std::string("\n  v") + std::to_string(number++) + ct::describe(s) + " " + what;
  };
  list("carry", carries);
  list("x", xs);
  list("constant", constants);
  for (const Node& n : nodes) {
    out += "\n  v" + std::to_string(number++) + ct::describe(n.shape) + " = " + n.name;
    for (std::size_t o : n.operands) out += " v" + std::to_string(o);
    if (op_of(n.name).along_axis) out += " along " + std::to_string(n.axis);
  }
  static const char* words[] = {"squashed", "added", "normalized"};
  out += "\n  next";
  for (std::size_t k = 0; k < next.size(); ++k)
    out += " " + std::string(words[static_cast<int>(ways[k])]) + " v" + std::to_string(next[k]);
  out += "\n  ys";
  for (std::size_t y : ys) out += " v" + std::to_string(y);
  return out + "\n";
}

// Drawing ---------------------------------------------------------------------------------------------

namespace {

/// Late ones are likelier, so that bodies are deep and not only wide.
std::size_t pick(Draw& draw, std::size_t count) {
  const int n = static_cast<int>(count);
  return static_cast<std::size_t>(std::max(draw.below(n), draw.below(n)));
}

constexpr std::int64_t widest = 130;  ///< square matrix

Shape random_carry(Draw& draw, const Options& options) {
  // Sizes of groups, subgroups and vectors, and their neighbours.
  static const std::vector<int> sizes{2, 3, 4, 5, 8, 15, 16, 17, 32, 32, 33, 63, 64, 64, 65, 96, 128, 128, 129, 256};
  constexpr std::int64_t large_product = 1 << 17;  // from so many terms on
  for (;;) {
    Shape s;
    if (draw.one_in(3)) s.push_back(draw.between(1, 4));
    s.push_back(draw.pick(sizes));
    s.push_back(draw.pick(sizes));
    const std::int64_t n = elements(s);
    if (n > options.most_elements || n * 16 < options.most_elements) continue;
    if (!options.large_product || (s.back() <= widest && n * s.back() > large_product)) return s;
  }
}
/// Something that meets the carry in one way or another.
Shape random_companion(Draw& draw, const Shape& carry) {
  const std::int64_t rows = carry[carry.size() - 2], columns = carry.back();
  switch (draw.below(6)) {
    case 0:
      return {columns};
    case 1:
      return {rows, 1};
    case 2:
      return carry;
    case 3:
      return rows <= widest ? Shape{rows, rows} : Shape{columns};
    default:
      return columns <= widest ? Shape{columns, columns} : Shape{rows, 1};
  }
}

std::optional<Node> random_node(Draw& draw, const std::vector<Shape>& values, std::int64_t most) {
  static const std::vector<const Op*> weighted = [] {
    std::vector<const Op*> out;
    for (const Op& op : ops()) out.insert(out.end(), static_cast<std::size_t>(op.weight), &op);
    return out;
  }();
  const Op& op = *draw.pick(weighted);
  Node n{op.name, {pick(draw, values.size())}, 0, {}};
  std::vector<Shape> shapes{values[n.operands[0]]};
  if (op.along_axis) {
    if (shapes[0].empty()) return std::nullopt;
    n.axis = draw.below(static_cast<int>(shapes[0].size()));
    if (shapes[0][static_cast<std::size_t>(n.axis)] == 1) return std::nullopt;
  }
  if (op.operands == 2) {
    n.operands.push_back(pick(draw, values.size()));
    shapes.push_back(values[n.operands[1]]);
  }
  const auto shape = shape_of(op.name, shapes, n.axis);
  if (!shape || elements(*shape) > most) return std::nullopt;
  n.shape = *shape;
  return n;
}

}  // namespace

Scan random_scan(Draw& draw, const Options& options) {
  Scan s;
  s.steps = draw.between(2, 3);
  s.reverse = draw.one_in(4);
  s.gradient = !draw.one_in(6);
  if (draw.one_in(6)) s.inner_steps = 2;
  s.carries.push_back(random_carry(draw, options));
  if (draw.one_in(3)) s.carries.push_back(draw.one_in(2) ? s.carries[0] : random_companion(draw, s.carries[0]));
  for (int n = draw.between(1, 2); n > 0; --n) s.xs.push_back(random_companion(draw, s.carries[0]));
  const std::size_t weights = s.carries.size() + s.xs.size();
  if (options.large_product) s.xs.push_back({s.carries[0].back(), s.carries[0].back()});
  for (int n = draw.below(2); n > 0; --n) s.constants.push_back(random_companion(draw, s.carries[0]));
  std::vector<Shape> values = s.carries;
  values.insert(values.end(), s.xs.begin(), s.xs.end());
  values.insert(values.end(), s.constants.begin(), s.constants.end());
  const auto add = [&](const Node& node) {
    s.nodes.push_back(node);
    values.push_back(node.shape);
  };
  const auto add_random = [&] {
    std::optional<Node> node;
    while (!node) node = random_node(draw, values, options.most_elements);
    add(*node);
  };
  const int nodes = draw.between(2, options.most_nodes), product_at = draw.below(nodes);
  for (int k = 0; k < nodes; ++k) {
    if (options.large_product && k == product_at) {
      std::size_t from = values.size() - 1;
      while (values[from] != s.carries[0]) --from;
      add({"matmul", {from, weights}, 0, s.carries[0]});
    }
    add_random();
  }
  for (const Shape& c : s.carries) {
    // The last value of its shape, so that most of the body counts.
    std::size_t at = values.size() - 1;
    while (at > s.inputs() && values[at] != c) --at;
    s.next.push_back(at > s.inputs() && !draw.one_in(4) ? at : values.size() - 1);
    s.ways.push_back(static_cast<Next>(draw.below(3)));
  }
  for (int n = draw.below(3); n > 0; --n) s.ys.push_back(pick(draw, values.size()));
  return s;
}

// Shrinking -------------------------------------------------------------------------------------------

Scan shrink(Scan scan, const std::function<bool(const Scan&)>& fails) {
  const auto attempt = [&](const Scan& smaller) {
    if (!fails(smaller)) return false;
    scan = smaller;
    return true;
  };
  const auto with = [&](const auto& change) {
    Scan s = scan;
    change(s);
    return s;
  };
  if (scan.inner_steps) attempt(with([](Scan& s) { s.inner_steps = 0; }));
  if (scan.reverse) attempt(with([](Scan& s) { s.reverse = false; }));
  if (scan.gradient) attempt(with([](Scan& s) { s.gradient = false; }));
  if (scan.steps > 2) attempt(with([](Scan& s) { s.steps = 2; }));
  for (std::size_t y = scan.ys.size(); y-- > 0;)
    attempt(with([&](Scan& s) { s.ys.erase(s.ys.begin() + static_cast<std::ptrdiff_t>(y)); }));
  // Nodes, from the last: whoever reads it reads an earlier value of its shape.
  for (std::size_t k = scan.nodes.size(); k-- > 0;) {
    const std::size_t number = scan.inputs() + k;
    std::vector<Shape> values = scan.carries;
    values.insert(values.end(), scan.xs.begin(), scan.xs.end());
    values.insert(values.end(), scan.constants.begin(), scan.constants.end());
    for (const Node& n : scan.nodes) values.push_back(n.shape);
    for (std::size_t other = 0; other < number; ++other) {
      if (values[other] != values[number]) continue;
      const auto renumber = [&](std::size_t& v) { v = v == number ? other : v > number ? v - 1 : v; };
      const Scan without = with([&](Scan& s) {
        s.nodes.erase(s.nodes.begin() + static_cast<std::ptrdiff_t>(k));
        for (Node& n : s.nodes)
          for (std::size_t& o : n.operands) renumber(o);
        for (std::size_t& o : s.next) renumber(o);
        for (std::size_t& o : s.ys) renumber(o);
      });
      if (attempt(without)) break;
    }
  }
  return scan;
}

}  // namespace fuzz_scans
