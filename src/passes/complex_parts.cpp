// Programs that compute with complex numbers, as programs that compute with their real and imaginary parts. Each
// operation says itself what it is on parts (Primitive::on_parts); this goes through programs.
#include <complex>

#include "core/complex.hpp"
#include "core/construct.hpp"
#include "core/trace.hpp"
#include "ops/parts.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

bool any_complex(const Types& types) {
  for (const AbstractValue& t : types)
    if (is_complex(t.dtype)) return true;
  return false;
}
bool holds_complex(const Params& params) {
  bool found = false;
  map_nested(params, [&](const JaxprPtr& j) {
    found = found || has_complex(*j);
    return j;
  });
  return found;
}

/// The parts of a constant of a program.
ComplexParts parts_of(const Array& literal) {
  if (!is_complex(literal.dtype())) return {literal, {}};
  const auto value = exact_scalar_as(literal, DType::c128).value_or(literal).item<std::complex<double>>();
  const DType part = real_dtype(literal.dtype());
  return {scalar(part, value.real()), scalar(part, value.imag())};
}

AbstractValue part_type(const AbstractValue& type) { return {real_dtype(type.dtype), type.shape, false}; }

/// The equation on parts; what is real in and out stays as it is.
PartsList results_of(const Jaxpr& jaxpr, const Equation& e, const PartsList& operands) {
  bool complex = holds_complex(e.params);
  for (const ComplexParts& x : operands) complex = complex || x.complex();
  for (const Var v : e.outputs) complex = complex || is_complex(jaxpr.type(v).dtype);
  PartsList out;
  if (complex) {
    internal_check(e.primitive->on_parts != nullptr, "an operation on complex numbers has no rule for their parts");
    out = e.primitive->on_parts(*e.primitive, operands, e.params);
  } else {
    Arrays args;
    for (const ComplexParts& x : operands) args.push_back(x.re);
    for (Array& a : bind(*e.primitive, args, e.params)) out.push_back({std::move(a), {}});
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const AbstractValue& want = jaxpr.type(e.outputs[i]);
    const auto fits = [&](const Array& a) { return a.shape() == want.shape && a.dtype() == real_dtype(want.dtype); };
    if (out[i].complex() != is_complex(want.dtype) || !fits(out[i].re) || (out[i].complex() && !fits(out[i].im)))
      raise<InternalError>("[{}] its parts are not those of {}; this is a bug in cotan.", e.primitive->name, want);
  }
  return out;
}

}  // namespace

PartsList eval_on_parts(const Jaxpr& jaxpr, const PartsList& args) {
  PartsList values(jaxpr.types.size());
  for (std::size_t i = 0; i < args.size(); ++i) values[static_cast<std::size_t>(jaxpr.inputs[i].id)] = args[i];
  const auto read = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v ? values[static_cast<std::size_t>(v->id)] : parts_of(std::get<Literal>(a).value);
  };
  EquationLines lines;
  for (const Equation& e : jaxpr.equations) {
    PartsList operands;
    for (const Atom& a : e.inputs) operands.push_back(read(a));
    lines.move_to(e);
    PartsList results = results_of(jaxpr, e, operands);
    for (std::size_t k = 0; k < e.outputs.size(); ++k)
      values[static_cast<std::size_t>(e.outputs[k].id)] = std::move(results[k]);
  }
  PartsList out;
  for (const Atom& a : jaxpr.outputs) out.push_back(read(a));
  return out;
}

bool has_complex(const Jaxpr& jaxpr) {
  if (any_complex(jaxpr.types)) return true;
  for (const Equation& e : jaxpr.equations) {
    for (const Atom& a : e.inputs)
      if (is_complex(jaxpr.type(a).dtype)) return true;
    if (holds_complex(e.params)) return true;
  }
  return any_complex(jaxpr.output_types());
}
bool is_complex_operation(const Primitive& p, std::span<const Array> args, const Types& results, const Params& params) {
  for (const Array& a : args)
    if (is_complex(a.dtype())) return true;
  const bool nested = p.op_class == OpClass::call || p.op_class == OpClass::control;
  return any_complex(results) || (nested && holds_complex(params));
}

Arrays flat_parts(const PartsList& parts) {
  Arrays out;
  for (const ComplexParts& x : parts) {
    out.push_back(x.re);
    if (x.complex()) out.push_back(x.im);
  }
  return out;
}
PartsList grouped_parts(std::span<const Array> flat, const Types& types) {
  PartsList out;
  std::size_t at = 0;
  for (const AbstractValue& t : types) {
    out.push_back({flat[at], is_complex(t.dtype) ? flat[at + 1] : Array()});
    at += is_complex(t.dtype) ? 2 : 1;
  }
  return out;
}
JaxprPtr program_on_parts(const JaxprPtr& jaxpr) {
  if (!has_complex(*jaxpr)) return jaxpr;
  const Types types = jaxpr->input_types();
  Types inputs;
  for (const AbstractValue& t : types) {
    inputs.push_back(is_complex(t.dtype) ? part_type(t) : t);
    if (is_complex(t.dtype)) inputs.push_back(part_type(t));
  }
  const ClosedJaxpr closed = trace_to_jaxpr(
      [&](std::span<const Array> in) { return flat_parts(eval_on_parts(*jaxpr, grouped_parts(in, types))); }, inputs,
      "complex", jaxpr->name);
  internal_check(closed.consts.empty(), "a program on parts captures an array");
  return closed.jaxpr;
}

JaxprPtr with_real_operands(const JaxprPtr& jaxpr) {
  Types inputs = jaxpr->input_types();
  for (AbstractValue& t : inputs)
    if (is_complex(t.dtype)) {
      t = part_type(t);
      t.shape.push_back(2);
    }
  const auto parts_of_input = [&](std::span<const Array> in) {
    PartsList args;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool complex = is_complex(jaxpr->type(jaxpr->inputs[i]).dtype);
      args.push_back(complex ? ops::parts_of_memory(in[i]) : ComplexParts{in[i], {}});
    }
    return args;
  };
  const ClosedJaxpr closed = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        Arrays out;
        for (const ComplexParts& x : eval_on_parts(*jaxpr, parts_of_input(in))) out.push_back(ops::interleaved(x));
        return out;
      },
      inputs, "complex", jaxpr->name);
  internal_check(closed.consts.empty(), "a program on parts captures an array");
  return closed.jaxpr;
}

}  // namespace cotan
