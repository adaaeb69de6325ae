// From values that are wanted to the program that gives them.
#include <algorithm>
#include <map>

#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"

namespace cotan::torch::detail {

namespace {

class Collector {
 public:
  Collector() : visit_(next_visit()) {}

  void want(const Value& v) {
    push(v.node, false);
    drain();
  }
  Program finish(std::span<const Value> wanted) {
    sort();
    Program out;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) nodes_[i].node->position = i;
    count_users();
    for (const Value& v : wanted) nodes_[v.node->position].wanted = true;
    out.traced = std::any_of(wanted.begin(), wanted.end(), [](const Value& v) { return v.node->traced; });
    choose_outputs(out);
    find_survivors();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const Member& m = nodes_[i];
      if (m.node->computed()) {
        out.arguments.push_back(i);
        out.donated.push_back(!m.survives && !m.history && is_alone(*m.node));
      }
    }
    encode(out);
    for (Member& m : nodes_) out.nodes.push_back(m.node->shared_from_this());
    return out;
  }

 private:
  struct Member {
    Node* node;
    bool history = false;  ///< derivatives are taken through it
    bool wanted = false;
    bool output = false;
    bool survives = false;    ///< is there after the run
    std::uint32_t users = 0;  ///< inputs of members that are results of it
  };

  void push(const NodePtr& node, bool history) { waiting_.emplace_back(node.get(), history); }
  Member& member(Node* node) {
    if (node->visited != visit_) {
      node->visited = visit_;
      node->position = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({node});
      fresh_ = true;
    } else
      fresh_ = false;
    return nodes_[node->position];
  }
  void drain() {
    while (!waiting_.empty()) {
      const auto [node, history] = waiting_.back();
      waiting_.pop_back();
      Member& m = member(node);
      const bool first = fresh_, first_history = history && !m.history;
      m.history |= history;
      if (first && !node->computed()) enter(*node);
      if (first_history && (node->computed() || !first))
        for (const Value& v : node->inputs()) push(v.node, v.requires_grad());
      else if (first_history)
        for (const Value& v : node->inputs())
          if (v.requires_grad()) push(v.node, true);
    }
  }
  /// The operands of a node that is to be computed.
  void enter(const Node& node) {
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Value& v = node.inputs()[i];
      const bool is_root = node.kind == Node::Kind::backward && i < node.roots;
      push(v.node, is_root);
    }
  }

  /// In the order of recording. Numbers of nodes are mostly dense, so that each says its place.
  void sort() {
    if (nodes_.empty()) return;
    const auto by_id = [](const Member& a, const Member& b) { return a.node->id < b.node->id; };
    const auto [least, most] = std::minmax_element(nodes_.begin(), nodes_.end(), by_id);
    const std::uint64_t first = least->node->id, range = most->node->id - first + 1;
    if (range > 8 * nodes_.size()) {
      std::sort(nodes_.begin(), nodes_.end(), by_id);
      return;
    }
    std::vector<std::uint32_t> at(range);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) at[nodes_[i].node->id - first] = i + 1;
    std::vector<Member> sorted;
    sorted.reserve(nodes_.size());
    for (const std::uint32_t i : at)
      if (i != 0) sorted.push_back(nodes_[i - 1]);
    nodes_ = std::move(sorted);
  }

  void count_users() {
    for (const Member& m : nodes_)
      for (const Value& v : m.node->inputs())
        if (v.node->visited == visit_) ++nodes_[v.node->position].users;
  }
  /// Results that tensors or nodes outside may ask for later are computed now: their operands may be gone then.
  void choose_outputs(Program& out) {
    for (const Member& m : nodes_)  // who uses a leaf uses what it stands for
      if (m.node->kind == Node::Kind::leaf && m.node->users > m.users && m.node->inputs()[0].node->visited == visit_)
        nodes_[m.node->inputs()[0].node->position].wanted = true;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      Member& m = nodes_[i];
      if (m.node->computed() || m.node->kind == Node::Kind::leaf) continue;
      m.output = m.wanted || m.node->holders > 0 || m.node->users > m.users;
      // What no tracer is in outlives the tracers: it is part of such a program, and computed again for others.
      m.output &= m.node->traced || !out.traced;
      if (m.output) out.outputs.push_back(i);
    }
  }
  /// Whether a node has forgotten its operands after the run: it is computed, or the last backward pass through it is.
  bool forgets(const Member& m) const {
    if (m.output && !m.node->requires_grad) return true;
    return m.node->goes_when_freed() && (m.node->ways == 0 || is_done(*m.node));
  }
  /// Whether the one backward pass through a node that freed it ends with this run, and with it its hold on the node.
  bool is_done(const Node& node) const {
    const auto by = node.freed_by.lock();
    const auto done = passes_.find(by.get());
    return by && node.ways == 1 && done != passes_.end() && done->second + 1 == by.use_count();
  }
  void find_survivors() {
    for (const Member& m : nodes_)
      if (m.output && m.node->way) ++passes_[m.node->way.get()];
    std::vector<std::uint32_t> kept(nodes_.size());  // references by members that stay
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      Member& m = nodes_[i];
      const auto references = static_cast<std::uint32_t>(m.node->weak_from_this().use_count());
      m.survives = references > m.users + (m.node->freed && is_done(*m.node)) || kept[i] > 0;
      if (!m.survives || forgets(m) || m.node->computed()) continue;
      for (const Value& v : m.node->inputs())
        if (v.node->visited == visit_) ++kept[v.node->position];
    }
    // Nodes that are computed already may still hold operands, for derivatives.
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      Member& m = nodes_[i];
      if (!m.node->computed() || !m.survives) continue;
      for (const Value& v : m.node->inputs())
        if (v.node->visited == visit_) nodes_[v.node->position].survives = true;
    }
  }
  static bool is_alone(const Node& node) {
    for (const Array& a : node.results)
      if (!is_concrete(a) || a.value().use_count() != 1) return false;
    return true;
  }

  void encode(Program& out) const {
    std::vector<std::uint64_t>& key = out.key;
    key.push_back(out.traced);
    key.reserve(nodes_.size() * 4);
    std::vector<const Region*> regions;  // numbered as they come
    std::size_t argument = 0;
    for (const Member& m : nodes_) {
      const Node& n = *m.node;
      const bool known = n.computed(), donated = known && out.donated[argument];
      if (known) ++argument;
      out.evaluated.push_back(!known || m.history);
      out.starts.push_back(static_cast<std::uint32_t>(key.size()));
      key.push_back(reinterpret_cast<std::uintptr_t>(n.call));
      key.push_back(static_cast<std::uint64_t>(n.kind) | (n.requires_grad ? 16u : 0u) | (known ? 32u : 0u) |
                    (donated ? 64u : 0u) | (m.output ? 128u : 0u) | (m.history ? 256u : 0u) |
                    static_cast<std::uint64_t>(n.roots) << 32);
      if (!out.evaluated.back()) continue;
      key.push_back(n.region ? number_of(*n.region, regions, key) : 0);
      for (const Value& v : n.inputs())
        key.push_back(v.node->visited == visit_ ? static_cast<std::uint64_t>(v.node->position) << 16 | v.index : ~0ull);
      out.numbers.insert(out.numbers.end(), n.numbers.begin(), n.numbers.end());
      if (n.kind == Node::Kind::call && n.call->op->draws)
        for (const std::uint64_t w : {n.draw.seed, n.draw.offset}) {
          out.draws.push_back(static_cast<std::uint32_t>(w >> 32));
          out.draws.push_back(static_cast<std::uint32_t>(w));
        }
    }
    if (!nodes_.empty()) out.device = nodes_.back().node->call->out[0]->device;
  }

  /// The number of a region, from 1 on; a new one tells what it is.
  static std::uint64_t number_of(const Region& region, std::vector<const Region*>& regions,
                                 std::vector<std::uint64_t>& key) {
    for (std::size_t i = regions.size(); i-- > 0;)
      if (regions[i] == &region) return i + 1;
    const std::uint64_t outer = region.outer ? number_of(*region.outer, regions, key) : 0;
    key.push_back(outer);
    key.push_back(reinterpret_cast<std::uintptr_t>(region.policy.get()));
    regions.push_back(&region);
    return regions.size();
  }

  const std::uint64_t visit_;
  std::vector<Member> nodes_;
  std::vector<std::pair<Node*, bool>> waiting_;
  std::map<Way*, long> passes_;  ///< backward passes of this run that are the last ones through nodes
  bool fresh_ = false;
};

}  // namespace

std::uint64_t next_visit() {
  static std::uint64_t visits = 0;
  return ++visits;
}

Program collect(std::span<const Value> wanted) {
  Collector collector;
  for (const Value& v : wanted) collector.want(v);
  return collector.finish(wanted);
}

}  // namespace cotan::torch::detail
