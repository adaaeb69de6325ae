#include "compiler/fuse.hpp"

#include <algorithm>

#include "compiler/in_place.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

/// Rows that later passes read again must stay in the cache.
constexpr std::int64_t longest_repeated_row = 1 << 16;
constexpr std::int64_t longest_repeated_column = 1 << 11;
/// Keeps compile time and register pressure in bounds.
constexpr std::size_t most_members = 96;
/// Operations one after the other in a kernel: expressions are walked recursively, and stacks are finite.
constexpr int longest_chain = 400;

/// Kernels of at most this many elements share a loop with others of their shape, related or not.
constexpr std::int64_t small_domain = 4096;
constexpr int most_strangers = 32;

std::int64_t product(const Shape& shape) { return ops::product(shape); }
std::vector<std::int64_t> without_ones(const Shape& shape) {
  std::vector<std::int64_t> out;
  for (auto d : shape)
    if (d != 1) out.push_back(d);
  return out;
}

}  // namespace

const Member* Group::find(BufferId v) const {
  for (const Member& m : members)
    if (m.value == v) return &m;
  return nullptr;
}
std::vector<Expr> Group::index(const Shape& shape, bool row) const {
  std::vector<Expr> out;
  std::size_t axis = 0;
  for (auto d : shape) {
    if (d == 1) {
      out.push_back(expr::integer(0));
      continue;
    }
    while (row && reduced[axis]) ++axis;
    out.push_back(variables[axis++]);
  }
  return out;
}
std::vector<std::int64_t> Group::kept_extents() const {
  std::vector<std::int64_t> out;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (!reduced[k]) out.push_back(extents[k]);
  return out;
}
std::int64_t Group::row_size() const {
  std::int64_t n = 1;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (reduced[k]) n *= extents[k];
  return n;
}

namespace {

/// Fuses one block. Values of the blocks around it are in memory, or inlined.
class Fuser {
 public:
  Fuser(const Block& block, bool in_loop, Definitions& definitions, const Target& target,
        std::vector<bool>& materialized)
      : block_(block), in_loop_(in_loop), definitions_(definitions), target_(target), materialized_(materialized) {
    node_of_.assign(materialized.size(), -1);
    here_.assign(materialized.size(), false);
    placed_.assign(materialized.size(), false);
    required_.assign(materialized.size(), false);
    for (const Item& item : block.items)
      for (Var v : item.equation.outputs) here_[v.id] = true;
  }

  Schedule run() {
    for (std::size_t i = 0; i < block_.items.size(); ++i) {
      const Item& item = block_.items[i];
      const Equation& e = item.equation;
      if (const BufferId overwritten = written_over(item); overwritten >= 0) keep_before(i, overwritten);
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
  /// Values of blocks around this one that it reads.
  const std::vector<BufferId>& outer_reads() const { return outer_reads_; }

 private:
  void in_memory(const Atom& a) {
    if (const Var* v = std::get_if<Var>(&a)) in_memory(v->id);
  }
  void in_memory(BufferId v) {
    if (definitions_.kind(v) == Kind::input) return;
    if (definitions_.kind(v) == Kind::inlined && here_[v]) place(v);
    require(v);
  }
  void add_control(const Item& item) {
    Schedule::Node node{nullptr, &item, {}, {}};
    for (const Atom& a : item.equation.inputs) in_memory(a);
    for (const Block& nested : item.control->blocks) {
      Fuser inner(nested, in_loop_ || item.control->index.id >= 0, definitions_, target_, materialized_);
      node.blocks.push_back(inner.run());
      for (BufferId v : inner.outer_reads()) in_memory(v);
    }
    add_node(std::move(node), item.equation);
  }
  /// The value that an item overwrites, or -1.
  BufferId written_over(const Item& item) const {
    for (Var v : item.equation.outputs)
      if (const auto at = definitions_.program().written_over.find(v.id);
          at != definitions_.program().written_over.end())
        return at->second;
    return -1;
  }
  /// What later items want of values that are computed from the one that item `i` overwrites is computed before.
  void keep_before(std::size_t i, BufferId overwritten) {
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
  /// Operands of what changes one of them are in memory of their own.
  Operand dense_operand(const Atom& a) {
    Operand operand{.type = definitions_.type(a), .literal = {}};
    if (const Var* v = std::get_if<Var>(&a)) {
      in_memory(a);
      operand.buffer = v->id;
      operand.strides = ops::strides_of(operand.type.shape);
    } else {
      operand.literal = std::get<Literal>(a).value;
    }
    return operand;
  }
  void add_routine(const Item& item) {
    Schedule::Node node{nullptr, &item, {}, {}};
    const bool in_place = written_over(item) >= 0;
    for (const Atom& a : item.equation.inputs)
      node.operands.push_back(in_place ? dense_operand(a) : routine_operand(item.equation, a));
    add_node(std::move(node), item.equation);
  }
  void add_node(Schedule::Node node, const Equation& e) {
    for (Var v : e.outputs) {
      node_of_[v.id] = static_cast<int>(out_.nodes.size());
      require(v.id);
    }
    out_.nodes.push_back(std::move(node));
  }

  /// Memory that holds the operand, as it lies where the routine can take it so.
  Operand routine_operand(const Equation& e, const Atom& a) {
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

  /// A view whose elements lie in one buffer at an affine offset.
  std::optional<Operand> as_strides(BufferId v) {
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
    // What is left may depend on the loops around, but on no memory.
    std::vector<Expr> loads;
    collect_loads(offset, loads);
    if (!loads.empty()) return std::nullopt;
    for (std::size_t k = 0; k < index.size(); ++k)
      if (type.shape[k] != 1 && depends_on(offset, index[k])) return std::nullopt;
    out.offset = offset;
    return out;
  }

  /// In memory whatever happens: an output, or what a routine reads or writes.
  void require(BufferId v) {
    if (!here_[v])
      outer_reads_.push_back(v);
    else
      materialized_[v] = required_[v] = true;
  }

  void keep_in_memory(BufferId v) {
    if (here_[v])
      materialized_[v] = true;
    else
      require(v);
  }

  // Recomputation -------------------------------------------------------------------------------------

  /// A value that other groups read is computed again there, where that reads no more memory than loading it
  /// would and costs little: its store is saved.
  void recompute_if_cheaper(BufferId v) {
    constexpr int little = 24;
    if (!materialized_[v] || required_[v] || definitions_.kind(v) != Kind::pointwise || node_of_[v] < 0) return;
    std::vector<BufferId> leaves;
    int cost = 0;
    expand_to_memory(v, leaves, cost);
    if (cost > little) return;
    // What is made of a sum in a loop stays with it: the sum can start from what is added to it.
    if (is_small(v) && definitions_.equation(v)->primitive == &ops::add_p)
      for (BufferId u : operands_[v])
        if (definitions_.kind(u) == Kind::reduction) return;
    const int home = node_of_[v];
    for (int reader : readers_[v]) {
      if (reader == home) continue;
      if (cost > 1 && is_left_of_product(v, reader)) return;
      std::int64_t more = 0;
      for (BufferId leaf : leaves)
        if (!std::count(readers_[leaf].begin(), readers_[leaf].end(), reader))
          more += definitions_.type(leaf).size() * static_cast<std::int64_t>(itemsize(definitions_.type(leaf).dtype));
      const std::int64_t own =
          definitions_.type(v).size() * static_cast<std::int64_t>(itemsize(definitions_.type(v).dtype));
      if (more > own + own / 2 && !is_small(v)) return;
      // The group would read a value at a place that is not its own.
      for (BufferId leaf : leaves)
        if (node_of_[leaf] >= reader) return;
    }
    materialized_[v] = false;
    for (int reader : readers_[v]) {
      if (reader == home) continue;
      for (BufferId leaf : leaves) {
        readers_[leaf].push_back(reader);
        if (definitions_.kind(leaf) != Kind::input) keep_in_memory(leaf);
      }
    }
  }
  /// Whether a product in the group reads `v` on its left. Vectors lie along the right operand's columns, so that it
  /// would compute `v` element by element.
  bool is_left_of_product(BufferId v, int node) {
    const Group* group = out_.nodes[node].group.get();
    if (!group || !group->has_reduction) return false;
    for (const auto& member : group->members) {
      const Equation* e = definitions_.equation(member.value);
      if (!e || e->primitive != &ops::dot_general_p) continue;
      const Var* left = std::get_if<Var>(&e->inputs[0]);
      if (!left) continue;
      if (left->id == v) return true;
      if (definitions_.kind(left->id) != Kind::inlined) continue;
      std::vector<Expr> index, loads;
      for (auto d : definitions_.type(left->id).shape) index.push_back(expr::variable(d));
      collect_loads(definitions_.expand(left->id, index), loads);
      for (Expr load : loads)
        if (static_cast<BufferId>(load->bits) == v) return true;
    }
    return false;
  }
  /// What `v` would be read from, and the operations it would take.
  void expand_to_memory(BufferId v, std::vector<BufferId>& leaves, int& cost) {
    std::vector<Expr> index, loads;
    for (auto d : definitions_.type(v).shape) index.push_back(expr::variable(d));
    collect_loads(definitions_.expand(v, index), loads);
    cost += definitions_.cost(v);
    for (Expr load : loads) {
      const auto u = static_cast<BufferId>(load->bits);
      // Masks and their kind are kept instead: what they were computed from is wider.
      const bool narrow = itemsize(definitions_.type(u).dtype) < itemsize(definitions_.type(v).dtype);
      if (definitions_.kind(u) == Kind::pointwise && here_[u] && !materialized_[u] && !narrow)
        expand_to_memory(u, leaves, cost);
      else if (std::find(leaves.begin(), leaves.end(), u) == leaves.end())
        leaves.push_back(u);
      if (cost > 1000) return;
    }
  }

  // Groups ------------------------------------------------------------------------------------------

  struct Fit {
    bool row;
    int level;
  };

  Shape domain_of(BufferId v) const {
    return definitions_.kind(v) == Kind::reduction ? definitions_.reduction(v).shape : definitions_.type(v).shape;
  }

  void place(BufferId v) {
    if (placed_[v]) return;
    placed_[v] = true;
    if (definitions_.type(v).size() == 0) return;
    int chosen = -1;
    Fit fit{};
    for (int node : candidates(v))
      if (const auto f = fits(v, node)) {
        chosen = node;
        fit = *f;
        break;
      }
    if (chosen < 0) {
      chosen = new_group(v);
      fit = *fits(v, chosen);
    }
    Group& g = *out_.nodes[chosen].group;
    if (definitions_.kind(v) == Kind::reduction && !g.has_reduction) {
      g.has_reduction = true;
      g.reduced = squeezed_mask(v);
    }
    g.members.push_back({v, fit.row, fit.level});
    node_of_[v] = chosen;
    note_reads(v, g, fit.row, chosen);
  }

  int new_group(BufferId v) {
    auto g = std::make_unique<Group>();
    g->extents = without_ones(domain_of(v));
    g->reduced.assign(g->extents.size(), false);
    for (auto d : g->extents) g->variables.push_back(expr::variable(d));
    out_.nodes.push_back({std::move(g), nullptr, {}, {}});
    return static_cast<int>(out_.nodes.size()) - 1;
  }

  std::vector<bool> squeezed_mask(BufferId v) const {
    const expr::Reduction& r = definitions_.reduction(v);
    std::vector<bool> mask;
    for (std::size_t k = 0; k < r.shape.size(); ++k)
      if (r.shape[k] != 1) mask.push_back(r.reduced[k]);
    return mask;
  }

  /// Groups that compute an operand, the latest first, then groups that read the same memory, the first first.
  std::vector<int> candidates(BufferId v) {
    std::vector<int> producers, siblings;
    std::vector<Expr> loads;
    // Results of one operation are computed at once: at the same index.
    const Equation* e = definitions_.equation(v);
    if (e != indexed_ || !e->primitive->scalars) {
      indexed_ = e;
      index_.clear();
      for (auto d : domain_of(v)) index_.push_back(expr::variable(d));
    }
    collect_loads(definitions_.expand(v, index_), loads);
    const auto add_readers = [&](BufferId u) {
      if (definitions_.type(u).size() <= 1) return;
      if (const auto at = readers_.find(u); at != readers_.end())
        siblings.insert(siblings.end(), at->second.begin(), at->second.end());
    };
    // Results of one operation belong together, also where they read different memory.
    for (Var other : e->outputs)
      if (node_of_[other.id] >= 0) producers.push_back(node_of_[other.id]);
    for (Expr load : loads) {
      const auto u = static_cast<BufferId>(load->bits);
      if (node_of_[u] >= 0) producers.push_back(node_of_[u]);
      add_readers(u);
      // What computes an operand again reads what the operand was computed from.
      if (definitions_.kind(u) == Kind::pointwise)
        for (BufferId leaf : operands_[u]) add_readers(leaf);
    }
    std::sort(producers.rbegin(), producers.rend());
    // Small kernels of a loop are straight-line code in one function anyway: each is best by itself.
    if (is_small(v)) return groups_among(producers);
    std::sort(siblings.begin(), siblings.end());  // the earlier, the more can follow
    producers.insert(producers.end(), siblings.begin(), siblings.end());
    // Small kernels that have nothing in common but their shape: one loop instead of two.
    if (product(domain_of(v)) <= small_domain)
      for (int n = static_cast<int>(out_.nodes.size()) - 1, seen = 0; n >= 0 && seen < most_strangers; --n, ++seen)
        if (out_.nodes[n].group && out_.nodes[n].group->extents == without_ones(domain_of(v))) producers.push_back(n);
    return groups_among(producers);
  }
  /// Of a loop, and held in registers.
  bool is_small(BufferId v) const { return in_loop_ && product(domain_of(v)) <= small_domain; }
  std::vector<int> groups_among(const std::vector<int>& nodes) const {
    std::vector<int> out;
    for (int n : nodes)
      if (out_.nodes[n].group && std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
    return out;
  }

  /// Whether `v` can be computed in the group of `node`, and where in it.
  std::optional<Fit> fits(BufferId v, int node) {
    Group& g = *out_.nodes[node].group;
    if (g.members.size() >= most_members) return std::nullopt;
    const bool is_reduction = definitions_.kind(v) == Kind::reduction;
    const auto shape = without_ones(domain_of(v));
    if (is_reduction) {
      if (shape != g.extents || (g.has_reduction && g.reduced != squeezed_mask(v))) return std::nullopt;
      return fits_at(v, node, false);
    }
    // A matrix that is computed row by row while lanes run down the rows would have to be scattered.
    if (shape == g.extents && !(g.has_reduction && is_small(v)))
      if (const auto f = fits_at(v, node, false)) return f;
    if (g.has_reduction && shape == g.kept_extents()) return fits_at(v, node, true);
    return std::nullopt;
  }
  std::optional<Fit> fits_at(BufferId v, int node, bool row) {
    const Group& g = *out_.nodes[node].group;
    std::vector<Expr> loads;
    collect_loads(definitions_.expand(v, g.index(domain_of(v), row)), loads);
    const bool is_reduction = definitions_.kind(v) == Kind::reduction;
    int level = 0, chain = 0;
    for (Expr load : loads) {
      const auto u = static_cast<BufferId>(load->bits);
      const Member* m = g.find(u);
      if (!m) {
        if (node_of_[u] >= node) return std::nullopt;
        continue;
      }
      if (row && !m->row) return std::nullopt;
      const Expr home = definitions_.offset(u, g.index(definitions_.type(u).shape, m->row));
      if (load->operands.size() > 1 || !(load->operands[0] == home)) return std::nullopt;
      level = std::max(level, m->level);
      chain = std::max(chain, chains_[u]);
    }
    if (chain + definitions_.cost(v) > longest_chain && !g.members.empty()) return std::nullopt;
    if (level > 0 && !row && g.row_size() > longest_repeat(g)) return std::nullopt;
    return is_reduction ? Fit{true, level + 1} : Fit{row, level};
  }
  static std::int64_t longest_repeat(const Group& g) {
    return !g.reduced.empty() && g.reduced.back() ? longest_repeated_row : longest_repeated_column;
  }

  void note_reads(BufferId v, const Group& g, bool row, int node) {
    std::vector<Expr> loads;
    const bool full = definitions_.kind(v) == Kind::reduction || !row;
    collect_loads(definitions_.expand(v, g.index(domain_of(v), !full)), loads);
    chains_[v] = 0;
    for (Expr load : loads) {
      const auto u = static_cast<BufferId>(load->bits);
      if (readers_[u].empty() || readers_[u].back() != node) readers_[u].push_back(node);
      operands_[v].push_back(u);
      if (g.find(u)) chains_[v] = std::max(chains_[v], chains_[u]);
      if (definitions_.kind(u) != Kind::input && node_of_[u] != node) keep_in_memory(u);
    }
    chains_[v] += definitions_.cost(v);
  }

  const Equation* indexed_ = nullptr;
  std::vector<Expr> index_;  ///< an arbitrary index of the results of `indexed_`
  const Block& block_;
  const bool in_loop_;
  Definitions& definitions_;
  const Target& target_;
  std::vector<bool>& materialized_;
  Schedule out_;
  std::vector<int> node_of_;  ///< by value: where it is computed; -1 for those from outside
  std::vector<bool> here_, placed_, required_;
  std::vector<BufferId> outer_reads_;
  std::unordered_map<BufferId, std::vector<int>> readers_;        ///< nodes that load a value
  std::unordered_map<BufferId, std::vector<BufferId>> operands_;  ///< what a value loads
  std::unordered_map<BufferId, int> chains_;                      ///< operations on the way to a value in its group
};

}  // namespace

Schedule fuse(const Flat& program, Definitions& definitions, const Target& target, std::vector<bool>& materialized) {
  materialized.assign(program.types.size(), false);
  return Fuser(program.top, false, definitions, target, materialized).run();
}

}  // namespace cotan::compiler
