#include "torch/graph/tensor_impl.hpp"

#include <fmt/format.h>

#include <mutex>

#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"

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

/// The contents of `written` with the derivative of `history`: what a tensor is after a write that no gradient follows.
Value with_history(const Value& written, const Value& history) {
  static const auto op = define("write_without_gradient", {}, [](const Array& value, const Array& former) {
    const Array args[] = {value, former};
    return flat::custom_vjp([](std::span<const Array> in) { return Arrays{in[0]}; },
                            [](std::span<const Array> in) { return std::pair{Arrays{in[0]}, Arrays{}}; },
                            [](std::span<const Array> in) { return Arrays{0.0 * in[0], in[0]}; }, args,
                            "write_without_gradient")[0];
  });
  const bool before = std::exchange(modes().gradients, true);
  const Value out = op.value(tensor_of(written), tensor_of(history));
  modes().gradients = before;
  return out;
}

Value leaf_of(const Value& contents, const std::shared_ptr<Gradient>& gradient) {
  auto node = std::make_shared<Node>(
      Node::Kind::leaf, contents.node->call->out.size() == 1 ? contents.node->call : data_call(contents.type()));
  node->requires_grad = true;
  node->leaf = gradient;
  node->set_inputs({contents});
  return {std::move(node), 0};
}

}  // namespace

Storage::Storage(Value value) {
  set(std::move(value));
  AllStorages& all = all_storages();
  std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_) next_->previous_ = this;
  all.first = this;
}
Storage::~Storage() {
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

const Value& TensorImpl::read() {
  if (!contents_ || contents_of_ != storage->changes) {
    Value value = parent ? step->read(parent->read()) : storage->value();
    know(std::move(value));
  }
  return contents_;
}

void TensorImpl::know(Value value) {
  contents_of_ = storage->changes;
  type_ = value.type();
  contents_ = collects() ? leaf_of(value, gradient) : std::move(value);
}

Tensor tensor_of(Value value) {
  Layout layout = Layout::contiguous(value.type()->shape);
  auto impl = std::make_shared<TensorImpl>(std::make_shared<Storage>(value), std::move(layout));
  impl->know(std::move(value));
  return Tensor(std::move(impl));
}

Tensor view_of(const Tensor& base, std::shared_ptr<const ViewStep> step, Layout layout) {
  TensorImpl& parent = base.impl();
  auto impl = std::make_shared<TensorImpl>(parent.storage, std::move(layout));
  impl->know(step->read(parent.read()));
  impl->parent = base.shared_impl();
  impl->step = std::move(step);
  return Tensor(std::move(impl));
}

void check_writable(const Tensor& target, std::string_view op) {
  if (target.impl().layout.overlaps())
    throw_with_line<ValueError>(fmt::format(
        "[{}] more than one element of the tensor that is written lies at the same place, as after expand(); "
        "write into a clone() of it.",
        op));
  if (!modes().gradients) return;
  for (const TensorImpl* t = &target.impl(); t; t = t->parent.get())
    if (t->collects())
      throw_with_line<ValueError>(fmt::format(
          "[{}] {} leaf that requires gradients may not be written in place; use no_grad(), or clone() it first.", op,
          t == &target.impl() ? "a" : "a view of a"));
}

void write(const Tensor& target, const Value& contents, std::string_view op) {
  check_writable(target, op);
  TensorImpl& impl = target.impl();
  Storage& storage = *impl.storage;
  // From the view to the base: what each tensor on the way is now.
  std::vector<std::pair<TensorImpl*, Value>> news{{&impl, contents}};
  for (TensorImpl* t = &impl; t->parent; t = t->parent.get())
    news.emplace_back(t->parent.get(), t->step->write(t->parent->read(), news.back().second));
  auto& [root, whole] = news.back();
  // Where gradients are off, or behind detach(), a write changes the elements and not what they came from.
  bool tracked = modes().gradients;
  for (const TensorImpl* t = &impl; t->parent; t = t->parent.get()) tracked &= !t->step->hides_history();
  if (!tracked && storage.value().requires_grad()) whole = with_history(whole, storage.value());
  storage.set(whole);
  ++storage.version;
  storage.written = line();
  if (news.size() == 1) {
    root->forget();
    return;
  }
  for (auto& [tensor, value] : news)
    if (tensor->parent) tensor->know(std::move(value));
  root->forget();
}

}  // namespace cotan::torch::detail
