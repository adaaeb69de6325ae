// optimization_barrier: its operands, all of them computed before anything that reads its results. It says nothing of
// their elements, so no pass looks through it and no kernel reaches across.
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace {

Types barrier_type(const Primitive&, std::span<const AbstractValue> x, const Params&) { return {x.begin(), x.end()}; }
Arrays barrier_eval(const Primitive&, std::span<const Array> x, const Params&) { return {x.begin(), x.end()}; }
JvpResult barrier_jvp(const Primitive& self, std::span<const Array> x, std::span<const Array> t, const Params&) {
  Arrays some;
  for (const Array& tangent : t)
    if (tangent.defined()) some.push_back(tangent);
  const Arrays moved = some.empty() ? Arrays{} : bind(self, some);
  Arrays tangents(t.size());
  for (std::size_t i = 0, k = 0; i < t.size(); ++i)
    if (t[i].defined()) tangents[i] = moved[k++];
  return {bind(self, x), std::move(tangents)};
}
Arrays barrier_transpose(const Primitive& self, std::span<const Array> ct, std::span<const LinearInput> in,
                         const Params&) {
  Arrays some;
  for (std::size_t i = 0; i < ct.size(); ++i)
    if (ct[i].defined() && in[i].linear) some.push_back(ct[i]);
  const Arrays moved = some.empty() ? Arrays{} : bind(self, some);
  Arrays out(ct.size());
  for (std::size_t i = 0, k = 0; i < ct.size(); ++i)
    if (ct[i].defined() && in[i].linear) out[i] = moved[k++];
  return out;
}
BatchResult barrier_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                          const Params&) {
  return {bind(self, x), std::vector<int>(dims.begin(), dims.end())};
}

PartsList barrier_parts(const Primitive& self, PartsOf x, const Params& params) {
  Arrays flat;
  for (const ComplexParts& operand : x) {
    flat.push_back(operand.re);
    if (operand.complex()) flat.push_back(operand.im);
  }
  const Arrays after = bind(self, flat, params);
  PartsList out;
  std::size_t at = 0;
  for (const ComplexParts& operand : x) {
    const Array& re = after[at++];
    out.push_back({re, operand.complex() ? after[at++] : Array()});
  }
  return out;
}

}  // namespace

const Primitive optimization_barrier_p{.name = "optimization_barrier",
                                       .op_class = OpClass::routine,
                                       .type = barrier_type,
                                       .eval = barrier_eval,
                                       .jvp = barrier_jvp,
                                       .transpose = barrier_transpose,
                                       .batch = barrier_batch,
                                       .on_parts = barrier_parts};
const Listed barrier_listed{&optimization_barrier_p};

}  // namespace cotan::ops
