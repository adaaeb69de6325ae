// Values that are computed again where they are read, instead of stored.
#include <algorithm>

#include "compiler/fuser.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

void Fuser::recompute_if_cheaper(BufferId v) {
  constexpr int little = 24;
  if (!materialized_[v] || required_[v] || definitions_.kind(v) != Kind::pointwise || node_of_[v] < 0) return;
  std::vector<BufferId> leaves;
  int cost = 0;
  expand_to_memory(v, leaves, cost);
  if (cost > little) return;
  // What is added to a sum in a loop stays in its group: the sum can start from it.
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
    // The group would read a value at another place than its own.
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

bool Fuser::is_left_of_product(BufferId v, int node) {
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

void Fuser::expand_to_memory(BufferId v, std::vector<BufferId>& leaves, int& cost) {
  std::vector<Expr> index, loads;
  for (auto d : definitions_.type(v).shape) index.push_back(expr::variable(d));
  collect_loads(definitions_.expand(v, index), loads);
  cost += definitions_.cost(v);
  for (Expr load : loads) {
    const auto u = static_cast<BufferId>(load->bits);
    // Masks and other narrow values are stored instead: what they were computed from is wider.
    const bool narrow = itemsize(definitions_.type(u).dtype) < itemsize(definitions_.type(v).dtype);
    if (definitions_.kind(u) == Kind::pointwise && here_[u] && !materialized_[u] && !narrow)
      expand_to_memory(u, leaves, cost);
    else if (std::find(leaves.begin(), leaves.end(), u) == leaves.end())
      leaves.push_back(u);
    if (cost > 1000) return;
  }
}

}  // namespace cotan::compiler
