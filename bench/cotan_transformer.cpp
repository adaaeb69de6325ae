// cotan's side of: a training step of a transformer with GPT-2's layers, in a half format over f32 weights. The peer
// "plain" is cotan too: the same step in f32.
#include <cmath>

#include "cotan_case.hpp"

namespace bench {
namespace {

using ct::Array;
namespace lax = cotan::lax;

struct Block {
  Array norm_scale, norm_offset, project_qkv, project_out, mlp_scale, mlp_offset, widen, narrow;
};
struct Transformer {
  Array embedding, positions;
  std::vector<Block> blocks;
};

/// Sums over rows are f32, whatever the network computes in.
Array layer_norm(const Array& x, const Array& scale, const Array& offset) {
  const Array wide = x.astype(ct::f32), mean = np::mean(wide, -1, true), variance = np::var(wide, -1, true);
  return ((wide - mean) * lax::rsqrt(variance + 1e-5) * scale + offset).astype(x.dtype());
}

Array gelu(const Array& x) {
  constexpr double root = 0.7978845608;  // sqrt(2 / pi)
  return 0.5 * x * (1.0 + np::tanh(root * (x + 0.044715 * x * x * x)));
}

Array block_of(const Array& x, const Block& b, std::int64_t heads) {
  const std::int64_t batch = x.shape(0), tokens = x.shape(1), width = x.shape(2);
  const auto project = [&](const Array& y, const Array& weight) { return np::matmul(y, weight.astype(x.dtype())); };
  const Array qkv = project(layer_norm(x, b.norm_scale, b.norm_offset), b.project_qkv)
                        .reshape({batch, tokens, 3, heads, width / heads})
                        .transpose({2, 0, 1, 3, 4});
  const Array mixed = ct::nn::dot_product_attention(qkv[0], qkv[1], qkv[2], {.is_causal = true});
  const Array attended = x + project(mixed.reshape({batch, tokens, width}), b.project_out);
  return attended + project(gelu(project(layer_norm(attended, b.mlp_scale, b.mlp_offset), b.widen)), b.narrow);
}

Case training_step(const Parameters& p, ct::DType dtype) {
  const std::int64_t width = p["width"], heads = p["heads"], tokens = p["tokens"], vocabulary = p["vocabulary"];
  const auto weight = [](std::int64_t from, std::int64_t to, std::uint32_t seed) {
    return random_array({from, to}, seed) * (1.0 / std::sqrt(static_cast<double>(from)));
  };
  Transformer network{weight(vocabulary, width, 1), weight(tokens, width, 2), {}};
  for (std::int64_t k = 0; k < p["layers"]; ++k) {
    const auto seed = static_cast<std::uint32_t>(10 * (k + 1));
    network.blocks.push_back({np::ones({width}), np::zeros({width}), weight(width, 3 * width, seed),
                              weight(width, width, seed + 1), np::ones({width}), np::zeros({width}),
                              weight(width, 4 * width, seed + 2), weight(4 * width, width, seed + 3)});
  }
  const auto loss = [dtype, heads](const Transformer& n, const Array& words, const Array& next) {
    const Array embedding = n.embedding.astype(dtype);
    Array x = embedding(words) + n.positions.astype(dtype);
    for (const Block& b : n.blocks) x = block_of(x, b, heads);
    const Array scores = np::matmul(x, embedding.T()).astype(ct::f32);
    const Array chosen = np::take_along_axis(scores, next(ct::ellipsis, ct::newaxis), -1);
    return np::mean(np::logsumexp(scores, -1, true) - chosen);
  };
  const auto step = [loss](const Transformer& n, const Array& words, const Array& next) {
    auto [value, gradient] = ct::value_and_grad(loss)(n, words, next);
    return std::pair{value, ct::tree::map([](const Array& w, const Array& g) { return w - 0.01 * g; }, n, gradient)};
  };
  const auto words = [&](std::uint32_t seed) { return random_indices({p["batch"], tokens}, seed, vocabulary); };
  return jitted(step, network, words(3), words(4));
}

const Register all[] = {
    {"cotan", "transformer_step", [](const Parameters& p) { return training_step(p, ct::bf16); }},
    {"plain", "transformer_step", [](const Parameters& p) { return training_step(p, ct::f32); }},
};

}  // namespace
}  // namespace bench
