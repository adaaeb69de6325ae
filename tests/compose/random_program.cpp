#include "compose/random_program.hpp"

#include <algorithm>
#include <cmath>

namespace compose {

namespace {

constexpr double kink_margin = 0.05;
constexpr std::int64_t max_elements = 24;

const std::vector<Op>& catalogue(const ProgramOptions& options) {
  const auto build = [](int call_copies, int reverse_only_copies) {
    std::vector<Op> all;
    for (auto family : {elementwise_ops, shape_ops, indexing_ops, reduction_ops, matrix_ops})
      for (Op& op : family()) all.push_back(std::move(op));
    // Few entries that matter much here: they are in it several times.
    for (const Op& op : call_ops())
      all.insert(all.end(), static_cast<std::size_t>(op.name == "custom_vjp_call" ? reverse_only_copies : call_copies),
                 op);
    return all;
  };
  static const std::vector<Op> without_calls = build(0, 0), with_calls = build(2, 0), with_reverse_only = build(2, 20);
  return !options.allow_calls ? without_calls : options.allow_reverse_only ? with_reverse_only : with_calls;
}

Arrays pick(const Arrays& values, const std::vector<std::size_t>& at) {
  Arrays out;
  for (std::size_t i : at) out.push_back(values[i]);
  return out;
}

}  // namespace

double smallest_difference(const Array& a) {
  std::vector<double> v = a.to_vector<double>();
  std::sort(v.begin(), v.end());
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < v.size(); ++i) out = std::min(out, v[i] - v[i - 1]);
  return out;
}
double smallest_magnitude(const Array& a) {
  double out = std::numeric_limits<double>::infinity();
  for (double v : a.to_vector<double>()) out = std::min(out, std::abs(v));
  return out;
}
double largest_magnitude(const Array& a) {
  double out = 0;
  for (double v : a.to_vector<double>()) out = std::isnan(v) ? v : std::max(out, std::abs(v));
  return out;
}

Arrays RandomProgram::operator()(const Arrays& in) const {
  Arrays values = in;
  for (const Node& n : nodes) values.push_back(n.body.apply(pick(values, n.operands)));
  return pick(values, results);
}

Arrays RandomProgram::plain(const Arrays& in, double& gap) const {
  Arrays values = in;
  for (const Node& n : nodes) {
    const Arrays operands = pick(values, n.operands);
    if (n.body.gap) gap = std::min(gap, n.body.gap(operands));
    values.push_back(n.body.plain ? n.body.plain(operands) : n.body.apply(operands));
  }
  return pick(values, results);
}

std::string RandomProgram::str() const {
  std::string out = "(";
  for (const Shape& s : inputs) out += " f64" + ct::describe(s);
  out += " )\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out += "  v" + std::to_string(inputs.size() + i) + " = " + nodes[i].name + "(";
    for (std::size_t o : nodes[i].operands) out += " v" + std::to_string(o);
    out += " )\n";
  }
  out += "  return";
  for (std::size_t r : results) out += " v" + std::to_string(r);
  return out + "\n";
}

std::vector<Shape> random_inputs(Draw& draw) {
  static const std::vector<Shape> shapes{{}, {1}, {2}, {3}, {2, 2}, {2, 3}, {3, 2}, {1, 3}, {2, 1, 2}, {3, 3}};
  std::vector<Shape> out;
  std::int64_t elements = 0;
  for (int n = draw.between(1, 3); n > 0; --n) {
    const Shape shape = draw.one_in(40) ? Shape{0, 2} : draw.pick(shapes);
    std::int64_t size = 1;
    for (std::int64_t d : shape) size *= d;
    if (!out.empty() && elements + size > 9) continue;
    elements += size;
    out.push_back(shape);
  }
  return out;
}

RandomProgram random_program(Draw& draw, const std::vector<Shape>& inputs, const ProgramOptions& options) {
  RandomProgram p;
  p.inputs = inputs;
  Arrays values;
  for (const Shape& s : inputs) values.push_back(draw.array(s));
  const int wanted = draw.between(options.min_nodes, options.max_nodes);
  const std::vector<Op>& ops = catalogue(options);
  for (int tries = 0; static_cast<int>(p.nodes.size()) < wanted && tries < 40 * wanted; ++tries) {
    const Op& op = draw.pick(ops);
    RandomProgram::Node node{op.name, {}, {}};
    for (int k = 0; k < op.arity; ++k) {
      // Late values are likelier operands, so that programs are deep and not only wide.
      const int n = static_cast<int>(values.size());
      node.operands.push_back(static_cast<std::size_t>(std::max(draw.below(n), draw.below(n))));
    }
    const Arrays operands = pick(values, node.operands);
    std::optional<Body> body = op.make(draw, operands);
    if (!body) continue;
    if (body->gap && !(body->gap(operands) > kink_margin)) continue;
    Array result = body->plain ? body->plain(operands) : body->apply(operands);
    if (result.size() > max_elements || result.ndim() > 4) continue;
    const double largest = largest_magnitude(result);
    if (!(largest < 20)) continue;
    p.reverse_only |= body->reverse_only;
    node.body = std::move(*body);
    p.nodes.push_back(std::move(node));
    values.push_back(result);
    if (largest > 2) {  // keep magnitudes near one, so that absolute and relative errors are alike
      const Apply squash = [](const Arrays& v) { return 1.5 * np::tanh(0.4 * v[0]); };
      p.nodes.push_back({"squash", {values.size() - 1}, {squash}});
      values.push_back(squash({result}));
    }
  }
  // The last small value, and sometimes another, an input itself, or a constant.
  std::size_t last = values.size() - 1;
  while (values[last].size() > 8 && last > 0) --last;
  p.results.push_back(last);
  if (draw.one_in(3)) {
    const auto other = static_cast<std::size_t>(draw.below(static_cast<int>(values.size())));
    if (values[other].size() <= 8) p.results.push_back(other);
  }
  if (draw.one_in(12)) {
    p.nodes.push_back({"constant", {}, {[](const Arrays&) { return np::full({2}, 0.5, ct::f64); }}});
    values.push_back(np::full({2}, 0.5, ct::f64));
    p.results.push_back(values.size() - 1);
  }
  for (std::size_t r : p.results) p.outputs.push_back(values[r].shape());
  return p;
}

}  // namespace compose
