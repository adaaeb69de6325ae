#include "model.hpp"

#include <cmath>

namespace gpt {

namespace F = torch::nn::functional;

namespace {

nn::Parameter normal(const cotan::Shape& shape, double deviation) {
  return nn::Parameter(torch::randn(shape) * deviation);
}

}  // namespace

Conv1D::Conv1D(std::int64_t in, std::int64_t out, double deviation, const Config& config)
    : weight(normal({in, out}, deviation)), bias(nn::Parameter(torch::zeros({out}))) {
  if (config.lora_rank == 0) return;
  lora_a = normal({in, config.lora_rank}, 1 / std::sqrt(static_cast<double>(in)));
  lora_b = nn::Parameter(torch::zeros({config.lora_rank, out}));
  lora_scale = config.lora_alpha / static_cast<double>(config.lora_rank);
}

Tensor Conv1D::operator()(const Tensor& x) const {
  const Tensor y = torch::matmul(x, weight) + bias;
  return lora_a ? y + torch::matmul(torch::matmul(x, *lora_a), *lora_b) * lora_scale : y;
}

Attention::Attention(const Config& c, double deviation)
    : c_attn(c.n_embd, 3 * c.n_embd, 0.02, c),
      c_proj(c.n_embd, c.n_embd, deviation, c),
      heads(c.n_head),
      dropout(c.dropout) {}

Tensor Attention::operator()(const Tensor& x, const Window& window, std::size_t layer, bool training) const {
  const std::int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  const auto parts = torch::split(c_attn(x), width, 2);
  const auto by_head = [&](const Tensor& t) {
    return torch::transpose(torch::view(t, {batch, tokens, heads, width / heads}), 1, 2);
  };
  const Tensor q = by_head(parts[0]), k = by_head(parts[1]), v = by_head(parts[2]);
  Tensor mixed;
  if (window.cache) {
    const Tensor &keys = window.cache->keys[layer], &values = window.cache->values[layer];
    keys.index_copy_(2, window.positions, k);
    values.index_copy_(2, window.positions, v);
    mixed = F::scaled_dot_product_attention(q, keys, values, {.attn_mask = window.visible});
  } else
    mixed = F::scaled_dot_product_attention(q, k, v, {.dropout_p = training ? dropout : 0, .is_causal = true});
  return c_proj(torch::reshape(torch::transpose(mixed, 1, 2), {batch, tokens, width}));
}

Mlp::Mlp(const Config& c, double deviation)
    : c_fc(c.n_embd, 4 * c.n_embd, 0.02, c), c_proj(4 * c.n_embd, c.n_embd, deviation, c) {}
Tensor Mlp::operator()(const Tensor& x) const { return c_proj(F::gelu(c_fc(x), "tanh")); }

Block::Block(const Config& c, double deviation)
    : ln_1({c.n_embd}, {.eps = c.layer_norm_epsilon}),
      attn(c, deviation),
      ln_2({c.n_embd}, {.eps = c.layer_norm_epsilon}),
      mlp(c, deviation),
      dropout(c.dropout) {}
Tensor Block::operator()(const Tensor& x, const Window& window, std::size_t layer, bool training) const {
  const Tensor y = x + F::dropout(attn(ln_1(x), window, layer, training), dropout, training);
  return y + F::dropout(mlp(ln_2(y)), dropout, training);
}

Gpt::Gpt(const Config& c)
    : config(c),
      wte(c.vocab_size, c.n_embd),
      wpe(c.n_positions, c.n_embd),
      ln_f({c.n_embd}, {.eps = c.layer_norm_epsilon}) {
  c.check();
  wte.weight = normal({c.vocab_size, c.n_embd}, 0.02);
  wpe.weight = normal({c.n_positions, c.n_embd}, 0.01);
  // What is added to the residual stream is as small as there are summands (Radford et al., 2019).
  const double deviation = 0.02 / std::sqrt(2 * static_cast<double>(c.n_layer));
  for (std::int64_t i = 0; i < c.n_layer; ++i) h.emplace_back(c, deviation);
}

Tensor Gpt::operator()(const Tensor& tokens, Window window) const {
  if (!window.positions.defined())
    window.positions = torch::arange(0, tokens.size(1), 1, {.dtype = torch::int32, .device = tokens.device()});
  Tensor x = F::dropout(wte(tokens) + wpe(window.positions), config.dropout, training);
  for (std::size_t i = 0; i < h.size(); ++i) {
    const auto block = [&](const Tensor& y) { return h[i](y, window, i, training); };
    x = checkpoint && training ? torch::utils::checkpoint(block, x) : block(x);
  }
  return torch::matmul(ln_f(x), torch::transpose(wte.weight, 0, 1));
}

Tensor Gpt::loss(const Tensor& tokens, const Tensor& targets) const {
  const Tensor logits = (*this)(tokens);
  return F::cross_entropy(torch::view(logits, {-1, config.vocab_size}), torch::reshape(targets, {-1}));
}

}  // namespace gpt
