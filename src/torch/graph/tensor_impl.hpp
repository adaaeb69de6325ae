// What is behind a Tensor: elements that several tensors may share, how this one looks at them, and its gradient.
#pragma once
#include <cotan/torch/tensor.hpp>

#include "torch/graph/layout.hpp"
#include "torch/graph/node.hpp"

namespace cotan::torch::detail {

/// Elements, at one version: a value of the graph. A write is another value.
class Storage {
 public:
  explicit Storage(Value value);
  ~Storage();
  Storage(const Storage&) = delete;
  const Value& value() const { return value_; }
  void set(Value value);
  std::uint32_t version = 0;     ///< how often it was written
  std::source_location written;  ///< by whom, last
  std::uint64_t changes = 0;     ///< of value()

 private:
  friend void for_each_storage(const std::function<void(Storage&)>& f);
  Value value_;
  Storage *next_ = nullptr, *previous_ = nullptr;
};
/// Calls `f` with every storage there is, under their lock.
void for_each_storage(const std::function<void(Storage&)>& f);

/// How a view is made of what it is a view of, and how a write to it changes that.
class ViewStep {
 public:
  virtual ~ViewStep() = default;
  virtual Value read(const Value& base) const = 0;
  /// What the base is when `contents` is written to the view.
  virtual Value write(const Value& base, const Value& contents) const = 0;
  virtual bool hides_history() const { return false; }  ///< detach
};

struct Hooks {
  std::vector<std::pair<std::uint64_t, std::function<Tensor(const Tensor&)>>> list;
  std::uint64_t made = 0;
};
/// Of a tensor that collects or retains a gradient.
struct Gradient {
  Tensor tensor;
  bool collects = false;  ///< a leaf that requires gradients
  bool retains = false;
  std::shared_ptr<Hooks> hooks;       ///< called with the gradient, before it is collected
  std::shared_ptr<Hooks> post_hooks;  ///< called with the tensor, once a leaf has collected
  std::weak_ptr<Node> hooked;         ///< of what is no leaf: whose value the hooks see
  std::weak_ptr<Node> watched;        ///< and whose value is retained; after a write it is another one
};
/// What PyTorch remembers of the making of a view, for writes to it that gradients follow: they are refused to views of
/// the last two kinds, and to views of those.
enum class Creation : std::uint8_t { ordinary, without_gradients, one_of_several };

struct IndexTarget;

class TensorImpl {
 public:
  /// A tensor that is no view, with the layout of its type.
  TensorImpl(std::shared_ptr<Storage> s, TypePtr type) : storage(std::move(s)), layout(type->contiguous) {}
  TensorImpl(std::shared_ptr<Storage> s, Layout l)
      : storage(std::move(s)), own_layout_(std::make_unique<const Layout>(std::move(l))), layout(*own_layout_) {}
  ~TensorImpl();
  const std::shared_ptr<Storage> storage;

 private:
  std::unique_ptr<const Layout> own_layout_;  ///< of a view

 public:
  const Layout& layout;
  std::shared_ptr<TensorImpl> parent;         ///< of a view: what it is a view of
  std::shared_ptr<const ViewStep> step;       ///< and how
  std::shared_ptr<Gradient> gradient;         ///< where it has or wants one
  std::shared_ptr<const IndexTarget> target;  ///< of x(indices) that is a copy: where an assignment to it writes
  Creation creation = Creation::ordinary;
  Value history;  ///< of what detach() gave: how it was made, where that requires gradients
  bool is_detached() const { return step && step->hides_history(); }
  bool collects() const { return gradient && gradient->collects; }
  TypePtr type() const { return type_; }
  /// The contents now.
  const Value& read();
  /// Knows them: they are `value` at the storage's version.
  void know(Value value);
  void forget() { contents_ = {}; }
  /// The contents, read anew from what this is a view of where somebody watches: writes depend on that, not on the
  /// view.
  Value unwatched();
  /// Backward passes tell the gradient of the contents to this tensor, which retains it.
  void watch_contents();

 private:
  Value derived();
  Value contents_;
  std::uint64_t contents_of_ = 0;  ///< the storage's changes
  TypePtr type_ = nullptr;
};

/// Where gradients of a value go: of what was written without gradients, the value that has its history.
Value edge_of(const Value& value);
/// A new tensor of a value's elements.
Tensor tensor_of(Value value);
/// A view of `base` by a step.
Tensor view_of(const Tensor& base, std::shared_ptr<const ViewStep> step, Layout layout);
/// `contents`, which has the shape and dtype of `target`, becomes what is in it. `op` is for messages.
void write(const Tensor& target, const Value& contents, std::string_view op);
/// Raises where `target` may not be written: overlapping elements, a leaf that requires gradients.
void check_writable(const Tensor& target, std::string_view op);
/// Raises where `target` may not be written with something that gradients follow.
void check_followed(const Tensor& target, std::string_view op);

}  // namespace cotan::torch::detail
