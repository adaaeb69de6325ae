// Members of Tensor that no operation is.
#include <fmt/format.h>

#include <cotan/torch/autograd.hpp>

#include "torch/graph/devices.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/program.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch {

using namespace detail;

detail::TensorImpl& Tensor::impl() const {
  if (!impl_) throw_with_line<ValueError>("[tensor] the tensor is undefined; assign one before it is used.");
  return *impl_;
}

const Shape& Tensor::sizes() const { return impl().layout.sizes; }
std::int64_t Tensor::size(int dim) const {
  return sizes().at(static_cast<std::size_t>(wrap_dim(dim, this->dim(), "size")));
}
int Tensor::dim() const { return impl().layout.dim(); }
std::int64_t Tensor::numel() const { return impl().layout.numel(); }
DType Tensor::dtype() const { return impl().type()->dtype; }
std::string Tensor::device() const { return torch_name(impl().type()->device); }
const Shape& Tensor::strides() const { return impl().layout.strides; }
std::int64_t Tensor::stride(int dim) const {
  return strides().at(static_cast<std::size_t>(wrap_dim(dim, this->dim(), "stride")));
}
std::int64_t Tensor::storage_offset() const { return impl().layout.offset; }
bool Tensor::is_contiguous() const { return impl().layout.is_contiguous(); }
std::size_t Tensor::nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
bool Tensor::is_view() const { return impl().parent && !impl().is_detached(); }
bool Tensor::shares_storage(const Tensor& other) const { return impl().storage == other.impl().storage; }
std::uint32_t Tensor::version() const { return impl().storage->version; }

Array Tensor::array(std::source_location where) const {
  const At at(where);
  return array_of(impl().read());
}
Tensor::operator bool() const { return static_cast<bool>(array({})); }

Tensor from(const Array& array, bool requires_grad) {
  const Tensor out = tensor_of(data(array.weak_type() ? array.astype(array.dtype()) : array));
  if (requires_grad) out.requires_grad_();
  return out;
}

// Gradients -------------------------------------------------------------------------------------

namespace {

Gradient& gradient_of(TensorImpl& impl) {
  if (!impl.gradient) impl.gradient = std::make_shared<Gradient>();
  return *impl.gradient;
}
HookHandle add_hook(const std::shared_ptr<Hooks>& hooks, std::function<Tensor(const Tensor&)> hook) {
  const std::uint64_t id = ++hooks->made;
  hooks->list.emplace_back(id, std::move(hook));
  return HookHandle([weak = std::weak_ptr(hooks), id] {
    if (const auto h = weak.lock()) std::erase_if(h->list, [&](const auto& entry) { return entry.first == id; });
  });
}

class Detached final : public ViewStep {
 public:
  Value read(const Value& base) const override {
    static const auto op = define("detach", {.differentiable = false}, [](const Array& x) { return x; });
    // What has no history is the same value: reading it runs nothing.
    const Value& contents = base.node->kind == Node::Kind::leaf ? base.node->inputs()[0] : base;
    return contents.requires_grad() ? op.value(tensor_of(contents)) : contents;
  }
  Value write(const Value&, const Value& contents) const override { return read(contents); }
  bool hides_history() const override { return true; }
};

}  // namespace

bool Tensor::requires_grad() const { return impl().read().requires_grad(); }

const Tensor& Tensor::requires_grad_(bool on, std::source_location where) const {
  const At at(where);
  if (on == requires_grad()) return *this;
  if (on && !is_floating(dtype()))
    throw_with_line<TypeError>(
        fmt::format("[requires_grad_] only floating tensors have gradients; this one is {}.", name(dtype())));
  if (!impl().collects() && requires_grad())
    throw_with_line<ValueError>(
        "[requires_grad_] only of leaves can it be changed; use detach() for a tensor without history.");
  gradient_of(impl()).collects = on;
  impl().forget();
  return *this;
}

bool Tensor::is_leaf() const { return impl().collects() || !requires_grad(); }
Tensor Tensor::grad() const { return impl().gradient ? impl().gradient->tensor : Tensor(); }
void Tensor::set_grad(const Tensor& grad) const {
  if (grad.defined() && (grad.sizes() != sizes() || grad.dtype() != dtype()))
    throw_with_line<ShapeError>(fmt::format("[set_grad] a gradient {} was given for a tensor {}; they must be alike.",
                                            grad.impl().type()->str(), impl().type()->str()));
  gradient_of(impl()).tensor = grad;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::span<const Tensor> inputs, std::source_location where) const {
  autograd::backward(std::span(this, 1), std::span(&gradient, 1), retain_graph, create_graph, inputs, where);
}

void Tensor::retain_grad() const {
  if (!requires_grad())
    throw_with_line<ValueError>("[retain_grad] the tensor does not require a gradient; call requires_grad_() first.");
  if (is_leaf() || retains_grad()) return;
  gradient_of(impl()).retains = true;
  impl().watch_contents();
}
bool Tensor::retains_grad() const { return impl().gradient && impl().gradient->retains && !is_leaf(); }

HookHandle Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  if (!requires_grad())
    throw_with_line<ValueError>("[register_hook] the tensor does not require a gradient; call requires_grad_() first.");
  Gradient& gradient = gradient_of(impl());
  const Value value = edge_of(impl().read());
  // Hooks stay with what they were put on: after a write in place the tensor is something else.
  if (!gradient.hooks || (!impl().collects() && gradient.hooked.lock() != value.node)) {
    gradient.hooks = std::make_shared<Hooks>();
    gradient.hooked = value.node;
    if (!impl().collects()) value.node->watches.push_back({value.index, gradient.hooks, {}});
  }
  return add_hook(gradient.hooks, std::move(hook));
}

HookHandle Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const {
  if (!impl().collects())
    throw_with_line<ValueError>(
        "[register_post_accumulate_grad_hook] only leaves that require gradients collect them; use register_hook().");
  Gradient& gradient = gradient_of(impl());
  if (!gradient.post_hooks) gradient.post_hooks = std::make_shared<Hooks>();
  // Without a reference to the tensor, which holds the hook.
  return add_hook(gradient.post_hooks, [hook = std::move(hook), impl = std::weak_ptr(shared_impl())](const Tensor&) {
    if (auto alive = impl.lock()) hook(Tensor(std::move(alive)));
    return Tensor();
  });
}

Tensor Tensor::detach(std::source_location where) const {
  const At at(where);
  static const auto step = std::make_shared<Detached>();
  return view_of(*this, step, impl().layout);
}
const Tensor& Tensor::detach_() const {
  if (is_view()) throw_with_line<ValueError>("[detach_] a view cannot be detached in place; use detach().");
  TensorImpl& t = impl();
  const Value former = t.read();
  if (t.collects())
    t.gradient->collects = false;
  else if (t.parent)
    t.history = {};
  else
    t.storage->set(Detached().read(former));
  t.forget();
  return *this;
}

// Writing ---------------------------------------------------------------------------------------

}  // namespace cotan::torch
