// Control flow over complex values: the nested programs on parts, with the parts of what they take and carry.
#include "control/on_parts.hpp"

#include "control/control.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

/// How many real arrays the first `count` operands are.
std::size_t flat_count(std::span<const ComplexParts> x, std::size_t from, std::size_t count) {
  std::size_t out = count;
  for (std::size_t i = from; i < from + count; ++i) out += x[i].complex() ? 1 : 0;
  return out;
}
Arrays flat_of(std::span<const ComplexParts> x) { return flat_parts(PartsList(x.begin(), x.end())); }

}  // namespace

PartsList scan_on_parts(const Primitive&, std::span<const ComplexParts> x, const Params& params) {
  const Scan s(params);
  Scan real = s;
  real.body = program_on_parts(s.body);
  real.consts = flat_count(x, 0, s.consts);
  real.carries = flat_count(x, s.consts, s.carries);
  return grouped_parts(bind_scan(real, flat_of(x)), s.body->output_types());
}

PartsList while_on_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  const While w(params);
  While real = w;
  real.condition = program_on_parts(w.condition);
  real.body = program_on_parts(w.body);
  real.condition_consts = flat_count(x, 0, w.condition_consts);
  real.body_consts = flat_count(x, w.condition_consts, w.body_consts);
  return grouped_parts(bind(self, flat_of(x), real.params()), w.body->output_types());
}

PartsList cond_on_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  std::vector<JaxprPtr> branches;
  for (const JaxprPtr& b : params.jaxprs("branches")) branches.push_back(program_on_parts(b));
  const Types types = params.jaxprs("branches")[0]->output_types();
  return grouped_parts(bind(self, flat_of(x), {{"branches", std::move(branches)}}), types);
}

PartsList associative_scan_on_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  const AssociativeScan s(params);
  AssociativeScan real = s;
  real.combine = program_on_parts(s.combine);
  real.consts = flat_count(x, 0, s.consts);
  return grouped_parts(bind(self, flat_of(x), real.params()), s.combine->output_types());
}

/// One after the other: transposing the parts would not be transposing the complex function.
PartsList associative_rest_on_parts(const Primitive&, std::span<const ComplexParts> x, const Params& params) {
  return eval_on_parts(*params.jaxpr("jaxpr"), PartsList(x.begin(), x.end()));
}

PartsList lanes_on_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  const Lanes l(params);
  Lanes real = l;
  real.program = program_on_parts(l.program);
  real.mapped.clear();
  for (std::size_t i = 0; i < x.size(); ++i) real.mapped.insert(real.mapped.end(), x[i].complex() ? 2 : 1, l.mapped[i]);
  Arrays results = bind(self, flat_of(x), real.params());
  // A part that does not differ between lanes, of a number that does.
  const Types types = l.program->output_types();
  const Mask mapped = depends_on(*l.program, l.mapped), mapped_parts = depends_on(*real.program, real.mapped);
  for (std::size_t i = 0, at = 0; i < types.size(); ++i)
    for (int part = is_complex(types[i].dtype) ? 2 : 1; part > 0; --part, ++at)
      if (mapped[i] && !mapped_parts[at]) results[at] = ops::batch_at_front(results[at], not_batched, l.size);
  return grouped_parts(results, types);
}

}  // namespace cotan
