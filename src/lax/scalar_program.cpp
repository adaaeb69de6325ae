#include "lax/scalar_program.hpp"

#include <algorithm>

#include "ops/ops.hpp"
#include "transforms/calls.hpp"

namespace cotan::lax {

namespace {

Types scalars(const std::vector<DType>& dtypes) {
  Types out;
  for (DType t : dtypes) out.push_back({t, {}, false});
  return out;
}

/// What the function gave, as the dtypes that are wanted: a C++ number takes any.
Arrays checked(std::string_view op, Arrays out, const std::vector<DType>& results) {
  if (out.size() != results.size())
    raise<TreeError>("[{}] the function gives {} arrays for {} operands; return one per operand.", op, out.size(),
                     results.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined()) raise<ValueError>("[{}] the function returned an empty Array; assign it first.", op);
    if (out[i].weak_type()) out[i] = ops::cast(out[i], results[i]);
    if (out[i].ndim() != 0 || out[i].dtype() != results[i])
      raise<TypeError>("[{}] the function of scalars gives {}; it must give a scalar of dtype {}.", op, out[i].aval(),
                       results[i]);
  }
  return out;
}

}  // namespace

ScalarProgram::ScalarProgram(std::string_view op, const FlatFn& f, const std::vector<DType>& operands,
                             const std::vector<DType>& results)
    : program_(trace_to_jaxpr([&](std::span<const Array> in) { return checked(op, f(in), results); }, scalars(operands),
                              op)) {
  const auto is_elementwise = [](const Equation& e) { return e.primitive->op_class == OpClass::elementwise; };
  const auto is_scalar = [](const Array& a) { return a.ndim() == 0; };
  elementwise_ = std::all_of(program_.jaxpr->equations.begin(), program_.jaxpr->equations.end(), is_elementwise) &&
                 std::all_of(program_.consts.begin(), program_.consts.end(), is_scalar);
}

const Primitive* ScalarProgram::single() const {
  const Jaxpr& j = *program_.jaxpr;
  if (!program_.consts.empty() || j.equations.size() != 1 || j.inputs.size() != 2 || j.outputs.size() != 1)
    return nullptr;
  const Equation& e = j.equations[0];
  const auto is = [&](const Atom& a, Var v) {
    const Var* var = std::get_if<Var>(&a);
    return var && *var == v;
  };
  if (e.inputs.size() != 2 || !is(j.outputs[0], e.outputs[0])) return nullptr;
  const bool direct = is(e.inputs[0], j.inputs[0]) && is(e.inputs[1], j.inputs[1]);
  const bool swapped = is(e.inputs[0], j.inputs[1]) && is(e.inputs[1], j.inputs[0]);
  return direct || swapped ? e.primitive : nullptr;
}

Arrays ScalarProgram::operator()(std::span<const Array> args) const {
  Shape shape;
  for (const Array& a : args)
    if (a.ndim() > 0) shape = a.shape();
  Arrays out;
  if (shape.empty() || elementwise_) {
    out = eval_jaxpr(*program_.jaxpr, concat(program_.consts, args));
  } else {
    const std::int64_t n = ops::product(shape);
    Arrays flat;
    std::vector<int> dims;
    for (const Array& a : args) {
      flat.push_back(a.ndim() == 0 ? a : ops::reshape(a, {n}));
      dims.push_back(a.ndim() == 0 ? not_batched : 0);
    }
    const auto run = [&](std::span<const Array> in) {
      return eval_jaxpr(*program_.jaxpr, concat(program_.consts, in));
    };
    BatchResult batched = batch_flat(run, flat, dims, n, "reduce");
    for (std::size_t k = 0; k < batched.values.size(); ++k)
      out.push_back(batched.dims[k] == not_batched ? batched.values[k] : ops::reshape(batched.values[k], shape));
  }
  for (Array& a : out)
    if (a.ndim() == 0) a = ops::broadcast_to(a, shape);
  return out;
}

}  // namespace cotan::lax
