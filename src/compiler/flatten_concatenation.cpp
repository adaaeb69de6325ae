#include <algorithm>

#include "compiler/flattener.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

Ints Flattener::extents_along_axis(const Equation& e) const {
  const auto axis = static_cast<std::size_t>(e.params.integer("dimension"));
  Ints out;
  for (const Atom& a : e.inputs) out.push_back(out_.type(a).shape[axis]);
  return out;
}

bool Flattener::add_pieces(Equation& e, Block& block) {
  const AbstractValue& type = out_.type(e.outputs[0]);
  const auto axis = static_cast<std::size_t>(e.params.integer("dimension"));
  for (std::size_t k = 0; k < axis; ++k)
    if (type.shape[k] != 1) return false;
  bool any = false;
  Concatenation control{{}, extents_along_axis(e)};
  for (Atom& a : e.inputs) {
    if (const Atom whole = before_reshaping(a, block); is_stacked(whole, block)) a = whole;
    any = any || is_stacked(a, block);
  }
  if (!any) return false;
  for (const Atom& a : e.inputs) {
    const AbstractValue part = out_.type(a);
    if (is_stacked(a, block)) {
      given_out_.push_back(std::get<Var>(a).id);
      control.pieces.push_back(std::get<Var>(a));
    } else {
      control.pieces.push_back(copy(a, part, false, block));
    }
  }
  e.inputs.assign(control.pieces.begin(), control.pieces.end());
  add(std::move(e), std::move(control), block);
  return true;
}

bool Flattener::add_transforms(Equation& copy, const Equation& e, const DefUse& values, Block& block) {
  for (std::size_t k = 0; k < e.inputs.size(); ++k) {
    const Var* v = std::get_if<Var>(&copy.inputs[k]);
    if (!v || values.reads(std::get<Var>(e.inputs[k])) != 1 || is_given_out(*v)) return false;
    const auto home = std::find_if(block.items.rbegin(), block.items.rend(), [&](const Item& item) {
      return std::find(item.equation.outputs.begin(), item.equation.outputs.end(), *v) != item.equation.outputs.end();
    });
    if (home == block.items.rend() || home->equation.primitive != &ops::butterfly_p) return false;
  }
  Concatenation control{{}, extents_along_axis(copy)};
  const Ints strides = ops::strides_of(out_.type(copy.outputs[0]).shape);
  for (const Atom& a : copy.inputs) {
    const Var v = std::get<Var>(a);
    given_out_.push_back(v.id);
    out_.strides[v.id] = strides;
    control.pieces.push_back(v);
  }
  add(std::move(copy), std::move(control), block);
  return true;
}

namespace {

bool is_reshape(const Equation& e) { return e.primitive == &ops::reshape_p; }

/// The pieces of `v`, if it is put together from pieces there.
const Concatenation* pieces_of(Var v, const Block& block) {
  for (const Item& item : block.items)
    if (item.control && item.equation.outputs[0] == v) return std::get_if<Concatenation>(item.control.get());
  return nullptr;
}

}  // namespace

bool Flattener::is_put_together(const Atom& a, const Block& block) {
  const Var* v = std::get_if<Var>(&a);
  return v && pieces_of(*v, block);
}

Atom Flattener::shaped(Atom output, const DefUse& values) {
  const Equation* e = values.only_for_its_reader(output);
  for (; e && is_reshape(*e); e = values.only_for_its_reader(output)) {
    const Var* v = std::get_if<Var>(&e->inputs[0]);
    if (!v || values.reads(*v) != 1) break;
    output = *v;
  }
  return output;
}

bool Flattener::add_columns(Equation& copy, const Equation& e, const Jaxpr& jaxpr, const DefUse& values, Block& block) {
  const AbstractValue type = out_.type(copy.outputs[0]);
  Concatenation control{{}, extents_along_axis(copy)};
  const auto columns = static_cast<std::int64_t>(copy.inputs.size());
  const bool is_last_axis = copy.params.integer("dimension") + 1 == type.ndim();
  const bool is_result = std::any_of(jaxpr.outputs.begin(), jaxpr.outputs.end(), [&](const Atom& a) {
    const Atom value = shaped(a, values);
    const Var* v = std::get_if<Var>(&value);
    return v && *v == e.outputs[0];
  });
  if (&block != &out_.top || columns < 2 || type.size() == 0 || !is_last_axis ||
      control.extents != Ints(copy.inputs.size(), 1) || !is_result)
    return false;
  for (std::size_t k = 0; k < copy.inputs.size(); ++k) {
    const Var v = column_of(copy.inputs[k], e.inputs[k], values, block);
    Ints strides = ops::strides_of(out_.type(v).shape);
    for (auto& stride : strides) stride *= columns;
    if (const Concatenation* whole = pieces_of(v, block))
      for (Var piece : whole->pieces) out_.strides[piece.id] = strides;
    out_.strides[v.id] = std::move(strides);
    given_out_.push_back(v.id);
    control.pieces.push_back(v);
  }
  copy.inputs.assign(control.pieces.begin(), control.pieces.end());
  add(std::move(copy), std::move(control), block);
  return true;
}

Var Flattener::column_of(Atom column, Atom source, const DefUse& values, Block& block) {
  const Equation* home = values.only_for_its_reader(source);
  for (; home && is_reshape(*home); home = values.only_for_its_reader(source)) {
    source = home->inputs[0];
    const auto gives_it = [&](const Item& item) { return item.equation.outputs[0] == std::get<Var>(column); };
    column = std::find_if(block.items.begin(), block.items.end(), gives_it)->equation.inputs[0];
  }
  // What is put together from pieces that have strides is put there piece by piece.
  if (const Var* v = std::get_if<Var>(&column); v && home && !is_given_out(*v))
    if (const Concatenation* whole = pieces_of(*v, block);
        whole && std::all_of(whole->pieces.begin(), whole->pieces.end(),
                             [&](Var piece) { return out_.strides.contains(piece.id); }))
      return *v;
  return copy(column, out_.type(column), false, block);
}

Atom Flattener::before_reshaping(Atom a, const Block& block) {
  for (auto item = block.items.rbegin(); item != block.items.rend(); ++item)
    if (const Var* v = std::get_if<Var>(&a); v && is_reshape(item->equation) && item->equation.outputs[0] == *v)
      a = item->equation.inputs[0];
  return a;
}

namespace {

/// Results that lie one after the other, a slice or a row each: those of lanes, and the ys of a scan.
std::span<const Var> stacked_results(const Item& item) {
  const std::span<const Var> results = item.equation.outputs;
  if (!item.control) return {};
  if (std::holds_alternative<LaneLoop>(*item.control)) return results;
  const auto* loop = std::get_if<ForLoop>(item.control.get());
  return loop ? results.subspan(loop->carries.size()) : std::span<const Var>();
}

}  // namespace

bool Flattener::is_stacked(const Atom& a, const Block& block) const {
  const Var* v = std::get_if<Var>(&a);
  if (!v || is_given_out(*v)) return false;
  return std::any_of(block.items.begin(), block.items.end(), [&](const Item& item) {
    const std::span<const Var> results = stacked_results(item);
    return std::find(results.begin(), results.end(), *v) != results.end();
  });
}

}  // namespace cotan::compiler
