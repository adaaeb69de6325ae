// cotan's side of whole training steps, through its torch frontend: a GPT-2 with AdamW and clipping, a ResNet-18, text
// from a GPT-2 with a cache of keys and values. peers/torch_training.py has the same in PyTorch.
#include <cmath>
#include <cotan/torch.hpp>
#include <memory>

#include "cotan_case.hpp"

namespace bench {
namespace {

namespace torch = cotan::torch;
namespace nn = cotan::torch::nn;
namespace F = cotan::torch::nn::functional;
using torch::Tensor;

Tensor trained(const ct::Array& a) { return torch::from(a, true); }

struct Block {
  Tensor scale1, offset1, qkv, qkv_bias, out, out_bias, scale2, offset2, widen, widen_bias, narrow, narrow_bias;
};

struct Gpt {
  explicit Gpt(const Parameters& p) : heads(p["heads"]), width(p["width"]) {
    const auto weight = [](std::int64_t rows, std::int64_t columns, std::uint32_t seed, float spread) {
      return trained(random_array({rows, columns}, seed) * spread);
    };
    const auto matrix = [&](std::int64_t rows, std::int64_t columns, std::uint32_t seed) {
      return weight(rows, columns, seed, static_cast<float>(1 / std::sqrt(static_cast<double>(rows))));
    };
    const auto ones = [&] { return trained(np::ones({width})); };
    const auto zeros = [](std::int64_t size) { return trained(np::zeros({size})); };
    wte = weight(p["vocabulary"], width, 1, 0.035F);
    wpe = weight(p["positions"], width, 2, 0.017F);
    last_scale = ones(), last_offset = zeros(width);
    for (std::int64_t k = 0; k < p["layers"]; ++k) {
      const auto seed = static_cast<std::uint32_t>(10 * (k + 1));
      blocks.push_back({ones(), zeros(width), matrix(width, 3 * width, seed), zeros(3 * width),
                        matrix(width, width, seed + 1), zeros(width), ones(), zeros(width),
                        matrix(width, 4 * width, seed + 2), zeros(4 * width), matrix(4 * width, width, seed + 3),
                        zeros(width)});
    }
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all{wte, wpe, last_scale, last_offset};
    for (const Block& b : blocks)
      for (const Tensor& t : {b.scale1, b.offset1, b.qkv, b.qkv_bias, b.out, b.out_bias, b.scale2, b.offset2, b.widen,
                              b.widen_bias, b.narrow, b.narrow_bias})
        all.push_back(t);
    return all;
  }
  Tensor norm(const Tensor& x, const Tensor& scale, const Tensor& offset) const {
    return F::layer_norm(x, {width}, scale, offset);
  }
  /// With keys and values of the tokens so far, [1, heads, positions, width of a head], which take those of x in.
  struct Cache {
    Tensor keys, values, at, visible;
  };
  Tensor block(const Tensor& x, const Block& b, const Cache* cache = nullptr) const {
    const std::int64_t batch = x.size(0), tokens = x.size(1);
    const auto parts = torch::split(torch::matmul(norm(x, b.scale1, b.offset1), b.qkv) + b.qkv_bias, width, 2);
    const auto by_head = [&](const Tensor& t) {
      return torch::transpose(torch::view(t, {batch, tokens, heads, width / heads}), 1, 2);
    };
    const Tensor q = by_head(parts[0]), k = by_head(parts[1]), v = by_head(parts[2]);
    if (cache) cache->keys.index_copy_(2, cache->at, k), cache->values.index_copy_(2, cache->at, v);
    const Tensor mixed =
        cache ? F::scaled_dot_product_attention(q, cache->keys, cache->values, {.attn_mask = cache->visible})
              : F::scaled_dot_product_attention(q, k, v, {.is_causal = true});
    const Tensor joined = torch::reshape(torch::transpose(mixed, 1, 2), {batch, tokens, width});
    const Tensor y = x + torch::matmul(joined, b.out) + b.out_bias;
    const Tensor wide = torch::matmul(norm(y, b.scale2, b.offset2), b.widen) + b.widen_bias;
    return y + torch::matmul(F::gelu(wide, "tanh"), b.narrow) + b.narrow_bias;
  }
  Tensor operator()(const Tensor& words) const {
    Tensor x = F::embedding(words, wte) + torch::slice(wpe, 0, 0, words.size(1));
    for (const Block& b : blocks) x = block(x, b);
    return torch::matmul(norm(x, last_scale, last_offset), torch::transpose(wte, 0, 1));
  }
  std::int64_t heads, width;
  Tensor wte, wpe, last_scale, last_offset;
  std::vector<Block> blocks;
};

/// A call is a step that goes on from the one before; the numbers are the losses of the first three.
Case steps(const std::function<std::function<Tensor()>()>& begin) {
  const auto step = std::make_shared<std::function<Tensor()>>(begin());
  const auto last = std::make_shared<Tensor>();
  return {.call =
              [=] {
                *last = (*step)();
                last->item();
              },
          .check =
              [=] {
                const auto fresh = begin();
                std::vector<double> losses;
                for (int i = 0; i < 3; ++i) losses.push_back(fresh().item());
                return losses;
              }};
}

std::function<Tensor()> gpt2(const Parameters& p) {
  const auto net = std::make_shared<Gpt>(p);
  const auto all = net->parameters();
  const auto optimizer =
      std::make_shared<torch::optim::AdamW>(all, torch::optim::AdamWOptions{.lr = 1e-3, .weight_decay = 0.01});
  const std::int64_t vocabulary = p["vocabulary"];
  const Tensor words = torch::from(random_indices({p["batch"], p["tokens"]}, 3, vocabulary));
  const Tensor following = torch::from(random_indices({p["batch"], p["tokens"]}, 4, vocabulary));
  const bool half = p.text("dtype") == "bf16";
  return [=] {
    optimizer->zero_grad();
    Tensor logits;
    {
      const torch::autocast lower(torch::bfloat16, half);
      logits = (*net)(words);
    }
    const Tensor loss = F::cross_entropy(torch::view(torch::to(logits, torch::float32), {-1, vocabulary}),
                                         torch::view(following, {-1}));
    loss.backward();
    logits = Tensor();  // nobody reads them
    nn::utils::clip_grad_norm_(all, 1.0);
    optimizer->step();
    return loss;
  };
}

struct Residual {
  Residual(std::int64_t channels, std::int64_t out, std::int64_t stride)
      : conv1(channels, out, 3, {.stride = stride, .padding = 1, .bias = false}),
        bn1(out),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        bn2(out) {
    if (stride == 1 && channels == out) return;
    short_conv.emplace(channels, out, 1, nn::ConvLayerOptions{.stride = stride, .bias = false});
    short_bn.emplace(out);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = bn2(conv2(torch::relu(bn1(conv1(x)))));
    return torch::relu(y + (short_conv ? (*short_bn)((*short_conv)(x)) : x));
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  std::optional<nn::Conv2d> short_conv;
  std::optional<nn::BatchNorm2d> short_bn;
  COTAN_TREE(conv1, bn1, conv2, bn2, short_conv, short_bn)
};
struct ResNet {
  explicit ResNet(std::int64_t classes)
      : conv(3, 64, 7, {.stride = 2, .padding = 3, .bias = false}), bn(64), head(512, classes) {
    std::int64_t channels = 64;
    for (const auto& [out, stride] : {std::pair{64, 1}, {128, 2}, {256, 2}, {512, 2}}) {
      blocks.emplace_back(channels, out, stride);
      blocks.emplace_back(out, out, 1);
      channels = out;
    }
  }
  Tensor operator()(const Tensor& images) const {
    Tensor x = F::max_pool2d(torch::relu(bn(conv(images))), 3, {.stride = 2, .padding = 1});
    for (const Residual& b : blocks) x = b(x);
    return head(torch::flatten(F::adaptive_avg_pool2d(x, {1, 1}), 1));
  }
  nn::Conv2d conv;
  nn::BatchNorm2d bn;
  std::vector<Residual> blocks;
  nn::Linear head;
  COTAN_TREE(conv, bn, blocks, head)
};

std::function<Tensor()> resnet(const Parameters& p) {
  const auto net = std::make_shared<ResNet>(p["classes"]);
  {
    const torch::no_grad off;
    std::uint32_t seed = 0;
    for (const Tensor& t : nn::parameters(*net)) {
      if (t.dim() < 2) continue;
      const double spread = std::sqrt(6.0 / (static_cast<double>(t.numel()) / static_cast<double>(t.size(0))));
      t.copy_(torch::from(random_array(t.sizes(), ++seed) * static_cast<float>(spread)));
    }
    net->head.bias.zero_();
  }
  const auto optimizer =
      std::make_shared<torch::optim::SGD>(nn::parameters(*net), torch::optim::SGDOptions{.lr = 0.01, .momentum = 0.9});
  const Tensor x = torch::from(random_array({p["batch"], 3, p["size"], p["size"]}, 51));
  const Tensor labels = torch::from(random_indices({p["batch"]}, 52, p["classes"]));
  return [=] {
    optimizer->zero_grad();
    const Tensor loss = F::cross_entropy((*net)(x), labels);
    loss.backward();
    optimizer->step();
    return loss;
  };
}

/// Text from a prompt, always the most likely token: the prompt in one call, then one loop, compiled.
Case decode(const Parameters& p) {
  const auto net = std::make_shared<Gpt>(p);
  const std::int64_t prompt = p["prompt"], fresh = p["new_tokens"], heads = p["heads"];
  const ct::Shape shape{1, heads, prompt + fresh, p["width"] / heads};
  using Arrays = std::vector<ct::Array>;  // keys and values of each block
  const auto logits_of = [net, shape](Arrays& caches, const ct::Array& words, const ct::Array& first) {
    const torch::no_grad off;
    const ct::Array at = first + np::arange(static_cast<double>(words.shape(1)), ct::i32);
    const ct::Array all = np::arange(static_cast<double>(shape[2]), ct::i32);
    const Tensor places = torch::from(at), visible = torch::from(all(ct::newaxis, ct::all) <= at(ct::all, ct::newaxis));
    Tensor x = F::embedding(torch::from(words), net->wte) + F::embedding(places, net->wpe);
    std::vector<Gpt::Cache> seen;
    for (std::size_t i = 0; i < net->blocks.size(); ++i) {
      seen.push_back({torch::from(caches[2 * i]), torch::from(caches[2 * i + 1]), places, visible});
      x = net->block(x, net->blocks[i], &seen.back());
    }
    const Tensor last = torch::select(net->norm(x, net->last_scale, net->last_offset), 1, -1);
    const ct::Array out = torch::matmul(last, torch::transpose(net->wte, 0, 1)).array();
    for (std::size_t i = 0; i < seen.size(); ++i)
      caches[2 * i] = seen[i].keys.array(), caches[2 * i + 1] = seen[i].values.array();
    return np::argmax(out, -1).astype(ct::i32);
  };
  const auto text = [=](const ct::Array& words) {
    Arrays caches(2 * net->blocks.size(), np::zeros(shape));
    const ct::Array token = logits_of(caches, words, np::array(0));
    const auto step = [=](const std::tuple<Arrays, ct::Array, ct::Array>& carry, ct::None) {
      auto [seen, last, position] = carry;
      const ct::Array next = logits_of(seen, last(ct::all, ct::newaxis), position);
      return std::pair{std::tuple{seen, next, position + 1}, last};
    };
    return ct::lax::scan(step, std::tuple{caches, token, np::array(static_cast<int>(prompt))}, ct::lax::length(fresh))
        .second;
  };
  const auto compiled = ct::jit(text);
  const ct::Array words = random_indices({1, prompt}, 3, p["vocabulary"]);
  return {.call = [=] { wait_for(compiled(words)); },
          .check = [=] { return compiled(words).template to_vector<double>(); }};
}

/// What a step of 1,000 operations costs the host: a chain of them on few numbers, its gradient, an update.
std::function<Tensor()> recorded(const Parameters& p) {
  const Tensor w = trained(np::ones({8}));
  const auto optimizer =
      std::make_shared<torch::optim::SGD>(std::vector<Tensor>{w}, torch::optim::SGDOptions{.lr = 1e-6});
  return [=, operations = p["operations"]] {
    optimizer->zero_grad();
    Tensor x = w;
    for (std::int64_t i = 0; i < operations / 2; ++i) x = x * 0.999 + w;
    const Tensor loss = torch::sum(x);
    loss.backward();
    optimizer->step();
    return loss;
  };
}

const Register all[] = {
    {"cotan", "gpt2_train", [](const Parameters& p) { return steps([p] { return gpt2(p); }); }},
    {"cotan", "resnet_train", [](const Parameters& p) { return steps([p] { return resnet(p); }); }},
    {"cotan", "gpt2_decode", decode},
    {"cotan", "recorded_step", [](const Parameters& p) { return steps([p] { return recorded(p); }); }},
};

}  // namespace
}  // namespace bench
