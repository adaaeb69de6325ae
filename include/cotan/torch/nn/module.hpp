// Functions of whole modules: parameters, state, modes. They take any struct that has tensors or modules as fields.
#pragma once
#include <cotan/torch/nn/listing.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// `torch.nn`. A module is a struct, and what it computes its operator(): nothing is registered.
///
///     struct Mlp {
///       torch::nn::Linear in{784, 512}, out{512, 10};
///       torch::Tensor operator()(const torch::Tensor& x) const { return out(torch::relu(in(x))); }
///     };
///     Mlp net;
///     torch::optim::AdamW optimizer(torch::nn::parameters(net));
///
/// Fields are modules, tensors, settings, or containers, optionals and pointers of them. A struct with constructors
/// lists its fields by COTAN_TREE(…). A copy of a module has the same tensors, as a copy of a Tensor is the same
/// tensor; clone() gives it its own.
namespace cotan::torch::nn {

/// Tensors by their names, such as "layers.0.attn.weight".
using StateDict = std::map<std::string, Tensor>;
/// Names and tensors, in PyTorch's order.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
/// What load_state_dict left out.
struct IncompatibleKeys {
  std::vector<std::string> missing, unexpected;
};

namespace detail {

template <class M>
Listing listed(const M& module) {
  Listing out;
  list(module, out);
  return out;
}
std::vector<Tensor> without_names(NamedTensors named);
NamedTensors named_parameters(const Listing& all);
NamedTensors named_buffers(const Listing& all);
StateDict state_dict(const Listing& all);
IncompatibleKeys load_state_dict(const Listing& all, const StateDict& state, bool strict);
StateDict tensors_of(const std::map<std::string, Array>& arrays);
void train(const Listing& all, bool on);
void zero_grad(const Listing& all, bool set_to_none);
void requires_grad_(const Listing& all, bool on);
void convert(const Listing& all, const TensorOptions& to);
void make_own(const Listing& all);
std::string summary(const Listing& all);

}  // namespace detail

/// All parameters with their names; one that is at several places is there once, by its first name.
template <class M>
NamedTensors named_parameters(const M& module) {
  return detail::named_parameters(detail::listed(module));
}
/// All parameters: what an optimizer takes.
template <class M>
std::vector<Tensor> parameters(const M& module) {
  return detail::without_names(named_parameters(module));
}
/// All buffers with their names.
template <class M>
NamedTensors named_buffers(const M& module) {
  return detail::named_buffers(detail::listed(module));
}
/// All buffers.
template <class M>
std::vector<Tensor> buffers(const M& module) {
  return detail::without_names(named_buffers(module));
}
/// The number of elements of all parameters.
template <class M>
std::int64_t num_parameters(const M& module) {
  std::int64_t out = 0;
  for (const Tensor& t : parameters(module)) out += t.numel();
  return out;
}

/// Parameters and persistent buffers by name, without history. They are the module's own: what is trained later is seen
/// in them.
template <class M>
StateDict state_dict(const M& module) {
  return detail::state_dict(detail::listed(module));
}
/// Writes `state` into the module. Unless every name and every shape fits it raises, and nothing is written. Not
/// strict, names that are missing or unexpected are given back. Of a tensor with several names one is enough.
template <class M>
IncompatibleKeys load_state_dict(const M& module, const StateDict& state, bool strict = true) {
  return detail::load_state_dict(detail::listed(module), state, strict);
}
/// The same of arrays, as load_safetensors and load_npz give them.
template <class M>
IncompatibleKeys load_state_dict(const M& module, const std::map<std::string, Array>& arrays, bool strict = true) {
  return load_state_dict(module, detail::tensors_of(arrays), strict);
}

/// The module trains: dropout drops, batch norm uses the statistics of the batch. Modules do from the start.
template <class M>
void train(M& module, bool on = true) {
  detail::train(detail::listed(module), on);
}
/// The module is evaluated: the opposite of train.
template <class M>
void eval(M& module) {
  train(module, false);
}
/// Forgets all gradients, or sets them to 0.
template <class M>
void zero_grad(const M& module, bool set_to_none = true) {
  detail::zero_grad(detail::listed(module), set_to_none);
}
/// Whether its parameters collect gradients.
template <class M>
void requires_grad_(const M& module, bool on = true) {
  detail::requires_grad_(detail::listed(module), on);
}
/// Floating tensors become of another dtype, all tensors move to another device: to(net, {.device = "webgpu"}). They
/// are other tensors then, so optimizers are made after it.
template <class M>
void to(M& module, const TensorOptions& options) {
  detail::convert(detail::listed(module), options);
}
/// The same with a dtype: to(net, torch::float64).
template <class M>
void to(M& module, DType dtype) {
  to(module, TensorOptions{.dtype = dtype});
}
/// A copy with tensors of its own; those that were one tensor are one again. Not of modules behind shared_ptr.
template <class M>
M clone(const M& module) {
  M out = module;
  detail::make_own(detail::listed(out));
  return out;
}
/// Calls f with every submodule of type T, and the module itself if it is one: apply<nn::Linear>(net, [](auto& l) { …
/// }).
template <class T, class M, class F>
void apply(M& module, const F& f) {
  for (const auto& m : detail::listed(module).modules)
    if (*m.type == typeid(T)) f(*static_cast<T*>(m.object));
}
/// A line for each submodule with tensors: name, type, shapes, numbers of parameters.
template <class M>
std::string summary(const M& module) {
  return detail::summary(detail::listed(module));
}

}  // namespace cotan::torch::nn
