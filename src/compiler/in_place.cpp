#include "compiler/in_place.hpp"

#include <algorithm>

#include "compiler/memory.hpp"
#include "compiler/operations.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

bool is_scatter(const Primitive* p) {
  return p == &ops::scatter_p || p == &ops::scatter_add_p || p == &ops::scatter_mul_p || p == &ops::scatter_min_p ||
         p == &ops::scatter_max_p;
}

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
      const bool updates = e.primitive == &ops::dynamic_update_slice_p || is_scatter(e.primitive);
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

/// A kernel that runs over a window and writes it somewhere into an array.
class WindowWriter {
 public:
  WindowWriter(const Equation& e, Definitions& definitions, const Shape& window)
      : equation_(e), definitions_(definitions), result_(e.outputs[0].id) {
    kernel_.name = e.primitive->name;
    for (auto d : window) {
      at_.push_back(d == 1 ? expr::integer(0) : expr::variable(d));
      if (d != 1) kernel_.loops.push_back({at_.back(), d, false});
    }
  }
  const std::vector<Expr>& at() const { return at_; }
  /// From memory: an expression might read what is being overwritten.
  Expr element(std::size_t operand, std::span<const Expr> index) const {
    const Atom& a = equation_.inputs[operand];
    const Var* v = std::get_if<Var>(&a);
    if (!v || definitions_.kind(v->id) == Kind::input) return definitions_.read(a, index);
    return expr::load(v->id, definitions_.type(a).dtype, definitions_.offset(v->id, index));
  }
  Expr before(std::span<const Expr> to) const {
    return expr::load(result_, definitions_.type(result_).dtype, definitions_.offset(result_, to));
  }
  Kernel write(Expr value, std::span<const Expr> to) {
    kernel_.passes.push_back({{}, {{result_, definitions_.offset(result_, to), value}}, {}});
    return std::move(kernel_);
  }

 private:
  const Equation& equation_;
  Definitions& definitions_;
  const BufferId result_;
  std::vector<Expr> at_;
  Kernel kernel_;
};

Kernel slice_kernel(const Equation& e, Definitions& definitions) {
  const Shape &shape = definitions.type(e.outputs[0].id).shape, &window = definitions.type(e.inputs[1]).shape;
  WindowWriter writer(e, definitions, window);
  std::vector<Expr> to;
  for (std::size_t k = 0; k < shape.size(); ++k)
    to.push_back(writer.at()[k] + ops::clamped_start(ops::start_index(writer.element(k + 2, {})), shape[k], window[k]));
  return writer.write(writer.element(1, writer.at()), to);
}

/// What the element becomes.
Expr combined(const Primitive* scatter, Expr old, Expr update) {
  if (scatter == &ops::scatter_p) return update;
  const Primitive& p = scatter == &ops::scatter_add_p   ? ops::add_p
                       : scatter == &ops::scatter_mul_p ? ops::mul_p
                       : scatter == &ops::scatter_min_p ? ops::min_p
                                                        : ops::max_p;
  const DType dtype = update->dtype, wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const std::vector<Expr> operands{expr::cast(old, wide), expr::cast(update, wide)};
  return expr::cast(p.scalar(operands, {}), dtype);
}

/// A scatter of one window.
std::optional<Kernel> scatter_kernel(const Equation& e, Definitions& definitions) {
  const Shape &shape = definitions.type(e.outputs[0].id).shape, &indices = definitions.type(e.inputs[1]).shape,
              &updates = definitions.type(e.inputs[2]).shape;
  const Ints &axes = e.params.ints("scatter_dims_to_operand_dims"), &inserted = e.params.ints("inserted_window_dims"),
             &window_axes = e.params.ints("update_window_dims");
  if (ops::product(indices) != static_cast<std::int64_t>(axes.size()) ||
      !e.params.ints("operand_batching_dims").empty())
    return std::nullopt;
  WindowWriter writer(e, definitions, updates);
  std::vector<Expr> to;
  Shape sizes;
  for (std::size_t k = 0, w = 0; k < shape.size(); ++k) {
    const bool kept = !ops::contains(inserted, static_cast<std::int64_t>(k));
    const auto axis = kept ? static_cast<std::size_t>(window_axes[w++]) : 0;
    to.push_back(kept ? writer.at()[axis] : expr::integer(0));
    sizes.push_back(kept ? updates[axis] : 1);
  }
  Expr inside = expr::boolean(true);
  for (std::size_t j = 0; j < axes.size(); ++j) {
    const auto k = static_cast<std::size_t>(axes[j]);
    std::vector<Expr> at(indices.size(), expr::integer(0));
    at.back() = expr::integer(static_cast<std::int64_t>(j));
    const Expr start = ops::start_index(writer.element(1, at)), clamped = ops::clamped_start(start, shape[k], sizes[k]);
    inside = inside & eq(start, clamped);
    to[k] = to[k] + clamped;
  }
  const Expr old = writer.before(to);
  Expr value = combined(e.primitive, old, writer.element(2, writer.at()));
  if (e.params.text("mode") != ops::mode_clip) value = expr::select(inside, value, old);
  return writer.write(value, to);
}

}  // namespace

std::optional<Kernel> update_kernel(const Equation& e, Definitions& definitions) {
  if (!definitions.program().written_over.contains(e.outputs[0].id)) return std::nullopt;
  if (e.primitive == &ops::dynamic_update_slice_p) return slice_kernel(e, definitions);
  return is_scatter(e.primitive) ? scatter_kernel(e, definitions) : std::nullopt;
}

}  // namespace cotan::compiler
