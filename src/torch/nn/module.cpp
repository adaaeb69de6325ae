// Parameters, state and modes of modules, from the list of what is in them.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cotan/device.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/nn/module.hpp>
#include <unordered_map>
#include <unordered_set>

#include "torch/graph/devices.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::nn {

Parameter::Parameter(const Tensor& data, bool requires_grad) : Tensor(data) {
  if (!defined()) return;
  if (!is_leaf()) Tensor::operator=(data.detach());
  if (is_floating(dtype())) requires_grad_(requires_grad);
}

namespace detail {

void Listing::add(const Tensor& t, Role role) {
  if (t.defined()) tensors.push_back({path_, const_cast<Tensor*>(&t), role});
}

namespace {

using Role = Listing::Role;

/// Those whose role is wanted, each tensor once.
template <class F>
NamedTensors chosen(const Listing& all, const F& wanted) {
  NamedTensors out;
  std::unordered_set<const void*> seen;
  for (const auto& e : all.tensors)
    if (wanted(e.role) && seen.insert(e.tensor->shared_impl().get()).second) out.emplace_back(e.path, *e.tensor);
  return out;
}
/// Replaces every tensor by what `f` gives of it; what was one tensor is one again.
template <class F>
void replace(const Listing& all, const F& f) {
  const no_grad off;
  std::unordered_map<const void*, Tensor> made;
  for (const auto& e : all.tensors) {
    const auto [it, is_new] = made.try_emplace(e.tensor->shared_impl().get());
    if (is_new) {
      it->second = f(*e.tensor);
      if (e.tensor->requires_grad()) it->second.requires_grad_();
    }
  }
  for (const auto& e : all.tensors) *e.tensor = Tensor(made.at(e.tensor->shared_impl().get()));
}

std::string quoted(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "\"" : ", \"") + n + "\"";
  return out;
}

}  // namespace

std::vector<Tensor> without_names(NamedTensors named) {
  std::vector<Tensor> out;
  for (auto& [name, tensor] : named) out.push_back(std::move(tensor));
  return out;
}
NamedTensors named_parameters(const Listing& all) {
  return chosen(all, [](Role r) { return r == Role::parameter; });
}
NamedTensors named_buffers(const Listing& all) {
  return chosen(all, [](Role r) { return r != Role::parameter; });
}
StateDict state_dict(const Listing& all) {
  StateDict out;
  for (const auto& e : all.tensors)
    if (e.role != Role::transient_buffer) out.emplace(e.path, e.tensor->detach());
  return out;
}

IncompatibleKeys load_state_dict(const Listing& all, const StateDict& state, bool strict) {
  IncompatibleKeys keys;
  std::unordered_set<std::string> known;
  std::unordered_set<const void*> given;
  std::vector<std::string> misfits;
  for (const auto& e : all.tensors) {
    if (e.role == Role::transient_buffer) continue;
    known.insert(e.path);
    const auto found = state.find(e.path);
    if (found == state.end()) continue;
    given.insert(e.tensor->shared_impl().get());
    if (found->second.sizes() != e.tensor->sizes())
      misfits.push_back(fmt::format("\"{}\" has shape {} in the state and {} in the module", e.path,
                                    describe(found->second.sizes()), describe(e.tensor->sizes())));
  }
  for (const auto& e : all.tensors)
    if (e.role != Role::transient_buffer && !given.contains(e.tensor->shared_impl().get()))
      keys.missing.push_back(e.path);
  for (const auto& [name, tensor] : state)
    if (!known.contains(name)) keys.unexpected.push_back(name);
  std::vector<std::string> wrong = misfits;
  if (strict && !keys.missing.empty()) wrong.push_back("missing are " + quoted(keys.missing));
  if (strict && !keys.unexpected.empty()) wrong.push_back("the module does not have " + quoted(keys.unexpected));
  if (!wrong.empty())
    throw_with_line<ValueError>(fmt::format("[load_state_dict] {}; nothing was loaded{}.", fmt::join(wrong, "; "),
                                            misfits.empty() ? ". Give strict = false to load what fits" : ""));
  const no_grad off;
  for (const auto& e : all.tensors)
    if (const auto found = state.find(e.path); e.role != Role::transient_buffer && found != state.end())
      e.tensor->copy_(found->second);
  return keys;
}
StateDict tensors_of(const std::map<std::string, Array>& arrays) {
  StateDict out;
  for (const auto& [name, array] : arrays) out.emplace(name, from(array));
  return out;
}

void train(const Listing& all, bool on) {
  for (Training* flag : all.flags) flag->set(on);
}
void zero_grad(const Listing& all, bool set_to_none) {
  for (const auto& [name, t] : named_parameters(all)) {
    const Tensor grad = t.grad();
    if (!grad.defined()) continue;
    if (set_to_none)
      t.set_grad({});
    else {
      const no_grad off;
      grad.detach_().zero_();
    }
  }
}
void requires_grad_(const Listing& all, bool on) {
  for (const auto& [name, t] : named_parameters(all))
    if (is_floating(t.dtype())) t.requires_grad_(on);
}

void convert(const Listing& all, const TensorOptions& to) {
  if (to.dtype && !is_floating(*to.dtype))
    throw_with_line<TypeError>(
        fmt::format("[to] modules become of a floating dtype, not {}; give f32, say.", cotan::name(*to.dtype)));
  const std::string device = torch::detail::device_named(to.device);
  replace(all, [&](const Tensor& t) {
    const bool casts = to.dtype && is_floating(t.dtype()) && *to.dtype != t.dtype();
    const bool moves = !to.device.empty() && torch::detail::device_named(t.device()) != device;
    if (!casts && !moves) return t;
    const Tensor out = casts ? torch::to(t.detach(), *to.dtype) : t.detach();
    if (!moves) return out;
    const Array array = out.array();
    const bool too_wide = array.dtype() == i64 && !torch::detail::has_doubles(device);  // counts of batches
    return from(device_put(too_wide ? array.astype(i32) : array, device));
  });
}
void make_own(const Listing& all) {
  if (all.behind_shared_pointers)
    throw_with_line<ValueError>(
        "[clone] the module holds others by shared_ptr, which a copy of it would hold too; hold them by value.");
  replace(all, [](const Tensor& t) { return torch::clone(t); });
}

namespace {

/// "Linear" of cotan::torch::nn::Linear.
std::string short_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : type.name();
  const std::size_t arguments = name.find('<');
  const std::size_t colon = name.rfind(':', arguments);
  return colon == name.npos ? name : name.substr(colon + 1);
}

}  // namespace

std::string summary(const Listing& all) {
  std::string out;
  std::size_t wide = 0;
  for (const auto& m : all.modules) wide = std::max(wide, m.path.size());
  const auto of_module = [&](const Listing::Module& m) {
    Listing own;
    own.tensors.assign(all.tensors.begin() + static_cast<std::ptrdiff_t>(m.tensors),
                       all.tensors.begin() + static_cast<std::ptrdiff_t>(m.last_tensor));
    return own;
  };
  for (const auto& m : all.modules) {
    const Listing inside = of_module(m);
    std::int64_t count = 0;
    for (const auto& [name, t] : named_parameters(inside)) count += t.numel();
    out += fmt::format("{:<{}}  {:<24} {:>12}", m.path, wide, short_name(*m.type), count);
    const std::size_t prefix = m.path.empty() ? 0 : m.path.size() + 1;
    for (const auto& e : inside.tensors)
      if (const std::string name = e.path.substr(prefix); name.find('.') == name.npos)
        out += fmt::format("  {} {}", name, describe(e.tensor->dtype(), e.tensor->sizes()));
    out += '\n';
  }
  return out;
}

}  // namespace detail
}  // namespace cotan::torch::nn
