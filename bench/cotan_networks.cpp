// cotan's side of: convolution and its gradients, an attention block, a training step of an MLP.
#include <cmath>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace lax = cotan::lax;

/// Causal self-attention with its projections and residual; x: (batch, tokens, width).
Array attention(const Array& x, const Array& project_qkv, const Array& project_out, std::int64_t heads) {
  const std::int64_t batch = x.shape(0), tokens = x.shape(1), width = x.shape(2), depth = width / heads;
  const Array qkv = np::matmul(x, project_qkv).reshape({batch, tokens, 3, heads, depth}).transpose({2, 0, 1, 3, 4});
  const Array mixed = ct::nn::dot_product_attention(qkv[0], qkv[1], qkv[2], {.is_causal = true});
  return x + np::matmul(mixed.reshape({batch, tokens, width}), project_out);
}

struct Layer {
  Array weight, bias;
};
using Network = std::vector<Layer>;

Array cross_entropy(const Network& network, const Array& x, const Array& labels) {
  Array h = x;
  for (std::size_t i = 0; i < network.size(); ++i) {
    h = np::matmul(h, network[i].weight) + network[i].bias;
    if (i + 1 < network.size()) h = np::maximum(h, 0.0);
  }
  const Array log_probability = h - np::logsumexp(h, -1, true);
  const Array one_hot = (labels(ct::all, ct::newaxis) == np::arange(h.shape(1))).astype(h.dtype());
  return -np::mean(np::sum(one_hot * log_probability, -1));
}

std::pair<Array, Network> training_step(const Network& network, const Array& x, const Array& labels) {
  auto [loss, gradient] = ct::value_and_grad(cross_entropy)(network, x, labels);
  return {loss, ct::tree::map([](const Array& p, const Array& g) { return p - 0.1 * g; }, network, gradient)};
}

Network random_network(const std::vector<std::int64_t>& widths) {
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto seed = static_cast<std::uint32_t>(10 + i);
    network.push_back(
        {random_array({widths[i], widths[i + 1]}, seed) * (1.0 / std::sqrt(static_cast<double>(widths[i]))),
         np::zeros({widths[i + 1]})});
  }
  return network;
}

/// 3x3, stride 1, same size; NCHW and OIHW.
Array convolution(const Array& x, const Array& kernel) {
  return cotan::lax::conv_general_dilated(x, kernel, {.padding = {{1, 1}, {1, 1}}});
}

Array image(const Parameters& p, std::uint32_t seed) {
  return random_array({p["batch"], p["channels"], p["size"], p["size"]}, seed);
}
Array kernel(const Parameters& p) { return random_array({p["channels"], p["channels"], 3, 3}, 2) * 0.125; }

const Register all[] = {
    {"cotan", "conv2d", [](const Parameters& p) { return jitted(convolution, image(p, 1), kernel(p)); }},
    {"cotan", "conv2d_grad",
     [](const Parameters& p) {
       return jitted([](const Array& x, const Array& weights,
                        const Array& cotangent) { return ct::vjp(convolution, x, weights).second(cotangent); },
                     image(p, 1), kernel(p), image(p, 3));
     }},
    {"cotan", "attention",
     [](const Parameters& p) {
       const std::int64_t width = p["width"];
       const double scale = 1.0 / std::sqrt(static_cast<double>(width));
       return jitted(
           [heads = p["heads"]](const Array& x, const Array& project_qkv, const Array& project_out) {
             return attention(x, project_qkv, project_out, heads);
           },
           random_array({p["batch"], p["tokens"], width}, 1), random_array({width, 3 * width}, 2) * scale,
           random_array({width, width}, 3) * scale);
     }},
    {"cotan", "mlp_step",
     [](const Parameters& p) {
       const std::vector<std::int64_t> widths = p.list("layers");
       return jitted(training_step, random_network(widths), random_array({p["batch"], widths.front()}, 1),
                     random_indices({p["batch"]}, 2, widths.back()));
     }},
};

}  // namespace
}  // namespace bench
