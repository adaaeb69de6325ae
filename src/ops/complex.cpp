// Complex numbers from their parts, their parts, and their conjugates. Transposition does not conjugate, as in JAX: the
// cotangent of z is the number c for which the change of the result is Re(c dz).
#include <cotan/numpy.hpp>

#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Arrays no_eval(const Primitive& self, std::span<const Array>, const Params&) {
  raise<InternalError>("[{}] is evaluated as its parts; this is a bug in cotan.", self.name);
}

Types complex_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  AbstractValue out = elementwise_type<Accepts::any>(self, x, params)[0];
  if (out.dtype != DType::f32 && out.dtype != DType::f64)
    raise<TypeError>("[complex] parts are {}, and must be f32 or f64; cast them with astype.", x[0]);
  out.dtype = complex_dtype(out.dtype);
  return {out};
}
PartsList complex_parts(const Primitive&, PartsOf x, const Params&) {
  const Shape& shape = x[x[0].re.ndim() == 0 ? 1 : 0].re.shape();
  return {{broadcast_to(x[0].re, shape), broadcast_to(x[1].re, shape)}};
}
Arrays complex_transpose(const Primitive&, std::span<const Array> ct, std::span<const LinearInput> in, const Params&) {
  Arrays out(2);
  if (in[0].linear) out[0] = unbroadcast(real(ct[0]), in[0].aval);
  if (in[1].linear) out[1] = unbroadcast(-imag(ct[0]), in[1].aval);
  return out;
}

Types part_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  if (!is_complex(x[0].dtype))
    raise<TypeError>("[{}] needs complex operands, got {}; cast with astype(c64).", self.name, x[0]);
  return {{real_dtype(x[0].dtype), x[0].shape, x[0].weak_type}};
}
Types conj_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  if (!is_complex(x[0].dtype))
    raise<TypeError>("[{}] needs complex operands, got {}; cast with astype(c64).", self.name, x[0]);
  return {x[0]};
}

}  // namespace

const Primitive complex_p{.name = "complex",
                          .op_class = OpClass::elementwise,
                          .type = complex_type,
                          .eval = no_eval,
                          .partials = {[](const Partial& p) { return complex(p.t, zeros_like(p.t)); },
                                       [](const Partial& p) { return complex(zeros_like(p.t), p.t); }},
                          .transpose = complex_transpose,
                          .batch = elementwise_batch,
                          .on_parts = complex_parts};
const Primitive real_p{.name = "real",
                       .op_class = OpClass::elementwise,
                       .type = part_type,
                       .eval = no_eval,
                       .partials = {[](const Partial& p) { return real(p.t); }},
                       .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                                       const Params&) { return Arrays{complex(ct[0], zeros_like(ct[0]))}; },
                       .batch = elementwise_batch,
                       .on_parts = [](const Primitive&, PartsOf x, const Params&) { return real_result(x[0].re); }};
const Primitive imag_p{.name = "imag",
                       .op_class = OpClass::elementwise,
                       .type = part_type,
                       .eval = no_eval,
                       .partials = {[](const Partial& p) { return imag(p.t); }},
                       .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                                       const Params&) { return Arrays{complex(zeros_like(ct[0]), -ct[0])}; },
                       .batch = elementwise_batch,
                       .on_parts = [](const Primitive&, PartsOf x, const Params&) { return real_result(x[0].im); }};
const Primitive conj_p{
    .name = "conj",
    .op_class = OpClass::elementwise,
    .type = conj_type,
    .eval = no_eval,
    .partials = {[](const Partial& p) { return conj(p.t); }},
    .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                    const Params&) { return Arrays{conj(ct[0])}; },
    .batch = elementwise_batch,
    .on_parts = [](const Primitive&, PartsOf x, const Params&) { return PartsList{{x[0].re, -x[0].im}}; }};
const Listed complex_listed{&complex_p, &real_p, &imag_p, &conj_p};

Array complex(const Array& re, const Array& im) { return bind1(complex_p, {re, im}); }
Array real(const Array& a) { return is_complex(a.dtype()) ? bind1(real_p, {a}) : a; }
Array imag(const Array& a) { return is_complex(a.dtype()) ? bind1(imag_p, {a}) : zeros_like(a); }
Array conj(const Array& a) { return is_complex(a.dtype()) ? bind1(conj_p, {a}) : a; }

}  // namespace cotan::ops
