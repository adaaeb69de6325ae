// torch.func: functions of tensors to their derivatives and to functions of batches, by cotan's transforms. Arguments
// and results are tensors, or vectors, maps, pairs and tuples of them. Results have no history for backward().
#pragma once
#include <cotan/flat.hpp>
#include <cotan/torch/nn/listing.hpp>
#include <cotan/torch/tensor.hpp>
#include <tuple>

namespace cotan::torch::func {

namespace detail {

/// What is recorded before is computed before, so that nothing outside of a transform becomes part of it.
class TransformScope {
 public:
  TransformScope();
  ~TransformScope();
  TransformScope(const TransformScope&) = delete;
};
std::string path(std::size_t i);
[[noreturn]] void raise_not_scalar(std::string_view transform, std::size_t tensors);
[[noreturn]] void raise_unknown_name(const std::string& name);

/// f with every tensor in a value.
template <class T, class F>
void each_tensor(T& value, const F& f) {
  using V = std::remove_cvref_t<T>;
  if constexpr (std::is_base_of_v<Tensor, V>)
    f(value);
  else if constexpr (torch::nn::detail::is_map<V>)
    for (auto& [key, element] : value) each_tensor(element, f);
  else if constexpr (torch::nn::detail::is_tuple<V>)
    std::apply([&](auto&... elements) { (each_tensor(elements, f), ...); }, value);
  else if constexpr (torch::nn::detail::is_list<V>)
    for (auto& element : value) each_tensor(element, f);
  else
    static_assert(std::is_arithmetic_v<V>, "tensors, and vectors, maps, pairs and tuples of them");
}
template <class T>
Arrays arrays_of(const T& value) {
  Arrays out;
  each_tensor(value, [&](const Tensor& t) { out.push_back(t.array()); });
  return out;
}
/// A value like another one, with tensors of these arrays.
template <class T>
T with_arrays(T like, std::span<const Array> arrays) {
  std::size_t i = 0;
  each_tensor(like, [&](Tensor& t) { t = from(arrays[i++]); });
  return like;
}

/// The same inside of a transform, where what is computed of them is differentiated.
template <class T>
T with_tracers(T like, std::span<const Array> arrays) {
  std::size_t i = 0;
  each_tensor(like, [&](Tensor& t) {
    t = from(arrays[i], is_floating(arrays[i].dtype()));
    ++i;
  });
  return like;
}

/// f on arguments like these as a function of arrays; keeps an example of what it gives.
template <class F, class... A>
class Flat {
 public:
  using Result = std::invoke_result_t<const F&, A&...>;
  Flat(const F& f, const A&... arguments) : f_(f), like_(arguments...) {}
  Arrays operator()(std::span<const Array> in) {
    auto arguments = with_tracers(like_, in);
    result_ = std::apply([&](auto&... a) -> Result { return f_(a...); }, arguments);
    return arrays_of(*result_);
  }
  Arrays arguments() const { return arrays_of(like_); }
  /// A result of these arrays.
  Result result(std::span<const Array> arrays) const { return with_arrays(*result_, arrays); }
  std::size_t size() const { return arrays_of(*result_).size(); }
  /// Arguments of these arrays; a single one is no tuple.
  auto as_arguments(std::span<const Array> arrays) const {
    auto all = with_arrays(like_, arrays);
    if constexpr (sizeof...(A) == 1)
      return std::get<0>(std::move(all));
    else
      return all;
  }

 private:
  const F& f_;
  std::tuple<A...> like_;
  std::optional<Result> result_;
};

}  // namespace detail

/// (value, gradient with respect to the first argument) of a function that gives a scalar: func::grad_and_value, in the
/// other order of torch's.
template <class F>
auto value_and_grad(F f) {
  return [f]<class T, class... A>(const T& x, const A&... rest) {
    const detail::TransformScope scope;
    const auto of_first = [&](T& first) { return f(first, rest...); };
    detail::Flat<decltype(of_first), T> flat(of_first, x);
    const auto [outputs, grads] = flat::value_and_grad(flat, flat.arguments(), "grad", detail::path);
    if (outputs.size() != 1) detail::raise_not_scalar("grad", outputs.size());
    return std::pair{from(outputs[0]), detail::with_arrays(x, grads)};
  };
}
/// The gradient with respect to the first argument of a function that gives a scalar: `torch.func.grad`.
template <class F>
auto grad(F f) {
  return [with = value_and_grad(std::move(f))](const auto&... arguments) { return with(arguments...).second; };
}
/// The value, and a function of cotangents like it that gives those of the arguments: `torch.func.vjp`.
template <class F, class... A>
auto vjp(const F& f, const A&... primals) {
  const detail::TransformScope scope;
  detail::Flat<F, A...> flat(f, primals...);
  auto [out, pullback] = flat::vjp(flat, flat.arguments(), "vjp", detail::path);
  auto value = flat.result(out);
  return std::pair{value, [pullback, like = std::tuple<A...>(primals...)](const decltype(value)& cotangents) {
                     const Arrays all = pullback.apply(detail::arrays_of(cotangents), detail::path);
                     auto gradients = detail::with_arrays(like, all);
                     if constexpr (sizeof...(A) == 1)
                       return std::get<0>(std::move(gradients));
                     else
                       return gradients;
                   }};
}
/// The value and its tangent: func::jvp(f, std::tuple{x, y}, std::tuple{dx, dy}). `torch.func.jvp`.
template <class F, class... A>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<A...>& tangents) {
  const detail::TransformScope scope;
  return std::apply(
      [&](const A&... p) {
        detail::Flat<F, A...> flat(f, p...);
        const auto [out, dot] = flat::jvp(flat, flat.arguments(), detail::arrays_of(tangents), detail::path);
        return std::pair{flat.result(out), flat.result(dot)};
      },
      primals);
}

/// Of vmap.
struct VmapOptions {
  std::vector<int> in_dims = {};  ///< per argument, of all its tensors; by default 0, and not_mapped is none
  int out_dim = 0;                ///< of all results
};
inline constexpr int not_mapped = flat::no_axis;  ///< an argument that is the same for all
/// f for each index of an axis of its arguments: `torch.func.vmap`.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f, options]<class... A>(const A&... arguments) {
    const detail::TransformScope scope;
    detail::Flat<F, A...> flat(f, arguments...);
    std::vector<int> axes;
    std::size_t k = 0;
    const auto add = [&](const auto& argument) {
      const int axis = k < options.in_dims.size() ? options.in_dims[k] : 0;
      ++k;
      detail::each_tensor(argument, [&](const Tensor&) { axes.push_back(axis); });
    };
    (add(arguments), ...);
    const auto out_axes = [&](std::size_t n) { return std::vector<int>(n, options.out_dim); };
    return flat.result(flat::vmap(flat, flat.arguments(), axes, out_axes, detail::path));
  };
}

namespace detail {
/// The Jacobian with respect to the first argument, a tensor, of a function that gives one.
template <class F>
auto jacobian(F f, bool forward) {
  return [f, forward]<class... A>(const Tensor& x, const A&... rest) {
    const TransformScope scope;
    const auto of_first = [&](Tensor& first) { return f(first, rest...); };
    Flat<decltype(of_first), Tensor> flat(of_first, x);
    const Arrays blocks = flat::jacobian(flat, flat.arguments(), forward, path);
    if (blocks.size() != 1) raise_not_scalar("jacobian", blocks.size());
    return from(blocks[0]);
  };
}
}  // namespace detail
/// Derivatives of shape (result…, argument…), backwards: for more arguments than results. `torch.func.jacrev`.
template <class F>
auto jacrev(F f) {
  return detail::jacobian(std::move(f), false);
}
/// The same, forwards: for more results than arguments. `torch.func.jacfwd`.
template <class F>
auto jacfwd(F f) {
  return detail::jacobian(std::move(f), true);
}
/// Second derivatives, of shape (result…, argument…, argument…). `torch.func.hessian`.
template <class F>
auto hessian(F f) {
  return jacfwd(jacrev(std::move(f)));
}

/// module(arguments…) with these tensors in the place of its parameters and buffers of those names:
/// `torch.func.functional_call`. As a function of them it is what grad and vmap take.
template <class M, class... A>
auto functional_call(const M& module, const std::map<std::string, Tensor>& parameters_and_buffers,
                     const A&... arguments) {
  torch::nn::detail::Listing all;
  torch::nn::detail::list(module, all);
  struct Restored {
    std::vector<std::pair<Tensor*, Tensor>> former;
    ~Restored() {
      for (auto& [place, tensor] : former) *place = tensor;
    }
  } restored;
  std::map<std::string, bool> known;
  for (const auto& entry : all.tensors) known[entry.path] = true;
  for (const auto& [name, tensor] : parameters_and_buffers)
    if (!known.contains(name)) detail::raise_unknown_name(name);
  for (const auto& entry : all.tensors)
    if (const auto at = parameters_and_buffers.find(entry.path); at != parameters_and_buffers.end()) {
      restored.former.emplace_back(entry.tensor, *entry.tensor);
      *entry.tensor = at->second;
    }
  return module(arguments...);
}

}  // namespace cotan::torch::func
