// GPT-2 as PyTorch's users write it: modules are structs. Names of parameters are those of Hugging Face's checkpoints.
#pragma once
#include <cotan/torch.hpp>
#include <cotan/tree_fields.hpp>

#include "config.hpp"

namespace gpt {

namespace torch = cotan::torch;
namespace nn = cotan::torch::nn;
using torch::Tensor;

/// Keys and values of the tokens so far, [batch, heads, n_positions, width of a head], by layer; written in place.
struct Cache {
  std::vector<Tensor> keys, values;
};
/// Where the tokens of a call stand: with a cache behind what it has, from `first` (a 0-d tensor) on.
struct Window {
  Cache* cache = nullptr;
  Tensor positions;  ///< [tokens]
  Tensor visible;    ///< [tokens, n_positions], with a cache: what each token may look at
};

/// x weight + bias, weight [in, out] as GPT-2's checkpoints have it; with LoRA a product of two thin matrices besides.
struct Conv1D {
  Conv1D(std::int64_t in, std::int64_t out, double deviation, const Config& config);
  Tensor operator()(const Tensor& x) const;
  nn::Parameter weight, bias;
  std::optional<nn::Parameter> lora_a, lora_b;
  double lora_scale = 0;
  COTAN_TREE(weight, bias, lora_a, lora_b)
};

struct Attention {
  Attention(const Config& config, double deviation);
  Tensor operator()(const Tensor& x, const Window& window, std::size_t layer, bool training) const;
  Conv1D c_attn, c_proj;
  std::int64_t heads;
  double dropout;
  COTAN_TREE(c_attn, c_proj)
};

struct Mlp {
  Mlp(const Config& config, double deviation);
  Tensor operator()(const Tensor& x) const;
  Conv1D c_fc, c_proj;
  COTAN_TREE(c_fc, c_proj)
};

struct Block {
  Block(const Config& config, double deviation);
  Tensor operator()(const Tensor& x, const Window& window, std::size_t layer, bool training) const;
  nn::LayerNorm ln_1;
  Attention attn;
  nn::LayerNorm ln_2;
  Mlp mlp;
  double dropout;
  COTAN_TREE(ln_1, attn, ln_2, mlp)
};

struct Gpt {
  explicit Gpt(const Config& config);
  /// Logits [batch, tokens, vocabulary] of tokens [batch, tokens].
  Tensor operator()(const Tensor& tokens, Window window = {}) const;
  /// The mean cross-entropy of what comes next.
  Tensor loss(const Tensor& tokens, const Tensor& targets) const;
  Config config;
  bool training = true;
  bool checkpoint = false;  ///< blocks are computed again in the backward pass
  nn::Embedding wte, wpe;
  std::vector<Block> h;
  nn::LayerNorm ln_f;
  COTAN_TREE(wte, wpe, h, ln_f)
};

}  // namespace gpt
