// The sum of arrays that zeros pad to lie side by side is their concatenation; the gradient of a split is such a sum. 0
// + x is x except for the sign of a zero, which is x's own afterwards.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

/// Arrays along one axis that do not overlap, zeros around and between them.
struct Row {
  struct Part {
    std::int64_t begin, end;
    Atom array;  ///< of the new program
  };
  std::size_t axis = 0;
  std::vector<Part> parts;  ///< in order
  Atom zero;
  std::int64_t begin() const { return parts.front().begin; }
  std::int64_t end() const { return parts.back().end; }
  bool has_gaps() const {
    for (std::size_t k = 1; k < parts.size(); ++k)
      if (parts[k].begin != parts[k - 1].end) return true;
    return false;
  }
  std::vector<Atom> arrays() const {
    std::vector<Atom> out;
    for (const Part& part : parts) out.push_back(part.array);
    return out;
  }
};

bool is_zero(const Atom& a) {
  const Literal* literal = std::get_if<Literal>(&a);
  if (!literal || !is_floating(literal->value.dtype())) return false;
  const double v =
      dispatch(literal->value.dtype(), [&]<class T>() { return convert<double>(*data<T>(literal->value)); });
  return v == 0 && !std::signbit(v);
}

/// A pad with zeros before and after, along one axis.
std::optional<Row> row_of(const Jaxpr& j, const Equation& e, const Rewriter& rewriter) {
  if (e.primitive != &ops::pad_p || !is_zero(e.inputs[1])) return std::nullopt;
  const Ints &low = e.params.ints("low"), &high = e.params.ints("high"), &interior = e.params.ints("interior");
  std::optional<Row> out;
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    if (low[axis] < 0 || high[axis] < 0 || interior[axis] != 0) return std::nullopt;
    if (low[axis] == 0 && high[axis] == 0) continue;
    if (out) return std::nullopt;
    const std::int64_t size = j.type(e.inputs[0]).shape[axis];
    if (size == 0) return std::nullopt;
    out = Row{axis, {{low[axis], low[axis] + size, rewriter.read(e.inputs[0])}}, e.inputs[1]};
  }
  return out;
}

/// Both in one, where they do not overlap.
std::optional<Row> joined(const Row& a, const Row& b) {
  if (a.axis != b.axis) return std::nullopt;
  Row out{a.axis, {}, a.zero};
  std::merge(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), std::back_inserter(out.parts),
             [](const Row::Part& x, const Row::Part& y) { return x.begin < y.begin; });
  for (std::size_t k = 1; k < out.parts.size(); ++k)
    if (out.parts[k].begin < out.parts[k - 1].end) return std::nullopt;
  return out;
}

}  // namespace

JaxprPtr join_disjoint_pads(const JaxprPtr& jaxpr) {
  const Jaxpr& j = *jaxpr;
  std::vector<std::optional<Row>> rows(j.types.size());
  Rewriter rewriter(j);
  const auto row = [&](const Atom& a) -> const std::optional<Row>& {
    static const std::optional<Row> none;
    const Var* v = std::get_if<Var>(&a);
    return v ? rows[static_cast<std::size_t>(v->id)] : none;
  };
  for (const Equation& e : j.equations) {
    std::optional<Row>& found = rows[e.outputs.empty() ? 0 : static_cast<std::size_t>(e.outputs[0].id)];
    if (e.primitive == &ops::add_p && row(e.inputs[0]) && row(e.inputs[1]))
      found = joined(*row(e.inputs[0]), *row(e.inputs[1]));
    if (!found || found->has_gaps()) {  // which what is added next may fill
      const Params params = map_nested(e.params, [](const JaxprPtr& nested) { return join_disjoint_pads(nested); });
      if (e.primitive == &ops::pad_p) found = row_of(j, e, rewriter);
      rewriter.emit(e, rewriter.read(e.inputs), params);
      continue;
    }
    const AbstractValue& type = j.type(e.outputs[0]);
    const std::size_t axis = found->axis;
    const Params dimension{{"dimension", static_cast<std::int64_t>(axis)}};
    const std::int64_t size = type.shape[axis];
    Equation concatenate{&ops::concatenate_p, {}, e.outputs, {}, e.where};
    if (found->begin() == 0 && found->end() == size) {
      rewriter.emit(concatenate, found->arrays(), dimension);
      continue;
    }
    // Zeros are left around it; what comes next may take their place.
    AbstractValue whole = type;
    whole.shape[axis] = found->end() - found->begin();
    const Var together = rewriter.new_var(whole);
    rewriter.out().equations.push_back({&ops::concatenate_p, found->arrays(), {together}, dimension, e.where});
    Ints low(type.shape.size(), 0), high(type.shape.size(), 0);
    low[axis] = found->begin();
    high[axis] = size - found->end();
    rewriter.emit({&ops::pad_p, {}, e.outputs, {}, e.where}, {Atom(together), found->zero},
                  {{"low", low}, {"high", high}, {"interior", Ints(type.shape.size(), 0)}});
  }
  return eliminate_dead_code(rewriter.finish(j.outputs, "joining padded parts"));
}

}  // namespace cotan
