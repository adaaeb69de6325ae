// A small GPT-2 trained as in PyTorch: tied head, AdamW with two groups, clipped gradients.
#include "torch/models.hpp"

namespace torch_models {

namespace {

// [gpt]
struct Config {
  std::int64_t vocab = 48, context = 16, width = 32, heads = 2, layers = 2;
};

struct Attention {
  Config c;
  nn::Linear qkv{c.width, 3 * c.width}, proj{c.width, c.width};

  Tensor operator()(const Tensor& x) const {
    const std::int64_t b = x.size(0), t = x.size(1), e = x.size(2);
    std::vector<Tensor> parts = qkv(x).split(e, 2);
    for (Tensor& h : parts) h = h.view({b, t, c.heads, e / c.heads}).transpose(1, 2);
    const Tensor y = F::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
    return proj(y.transpose(1, 2).reshape({b, t, e}));
  }
};

struct Mlp {
  Config c;
  nn::Linear up{c.width, 4 * c.width}, down{4 * c.width, c.width};

  Tensor operator()(const Tensor& x) const { return down(F::gelu(up(x), "tanh")); }
};

struct Block {
  Config c;
  nn::LayerNorm norm1{c.width};
  Attention attn{c};
  nn::LayerNorm norm2{c.width};
  Mlp mlp{c};

  Tensor operator()(const Tensor& input) const {
    const Tensor x = input + attn(norm1(input));
    return x + mlp(norm2(x));
  }
};

struct Gpt {
  explicit Gpt(const Config& c)
      : wte(c.vocab, c.width),
        wpe(c.context, c.width),
        blocks(c.layers, [&] { return Block{c}; }),
        norm(c.width),
        head(c.width, c.vocab, {.bias = false}) {
    head.weight = wte.weight;
  }
  nn::Embedding wte, wpe;
  nn::ModuleList<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  COTAN_TREE(wte, wpe, blocks, norm, head)  // a struct with a constructor lists its fields

  Tensor operator()(const Tensor& tokens) const {
    Tensor x = wte(tokens) + wpe.weight(Slice(0, tokens.size(1)));
    for (const Block& block : blocks) x = block(x);
    return head(norm(x));
  }
};
// [/gpt]

TEST(TorchModels, Gpt) {
  const Golden golden("gpt");
  const auto load = [&](auto& net) { golden.load(net); };
  const std::vector<Tensor> batches = golden.data(0);
  std::vector<double> losses;
  // [gpt_loop]
  Gpt net{Config{}};
  load(net);
  std::vector<Tensor> decay, others;
  for (const Tensor& p : nn::parameters(net)) (p.dim() >= 2 ? decay : others).push_back(p);
  torch::optim::AdamW optimizer(
      {{decay, {.lr = 1e-3, .weight_decay = 0.1}}, {others, {.lr = 1e-3, .weight_decay = 0}}});
  for (const Tensor& tokens : batches) {
    optimizer.zero_grad();
    const Tensor logits = net(tokens(Slice(), Slice(0, -1)));
    const Tensor loss = F::cross_entropy(logits.flatten(0, 1), tokens(Slice(), Slice(1)).flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(nn::parameters(net), 1.0);
    optimizer.step();
    losses.push_back(loss.item());
  }
  // [/gpt_loop]
  golden.compare(net, losses);
}

}  // namespace

}  // namespace torch_models
