#include <algorithm>

#include "compiler/flattener.hpp"
#include "compiler/operations.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

void Flattener::add_results(Equation& e, const Equation& source, const Jaxpr& jaxpr, Map& outer) {
  for (Var v : source.outputs) {
    e.outputs.push_back(new_var(jaxpr.type(v)));
    at(outer, v) = e.outputs.back();
  }
}

void Flattener::add_lanes(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block) {
  const Lanes l(e.params);
  const Jaxpr& program = *l.program;
  const Mask mapped_out = depends_on(program, l.mapped);
  LaneLoop loop;
  std::size_t widest = 1;
  for (const AbstractValue& t : program.types) widest = std::max(widest, itemsize(t.dtype));
  loop.lanes = l.size;
  loop.width = std::min<std::int64_t>(l.size, std::max(target_.lane_bytes / static_cast<int>(widest), 1));
  loop.groups = (l.size + loop.width - 1) / loop.width;
  loop.grain = std::max<std::int64_t>((loop.groups + pieces_ - 1) / pieces_, 1);
  loop.index = new_index();
  add_results(e, source, jaxpr, outer);
  width_ = loop.width;
  Map map(program.types.size());
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    at(map, program.inputs[i]) =
        l.mapped[i] ? Atom(lane_of(e.inputs[i], program.type(program.inputs[i]), loop, loop.body)) : e.inputs[i];
  add_equations(program, map, loop.body);
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const Var out = lane_output(k, mapped_out[k], program, map, e.outputs[k], loop.body);
    loop.body.outputs.push_back(out);
  }
  width_ = 0;
  e.inputs.clear();
  add(std::move(e), std::move(loop), block);
}

Var Flattener::lane_of(const Atom& x, const AbstractValue& type, const LaneLoop& loop, Block& body) {
  const Var lane = new_var(type, true);
  body.items.push_back(
      {{&lane_slice_p, {x, loop.index}, {lane}, {{"lanes", loop.lanes}, {"width", loop.width}}, {}}, nullptr});
  return lane;
}

Var Flattener::lane_output(std::size_t k, bool mapped, const Jaxpr& program, const Map& map, Var whole, Block& body) {
  const Atom value = read(program.outputs[k], map);
  const AbstractValue& type = program.type(program.outputs[k]);
  if (!mapped) return copy(value, type, false, body);
  if (write_slices_to(whole, value, program, k, body)) return new_var({type.dtype, {0}, false});  // it is there already
  return front(value, type, body);
}

void Flattener::add_lanes_apart(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block) {
  const Lanes l(e.params);
  ForLoop loop;
  loop.parallel = true;
  loop.length = l.size;
  loop.index = new_index();
  add_results(e, source, jaxpr, outer);
  Map map(l.program->types.size());
  for (std::size_t i = 0; i < l.program->inputs.size(); ++i)
    at(map, l.program->inputs[i]) =
        l.mapped[i] ? Atom(slice_of(e.inputs[i], l.program->type(l.program->inputs[i]), loop, loop.body)) : e.inputs[i];
  add_equations(*l.program, map, loop.body);
  for (const Atom& a : l.program->outputs) {
    loop.slices.push_back(own_output(read(a, map), l.program->type(a), false, loop.body));
    loop.body.outputs.push_back(loop.slices.back());
  }
  e.inputs.clear();
  add(std::move(e), std::move(loop), block);
}

Var Flattener::front(const Atom& value, const AbstractValue& type, Block& block) {
  AbstractValue full = type;
  full.shape.insert(full.shape.begin(), width_);
  const Var v = new_var(full);
  block.items.push_back(
      {{&lane_front_p, {varies(value) ? value : Atom(copy(value, type, true, block))}, {v}, {}, {}}, nullptr});
  return v;
}

bool Flattener::write_slices_to(Var whole, const Atom& value, const Jaxpr& program, std::size_t output, Block& block) {
  const Var* v = std::get_if<Var>(&value);
  if (!v || !is_stacked(value, block)) return false;
  const Var inner = std::get<Var>(program.outputs[output]);
  if (DefUse(program).reads(inner) != 1) return false;
  for (Item& item : block.items) {
    auto* loop = item.control ? std::get_if<ForLoop>(item.control.get()) : nullptr;
    if (!loop) continue;
    auto& outputs = item.equation.outputs;
    const auto found = std::find(outputs.begin(), outputs.end(), *v);
    if (found == outputs.end()) continue;
    const std::size_t k = static_cast<std::size_t>(found - outputs.begin()) - loop->carries.size();
    AbstractValue slice = program.type(inner);
    slice.shape.erase(slice.shape.begin());
    const Var rows = front(loop->slices[k], slice, loop->body);
    Ints strides = ops::strides_of(out_.type(rows).shape);
    strides[0] = loop->length * slice.size();
    out_.strides[rows.id] = strides;
    for (Atom& a : loop->body.outputs)
      if (std::get<Var>(a) == loop->slices[k]) a = rows;
    loop->slices[k] = rows;
    loop->lane_slices.push_back({k, whole});
    *found = new_var({slice.dtype, {0}, false});
    return true;
  }
  return false;
}

}  // namespace cotan::compiler
