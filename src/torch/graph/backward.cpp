// backward() and grad(): which leaves a result depends on, one node for the pass, and where its results go. The
// derivative itself is the shared one, taken of the recorded program when it is compiled (evaluate.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <cotan/numpy.hpp>
#include <cotan/torch/autograd.hpp>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "torch/graph/hashing.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch {

namespace detail {

namespace {

std::string place(const std::source_location& where) {
  return where.line() == 0 ? "an unknown line" : fmt::format("{}:{}", where.file_name(), where.line());
}

Value ones_like(const Value& v) {
  static const auto op =
      define("ones_like", {.differentiable = false}, [](const Array& x) { return numpy::ones_like(x); });
  return op.value(tensor_of(v));
}
Value sum_of(const Value& a, const Value& b) {
  static const auto op = define("add", {}, [](const Array& x, const Array& y) { return x + y; });
  return op.value(tensor_of(a), tensor_of(b));
}

const Call* call_of(const std::vector<TypePtr>& types) {
  static auto& mutex = *new std::mutex;
  static auto& calls = *new std::map<std::vector<TypePtr>, std::unique_ptr<Call>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Call>& call = calls[types];
  if (!call) {
    call = std::make_unique<Call>();
    call->out = types;
  }
  return call.get();
}

/// What hooks make of a gradient.
Value call_hooks(const Hooks& hooks, Value gradient) {
  const auto list = hooks.list;  // a hook may remove itself
  for (const auto& [id, hook] : list) {
    const Tensor given = hook(tensor_of(gradient));
    if (!given.defined()) continue;
    if (given.sizes() != gradient.type()->shape)
      throw_with_line<ShapeError>(fmt::format("[hook] a hook made a gradient of shape {} of one of shape {}.",
                                              describe(given.sizes()), describe(gradient.type()->shape)));
    gradient = given.impl().read();
  }
  return gradient;
}

/// Adds to what a tensor has collected.
void accumulate(Gradient& to, const Value& gradient, bool create) {
  if (!to.tensor.defined())
    to.tensor = tensor_of(gradient);
  else if (create)
    to.tensor = tensor_of(sum_of(to.tensor.impl().read(), gradient));
  else
    write(to.tensor, sum_of(to.tensor.impl().read(), gradient), "backward");
}

/// A gradient on its way: where it is, and how much of it is there.
struct Target {
  Value at;
  Value sum = {};
};

class BackwardPass {
 public:
  BackwardPass(bool retain, bool create) : retain_(retain), create_(create) {}

  void add_root(const Value& root, const Value& seed) {
    roots_.push_back(root);
    seeds_.push_back(seed);
  }
  /// Gradients are wanted with respect to this value.
  void want(const Tensor& t) {
    if (t.impl().collects())
      leaves_.insert(t.impl().gradient);  // its nodes: one for each time that it was written
    else
      add_target(edge_of(t.impl().read()));
  }

  /// Looks at everything that the roots depend on, of that at what leads to a target if `only_targets`.
  /// Nodes that give targets and lead to none end there, and are gone through only if `with_ends`.
  void explore(bool only_targets, bool with_ends) {
    const std::uint64_t visit = next_visit();
    std::vector<Node*> waiting;
    const auto reach = [&](const Value& v) {
      if (!v.requires_grad()) return;
      if (v.node->kind == Node::Kind::leaf) {
        if (!only_targets || leaves_.contains(v.node->leaf.lock())) add_target(v);
      } else if (std::exchange(v.node->visited, visit) != visit)
        waiting.push_back(v.node.get());
    };
    for (const Value& v : roots_) reach(v);
    std::vector<std::pair<std::uint64_t, Node*>> found;
    while (!waiting.empty()) {
      Node& n = *waiting.back();
      waiting.pop_back();
      found.emplace_back(n.id, &n);
      for (const Value& v : n.inputs()) reach(v);
    }
    std::sort(found.begin(), found.end());
    nodes_.reserve(found.size());
    for (const auto& [id, node] : found) nodes_.push_back(node->shared_from_this());
    if (only_targets) keep_ways_to_targets();
    for (const NodePtr& n : nodes_)
      for (const Watch& w : n->watches)
        if (w.hooks || w.gradient.lock()) add_target({n, w.index});
    if (!ends_.empty())
      std::erase_if(nodes_, [&](const NodePtr& n) {
        const auto end = ends_.find(n.get());
        return end != ends_.end() && !(with_ends && end->second);
      });
    for (const NodePtr& n : nodes_) check(*n);
  }

  /// The gradients, from the last recorded target to the first; hooks are called on the way.
  void run() {
    way_ = std::make_shared<Way>(nodes_);
    if (!retain_)
      for (const NodePtr& n : nodes_) {
        n->freed = true;
        n->freed_by = way_;
      }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (targets_[i].at.node->kind != Node::Kind::leaf) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return targets_[a].at.node->id > targets_[b].at.node->id; });
    pass(roots_, seeds_);
    for (const std::size_t i : order) {
      Target& t = targets_[i];
      if (!t.sum) continue;
      call_hooks(t);
      if (t.sum) pass({t.at}, {t.sum});
    }
    way_.reset();
  }
  /// Of one of what is wanted; nothing where the roots do not depend on it.
  Value gradient(const Tensor& of) const {
    if (!of.impl().collects()) {
      const std::size_t i = index_of(edge_of(of.impl().read()));
      return i < targets_.size() ? targets_[i].sum : Value{};
    }
    Value sum;
    for (const Target& t : targets_)
      if (t.sum && t.at.node->leaf.lock() == of.impl().gradient) sum = sum ? sum_of(sum, t.sum) : t.sum;
    return sum;
  }
  const std::vector<Target>& targets() const { return targets_; }

 private:
  std::size_t index_of(const Value& v) const {
    if (!has_inner_targets_ && v.node->kind != Node::Kind::leaf) return targets_.size();
    const auto it = index_.find({v.node.get(), v.index});
    return it == index_.end() ? targets_.size() : it->second;
  }
  /// Nodes that no target depends on are not gone through; hooks of roots are called all the same.
  void keep_ways_to_targets() {
    std::unordered_set<const Node*> on_the_way, targets, roots;
    for (const Target& t : targets_) targets.insert(t.at.node.get());
    for (const Value& v : roots_) roots.insert(v.node.get());
    for (const NodePtr& n : nodes_) {
      bool leads = false;
      for (const Value& v : n->inputs())
        leads |= v.requires_grad() && (on_the_way.contains(v.node.get()) || targets.contains(v.node.get()));
      if (leads)
        on_the_way.insert(n.get());
      else if (targets.contains(n.get()) || roots.contains(n.get()))
        ends_.emplace(n.get(), targets.contains(n.get()));
    }
    std::erase_if(nodes_, [&](const NodePtr& n) { return !on_the_way.contains(n.get()) && !ends_.contains(n.get()); });
  }
  void add_target(const Value& v) {
    has_inner_targets_ |= v.node->kind != Node::Kind::leaf;
    if (index_.try_emplace({v.node.get(), v.index}, targets_.size()).second) targets_.push_back({v});
  }

  void check(const Node& n) const {
    if (n.freed && (!n.saved.empty() || n.inputs().empty()))
      throw_with_line<ValueError>(
          fmt::format("[backward] what {} at {} kept for its derivative was freed by a backward() before; give that "
                      "one retain_graph = "
                      "true.",
                      n.call->op ? n.call->op->name : "a gradient", place(n.where)));
    for (const Saved& s : n.saved)
      if (const auto storage = s.storage.lock(); storage && storage->version != s.version)
        throw_with_line<ValueError>(fmt::format(
            "[backward] {} at {} keeps {} for its derivative, which was written in place at {} (version {}, kept was "
            "{}); "
            "write into a clone() of it, or write after backward().",
            n.call->op->name, place(n.where), s.operand < 0 ? "its result" : fmt::format("operand {}", s.operand),
            place(storage->written), storage->version, s.version));
  }

  /// One node: from roots to every target that they depend on, not through other targets.
  void pass(const std::vector<Value>& roots, const std::vector<Value>& seeds) {
    std::vector<Value> inputs = roots;
    inputs.insert(inputs.end(), seeds.begin(), seeds.end());
    std::vector<std::size_t> to;
    std::vector<TypePtr> types;
    for (const std::size_t i : dependencies(roots)) {
      to.push_back(i);
      inputs.push_back(targets_[i].at);
      types.push_back(targets_[i].at.type());
    }
    // A root that is a target itself has its seed as gradient.
    for (std::size_t k = 0; k < roots.size(); ++k)
      if (const std::size_t i = index_of(roots[k]); started_ == false && i < targets_.size()) collect(i, seeds[k]);
    started_ = true;
    if (to.empty()) return;
    auto node = make_pooled<Node>(Node::Kind::backward, call_of(types));
    node->roots = static_cast<std::uint32_t>(roots.size());
    node->where = line();
    node->requires_grad = create_;
    node->way = way_;
    node->set_inputs(std::move(inputs));
    for (std::uint32_t k = 0; k < to.size(); ++k) collect(to[k], {node, k});
  }
  /// Targets that are reached from roots without passing another one.
  std::vector<std::size_t> dependencies(const std::vector<Value>& roots) const {
    std::vector<std::size_t> out;
    std::vector<bool> is_there(targets_.size());
    const std::uint64_t visit = next_visit();
    std::vector<Node*> waiting;
    const auto enter = [&](const Value& v) {
      if (std::exchange(v.node->visited, visit) != visit) waiting.push_back(v.node.get());
    };
    for (const Value& v : roots)
      if (v.node->kind != Node::Kind::leaf && (started_ || index_of(v) == targets_.size())) enter(v);
    while (!waiting.empty()) {
      const Node& n = *waiting.back();
      waiting.pop_back();
      for (const Value& v : n.inputs()) {
        if (!v.requires_grad()) continue;
        if (const std::size_t i = index_of(v); i < targets_.size()) {
          if (!is_there[i]) out.push_back(i);
          is_there[i] = true;
        } else if (v.node->kind != Node::Kind::leaf)
          enter(v);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  void collect(std::size_t target, const Value& gradient) {
    Value& sum = targets_[target].sum;
    sum = sum ? sum_of(sum, gradient) : gradient;
  }
  void call_hooks(Target& t) {
    const auto watches = t.at.node->watches;  // a hook may add others
    for (const Watch& w : watches)
      if (w.index == t.at.index && w.hooks) t.sum = torch::detail::call_hooks(*w.hooks, t.sum);
    for (const Watch& w : watches)  // what is retained is what the hooks made of it
      if (const auto g = w.gradient.lock(); g && w.index == t.at.index) accumulate(*g, t.sum, create_);
  }

  const bool retain_, create_;
  bool started_ = false, has_inner_targets_ = false;
  std::vector<Value> roots_, seeds_;
  std::vector<Target> targets_;
  std::map<std::pair<Node*, std::uint32_t>, std::size_t> index_;
  std::unordered_map<const Node*, bool> ends_;  ///< nodes that lead to no target; whether they give one
  std::vector<NodePtr> nodes_;
  std::set<std::shared_ptr<Gradient>> leaves_;  ///< that are wanted
  std::shared_ptr<Way> way_;
};

Value seed_of(const Tensor& output, const Tensor& given, std::string_view op) {
  const Value& root = output.impl().read();
  if (!root.requires_grad())
    throw_with_line<ValueError>(
        fmt::format("[{}] the tensor does not require a gradient, and no operation that gave it does; call "
                    "requires_grad_() on what it is computed from, before that.",
                    op));
  if (given.defined()) {
    if (given.sizes() != output.sizes())
      throw_with_line<ShapeError>(
          fmt::format("[{}] a gradient of shape {} was given for a tensor of shape {}; they must be equal.", op,
                      describe(given.sizes()), describe(output.sizes())));
    return given.impl().read();
  }
  if (output.numel() != 1)
    throw_with_line<ValueError>(fmt::format(
        "[{}] only of scalars is the gradient 1 by itself; this tensor has shape {}, so give one of that shape.", op,
        describe(output.sizes())));
  return ones_like(root);
}

}  // namespace

}  // namespace detail

using namespace detail;

void autograd::backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients,
                        std::optional<bool> retain_graph, bool create_graph, std::span<const Tensor> inputs,
                        std::source_location where) {
  const At at(where);
  const auto lock = lock_runs();
  BackwardPass pass(retain_graph.value_or(create_graph), create_graph);
  std::vector<std::pair<Value, Value>> roots;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    roots.emplace_back(edge_of(tensors[i].impl().read()),
                       seed_of(tensors[i], i < gradients.size() ? gradients[i] : Tensor(), "backward"));
  for (const auto& [root, seed] : roots) pass.add_root(root, seed);
  for (const Tensor& t : inputs) {
    if (!t.requires_grad())
      throw_with_line<ValueError>(
          "[backward] one of the inputs does not require a gradient; call requires_grad_() first.");
    t.retain_grad();
    pass.want(t);
  }
  pass.explore(!inputs.empty(), true);
  const set_grad_enabled mode(create_graph);
  pass.run();
  // A tensor that was written has several leaf nodes. The order is that of the recording, the same every time.
  std::vector<std::pair<std::shared_ptr<Gradient>, Value>> leaves;
  std::map<Gradient*, std::size_t> index;
  for (const auto& t : pass.targets()) {
    const auto leaf = t.sum && t.at.node->kind == Node::Kind::leaf ? t.at.node->leaf.lock() : nullptr;
    if (!leaf || !leaf->collects) continue;
    const auto [it, is_new] = index.try_emplace(leaf.get(), leaves.size());
    if (is_new)
      leaves.emplace_back(leaf, t.sum);
    else
      leaves[it->second].second = sum_of(leaves[it->second].second, t.sum);
  }
  for (auto& [leaf, gradient] : leaves) {
    if (leaf->hooks) gradient = call_hooks(*leaf->hooks, std::move(gradient));
    accumulate(*leaf, gradient, create_graph);
    if (leaf->post_hooks) call_hooks(*leaf->post_hooks, leaf->tensor.impl().read());
  }
}

std::vector<Tensor> autograd::grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                                   const GradOptions& options, std::source_location where) {
  const At at(where);
  const auto lock = lock_runs();
  BackwardPass pass(options.retain_graph.value_or(options.create_graph), options.create_graph);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Value root = edge_of(outputs[i].impl().read());
    pass.add_root(root,
                  seed_of(outputs[i], i < options.grad_outputs.size() ? options.grad_outputs[i] : Tensor(), "grad"));
  }
  for (const Tensor& t : inputs) {
    if (!t.requires_grad())
      throw_with_line<ValueError>(
          "[grad] one of the inputs does not require a gradient; call requires_grad_() on it first.");
    pass.want(t);
  }
  pass.explore(true, false);
  const set_grad_enabled mode(options.create_graph);
  pass.run();
  std::vector<Tensor> out;
  for (const Tensor& t : inputs) {
    Value gradient = pass.gradient(t);
    if (const auto leaf = t.impl().gradient; gradient && t.is_leaf() && leaf->hooks)
      gradient = call_hooks(*leaf->hooks, std::move(gradient));
    if (!gradient && !options.allow_unused)
      throw_with_line<ValueError>(
          "[grad] the outputs do not depend on one of the inputs; set allow_unused for an undefined tensor.");
    out.push_back(gradient ? tensor_of(gradient) : Tensor());
  }
  return out;
}
std::vector<Tensor> autograd::grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options,
                                   std::source_location where) {
  return grad(std::span(&output, 1), std::span(inputs), options, where);
}
Tensor autograd::grad(const Tensor& output, const Tensor& input, const GradOptions& options,
                      std::source_location where) {
  return grad(std::span(&output, 1), std::span(&input, 1), options, where)[0];
}

no_grad::no_grad() : former_(std::exchange(modes().gradients, false)) {}
no_grad::~no_grad() { modes().gradients = former_; }
enable_grad::enable_grad() : former_(std::exchange(modes().gradients, true)) {}
enable_grad::~enable_grad() { modes().gradients = former_; }
set_grad_enabled::set_grad_enabled(bool on) : former_(std::exchange(modes().gradients, on)) {}
set_grad_enabled::~set_grad_enabled() { modes().gradients = former_; }
bool is_grad_enabled() { return modes().gradients; }

}  // namespace cotan::torch
