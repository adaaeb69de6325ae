#include "compiler/in_place.hpp"

#include <algorithm>

#include "compiler/memory.hpp"
#include "compiler/operations.hpp"
#include "expr/lowering.hpp"

namespace cotan::compiler {

namespace {

bool contains(const std::vector<BufferId>& list, BufferId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

/// The way from the value at the beginning of a step to the one at its end.
class Chain {
 public:
  Chain(Flat& flat, Block& body, Var in, Var out) : flat_(flat), body_(body), in_(in) {
    // Follows the chain from its end to its beginning.
    for (Var v = out; v != in_;) {
      const auto link = link_to(v);
      if (!link) return;
      links_.insert(links_.begin(), *link);
      v = link->from;
    }
    found_ = !links_.empty() && order();
  }
  bool found() const { return found_; }

  /// Drops copies. The values that lie where the carry lies:
  std::vector<Var> join() {
    std::vector<Var> aliases;
    std::vector<BufferId> dropped;
    for (const Link& link : links_) {
      aliases.push_back(link.to);
      if (link.kind == Link::copy)
        dropped.push_back(link.to.id);
      else
        flat_.written_over[link.to.id] = link.from.id;
      if (link.kind != Link::loop) continue;
      aliases.push_back(link.start);
      dropped.push_back(link.start.id);
    }
    std::erase_if(body_.items, [&](const Item& item) {
      return item.equation.primitive == &copy_p && contains(dropped, item.equation.outputs[0].id);
    });
    return aliases;
  }

 private:
  struct Link {
    enum Kind : std::uint8_t { update, loop, copy } kind;
    Var from, to;
    Var start = {};  ///< of a loop's carry
  };

  const Item* producer(Var v) const {
    for (const Item& item : body_.items)
      if (std::find(item.equation.outputs.begin(), item.equation.outputs.end(), v) != item.equation.outputs.end())
        return &item;
    return nullptr;
  }
  int readers(Var v) const {
    int n = 0;
    for (const Item& item : body_.items) n += contains(values_read(item), v.id);
    return n;
  }
  std::optional<Link> link_to(Var v) const {
    const Item* item = producer(v);
    if (!item) return std::nullopt;
    const Equation& e = item->equation;
    if (!item->control) {
      const Var* from = e.inputs.empty() ? nullptr : std::get_if<Var>(&e.inputs[0]);
      if (!from) return std::nullopt;
      if (e.primitive == &copy_p) return readers(*from) == 1 ? std::optional(Link{Link::copy, *from, v}) : std::nullopt;
      const bool updates = e.primitive->window != nullptr;
      // The values that it writes must not be the array itself, and must not be empty.
      for (std::size_t i = 1; updates && i < e.inputs.size(); ++i)
        if (flat_.type(e.inputs[i]).size() == 0) return std::nullopt;
      for (std::size_t i = 1; updates && i < e.inputs.size(); ++i)
        if (const Var* other = std::get_if<Var>(&e.inputs[i]); other && *other == *from) return std::nullopt;
      return updates ? std::optional(Link{Link::update, *from, v}) : std::nullopt;
    }
    const FlatLoop* loop = loop_of(*item->control);
    for (std::size_t k = 0; loop && k < loop->carries.size(); ++k) {
      const Carry& c = loop->carries[k];
      if (!(e.outputs[k] == v) || !c.in_place) continue;
      const Item* copied = producer(c.start);
      if (!copied || copied->equation.primitive != &copy_p || readers(c.start) != 1) return std::nullopt;
      const Var* from = std::get_if<Var>(&copied->equation.inputs[0]);
      return from ? std::optional(Link{Link::loop, *from, v, c.start}) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Moves what follows from each link behind everything else. Fails if something there reads the value before.
  bool order() {
    for (const Link& link : links_) {
      if (link.kind == Link::copy) continue;
      std::vector<BufferId> after{link.to.id};
      std::vector<bool> follows;
      for (const Item& item : body_.items) {
        const std::vector<BufferId> read = values_read(item);
        const auto& outputs = item.equation.outputs;
        const bool is_it = std::find(outputs.begin(), outputs.end(), link.to) != outputs.end();
        const bool later =
            is_it || std::any_of(read.begin(), read.end(), [&](BufferId v) { return contains(after, v); });
        follows.push_back(later);
        if (!later) continue;
        if (!is_it && contains(read, link.from.id)) return false;
        if (is_it && link.kind == Link::loop && contains(read, link.from.id)) return false;  // beside its carry
        for (Var v : outputs) after.push_back(v.id);
      }
      std::vector<Item> first, then;
      for (std::size_t i = 0; i < follows.size(); ++i) (follows[i] ? then : first).push_back(std::move(body_.items[i]));
      for (Item& item : then) first.push_back(std::move(item));
      body_.items = std::move(first);
    }
    return true;
  }

  Flat& flat_;
  Block& body_;
  const Var in_;
  std::vector<Link> links_;  ///< in order
  bool found_ = false;
};

void add_reads(const Item& item, std::vector<BufferId>& out) {
  for (const Atom& a : item.equation.inputs)
    if (const Var* v = std::get_if<Var>(&a)) out.push_back(v->id);
  if (!item.control) return;
  if (const auto* choice = std::get_if<Branching>(item.control.get()))
    if (const Var* v = std::get_if<Var>(&choice->chosen)) out.push_back(v->id);
  for (const Block* block : blocks_of(*item.control)) {
    for (const Item& nested : block->items) add_reads(nested, out);
    for (const Atom& a : block->outputs)
      if (const Var* v = std::get_if<Var>(&a)) out.push_back(v->id);
  }
}

}  // namespace

std::vector<BufferId> values_read(const Item& item) {
  std::vector<BufferId> out;
  add_reads(item, out);
  return out;
}

void change_in_place(Flat& flat, FlatLoop& loop) {
  Block& body = loop.body;
  for (Carry& carry : loop.carries) {
    const AbstractValue& type = flat.type(carry.in);
    if (static_cast<std::size_t>(type.size()) * itemsize(type.dtype) <= small_buffer) continue;
    const auto is_out = [&](const Atom& a) { return std::get<Var>(a) == carry.out; };
    if (std::count_if(body.outputs.begin(), body.outputs.end(), is_out) != 1) continue;
    Chain chain(flat, body, carry.in, carry.out);
    if (!chain.found()) continue;
    carry.in_place = true;
    carry.aliases = chain.join();
  }
}

namespace {

/// The operands of an operation that writes a window into the first of them. They are read from memory: an expression
/// might read what is being overwritten.
class WindowOperands final : public expr::Operands {
 public:
  WindowOperands(const Equation& e, Definitions& definitions) : equation_(e), definitions_(definitions) {}
  Expr at(std::size_t k, std::span<const Expr> index, Expr) const override {
    const BufferId result = equation_.outputs[0].id;
    if (k == 0) return expr::load(result, definitions_.type(result).dtype, definitions_.offset(result, index));
    const Atom& a = equation_.inputs[k];
    const Var* v = std::get_if<Var>(&a);
    if (!v || definitions_.kind(v->id) == Kind::input) return definitions_.read(a, index);
    return expr::load(v->id, definitions_.type(a).dtype, definitions_.offset(v->id, index));
  }
  const AbstractValue& type(std::size_t k) const override { return definitions_.type(equation_.inputs[k]); }
  std::size_t size() const override { return equation_.inputs.size(); }

 private:
  const Equation& equation_;
  Definitions& definitions_;
};

}  // namespace

std::optional<Kernel> update_kernel(const Equation& e, Definitions& definitions) {
  const Primitive& p = *e.primitive;
  const BufferId result = e.outputs[0].id;
  if (!p.window || !definitions.program().written_over.contains(result)) return std::nullopt;
  Kernel kernel;
  kernel.name = p.name;
  std::vector<Expr> at;
  for (auto d : definitions.type(e.inputs[p.window_operand]).shape) {
    at.push_back(d == 1 ? expr::integer(0) : expr::variable(d));
    if (d != 1) kernel.loops.push_back({at.back(), d, false});
  }
  const auto element = p.window(p, WindowOperands(e, definitions), at, e.params);
  if (!element) return std::nullopt;
  kernel.passes.push_back({{}, {{result, definitions.offset(result, element->index), element->value}}, {}});
  return kernel;
}

}  // namespace cotan::compiler
