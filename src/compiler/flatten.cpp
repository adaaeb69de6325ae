#include "compiler/flatten.hpp"

#include <algorithm>
#include <thread>

#include "compiler/flattener.hpp"
#include "compiler/in_place.hpp"
#include "compiler/operations.hpp"
#include "core/error.hpp"
#include "core/overloaded.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

constexpr std::int64_t small_slice = 512;  ///< elements
/// Of loops without carries: enough pieces for threads to share evenly, few enough that their temporaries stay small.
/// Every step computes the same whatever the size of pieces.
std::int64_t most_pieces(const Target& target) {
  return target.parallel_pieces ? target.parallel_pieces
                                : 4 * std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
}

}  // namespace

const FlatLoop* loop_of(const Control& control) {
  return std::visit(Overloaded{[](const Branching&) -> const FlatLoop* { return nullptr; },
                               [](const Concatenation&) -> const FlatLoop* { return nullptr; },
                               [](const FlatLoop& loop) { return &loop; }},
                    control);
}

std::vector<const Block*> blocks_of(const Control& control) {
  std::vector<const Block*> out;
  std::visit(Overloaded{[&](const WhileLoop& loop) { out = {&loop.body, &loop.condition}; },
                        [&](const FlatLoop& loop) { out = {&loop.body}; },
                        [&](const Branching& choice) {
                          for (const Block& branch : choice.branches) out.push_back(&branch);
                        },
                        [](const Concatenation&) {}},
             control);
  return out;
}

Flattener::Flattener(const Target& target) : target_(target), pieces_(most_pieces(target)) {}

Flat Flattener::run(const Jaxpr& jaxpr) {
  Map map(jaxpr.types.size());
  for (Var v : jaxpr.inputs) {
    out_.inputs.push_back(new_var(jaxpr.type(v)));
    at(map, v) = out_.inputs.back();
  }
  add_equations(jaxpr, map, out_.top);
  const DefUse values(jaxpr);
  for (const Atom& a : jaxpr.outputs) {
    Atom value = read(a, map);
    out_.output_types.push_back(out_.type(value));
    // In another shape it is the same memory.
    if (const Atom whole = read(shaped(a, values), map); is_put_together(whole, out_.top)) value = whole;
    // A part of another array cannot be given to the caller by itself.
    if (const Var* v = std::get_if<Var>(&value); v && is_given_out(*v))
      value = copy(value, out_.type(*v), false, out_.top);
    out_.top.outputs.push_back(value);
  }
  return std::move(out_);
}

Var Flattener::new_var(const AbstractValue& type, bool varies) {
  out_.types.push_back(type);
  if (varies) out_.types.back().shape.push_back(width_);
  out_.lanes.push_back(varies ? width_ : 0);
  return {static_cast<std::int32_t>(out_.types.size()) - 1};
}
bool Flattener::varies(const Atom& a) const {
  const Var* v = std::get_if<Var>(&a);
  return v && out_.lanes[static_cast<std::size_t>(v->id)] > 0;
}
Mask Flattener::vary(const std::vector<Atom>& atoms) const {
  Mask out;
  for (const Atom& a : atoms) out.push_back(varies(a));
  return out;
}
Atom Flattener::read(const Atom& a, const Map& map) {
  const Var* v = std::get_if<Var>(&a);
  return v ? map[static_cast<std::size_t>(v->id)] : a;
}
std::vector<Atom> Flattener::read_all(const std::vector<Atom>& atoms, const Map& map) {
  std::vector<Atom> out;
  for (const Atom& a : atoms) out.push_back(read(a, map));
  return out;
}
bool Flattener::is_given_out(Var v) const {
  return std::find(given_out_.begin(), given_out_.end(), v.id) != given_out_.end();
}
Var Flattener::copy(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block) {
  const Var v = new_var(type, in_lanes);
  block.items.push_back({{&copy_p, {a}, {v}, {}, {}}, nullptr});
  return v;
}
Var Flattener::own_output(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block) {
  const Var* v = std::get_if<Var>(&a);
  if (v && varies(a) == in_lanes && !is_given_out(*v))
    for (const Item& item : block.items)
      if (!item.control &&
          std::find(item.equation.outputs.begin(), item.equation.outputs.end(), *v) != item.equation.outputs.end()) {
        given_out_.push_back(v->id);
        return *v;
      }
  return copy(a, type, in_lanes, block);
}
void Flattener::add(Equation e, Control control, Block& block) {
  block.items.push_back({std::move(e), std::make_unique<Control>(std::move(control))});
}

void Flattener::add_equations(const Jaxpr& jaxpr, Map& map, Block& block) {
  const DefUse values(jaxpr);
  for (const Equation& e : jaxpr.equations) {
    Equation copy{e.primitive, read_all(e.inputs, map), {}, e.params, e.where};
    if (add_special(e, copy, jaxpr, map, block)) continue;
    const Mask in_lanes = width_ ? results_depend(e, vary(copy.inputs)) : Mask(e.outputs.size(), false);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) {
      copy.outputs.push_back(new_var(jaxpr.type(e.outputs[k]), in_lanes[k]));
      at(map, e.outputs[k]) = copy.outputs.back();
    }
    if (e.primitive == &ops::concatenate_p && !width_ &&
        (add_pieces(copy, block) || add_transforms(copy, e, values, block) ||
         add_columns(copy, e, jaxpr, values, block)))
      continue;
    if (e.primitive->op_class == OpClass::control)
      add_control(std::move(copy), block);
    else
      block.items.push_back({std::move(copy), nullptr});
  }
}

bool Flattener::add_special(const Equation& e, Equation& copy, const Jaxpr& jaxpr, Map& map, Block& block) {
  if (e.primitive == &cond_p) {
    const auto* literal = std::get_if<Literal>(&copy.inputs[0]);
    if (literal) inline_branch(e, literal->value.item<std::int64_t>(), copy.inputs, map, block);  // decided already
    return literal;
  }
  if (e.primitive != &lanes_p) return false;
  if (runs_in_lanes(*Lanes(e.params).program, target_.lane_equations))
    add_lanes(std::move(copy), e, jaxpr, map, block);
  else
    add_lanes_apart(std::move(copy), e, jaxpr, map, block);
  return true;
}

void Flattener::add_control(Equation e, Block& block) {
  if (e.primitive == &scan_p)
    add_scan(std::move(e), block);
  else if (e.primitive == &while_p)
    add_while(std::move(e), block);
  else if (e.primitive == &cond_p)
    add_cond(std::move(e), block);
  else
    raise<InternalError>("[{}] was not lowered; this is a bug in cotan.", e.primitive->name);
}

void Flattener::inline_branch(const Equation& e, std::int64_t chosen, const std::vector<Atom>& inputs, Map& map,
                              Block& block) {
  const Jaxpr& branch = *e.params.jaxprs("branches")[static_cast<std::size_t>(chosen)];
  Map inner(branch.types.size());
  for (std::size_t i = 0; i < branch.inputs.size(); ++i) at(inner, branch.inputs[i]) = inputs[i + 1];
  add_equations(branch, inner, block);
  for (std::size_t i = 0; i < e.outputs.size(); ++i) at(map, e.outputs[i]) = read(branch.outputs[i], inner);
}

void Flattener::add_scan(Equation e, Block& block) {
  const Scan s(e.params);
  ForLoop loop;
  loop.length = s.length;
  loop.unroll = s.unroll;
  loop.reverse = s.reverse;
  loop.index = new_index();
  if (s.carries == 0 && s.length > 1 && &block == &out_.top &&
      work_of(*s.body) * static_cast<double>(s.length) >= target_.parallel_work) {
    loop.grain = (s.length + pieces_ - 1) / pieces_;
    loop.parallel = loop.grain < s.length;
  }
  Map map(s.body->types.size());
  std::vector<Atom> starts;
  for (std::size_t i = 0; i < s.body->inputs.size(); ++i) {
    const Var inside = s.body->inputs[i];
    const AbstractValue& type = s.body->type(inside);
    if (i < s.consts) {
      at(map, inside) = e.inputs[i];
    } else if (i < s.consts + s.carries) {
      const bool in_lanes = varies(e.outputs[i - s.consts]);
      const Var start = copy(e.inputs[i], type, in_lanes, block), in = new_var(type, in_lanes);
      loop.carries.push_back({start, in, {}});
      starts.push_back(start);
      at(map, inside) = in;
    } else {
      at(map, inside) = slice_of(e.inputs[i], type, loop, loop.body);
    }
  }
  add_equations(*s.body, map, loop.body);
  for (std::size_t i = 0; i < s.body->outputs.size(); ++i) {
    const AbstractValue& type = s.body->type(s.body->outputs[i]);
    const Atom value = read(s.body->outputs[i], map);
    // A small y is also kept in a register, so that its readers need not wait for the memory of ys.
    const bool copies = i >= s.carries && type.size() <= small_slice, in_lanes = varies(e.outputs[i]);
    const Var v = copies ? copy(value, type, in_lanes, loop.body) : own_output(value, type, in_lanes, loop.body);
    if (i < s.carries)
      loop.carries[i].out = v;
    else
      loop.slices.push_back(v);
    loop.body.outputs.push_back(v);
  }
  if (!width_) change_in_place(out_, loop);
  e.inputs = std::move(starts);
  add(std::move(e), std::move(loop), block);
}

void Flattener::add_while(Equation e, Block& block) {
  const While w(e.params);
  WhileLoop loop;
  loop.index = new_index();
  Map in_body(w.body->types.size()), in_condition(w.condition->types.size());
  const auto input = [](Map& map, const Jaxpr& j, std::size_t i) -> Atom& { return at(map, j.inputs[i]); };
  for (std::size_t i = 0; i < w.condition_consts; ++i) input(in_condition, *w.condition, i) = e.inputs[i];
  for (std::size_t i = 0; i < w.body_consts; ++i) input(in_body, *w.body, i) = e.inputs[w.condition_consts + i];
  std::vector<Atom> starts;
  for (std::size_t i = 0; i < w.carries(); ++i) {
    const AbstractValue& type = w.body->type(w.body->outputs[i]);
    const Var start = copy(e.inputs[w.condition_consts + w.body_consts + i], type, false, block), in = new_var(type);
    loop.carries.push_back({start, in, {}});
    starts.push_back(start);
    input(in_body, *w.body, w.body_consts + i) = in;
    input(in_condition, *w.condition, w.condition_consts + i) = in;
  }
  add_equations(*w.condition, in_condition, loop.condition);
  loop.condition.outputs = {
      own_output(read(w.condition->outputs[0], in_condition), {DType::bool_, {}, false}, false, loop.condition)};
  add_equations(*w.body, in_body, loop.body);
  for (std::size_t i = 0; i < w.carries(); ++i) {
    loop.carries[i].out =
        own_output(read(w.body->outputs[i], in_body), w.body->type(w.body->outputs[i]), false, loop.body);
    loop.body.outputs.push_back(loop.carries[i].out);
  }
  change_in_place(out_, loop);
  e.inputs = std::move(starts);
  add(std::move(e), std::move(loop), block);
}

void Flattener::add_cond(Equation e, Block& block) {
  Branching choice{e.inputs[0]};
  for (const JaxprPtr& branch : e.params.jaxprs("branches")) {
    Block& inside = choice.branches.emplace_back();
    Map map(branch->types.size());
    for (std::size_t i = 0; i < branch->inputs.size(); ++i) at(map, branch->inputs[i]) = e.inputs[i + 1];
    add_equations(*branch, map, inside);
    for (const Atom& a : branch->outputs)
      inside.outputs.push_back(own_output(read(a, map), branch->type(a), false, inside));
  }
  e.inputs = {e.inputs[0]};
  add(std::move(e), std::move(choice), block);
}

Var Flattener::slice_of(const Atom& x, const AbstractValue& type, const ForLoop& loop, Block& body) {
  const Var slice = new_var(type, varies(x));
  body.items.push_back(
      {{&step_slice_p, {x, loop.index}, {slice}, {{"length", loop.length}, {"reverse", loop.reverse}}, {}}, nullptr});
  return slice;
}

Flat flatten(const Jaxpr& jaxpr, const Target& target) {
  Flat out = Flattener(target).run(jaxpr);
  if (target.pads_rows) pad_rows(out);
  return out;
}

}  // namespace cotan::compiler
