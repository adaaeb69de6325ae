// Complex arrays on devices, which know real ones alone: their memory as real numbers, and programs on these.
#include "backend/single_operation.hpp"
#include "core/complex.hpp"
#include "core/construct.hpp"
#include "lowering/pipeline.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

Array as_real(const Array& a) {
  if (!is_complex(a.dtype())) return a;
  AbstractValue type{real_dtype(a.dtype()), a.shape(), false};
  type.shape.push_back(2);
  return Array(std::make_shared<detail::Concrete>(std::move(type), concrete(a)->buffer));
}
Array as_complex(const Array& a, const AbstractValue& type) {
  if (!is_complex(type.dtype)) return a;
  return Array(std::make_shared<detail::Concrete>(type, concrete(a)->buffer));
}

const JaxprPtr& real_form(const JaxprPtr& jaxpr) {
  return jaxpr->real.get([&] { return has_complex(*jaxpr) ? lowering::on_real_arrays(jaxpr) : nullptr; });
}

namespace {

/// The program with its constants on a device that evaluates one operation at a time: those follow their operands.
JaxprPtr with_constants_on(Backend& backend, const JaxprPtr& jaxpr) {
  Jaxpr out = *jaxpr;
  const auto move = [&](std::vector<Atom>& atoms) {
    for (Atom& a : atoms)
      if (Literal* literal = std::get_if<Literal>(&a))
        literal->value = constant_of_program(copy_to_backend(literal->value, backend));
  };
  for (Equation& e : out.equations) {
    move(e.inputs);
    e.params = map_nested(e.params, [&](const JaxprPtr& j) { return with_constants_on(backend, j); });
  }
  move(out.outputs);
  return std::make_shared<const Jaxpr>(std::move(out));
}
/// What a device is given to run.
const JaxprPtr& form_for(Backend& backend, const JaxprPtr& real) {
  if (!backend.evaluates_rules()) return real;
  const void* known = real->compiled.get(backend);
  if (!known) known = real->compiled.set(backend, std::make_shared<const JaxprPtr>(with_constants_on(backend, real)));
  return *static_cast<const JaxprPtr*>(known);
}

}  // namespace

Arrays run_on(Backend& backend, const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>* donated) {
  const JaxprPtr& real = real_form(jaxpr);
  if (!real) return backend.run_program(jaxpr, args, donated);
  Arrays operands;
  for (const Array& a : args) {
    // A scalar follows the device, but what it is there is no scalar.
    const bool follows = is_complex(a.dtype()) && &concrete(a)->buffer->backend() != &backend;
    operands.push_back(as_real(follows ? copy_to_backend(a, backend) : a));
  }
  Arrays out = backend.run_program(form_for(backend, real), operands, donated);
  const Types types = jaxpr->output_types();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = as_complex(out[i], types[i]);
  return out;
}

Arrays run_complex_operation(const Primitive& p, std::span<const Array> args, const Params& params) {
  const bool call = p.op_class == OpClass::call && params.has("jaxpr");
  return run_on(common_backend(p, args), call ? params.jaxpr("jaxpr") : program_of(p, types_of(args), params), args,
                nullptr);
}

}  // namespace cotan
