#include "torch/graph/node.hpp"

#include <mutex>
#include <unordered_map>

#include "torch/graph/hashing.hpp"
#include "torch/graph/program.hpp"

namespace cotan::torch::detail {

namespace {

std::atomic<std::uint64_t> recorded{0};
std::atomic<std::int64_t> pending{0};
thread_local int tracers = 0;  // that tensors of this thread are made of
bool is_pending(const Node& n) {
  return !n.computed() && (n.kind == Node::Kind::call || n.kind == Node::Kind::backward);
}

template <class T>
struct Interned {
  std::mutex mutex;
  std::unordered_multimap<std::size_t, std::unique_ptr<const T>> all;
};

}  // namespace

std::int64_t Type::numel() const {
  std::int64_t n = 1;
  for (const auto size : shape) n *= size;
  return n;
}

TypePtr intern(DType dtype, const Shape& shape, const std::string& device) {
  static auto& types = *new Interned<Type>;
  std::size_t hash = hash_of(static_cast<std::size_t>(dtype), shape);
  hash = hash_of(hash, device);
  std::lock_guard lock(types.mutex);
  const auto [first, last] = types.all.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->dtype == dtype && it->second->shape == shape && it->second->device == device)
      return it->second.get();
  return types.all.emplace(hash, std::make_unique<const Type>(Type{dtype, shape, device}))->second.get();
}
TypePtr type_of(const Array& a) { return intern(a.dtype(), a.shape(), a.device().name()); }

const Call* data_call(TypePtr type) {
  static auto& calls = *new Interned<Call>;
  const auto hash = reinterpret_cast<std::size_t>(type);
  std::lock_guard lock(calls.mutex);
  if (const auto it = calls.all.find(hash); it != calls.all.end()) return it->second.get();
  auto call = std::make_unique<Call>();
  call->out = {type};
  return calls.all.emplace(hash, std::move(call))->second.get();
}

Value data(const Array& array) { return data(array, type_of(array)); }
Value data(const Array& array, TypePtr type) {
  auto node = make_pooled<Node>(Node::Kind::data, data_call(type));
  node->results = {array};
  node->traced = !is_concrete(array);
  tracers += node->traced;
  return {std::move(node), 0};
}

std::uint64_t nodes_recorded() { return recorded.load(std::memory_order_relaxed); }

Node::Node(Kind k, const Call* c) : kind(k), id(recorded.fetch_add(1, std::memory_order_relaxed) + 1), call(c) {
  if (is_pending(*this)) pending.fetch_add(1, std::memory_order_relaxed);
}
std::int64_t pending_nodes() { return pending.load(std::memory_order_relaxed); }

void Node::set_results(Arrays arrays) {
  if (is_pending(*this)) pending.fetch_sub(1, std::memory_order_relaxed);
  results = std::move(arrays);
}

void Node::set_inputs(std::vector<Value> inputs) {
  for (const Value& v : inputs) {
    v.node->users.fetch_add(1, std::memory_order_relaxed);
    traced |= v.node->traced;
  }
  inputs_ = std::move(inputs);
}

// A chain of nodes ends one by one, not each inside the other's end.
void Node::release_inputs() {
  thread_local std::vector<Value>* waiting = nullptr;
  for (const Value& v : inputs_) v.node->users.fetch_sub(1, std::memory_order_relaxed);
  if (waiting) {
    for (Value& v : inputs_) waiting->push_back(std::move(v));
    inputs_.clear();
    return;
  }
  std::vector<Value> list = std::move(inputs_);
  inputs_.clear();
  waiting = &list;
  while (!list.empty()) {
    const Value last = std::move(list.back());
    list.pop_back();
  }
  waiting = nullptr;
}

bool is_tracing() { return tracers > 0; }

Node::~Node() {
  tracers -= kind == Kind::data && traced;
  if (is_pending(*this)) pending.fetch_sub(1, std::memory_order_relaxed);
  release_inputs();
}

Way::Way(std::vector<NodePtr> through) : nodes(std::move(through)) {
  for (const NodePtr& n : nodes) ++n->ways;
}
Way::~Way() {
  for (const NodePtr& n : nodes) {
    --n->ways;
    if (n->is_finished()) n->release_inputs();
  }
}

}  // namespace cotan::torch::detail
