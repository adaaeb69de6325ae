#include <fmt/format.h>

#include <cotan/numpy.hpp>
#include <cotan/torch/function.hpp>

#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::autograd {

namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

/// What backward() says about tracers: tensors around them, which it records on.
Arrays gradients(detail::Backward backward, const Numbers& numbers, std::span<const Array> saved,
                 std::span<const Array> given, std::span<const Array> inputs) {
  AutogradContext context;
  for (const auto& [name, number] : numbers) context.saved_data[name] = number;
  std::vector<Tensor> tensors, cotangents;
  for (const Array& a : saved) tensors.push_back(from(a));
  for (const Array& a : given) cotangents.push_back(from(a));
  context.save_for_backward(std::move(tensors));
  const std::vector<Tensor> found = [&] {
    const no_grad off;
    return backward(&context, std::move(cotangents));
  }();
  if (found.size() != inputs.size())
    throw_with_line<ValueError>(fmt::format("[Function] backward() gives {} gradients for {} tensors; give one for each.",
                                            found.size(), inputs.size()));
  Arrays out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].defined() && found[i].sizes() != inputs[i].shape())
      throw_with_line<ShapeError>(
          fmt::format("[Function] backward() gives a gradient of shape {} for a tensor of shape {}; they must be equal.",
                      describe(found[i].sizes()), describe(inputs[i].shape())));
    out.push_back(found[i].defined() ? found[i].array().astype(inputs[i].dtype()) : numpy::zeros_like(inputs[i]));
  }
  return out;
}

}  // namespace

std::vector<Tensor> detail::connected(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                                      const AutogradContext& context, Backward backward) {
  static const auto op = torch::detail::define(
      "Function", {},
      [](const Arrays& in, const Arrays& out, const Arrays& saved, std::uint64_t function, const Numbers& numbers) {
        Arrays args = in;
        args.insert(args.end(), out.begin(), out.end());
        args.insert(args.end(), saved.begin(), saved.end());
        const std::size_t a = in.size(), b = a + out.size();
        const auto values = [a, b](std::span<const Array> all) {
          return Arrays(all.begin() + static_cast<std::ptrdiff_t>(a), all.begin() + static_cast<std::ptrdiff_t>(b));
        };
        return flat::custom_vjp(
            values, [values](std::span<const Array> all) { return std::pair{values(all), Arrays(all.begin(), all.end())}; },
            [a, b, function, numbers](std::span<const Array> rest) {
              const std::size_t all = rest.size() - (b - a);  // residuals, then cotangents
              Arrays result = gradients(reinterpret_cast<Backward>(function), numbers, rest.subspan(b, all - b),
                                        rest.subspan(all), rest.first(a));
              for (std::size_t i = a; i < all; ++i) result.push_back(numpy::zeros_like(rest[i]));
              return result;
            },
            args, "Function");
      });
  const Numbers numbers(context.saved_data.begin(), context.saved_data.end());
  std::vector<Tensor> kept;  // results among them are what forward() computed
  for (const Tensor& t : context.get_saved_variables()) kept.push_back(t);
  const std::vector<Tensor> results =
      op(std::span(inputs), std::span(outputs), std::span(std::as_const(kept)),
         reinterpret_cast<std::uint64_t>(backward), numbers);
  const auto& node = results[0].impl().read().node;
  if (node->requires_grad)
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto& storage = kept[i].impl().storage;
      node->saved.push_back({storage, storage->version, static_cast<int>(i)});
    }
  return results;
}

namespace {

using F = std::function<Tensor(const std::vector<Tensor>&)>;

/// A sum in which every element counts otherwise.
Tensor weighed(const Tensor& y) {
  std::vector<double> weights;
  for (std::int64_t k = 0; k < y.numel(); ++k) weights.push_back(1 + static_cast<double>(7 * k % 13) / 13);
  return (y * from(Array::from_host(weights, y.sizes()))).sum();
}

}  // namespace

bool gradcheck(const F& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options,
               std::source_location where) {
  const torch::detail::At at(where);
  const std::vector<Tensor> found =
      grad(std::vector{weighed(f(inputs))}, inputs, {.allow_unused = true});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != f64)
      throw_with_line<TypeError>("[gradcheck] differences need float64 inputs; use to(torch::float64).");
    const std::vector<double> values = inputs[i].to_vector<double>();
    const auto moved = [&](std::size_t k, double by) {
      std::vector<double> there = values;
      there[k] += by;
      std::vector<Tensor> x = inputs;
      x[i] = from(Array::from_host(there, inputs[i].sizes()), true);
      return weighed(f(x)).item<double>();
    };
    const std::vector<double> derivative =
        found[i].defined() ? found[i].to_vector<double>() : std::vector<double>(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double expected = (moved(k, options.eps) - moved(k, -options.eps)) / (2 * options.eps);
      if (!(std::abs(derivative[k] - expected) <= options.atol + options.rtol * std::abs(expected)))
        throw_with_line<ValueError>(fmt::format(
            "[gradcheck] the derivative with respect to element {} of input {} is {}, and differences say {}; see the "
            "rule of the function.",
            k, i, derivative[k], expected));
    }
  }
  return true;
}

bool gradgradcheck(const F& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options,
                   std::source_location where) {
  const auto first = [&](const std::vector<Tensor>& x) {
    Tensor sum;
    for (const Tensor& g : grad(std::vector{weighed(f(x))}, x, {.create_graph = true, .allow_unused = true}))
      if (g.defined()) sum = sum.defined() ? sum + weighed(g) : weighed(g);
    return sum;
  };
  return gradcheck(first, inputs, options, where);
}

}  // namespace cotan::torch::autograd
