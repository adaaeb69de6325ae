// Evaluation, structural equality and hash of programs.
#include "core/jaxpr.hpp"

#include <bit>

#include "core/trace.hpp"

namespace cotan {

Types types_of(std::span<const Array> arrays) {
  Types out;
  for (const Array& a : arrays) out.push_back(a.aval());
  return out;
}

Types Jaxpr::input_types() const {
  Types out;
  for (Var v : inputs) out.push_back(type(v));
  return out;
}
Types Jaxpr::output_types() const {
  Types out;
  for (const Atom& a : outputs) out.push_back(type(a));
  return out;
}

Arrays eval_jaxpr(const Jaxpr& jaxpr, std::span<const Array> args) {
  internal_check(args.size() == jaxpr.inputs.size(), "eval_jaxpr got a wrong number of arguments");
  // Values are dropped after their last use, so that memory is freed as a C++ program would free it.
  constexpr int never = -1;
  std::vector<int> last_use(jaxpr.types.size(), never);
  for (int i = 0; i < static_cast<int>(jaxpr.equations.size()); ++i)
    for (const Atom& a : jaxpr.equations[i].inputs)
      if (const Var* v = std::get_if<Var>(&a)) last_use[v->id] = i;
  for (const Atom& a : jaxpr.outputs)
    if (const Var* v = std::get_if<Var>(&a)) last_use[v->id] = static_cast<int>(jaxpr.equations.size());

  Arrays env(jaxpr.types.size());
  for (std::size_t i = 0; i < args.size(); ++i) env[jaxpr.inputs[i].id] = args[i];
  const auto read = [&](const Atom& a) -> const Array& {
    if (const Var* v = std::get_if<Var>(&a)) return env[v->id];
    return std::get<Literal>(a).value;
  };
  EquationLines lines;
  Arrays operands;
  for (int i = 0; i < static_cast<int>(jaxpr.equations.size()); ++i) {
    const Equation& e = jaxpr.equations[i];
    operands.clear();
    for (const Atom& a : e.inputs) operands.push_back(read(a));
    lines.move_to(e);
    for (const Atom& a : e.inputs)
      if (const Var* v = std::get_if<Var>(&a); v && last_use[v->id] == i) env[v->id] = Array();
    Arrays results = bind(*e.primitive, operands, e.params);
    for (std::size_t k = 0; k < e.outputs.size(); ++k)
      if (last_use[e.outputs[k].id] != never) env[e.outputs[k].id] = std::move(results[k]);
  }
  Arrays out;
  for (const Atom& a : jaxpr.outputs) out.push_back(read(a));
  return out;
}

namespace {

/// Positions in order of binding, so that the numbering of Vars does not matter.
class Numbering {
 public:
  explicit Numbering(const Jaxpr& j) : number_(j.types.size(), -1) {
    for (Var v : j.inputs) bind(v);
  }
  void bind(Var v) { number_[v.id] = next_++; }
  int operator()(Var v) const { return number_[v.id]; }

 private:
  std::vector<int> number_;
  int next_ = 0;
};

bool same_literal(const Array& a, const Array& b) {
  return a.aval() == b.aval() &&
         std::memcmp(concrete(a)->buffer->data(), concrete(b)->buffer->data(), itemsize(a.dtype())) == 0;
}

bool same_atoms(const std::vector<Atom>& a, const Numbering& na, const std::vector<Atom>& b, const Numbering& nb) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Var *x = std::get_if<Var>(&a[i]), *y = std::get_if<Var>(&b[i]);
    if (!x != !y) return false;
    if (x ? na(*x) != nb(*y) : !same_literal(std::get<Literal>(a[i]).value, std::get<Literal>(b[i]).value))
      return false;
  }
  return true;
}

void hash_atoms(std::size_t& seed, const std::vector<Atom>& atoms, const Numbering& n) {
  for (const Atom& a : atoms) {
    if (const Var* v = std::get_if<Var>(&a)) {
      hash_combine(seed, static_cast<std::size_t>(n(*v)));
    } else {
      const Array& value = std::get<Literal>(a).value;
      std::uint64_t bits[2] = {0, 0};  // a c128 has 16 bytes
      std::memcpy(bits, concrete(value)->buffer->data(), itemsize(value.dtype()));
      hash_combine(seed, hash_value(value.aval()) ^ std::hash<std::uint64_t>{}(bits[0] ^ (bits[1] << 1)));
    }
  }
}

}  // namespace

bool structurally_equal(const Jaxpr& a, const Jaxpr& b) {
  if (&a == &b) return true;
  if (a.inputs.size() != b.inputs.size() || a.equations.size() != b.equations.size()) return false;
  if (a.input_types() != b.input_types()) return false;
  Numbering na(a), nb(b);
  for (std::size_t i = 0; i < a.equations.size(); ++i) {
    const Equation &x = a.equations[i], &y = b.equations[i];
    if (x.primitive != y.primitive || !same_atoms(x.inputs, na, y.inputs, nb) || !(x.params == y.params)) return false;
    for (Var v : x.outputs) na.bind(v);
    for (Var v : y.outputs) nb.bind(v);
  }
  return same_atoms(a.outputs, na, b.outputs, nb);
}

std::size_t structural_hash(const Jaxpr& jaxpr) {
  std::size_t seed = jaxpr.inputs.size();
  for (const auto& t : jaxpr.input_types()) hash_combine(seed, hash_value(t));
  Numbering n(jaxpr);
  for (const Equation& e : jaxpr.equations) {
    hash_combine(seed, std::hash<const void*>{}(e.primitive));
    hash_atoms(seed, e.inputs, n);
    hash_combine(seed, e.params.hash());
    for (Var v : e.outputs) n.bind(v);
  }
  hash_atoms(seed, jaxpr.outputs, n);
  return seed;
}

}  // namespace cotan
