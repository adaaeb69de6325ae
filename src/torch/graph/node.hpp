// The recorded graph. A node is an operation that was called, or data. Tensors refer to values of nodes; what nobody
// refers to any more goes, and is never computed.
#pragma once
#include <atomic>
#include <cotan/flat.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <vector>

#include "torch/graph/pool.hpp"
#include "torch/graph/types.hpp"

namespace cotan::torch {
class Tensor;
}

namespace cotan::torch::detail {

class OpBase;
class Node;
class Storage;
struct Hooks;
struct Gradient;
using NodePtr = std::shared_ptr<Node>;

/// An operation with its attributes on operands of these types, each once (op.hpp). Data have one too, without an
/// operation.
struct Call {
  virtual ~Call() = default;
  const OpBase* op = nullptr;
  std::vector<TypePtr> in, out;
};

/// One result of a node.
struct Value {
  NodePtr node;
  std::uint32_t index = 0;
  explicit operator bool() const { return node != nullptr; }
  TypePtr type() const;
  bool requires_grad() const;
  bool operator==(const Value&) const = default;
};

/// What an operation keeps for its derivative: the contents of a tensor at a version.
struct Saved {
  std::weak_ptr<const Storage> storage;
  std::uint32_t version;
  int operand;  ///< -1: the result
};
/// Who wants to see the gradient of a value that is no leaf.
struct Watch {
  std::uint32_t index;
  std::shared_ptr<Hooks> hooks;      ///< may be nullptr
  std::weak_ptr<Gradient> gradient;  ///< of a tensor that retains it
};
/// Where the numbers of a random operation come from: a seed, and how many draws came before it.
struct Draw {
  std::uint64_t seed = 0, offset = 0;
};

/// A checkpoint: what is recorded in it is computed again for derivatives, but for what the policy keeps.
struct Region {
  std::shared_ptr<const Region> outer;  ///< nullptr: none
  PolicyPtr policy;                     ///< one that lives for ever
};

/// The nodes that a backward pass goes through, until it is computed. What they keep for derivatives goes with the last
/// pass through them, where that was said to be the last.
struct Way {
  explicit Way(std::vector<NodePtr> through);
  ~Way();
  Way(const Way&) = delete;
  const std::vector<NodePtr> nodes;
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  /// data: arrays. leaf: a tensor that collects gradients, whose contents are the one input. backward: gradients, of
  /// `roots` first inputs, with as many seeds behind them, with respect to the inputs after that.
  enum class Kind : std::uint8_t { data, call, leaf, backward };

  Node(Kind kind, const Call* call);
  ~Node();
  Node(const Node&) = delete;

  const Kind kind;
  bool requires_grad = false;
  bool traced = false;  ///< made of tracers of cotan's: known only while somebody traces
  bool freed = false;   ///< a backward pass went through it, the last one
  std::weak_ptr<Way> freed_by;
  std::shared_ptr<Way> way;              ///< of backward: until it is computed
  std::uint32_t ways = 0;                ///< passes through it that are not computed
  std::shared_ptr<const Region> region;  ///< the innermost; nullptr: none
  std::uint32_t roots = 0;               ///< of backward
  const std::uint64_t id;                ///< nodes are numbered as they are recorded
  const Call* const call;
  const std::vector<Value>& inputs() const { return inputs_; }
  void set_inputs(std::vector<Value> inputs);
  /// What it was made of goes: it is computed, or can not be any more.
  void release_inputs();
  std::vector<double> numbers;  ///< C++ numbers that the program takes as arguments
  Draw draw;
  Arrays results;  ///< once they are computed
  std::source_location where;
  std::vector<Saved> saved;
  std::vector<Watch> watches;
  std::weak_ptr<Gradient> leaf;            ///< of leaf: where its gradient goes
  std::atomic<std::uint32_t> holders = 0;  ///< storages that have a result of it as their contents
  std::atomic<std::uint32_t> users = 0;    ///< inputs of nodes that are results of it
  std::uint64_t visited = 0;               ///< the mark of who did last; guarded by the lock of runs
  std::uint32_t position = 0;              ///< in the program of that visit

  bool computed() const { return !results.empty(); }
  void set_results(Arrays arrays);
  /// Whether a derivative may still be taken through it.
  bool has_history() const { return requires_grad && !inputs_.empty(); }
  /// What it keeps for a derivative goes after the last backward pass.
  bool goes_when_freed() const { return freed && !saved.empty(); }
  /// Whether it need not know any more what it was made of.
  bool is_finished() const { return computed() && (!requires_grad || (goes_when_freed() && ways == 0)); }

 private:
  std::vector<Value> inputs_;
};

inline TypePtr Value::type() const { return node->call->out[index]; }
inline bool Value::requires_grad() const { return node->requires_grad && is_floating(type()->dtype); }

/// The graph, and what tensors know of it, is changed under this lock by one thread at a time. A thread that runs a
/// program has it until the results are there.
std::unique_lock<std::recursive_mutex> lock_runs();
/// Operations that are recorded and not computed.
std::int64_t pending_nodes();

/// The call of data of a type.
const Call* data_call(TypePtr type);
Value data(const Array& array);
/// Of an array whose type is known.
Value data(const Array& array, TypePtr type);
/// What marks nodes that are visited from now on. Callers hold the lock of runs.
std::uint64_t next_visit();
/// How many nodes were recorded, ever.
std::uint64_t nodes_recorded();

}  // namespace cotan::torch::detail
