#include "compiler/definitions.hpp"

#include <algorithm>

#include "compiler/operations.hpp"
#include "core/buffer.hpp"
#include "core/error.hpp"
#include "core/overloaded.hpp"
#include "core/typed.hpp"
#include "expr/walk.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

/// Recomputing this much is cheaper than a store and a load.
constexpr int cheap = 2;
/// Scalars are computed once per kernel, so more is allowed.
constexpr int cheap_scalar = 16;
/// More parts than this are written one by one instead of chosen per element.
constexpr std::size_t few_parts = 4;

Expr literal(const Array& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, concrete(value)->buffer->data(), itemsize(value.dtype()));
  return expr::constant_bits(value.dtype(), bits);
}
bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

int weight(expr::Op op) {
  using expr::Op;
  switch (op) {
    case Op::constant:
    case Op::variable:
    case Op::linear:
    case Op::bitcast:
    case Op::load:
      return 0;
    case Op::div:
    case Op::rem:
    case Op::sqrt:
    case Op::floor_div:
    case Op::floor_mod:
      return 4;
    case Op::call:
      return 100;
    default:
      return 1;
  }
}

bool is_single_term(const expr::Reduction& r) {
  if (r.gives_position) return false;
  for (std::size_t k = 0; k < r.shape.size(); ++k)
    if (r.reduced[k] && r.shape[k] != 1) return false;
  return true;
}

}  // namespace

void collect_loads(Expr e, std::vector<Expr>& loads) {
  expr::for_each_node({e}, [&](Expr at) {
    if (at->op == expr::Op::load) loads.push_back(at);
  });
}
int cost_of(Expr e) {
  int cost = 0;
  expr::for_each_node({e}, [&](Expr at) { cost += weight(at->op); });
  return cost;
}
int cost_along(Expr variable, Expr e) {
  std::vector<Expr> nodes;
  expr::for_each_node({e}, [&](Expr at) {
    if (at->id >= variable->id) nodes.push_back(at);
  });
  // Operands before what is computed of them.
  std::sort(nodes.begin(), nodes.end(), [](Expr a, Expr b) { return a->id < b->id; });
  expr::Visited dependent;
  int cost = 0;
  for (Expr at : nodes) {
    const auto depends = [&](Expr operand) { return dependent.contains(operand); };
    if (!(at == variable) && std::none_of(at->operands.begin(), at->operands.end(), depends)) continue;
    dependent.insert(at);
    cost += weight(at->op);
  }
  return cost;
}

std::size_t Definitions::KeyHash::operator()(const Key& k) const {
  std::size_t seed = static_cast<std::size_t>(k.v);
  for (const auto* n : k.index) hash_combine(seed, reinterpret_cast<std::size_t>(n));
  return seed;
}

class Definitions::EquationOperands final : public expr::Operands {
 public:
  EquationOperands(Definitions& definitions, const Equation& e, Expr predicate, Expr lane)
      : definitions_(definitions), equation_(e), predicate_(predicate), lane_(lane) {}
  Expr at(std::size_t k, std::span<const Expr> index, Expr predicate) const override {
    const Expr both = predicate && predicate_ ? predicate & predicate_ : predicate ? predicate : predicate_;
    if (!definitions_.in_lanes(equation_.inputs[k])) return definitions_.read(equation_.inputs[k], index, both);
    std::vector<Expr> with_lane(index.begin(), index.end());
    with_lane.push_back(lane_);
    return definitions_.read(equation_.inputs[k], with_lane, both);
  }
  const AbstractValue& type(std::size_t k) const override { return definitions_.plain_type(equation_.inputs[k]); }
  std::size_t size() const override { return equation_.inputs.size(); }

 private:
  Definitions& definitions_;
  const Equation& equation_;
  Expr predicate_, lane_;
};

const AbstractValue& Definitions::plain_type(const Atom& a) const {
  return in_lanes(a) ? plain_types_.at(std::get<Var>(a).id) : program_.type(a);
}

Definitions::Definitions(const Flat& program, const Target& target)
    : program_(program),
      kinds_(program.types.size(), Kind::input),
      equations_(program.types.size()),
      result_numbers_(program.types.size()),
      reductions_(program.types.size()),
      costs_(program.types.size()),
      inlined_costs_(program.types.size()),
      loaded_(program.types.size(), true) {
  for (std::size_t v = 0; v < program.types.size(); ++v)
    if (program.lanes[v]) {
      AbstractValue plain = program.types[v];
      plain.shape.pop_back();
      plain_types_.emplace(static_cast<BufferId>(v), std::move(plain));
    }
  classify_all(program.top, target, false);
}

namespace {

constexpr std::int64_t any_number = std::int64_t{1} << 62;

/// The number of steps of a loop; where a condition ends it, it may be any.
std::int64_t steps_of(const Control& control) {
  return std::visit(
      Overloaded{[](const ForLoop& loop) { return loop.length; }, [](const LaneLoop& loop) { return loop.groups; },
                 [](const auto&) { return any_number; }},
      control);
}

}  // namespace

void Definitions::classify_all(const Block& block, const Target& target, bool in_loop) {
  for (const Item& item : block.items) {
    if (!item.control) {
      classify(item.equation, target, in_loop);
      continue;
    }
    for (Var v : item.equation.outputs) {
      kinds_[v.id] = Kind::routine;
      equations_[v.id] = &item.equation;
    }
    const FlatLoop* loop = loop_of(*item.control);
    if (loop) indices_.emplace(loop->index.id, expr::variable(std::max<std::int64_t>(steps_of(*item.control), 1)));
    for (const Block* nested : blocks_of(*item.control)) classify_all(*nested, target, in_loop || loop);
  }
}

void Definitions::classify(const Equation& e, const Target& target, bool in_loop) {
  const Primitive& p = *e.primitive;
  std::vector<AbstractValue> types;
  for (const Atom& a : e.inputs) types.push_back(plain_type(a));
  std::vector<Expr> index;  // the same for all results: they are computed at once
  for (std::size_t k = 0; k < e.outputs.size(); ++k) {
    const BufferId v = e.outputs[k].id;
    equations_[v] = &e;
    result_numbers_[v] = k;
    const bool lowered = p.scalar || p.scalars || p.element;
    // Routines know nothing of lanes.
    const bool prefers_routine =
        target.prefers_routine && !program_.lanes[v] && target.prefers_routine(p, types, e.params);
    if (!lowered || program_.written_over.contains(v) || prefers_routine ||
        (&p == &ops::concatenate_p && e.inputs.size() > few_parts)) {
      kinds_[v] = Kind::routine;
      continue;
    }
    if (p.reduction) {
      reductions_[v] = std::make_unique<expr::Reduction>(p.reduction(types, e.params));
      if (const std::int64_t lanes = program_.lanes[v]) {
        reductions_[v]->shape.push_back(lanes);
        reductions_[v]->reduced.push_back(false);
      }
      if (!is_single_term(*reductions_[v])) {
        kinds_[v] = Kind::reduction;
        costs_[v] = 1;
        continue;
      }
    }
    kinds_[v] = Kind::pointwise;
    if (type(v).size() == 0) continue;
    // The cost of one element, at an arbitrary index.
    if (k == 0 || !p.scalars) {
      index.clear();
      for (auto size : type(v).shape) index.push_back(expr::variable(size));
    }
    const Expr element = expand(v, index);
    std::vector<Expr> loads;
    collect_loads(element, loads);
    costs_[v] = cost_of(element);
    const bool scalar = type(v).size() == 1;
    // A narrow result, such as a mask, is worth storing: then its wider operands need not be.
    bool narrows = false;
    for (Expr l : loads) narrows |= itemsize(l->dtype) > itemsize(type(v).dtype) && type(v).size() > 1;
    const bool is_view = p.op_class == OpClass::view || p.rewrites.is_trivial || p.rewrites.shares_memory;
    // An addition to a reduction's result in a loop belongs to the reduction: the sum can start from the other addend.
    bool of_reduction = false;
    for (Expr l : loads)
      of_reduction |= in_loop && !is_view && kinds_[static_cast<std::size_t>(l->bits)] == Kind::reduction;
    const int limit = of_reduction ? -1 : is_view || scalar ? cheap_scalar : loads.size() <= 1 && !narrows ? cheap : 0;
    if (costs_[v] <= limit) {
      kinds_[v] = Kind::inlined;
      loaded_[v] = false;
    }
  }
}

Expr Definitions::read(const Atom& a, std::span<const Expr> index, Expr predicate) {
  if (const Var* v = std::get_if<Var>(&a)) return read(v->id, index, predicate);
  return literal(std::get<Literal>(a).value);
}

Expr Definitions::read(BufferId v, std::span<const Expr> index, Expr predicate) {
  if (type(v).size() == 0) return expr::constant(type(v).dtype, 0);  // never used: there is no such element
  if (const auto at = indices_.find(v); at != indices_.end()) return at->second;
  if (loaded_[v]) return expr::load(v, type(v).dtype, offset(v, index), predicate);
  return expand(v, index, predicate);
}

Expr Definitions::offset(BufferId v, std::span<const Expr> index) const {
  const auto strides = program_.strides.find(v);
  if (strides == program_.strides.end()) return expr::offset_of(type(v).shape, index);
  Expr out = expr::integer(0);
  for (std::size_t k = 0; k < index.size(); ++k) out = out + index[k] * expr::integer(strides->second[k]);
  return out;
}

Expr Definitions::expand(BufferId v, std::span<const Expr> index, Expr predicate) {
  Key key{v, {predicate.get()}};
  for (Expr i : index) key.index.push_back(i.get());
  if (const auto at = expanded_.find(key); at != expanded_.end()) return at->second;
  const Equation& e = *equations_[v];
  const Primitive& p = *e.primitive;
  Expr out, lane;
  if (program_.lanes[v]) {  // the equation does not have the axis of lanes
    lane = index.back();
    index = index.subspan(0, index.size() - 1);
  }
  const auto with_dtype = [&](Expr x) { return expr::cast(x, x->dtype == DType::bool_ ? x->dtype : type(v).dtype); };
  if (&p == &lane_slice_p) {
    const Expr first = first_lane(read(e.inputs[1], {}), e.params.integer("lanes"), e.params.integer("width"));
    std::vector<Expr> at{first + lane};
    at.insert(at.end(), index.begin(), index.end());
    out = read(e.inputs[0], at, predicate);
  } else if (&p == &lane_front_p) {
    std::vector<Expr> at(index.begin() + 1, index.end());
    at.push_back(index[0]);
    out = read(e.inputs[0], at, predicate);
  } else if (kinds_[v] != Kind::reduction && reductions_[v]) {
    // Nothing to add up: an outer product.
    std::vector<Expr> term;
    for (std::size_t axis = 0, k = 0; axis + (lane ? 1 : 0) < reductions_[v]->shape.size(); ++axis)
      term.push_back(reductions_[v]->reduced[axis] ? expr::integer(0) : index[k++]);
    out = with_dtype(p.element(EquationOperands(*this, e, predicate, lane), term, e.params));
  } else if (p.element) {
    out = p.element(EquationOperands(*this, e, predicate, lane), index, e.params);
  } else {
    std::vector<Expr> x;
    for (const Atom& a : e.inputs) {
      // 0-d operands beside larger ones have no index.
      std::vector<Expr> at;
      if (plain_type(a).ndim() > 0) at.assign(index.begin(), index.end());
      if (in_lanes(a)) at.push_back(lane);
      x.push_back(read(a, at, predicate));
      if (!p.keeps_halves && is_half(x.back()->dtype)) x.back() = expr::cast(x.back(), DType::f32);
    }
    if (!p.scalars) {
      out = with_dtype(p.scalar(x, e.params));
    } else {
      // All results are there at once; the others will be asked for at the same index.
      const std::vector<Expr> results = p.scalars(x, e.params);
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (k == result_numbers_[v]) continue;
        key.v = e.outputs[k].id;
        expanded_.emplace(key, expr::cast(results[k], results[k]->dtype == DType::bool_ ? DType::bool_
                                                                                        : type(e.outputs[k].id).dtype));
      }
      key.v = v;
      out = with_dtype(results[result_numbers_[v]]);
    }
  }
  expanded_.emplace(std::move(key), out);
  return out;
}

void Definitions::forget() { expanded_.clear(); }

}  // namespace cotan::compiler
