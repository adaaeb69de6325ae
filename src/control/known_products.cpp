// Products with matrices that are known at trace time and have few nonzero diagonals (selections, shifts, bands) become
// scaled slices. 0 x is 0 only where x is finite, so this runs where the user promises that (assume_finite).
#include <cotan/assume_finite.hpp>
#include <cotan/numpy.hpp>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "ops/ops.hpp"

namespace cotan {

namespace {

constexpr std::int64_t most_known = 4096;  // elements of an array that is computed at trace time
constexpr std::int64_t most_runs = 4;      // pieces of diagonals that are cheaper than the product

/// Runs a program under the current trace, equation by equation, beside what is known of its values.
class KnownProducts {
 public:
  /// `known`: values of inputs, undefined where there is none.
  Arrays run(const Jaxpr& jaxpr, std::span<const Array> args, std::span<const Array> known);

 private:
  struct Value {
    Array traced, known;
  };
  Arrays bind_equation(const Equation& e, const std::vector<Value>& in);
  JaxprPtr nested(const Jaxpr& program, std::span<const Value> in);
};

bool can_be_known(const Equation& e, const Jaxpr& jaxpr) {
  for (const Var v : e.outputs)
    if (jaxpr.type(v).size() > most_known) return false;
  const OpClass kind = e.primitive->op_class;
  return kind == OpClass::elementwise || kind == OpClass::view || kind == OpClass::data || kind == OpClass::reduction;
}
Arrays evaluate(const Equation& e, const Arrays& operands) {
  const TraceScope scope(eval_trace());
  return bind(*e.primitive, operands, e.params);
}

std::vector<double> elements(const Array& matrix, bool transposed) {
  const TraceScope scope(eval_trace());
  return (transposed ? matrix.T() : matrix).astype(f64).to_vector<double>();
}

/// A piece of a diagonal with equal elements: matrix[row + i][row + i + diagonal] = value for 0 <= i < length.
struct Run {
  std::int64_t row, diagonal, length;
  double value;
};
/// The nonzero elements of a matrix with `terms` columns, by diagonals.
std::vector<Run> runs_of(std::span<const double> by_row, std::int64_t rows, std::int64_t terms) {
  std::vector<Run> runs;
  for (std::int64_t d = 1 - rows; d < terms; ++d)
    for (std::int64_t i = std::max<std::int64_t>(0, -d); i < std::min(rows, terms - d); ++i) {
      const double value = by_row[static_cast<std::size_t>(i * terms + i + d)];
      if (value == 0) continue;
      const bool goes_on = !runs.empty() && runs.back().diagonal == d && runs.back().row + runs.back().length == i &&
                           runs.back().value == value;
      if (goes_on)
        ++runs.back().length;
      else
        runs.push_back({i, d, 1, value});
    }
  return runs;
}
/// A run's part of the product: slices of `x` along `axis`, scaled, with zeros around them.
Array part_of_product(const Run& run, const Array& x, int axis, std::int64_t rows) {
  const std::int64_t from = run.row + run.diagonal;
  const Array slice = ops::slice_axis(x, axis, from, from + run.length);
  const Array scaled = run.value == 1 ? slice : run.value == -1 ? -slice : slice * scalar(x.dtype(), run.value);
  const Ints none(x.ndim(), 0);
  Ints low = none, high = none;
  low[axis] = run.row;
  high[axis] = rows - run.row - run.length;
  return low[axis] == 0 && high[axis] == 0 ? scaled : ops::pad(scaled, scalar(x.dtype(), 0), low, high, none);
}

/// The product of a known vector or matrix with `x` along their axes `inner` and `x_inner`; nothing where slices do not
/// pay. The other axis of the matrix comes first in the result, or last.
std::optional<Array> written_out(const Array& matrix, std::int64_t inner, const Array& x, std::int64_t x_inner,
                                 bool first) {
  if (matrix.ndim() > 2 || matrix.size() == 0 || !is_floating(matrix.dtype())) return std::nullopt;
  const std::int64_t terms = matrix.shape()[inner], rows = matrix.size() / terms;
  const std::vector<double> by_row = elements(matrix, matrix.ndim() == 2 && inner == 0);
  if (!std::all_of(by_row.begin(), by_row.end(), [](double v) { return std::isfinite(v); })) return std::nullopt;
  const std::vector<Run> runs = runs_of(by_row, rows, terms);
  if (std::ssize(runs) > std::min(most_runs, (terms + 1) / 2)) return std::nullopt;
  const int axis = static_cast<int>(x_inner);
  Shape shape = x.shape();
  shape[axis] = rows;
  Array sum;
  for (const Run& run : runs) {
    const Array part = part_of_product(run, x, axis, rows);
    sum = sum.defined() ? sum + part : part;
  }
  if (!sum.defined()) sum = ops::zeros_of({x.dtype(), shape, false});
  if (matrix.ndim() == 2) return ops::move_axis(sum, axis, first ? 0 : static_cast<int>(shape.size()) - 1);
  shape.erase(shape.begin() + axis);
  return ops::reshape(sum, shape);
}

std::optional<Array> known_product(const Equation& e, const Array& a, const Array& known_a, const Array& b,
                                   const Array& known_b) {
  const Ints &inner_a = e.params.ints("contract_lhs"), &inner_b = e.params.ints("contract_rhs");
  if (!e.params.ints("batch_lhs").empty() || inner_a.size() != 1) return std::nullopt;
  std::optional<Array> out;
  if (known_a.defined()) out = written_out(known_a, inner_a[0], b, inner_b[0], true);
  if (!out && known_b.defined()) out = written_out(known_b, inner_b[0], a, inner_a[0], false);
  return out;
}

Arrays KnownProducts::run(const Jaxpr& jaxpr, std::span<const Array> args, std::span<const Array> known) {
  std::vector<Value> env(jaxpr.types.size());
  for (std::size_t i = 0; i < args.size(); ++i) env[jaxpr.inputs[i].id] = {args[i], known[i]};
  const auto read = [&](const Atom& a) {
    if (const Var* v = std::get_if<Var>(&a)) return env[v->id];
    return Value{std::get<Literal>(a).value, std::get<Literal>(a).value};
  };
  EquationLines lines;
  for (const Equation& e : jaxpr.equations) {
    lines.move_to(e);
    std::vector<Value> in;
    Arrays operands;
    for (const Atom& a : e.inputs) {
      in.push_back(read(a));
      if (in.back().known.defined()) operands.push_back(in.back().known);
    }
    const Arrays results = bind_equation(e, in);
    for (std::size_t k = 0; k < results.size(); ++k) env[e.outputs[k].id].traced = results[k];
    if (operands.size() < in.size() || !can_be_known(e, jaxpr)) continue;
    const Arrays values = evaluate(e, operands);
    for (std::size_t k = 0; k < values.size(); ++k) env[e.outputs[k].id].known = values[k];
  }
  Arrays out;
  for (const Atom& a : jaxpr.outputs) out.push_back(read(a).traced);
  return out;
}

JaxprPtr KnownProducts::nested(const Jaxpr& program, std::span<const Value> in) {
  Arrays known(program.inputs.size());
  for (std::size_t i = 0; i < in.size(); ++i) known[i] = in[i].known;
  const ClosedJaxpr closed = trace_to_jaxpr([&](std::span<const Array> args) { return run(program, args, known); },
                                            program.input_types(), "assume_finite", program.name);
  internal_check(closed.consts.empty(), "a nested program captured an array");
  return closed.jaxpr;
}

Arrays KnownProducts::bind_equation(const Equation& e, const std::vector<Value>& in) {
  if (e.primitive == &ops::dot_general_p)
    if (const auto product = known_product(e, in[0].traced, in[0].known, in[1].traced, in[1].known)) return {*product};
  Arrays operands;
  for (const Value& v : in) operands.push_back(v.traced);
  if (e.primitive == &scan_p) {
    Scan scan(e.params);
    scan.body = nested(*scan.body, std::span(in).first(scan.consts));
    return bind_scan(scan, operands);
  }
  if (e.primitive == &jit_p || e.primitive == &checkpoint_p)
    return bind(*e.primitive, operands, e.params.with("jaxpr", nested(*e.params.jaxpr("jaxpr"), in)));
  return bind(*e.primitive, operands, e.params);
}

}  // namespace

namespace flat {

Arrays assume_finite(const FlatFn& f, std::span<const Array> args) {
  if (is_eval_trace(current_trace())) return f(args);
  Types types;
  for (const Array& a : args) types.push_back(a.aval());
  effects::Watched watched(f);
  const auto [closed, wide] = trace_call(watched, types, "assume_finite");
  if (watched.found())
    return effects::call("assume_finite", [&](const Array& token) {
      return assume_finite(effects::Threaded(f), effects::with_token(token, args));
    });
  const Arrays operands = concat(closed.consts, widened(args, wide));
  Arrays known(operands.size());
  for (std::size_t i = 0; i < closed.consts.size(); ++i)
    if (concrete(operands[i]) && operands[i].size() <= most_known) known[i] = operands[i];
  return KnownProducts().run(*closed.jaxpr, operands, known);
}

}  // namespace flat
}  // namespace cotan
