// complex_routine: an operation on complex matrices that LAPACK has, on their memory. Operands and results that are
// complex are real arrays with an axis of size 2 at the end. Params: those of the operation, its name, and which
// operands are complex.
#include "core/complex.hpp"
#include "ops/linalg/matrix.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

/// One of those whose rule for complex operands is by_complex_routine.
const Primitive& routine_of(const Params& params) {
  static const std::vector<const Primitive*> all = all_primitives();
  for (const Primitive* p : all)
    if (p->on_parts == by_complex_routine && p->name == params.text("routine")) return *p;
  raise<InternalError>("[complex_routine] there is no routine '{}'; this is a bug in cotan.", params.text("routine"));
}

/// The type of a complex array from that of its memory.
AbstractValue complex_type(AbstractValue type) {
  type.dtype = complex_dtype(type.dtype);
  type.shape.pop_back();
  return type;
}
Types operand_types(std::span<const AbstractValue> x, const Params& params) {
  Types out(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i)
    if (params.ints("complex_operands")[i]) out[i] = complex_type(out[i]);
  return out;
}
Types routine_type(const Primitive&, std::span<const AbstractValue> x, const Params& params) {
  const Primitive& routine = routine_of(params);
  Types out = routine.type(routine, operand_types(x, params), params);
  for (AbstractValue& t : out)
    if (is_complex(t.dtype)) {
      t.dtype = real_dtype(t.dtype);
      t.shape.push_back(2);
    }
  return out;
}
Arrays routine_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  const Primitive& routine = routine_of(params);
  const Types types = operand_types(types_of(x), params);
  Arrays operands;
  for (std::size_t i = 0; i < x.size(); ++i) operands.push_back(as_complex(x[i], types[i]));
  Arrays out = routine.eval(routine, operands, params);
  for (Array& a : out) a = as_real(a);
  return out;
}
BatchResult routine_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                          const Params& params) {
  Arrays operands;
  for (std::size_t i = 0; i < x.size(); ++i) operands.push_back(batch_at_front(x[i], dims[i], size));
  Arrays out = bind(self, operands, params);
  std::vector<int> at_front(out.size(), 0);
  return {std::move(out), std::move(at_front)};
}

}  // namespace

const Primitive complex_routine_p{.name = "complex_routine",
                                  .op_class = OpClass::routine,
                                  .type = routine_type,
                                  .eval = routine_eval,
                                  .batch = routine_batch};
const Listed complex_routine_listed{&complex_routine_p};

PartsList by_complex_routine(const Primitive& self, PartsOf x, const Params& params) {
  Arrays operands;
  Ints complex;
  Types types;
  for (const ComplexParts& operand : x) {
    operands.push_back(interleaved(operand));
    complex.push_back(operand.complex());
    types.push_back(operand.re.aval());
    if (operand.complex()) types.back().dtype = complex_dtype(types.back().dtype);
  }
  const Arrays results = bind(complex_routine_p, operands,
                              params.with("routine", std::string(self.name)).with("complex_operands", complex));
  const Types wanted = self.type(self, types, params);
  PartsList out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(is_complex(wanted[i].dtype) ? parts_of_memory(results[i]) : ComplexParts{results[i], {}});
  return out;
}

}  // namespace cotan::ops
