// Long rows whose length is no multiple of four, such as the logits of 50,257 words, begin at multiples of four in
// temporary memory where products read them: devices that read vectors then can, whatever the row.
#include <set>

#include "compiler/flatten.hpp"
#include "ops/matrix_product.hpp"

namespace cotan::compiler {

namespace {

constexpr std::int64_t vector = 4, long_row = 512, many_rows = 64;

bool is_product(const Item& item) { return is_matrix_product(*item.equation.primitive); }

/// Whether every element that it reads or writes is asked for by its index.
bool goes_by_index(const Item& item) {
  const OpClass c = item.equation.primitive->op_class;
  return !item.control && (c == OpClass::elementwise || c == OpClass::view || c == OpClass::reduction);
}

}  // namespace

void pad_rows(Flat& flat) {
  std::set<std::int32_t> read_by_products, elsewhere;  // also through views of it
  for (const Atom& a : flat.top.outputs)
    if (const Var* v = std::get_if<Var>(&a)) elsewhere.insert(v->id);
  std::set<const Item*> own;
  for (const Item& item : flat.top.items) own.insert(&item);
  for_each_item(flat.top, [&](const Item& item) {
    for (const Atom& a : item.equation.inputs)
      if (const Var* v = std::get_if<Var>(&a)) {
        if (is_product(item) && own.contains(&item)) read_by_products.insert(v->id);
        if (!own.contains(&item) || (!is_product(item) && !goes_by_index(item))) elsewhere.insert(v->id);
      }
    if (item.control)
      for (const Block* block : blocks_of(*item.control))
        for (const Atom& a : block->outputs)
          if (const Var* v = std::get_if<Var>(&a)) elsewhere.insert(v->id);
  });
  for (auto item = flat.top.items.rbegin(); item != flat.top.items.rend(); ++item) {
    const Equation& e = item->equation;
    if (item->control || e.outputs.size() != 1) continue;
    const std::int32_t v = e.outputs[0].id;
    if (!read_by_products.contains(v)) continue;
    if (e.primitive->op_class == OpClass::view)  // products see through it
      for (const Atom& a : e.inputs)
        if (const Var* viewed = std::get_if<Var>(&a)) read_by_products.insert(viewed->id);
    const AbstractValue& type = flat.type(e.outputs[0]);
    const bool odd = type.ndim() > 1 && type.shape.back() >= long_row && type.shape.back() % vector != 0;
    if (e.primitive->op_class != OpClass::elementwise || elsewhere.contains(v) || flat.strides.contains(v) || !odd ||
        type.size() / type.shape.back() < many_rows)
      continue;
    Shape padded = type.shape;
    padded.back() += vector - padded.back() % vector;
    flat.strides[v] = ops::strides_of(padded);
    flat.padded[v] = ops::product(padded);
  }
}

}  // namespace cotan::compiler
