// Groups: where a value can be computed beside others.
#include <algorithm>

#include "compiler/fuser.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

/// Rows that later passes read again should stay in the cache.
constexpr std::int64_t longest_repeated_row = 1 << 16;
constexpr std::int64_t longest_repeated_column = 1 << 11;
/// Keeps compile time and register pressure in bounds.
constexpr std::size_t most_members = 96;
/// Most operations in a chain within a kernel: expressions are walked recursively, and stacks are finite.
constexpr int longest_chain = 400;

/// Kernels of at most this many elements share a loop with others of their shape, related or not. Where alike kernels
/// run as one anyway, strangers would only make elementwise ones unlike.
constexpr std::int64_t small_domain = 4096, small_beside_alike = 64;
constexpr int most_strangers = 32;

std::int64_t product(const Shape& shape) { return ops::product(shape); }
std::vector<std::int64_t> without_ones(const Shape& shape) {
  std::vector<std::int64_t> out;
  for (auto d : shape)
    if (d != 1) out.push_back(d);
  return out;
}

std::int64_t longest_repeat(const Group& g) {
  return !g.reduced.empty() && g.reduced.back() ? longest_repeated_row : longest_repeated_column;
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

bool Fuser::move_alone(BufferId u, int home, int reader, std::vector<Moved>& moved) {
  const int from = node_of_[u];
  Group& g = *out_.nodes[from].group;
  if (g.members.size() != 1 || g.has_reduction || definitions_.kind(u) != Kind::pointwise || required_[u] ||
      std::any_of(readers_[u].begin(), readers_[u].end(), [&](int node) { return node != reader; }))
    return false;
  for (BufferId w : operands_[u])
    if (const int node = node_of_[w]; node > home && (!out_.nodes[node].group || !move_alone(w, home, from, moved)))
      return false;
  const auto fit = fits(u, home);
  if (!fit) return false;
  moved.push_back({g.members[0], from});
  g.members.clear();
  add_member(u, home, *fit);
  return true;
}

int Fuser::join_alone(BufferId v, int chosen) {
  std::vector<Expr> loads;
  collect_loads(definitions_.expand(v, index_of(v)), loads);
  int home = -1;  // the last of the groups that compute other operands
  BufferId alone = -1;
  for (Expr load : loads) {
    const auto u = static_cast<BufferId>(load->bits);
    if (node_of_[u] == chosen)
      alone = u;
    else
      home = std::max(home, node_of_[u]);
  }
  if (alone < 0 || home < 0 || home > chosen || !out_.nodes[home].group) return chosen;
  std::vector<Moved> moved;
  if (move_alone(alone, home, -1, moved) && fits(v, home)) return home;
  for (; !moved.empty(); moved.pop_back()) {
    const auto& [member, from] = moved.back();
    out_.nodes[home].group->members.pop_back();
    out_.nodes[from].group->members.push_back(member);
    node_of_[member.value] = from;
  }
  return chosen;
}

void Fuser::place(BufferId v) {
  if (placed_[v]) return;
  placed_[v] = true;
  if (definitions_.type(v).size() == 0) return;
  int chosen = -1;
  for (int node : candidates(v))
    if (fits(v, node)) {
      chosen = node;
      break;
    }
  if (chosen < 0)
    chosen = new_group(v);
  else
    chosen = join_alone(v, chosen);
  add_member(v, chosen, *fits(v, chosen));
}

void Fuser::add_member(BufferId v, int node, const Fit& fit) {
  Group& g = *out_.nodes[node].group;
  if (definitions_.kind(v) == Kind::reduction && !g.has_reduction) {
    g.has_reduction = true;
    g.reduced = squeezed_mask(v);
  }
  g.members.push_back({v, fit.row, fit.level});
  node_of_[v] = node;
  note_reads(v, g, fit.row, node);
}

int Fuser::new_group(BufferId v) {
  auto g = std::make_unique<Group>();
  g->extents = without_ones(domain_of(v));
  g->reduced.assign(g->extents.size(), false);
  for (auto d : g->extents) g->variables.push_back(expr::variable(d));
  out_.nodes.push_back({std::move(g), nullptr, {}, {}});
  return static_cast<int>(out_.nodes.size()) - 1;
}

std::vector<bool> Fuser::squeezed_mask(BufferId v) const {
  const expr::Reduction& r = definitions_.reduction(v);
  std::vector<bool> mask;
  for (std::size_t k = 0; k < r.shape.size(); ++k)
    if (r.shape[k] != 1) mask.push_back(r.reduced[k]);
  return mask;
}

const std::vector<Expr>& Fuser::index_of(BufferId v) {
  // Results of one operation are computed at once: at the same index.
  const Equation* e = definitions_.equation(v);
  if (e != indexed_ || !e->primitive->scalars) {
    indexed_ = e;
    index_.clear();
    for (auto d : domain_of(v)) index_.push_back(expr::variable(d));
  }
  return index_;
}

std::vector<int> Fuser::candidates(BufferId v) {
  std::vector<int> producers, siblings;
  std::vector<Expr> loads;
  const Equation* e = definitions_.equation(v);
  collect_loads(definitions_.expand(v, index_of(v)), loads);
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
    // Computing an operand again reads what the operand was computed from.
    if (definitions_.kind(u) == Kind::pointwise)
      for (BufferId leaf : operands_[u]) add_readers(leaf);
  }
  std::sort(producers.rbegin(), producers.rend());
  // Small kernels of a loop are straight-line code in one function anyway: each is best by itself.
  if (is_small(v)) return groups_among(producers);
  std::sort(siblings.begin(), siblings.end());  // the earlier one, so that more can follow it
  producers.insert(producers.end(), siblings.begin(), siblings.end());
  // Small kernels that have nothing in common but their shape: one loop instead of two.
  const bool stays_alike = target_.joins_alike && definitions_.kind(v) != Kind::reduction;
  if (product(domain_of(v)) <= (stays_alike ? small_beside_alike : small_domain))
    for (int n = static_cast<int>(out_.nodes.size()) - 1, seen = 0; n >= 0 && seen < most_strangers; --n, ++seen)
      if (out_.nodes[n].group && out_.nodes[n].group->extents == without_ones(domain_of(v))) producers.push_back(n);
  return groups_among(producers);
}

bool Fuser::is_small(BufferId v) const { return in_loop_ && product(domain_of(v)) <= small_domain; }

std::vector<int> Fuser::groups_among(const std::vector<int>& nodes) const {
  std::vector<int> out;
  for (int n : nodes)
    if (out_.nodes[n].group && std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
  return out;
}

std::optional<Fuser::Fit> Fuser::fits(BufferId v, int node) {
  Group& g = *out_.nodes[node].group;
  if (g.members.size() >= most_members) return std::nullopt;
  const bool is_reduction = definitions_.kind(v) == Kind::reduction;
  const auto shape = without_ones(domain_of(v));
  if (is_reduction) {
    if (shape != g.extents || (g.has_reduction && g.reduced != squeezed_mask(v))) return std::nullopt;
    return fits_at(v, node, false);
  }
  // A matrix that is computed row by row while lanes run down the rows would have to be stored element by element.
  if (shape == g.extents && !(g.has_reduction && is_small(v)))
    if (const auto f = fits_at(v, node, false)) return f;
  if (g.has_reduction && shape == g.kept_extents()) return fits_at(v, node, true);
  return std::nullopt;
}

std::optional<Fuser::Fit> Fuser::fits_at(BufferId v, int node, bool row) {
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

void Fuser::note_reads(BufferId v, const Group& g, bool row, int node) {
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

}  // namespace cotan::compiler
