#include "compiler/fuse.hpp"

#include <algorithm>

#include "compiler/fuser.hpp"
#include "compiler/in_place.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

Fuser::Fuser(const Block& block, bool in_loop, Definitions& definitions, const Target& target,
             std::vector<bool>& materialized)
    : block_(block), in_loop_(in_loop), definitions_(definitions), target_(target), materialized_(materialized) {
  node_of_.assign(materialized.size(), -1);
  here_.assign(materialized.size(), false);
  placed_.assign(materialized.size(), false);
  required_.assign(materialized.size(), false);
  for (const Item& item : block.items)
    for (Var v : item.equation.outputs) here_[v.id] = true;
}

Schedule Fuser::run() {
  for (std::size_t i = 0; i < block_.items.size(); ++i) {
    const Item& item = block_.items[i];
    const Equation& e = item.equation;
    if (const auto overwritten = written_over(item)) keep_before(i, *overwritten);
    if (item.control) {
      add_control(item);
    } else if (definitions_.kind(e.outputs[0].id) == Kind::routine) {
      add_routine(item);
    } else {
      for (Var v : e.outputs)
        if (definitions_.kind(v.id) != Kind::inlined) place(v.id);
    }
  }
  for (const Atom& a : block_.outputs) in_memory(a);
  for (std::size_t v = 0; v < here_.size(); ++v)
    if (here_[v]) recompute_if_cheaper(static_cast<BufferId>(v));
  return std::move(out_);
}

void Fuser::in_memory(BufferId v) {
  if (definitions_.kind(v) == Kind::input) return;
  if (definitions_.kind(v) == Kind::inlined && here_[v]) place(v);
  require(v);
}

void Fuser::add_control(const Item& item) {
  Schedule::Node node{nullptr, &item, {}, {}};
  for (const Atom& a : item.equation.inputs) in_memory(a);
  for (const Block* nested : blocks_of(*item.control)) {
    Fuser inner(*nested, in_loop_ || loop_of(*item.control), definitions_, target_, materialized_);
    node.blocks.push_back(inner.run());
    for (BufferId v : inner.outer_reads()) in_memory(v);
  }
  add_node(std::move(node), item.equation);
}

std::optional<BufferId> Fuser::written_over(const Item& item) const {
  const auto& written = definitions_.program().written_over;
  for (Var v : item.equation.outputs)
    if (const auto at = written.find(v.id); at != written.end()) return at->second;
  return std::nullopt;
}

void Fuser::keep_before(std::size_t i, BufferId overwritten) {
  std::vector<bool> depends(here_.size(), false);
  depends[overwritten] = true;
  for (std::size_t k = 0; k < i; ++k) {
    const std::vector<BufferId> read = values_read(block_.items[k]);
    if (std::any_of(read.begin(), read.end(), [&](BufferId v) { return depends[v]; }))
      for (Var v : block_.items[k].equation.outputs) depends[v.id] = true;
  }
  depends[overwritten] = false;
  const auto keep = [&](BufferId v) {
    if (!depends[v]) return;
    in_memory(v);
    definitions_.set_loaded(v, true);  // also views
  };
  for (std::size_t k = i; k < block_.items.size(); ++k)
    for (BufferId v : values_read(block_.items[k])) keep(v);
  for (const Atom& a : block_.outputs)
    if (const Var* v = std::get_if<Var>(&a)) keep(v->id);
  definitions_.forget();
}

Operand Fuser::dense_operand(const Atom& a) {
  Operand operand{.type = definitions_.type(a), .literal = {}};
  if (const Var* v = std::get_if<Var>(&a)) {
    in_memory(a);
    operand.buffer = v->id;
    const auto& known = definitions_.program().strides;
    const auto at = definitions_.program().padded.contains(v->id) ? known.find(v->id) : known.end();
    operand.strides = at != known.end() ? at->second : ops::strides_of(operand.type.shape);
  } else {
    operand.literal = std::get<Literal>(a).value;
  }
  return operand;
}

void Fuser::add_routine(const Item& item) {
  Schedule::Node node{nullptr, &item, {}, {}};
  const bool in_place = written_over(item).has_value();
  for (const Atom& a : item.equation.inputs)
    node.operands.push_back(in_place ? dense_operand(a) : routine_operand(item.equation, a));
  add_node(std::move(node), item.equation);
}

void Fuser::add_node(Schedule::Node node, const Equation& e) {
  for (Var v : e.outputs) {
    node_of_[v.id] = static_cast<int>(out_.nodes.size());
    require(v.id);
  }
  out_.nodes.push_back(std::move(node));
}

Operand Fuser::routine_operand(const Equation& e, const Atom& a) {
  const Var* v = std::get_if<Var>(&a);
  const AbstractValue& type = definitions_.type(a);
  if (v && definitions_.kind(v->id) == Kind::inlined && type.size() > 0 && target_.takes_strides &&
      target_.takes_strides(*e.primitive, type))
    if (const auto strided = as_strides(v->id)) {
      if (definitions_.kind(strided->buffer) != Kind::input) require(strided->buffer);
      return *strided;
    }
  return dense_operand(a);
}

std::optional<Operand> Fuser::as_strides(BufferId v) {
  const AbstractValue& type = definitions_.type(v);
  std::vector<Expr> index;
  for (auto d : type.shape) index.push_back(expr::variable(d));
  const Expr element = definitions_.expand(v, index);
  if (element->op != expr::Op::load || element->operands.size() > 1) return std::nullopt;
  Operand out{.buffer = static_cast<BufferId>(element->bits), .type = type, .literal = {}};
  Expr offset = element->operands[0];
  for (std::size_t k = 0; k < index.size(); ++k) {
    if (type.shape[k] == 1) {
      out.strides.push_back(0);
      continue;
    }
    const auto affine = affine_in(offset, index[k]);
    if (!affine) return std::nullopt;
    out.strides.push_back(affine->coefficient);
    offset = affine->rest;
  }
  // The expression that is left may depend on surrounding loops, but on no memory.
  std::vector<Expr> loads;
  collect_loads(offset, loads);
  if (!loads.empty()) return std::nullopt;
  for (std::size_t k = 0; k < index.size(); ++k)
    if (type.shape[k] != 1 && depends_on(offset, index[k])) return std::nullopt;
  out.offset = offset;
  return out;
}

void Fuser::require(BufferId v) {
  if (!here_[v])
    outer_reads_.push_back(v);
  else
    materialized_[v] = required_[v] = true;
}

void Fuser::keep_in_memory(BufferId v) {
  if (here_[v])
    materialized_[v] = true;
  else
    require(v);
}

Schedule fuse(const Flat& program, Definitions& definitions, const Target& target, std::vector<bool>& materialized) {
  materialized.assign(program.types.size(), false);
  return Fuser(program.top, false, definitions, target, materialized).run();
}

}  // namespace cotan::compiler
