#include "torch/graph/tensor_impl.hpp"

#include <fmt/format.h>

#include <mutex>

#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"
#include "torch/graph/strided.hpp"

namespace cotan::torch::detail {

namespace {

struct AllStorages {
  std::mutex mutex;
  Storage* first = nullptr;
};
AllStorages& all_storages() {
  static AllStorages& all = *new AllStorages;
  return all;
}

/// While it lives, gradients are recorded or not.
class GradientsOf {
 public:
  explicit GradientsOf(bool on) : former_(std::exchange(modes().gradients, on)) {}
  ~GradientsOf() { modes().gradients = former_; }
  GradientsOf(const GradientsOf&) = delete;

 private:
  bool former_;
};

using WithHistory = Op<Array, const Array&, const Array&>;
const WithHistory& with_history_op() {
  static const WithHistory op = define("write_without_gradient", {}, [](const Array& value, const Array& former) {
    return with_derivative_of(former, value);
  });
  return op;
}
/// The contents of `written` with the derivative of `history`: what a tensor is after a write that no gradient follows.
Value with_history(const Value& written, const Value& history) {
  const GradientsOf on(true);
  return with_history_op().value(tensor_of(written), tensor_of(edge_of(history)));
}

Value leaf_of(const Value& contents, const std::shared_ptr<Gradient>& gradient) {
  auto node = make_pooled<Node>(
      Node::Kind::leaf, contents.node->call->out.size() == 1 ? contents.node->call : data_call(contents.type()));
  node->requires_grad = true;
  node->leaf = gradient;
  node->set_inputs({contents});
  return {std::move(node), 0};
}

}  // namespace

Value edge_of(const Value& value) {
  return value.node->call->op == &with_history_op() ? value.node->inputs()[1] : value;
}

Storage::Storage(Value value) {
  const auto graph = lock_runs();
  set(std::move(value));
  AllStorages& all = all_storages();
  std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_) next_->previous_ = this;
  all.first = this;
}
Storage::~Storage() {
  const auto graph = lock_runs();
  {
    AllStorages& all = all_storages();
    std::lock_guard lock(all.mutex);
    if (next_) next_->previous_ = previous_;
    (previous_ ? previous_->next_ : all.first) = next_;
  }
  set({});
}
void Storage::set(Value value) {
  if (value) value.node->holders.fetch_add(1, std::memory_order_relaxed);
  if (value_) value_.node->holders.fetch_sub(1, std::memory_order_relaxed);
  value_ = std::move(value);
  ++changes;
}
void for_each_storage(const std::function<void(Storage&)>& f) {
  AllStorages& all = all_storages();
  std::lock_guard lock(all.mutex);
  for (Storage* s = all.first; s; s = s->next_) f(*s);
}

Value TensorImpl::derived() {
  if (!parent) return storage->value();
  // As when the view was made: later modes of the thread do not change what it is.
  const GradientsOf mode(creation != Creation::without_gradients);
  Value value = step->read(parent->read());
  return history && history.requires_grad() ? with_history(value, history) : value;
}

Value TensorImpl::unwatched() {
  const Value& now = read();
  if (!parent || is_detached() || collects() || now.node->watches.empty()) return now;
  return step->read(parent->unwatched());
}

TensorImpl::~TensorImpl() {
  const auto graph = lock_runs();
  contents_ = {};
  history = {};
  gradient.reset();
}

const Value& TensorImpl::read() {
  const auto graph = lock_runs();
  if (!contents_ || contents_of_ != storage->changes) know(derived());
  return contents_;
}

void TensorImpl::know(Value value) {
  contents_of_ = storage->changes;
  type_ = value.type();
  contents_ = collects() ? leaf_of(value, gradient) : std::move(value);
  if (gradient && gradient->retains && !collects()) watch_contents();
}

void TensorImpl::watch_contents() {
  if (const auto former = gradient->watched.lock())
    std::erase_if(former->watches, [&](const Watch& w) { return w.gradient.lock() == gradient; });
  if (!contents_.requires_grad()) return;
  const Value edge = edge_of(contents_);
  edge.node->watches.push_back({edge.index, nullptr, gradient});
  gradient->watched = edge.node;
}

Tensor tensor_of(Value value) {
  auto impl = make_pooled<TensorImpl>(make_pooled<Storage>(value), value.type());
  impl->know(std::move(value));
  return Tensor(std::move(impl));
}

Tensor view_of(const Tensor& base, std::shared_ptr<const ViewStep> step, Layout layout) {
  TensorImpl& parent = base.impl();
  auto impl = make_pooled<TensorImpl>(parent.storage, std::move(layout));
  impl->parent = base.shared_impl();
  impl->step = std::move(step);
  if (!impl->is_detached())
    impl->creation =
        modes().gradients || parent.creation != Creation::ordinary ? parent.creation : Creation::without_gradients;
  impl->read();
  return Tensor(std::move(impl));
}

void check_writable(const Tensor& target, std::string_view op) {
  TensorImpl& impl = target.impl();
  if (impl.layout.overlaps())
    throw_with_line<ValueError>(fmt::format(
        "[{}] more than one element of the tensor that is written lies at the same place, as after expand(); "
        "write into a clone() of it.",
        op));
  if (modes().gradients && impl.read().requires_grad()) check_followed(target, op);
}

void check_followed(const Tensor& target, std::string_view op) {
  TensorImpl& impl = target.impl();
  if (impl.creation == Creation::without_gradients)
    throw_with_line<ValueError>(
        fmt::format("[{}] the view was made where gradients are off, and is written where they are on; do both in one "
                    "or both in the other.",
                    op));
  if (impl.creation == Creation::one_of_several)
    throw_with_line<ValueError>(
        fmt::format("[{}] the view is one of several that a function gave, such as split() or unbind(), and gradients "
                    "do not follow "
                    "writes to those; use narrow() or select().",
                    op));
  for (const TensorImpl* t = &impl; t; t = t->is_detached() ? nullptr : t->parent.get())
    if (t->collects())
      throw_with_line<ValueError>(fmt::format(
          "[{}] {} leaf that requires gradients may not be written in place; use no_grad(), or clone() it first.", op,
          t == &impl ? "a" : "a view of a"));
}

namespace {

/// Of a view of elements that some view before it repeats, the base that all are views of; nullptr where none repeats.
TensorImpl* base_of_repeated(TensorImpl* view) {
  bool repeated = false;
  TensorImpl* t = view;
  for (; t->parent && !t->is_detached(); t = t->parent.get()) repeated |= t != view && t->layout.overlaps();
  if (repeated && t->parent)
    throw_with_line<ValueError>(
        "[write] the tensor is a view of what expand() or unfold() made of a detached one; write into that one.");
  return repeated ? t : nullptr;
}

}  // namespace

void write(const Tensor& target, const Value& contents, std::string_view op) {
  const auto graph = lock_runs();
  check_writable(target, op);
  // Where gradients are off, or behind detach(), a write changes the elements and not what they came from.
  bool followed = modes().gradients;
  if (followed && contents.requires_grad()) check_followed(target, op);
  Storage& storage = *target.impl().storage;
  Value whole = contents;
  TensorImpl* root = &target.impl();
  const auto keep = [&](Value& history) {
    history = followed || !history || !history.requires_grad() ? whole : with_history(whole, history);
  };
  const auto up = [&](Value next, TensorImpl* to) {
    whole = std::move(next);
    root = to;
    // PyTorch keeps how a view was written, and frees that.
    if (whole.requires_grad() && !whole.node->computed()) whole.node->saved.push_back({{}, 0, 0});
  };
  if (TensorImpl* const base = base_of_repeated(root)) {
    const GradientsOf mode(followed);
    up(strided_write(base->unwatched(), whole, root->layout), base);
  }
  while (root->parent) {
    if (root->is_detached()) {
      keep(root->history);
      if (!root->history.requires_grad()) root->history = {};
      followed = false;
    }
    const GradientsOf mode(followed);
    up(root->step->write(root->parent->unwatched(), whole), root->parent.get());
  }
  Value now = storage.value();
  keep(now);
  storage.set(now);
  ++storage.version;
  storage.written = line();
  root->know(std::move(now));
  if (target.impl().gradient) target.impl().read();
}

}  // namespace cotan::torch::detail
