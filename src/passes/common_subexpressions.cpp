#include <unordered_map>

#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

std::size_t hash_equation(const Equation& e, const std::vector<Atom>& inputs) {
  std::size_t seed = std::hash<const void*>{}(e.primitive);
  for (const Atom& a : inputs) {
    if (const Var* v = std::get_if<Var>(&a)) {
      hash_combine(seed, static_cast<std::size_t>(v->id));
    } else {
      std::uint64_t bits[2] = {0, 0};  // a c128 has 16 bytes
      const Array& value = std::get<Literal>(a).value;
      std::memcpy(bits, concrete(value)->buffer->data(), itemsize(value.dtype()));
      hash_combine(seed, std::hash<std::uint64_t>{}(bits[0] ^ (bits[1] << 1)) ^ hash_value(value.aval()));
    }
  }
  hash_combine(seed, e.params.hash());
  return seed;
}

bool same_atom(const Atom& a, const Atom& b) {
  const Var *x = std::get_if<Var>(&a), *y = std::get_if<Var>(&b);
  if (x || y) return x && y && *x == *y;
  const Array &p = std::get<Literal>(a).value, &q = std::get<Literal>(b).value;
  return p.aval() == q.aval() &&
         std::memcmp(concrete(p)->buffer->data(), concrete(q)->buffer->data(), itemsize(p.dtype())) == 0;
}

}  // namespace

JaxprPtr eliminate_common_subexpressions(const JaxprPtr& jaxpr) {
  Rewriter rewriter(*jaxpr);
  std::unordered_multimap<std::size_t, std::size_t> seen;  // hash -> index of an emitted equation
  for (const Equation& e : jaxpr->equations) {
    std::vector<Atom> inputs = rewriter.read(e.inputs);
    const Params params = map_nested(e.params, eliminate_common_subexpressions);
    const std::size_t hash = hash_equation({e.primitive, {}, {}, params, {}}, inputs);
    const Equation* twin = nullptr;
    for (auto [at, end] = seen.equal_range(hash); at != end && !twin; ++at) {
      const Equation& other = rewriter.out().equations[at->second];
      if (other.primitive == e.primitive && other.params == params && other.inputs.size() == inputs.size() &&
          std::equal(inputs.begin(), inputs.end(), other.inputs.begin(), same_atom))
        twin = &other;
    }
    if (twin) {
      for (std::size_t i = 0; i < e.outputs.size(); ++i) rewriter.substitute(e.outputs[i], twin->outputs[i]);
      continue;
    }
    seen.emplace(hash, rewriter.out().equations.size());
    rewriter.emit(e, std::move(inputs), params);
  }
  return rewriter.finish(jaxpr->outputs, "common-subexpression elimination");
}

}  // namespace cotan
