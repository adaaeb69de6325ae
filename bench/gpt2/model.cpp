#include "model.hpp"

#include <cmath>

#include "../workload.hpp"

namespace gpt2 {

namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace optax = cotan::optax;

namespace {

Array layer_norm(const Array& x, const Affine& p) { return ct::nn::standardize(x) * p.weight + p.bias; }
Array linear(const Array& x, const Affine& p) { return np::matmul(x, p.weight) + p.bias; }
Array feed_forward(const Array& x, const Block& b) { return linear(ct::nn::gelu(linear(x, b.widen)), b.narrow); }

Array attention(const Sizes& s, const Array& x, const Block& b) {
  const std::int64_t batch = x.shape(0), tokens = x.shape(1);
  const auto parts = np::split(linear(x, b.qkv), 3, -1);
  const auto head = [&](int k) {
    return parts[static_cast<std::size_t>(k)].reshape({batch, tokens, s.heads, s.width / s.heads});
  };
  const Array mixed = ct::nn::dot_product_attention(head(0), head(1), head(2), {.is_causal = true});
  return linear(mixed.reshape(x.shape()), b.out);
}

/// Keys and values of a layer, [context, heads, width of a head].
struct Cache {
  Array keys, values;
};

/// One token, [width], at a place: what it becomes, and the cache with it.
std::pair<Array, Cache> step_of_block(const Sizes& s, const Array& x, const Block& b, const Cache& cache,
                                      const Array& place) {
  const std::int64_t each = s.width / s.heads, length = cache.keys.shape(0);
  const Array qkv = linear(layer_norm(x, b.norm_1), b.qkv).reshape({3, 1, s.heads, each});
  const Cache next{lax::dynamic_update_slice(cache.keys, qkv[1], {place, 0, 0}),
                   lax::dynamic_update_slice(cache.values, qkv[2], {place, 0, 0})};
  const Array seen = (np::arange(length) <= place).reshape({1, 1, length});
  const Array mixed = ct::nn::dot_product_attention(qkv[0], next.keys, next.values, {.mask = seen});
  const Array attended = x + linear(mixed.reshape({s.width}), b.out);
  return {attended + feed_forward(layer_norm(attended, b.norm_2), b), next};
}

}  // namespace

Params first_params(const Sizes& s) {
  std::uint32_t seed = 1;
  const auto weight = [&](const ct::Shape& shape, double scale) {
    const std::size_t size = static_cast<std::size_t>(shape[0] * shape[1]);
    return Array::from_host(bench::uniform<float>(size, seed++), shape) * scale;
  };
  const auto norm = [&] { return Affine{np::ones({s.width}), np::zeros({s.width})}; };
  const auto affine = [&](std::int64_t from, std::int64_t to) {
    return Affine{weight({from, to}, 1 / std::sqrt(static_cast<double>(from))), np::zeros({to})};
  };
  Params p{weight({s.vocabulary, s.width}, 0.02), weight({s.context, s.width}, 0.02), {}, norm()};
  for (std::int64_t k = 0; k < s.layers; ++k) {
    // One after the other: each has a seed of its own.
    Affine qkv = affine(s.width, 3 * s.width), out = affine(s.width, s.width), widen = affine(s.width, 4 * s.width),
           narrow = affine(4 * s.width, s.width);
    p.blocks.push_back({norm(), qkv, out, norm(), widen, narrow});
  }
  return p;
}

Array loss(const Sizes& s, const Params& p, const Array& tokens, const Array& next) {
  Array x = p.words(tokens) + p.positions(ct::range(0, tokens.shape(1)));
  for (const Block& b : p.blocks) {
    x = x + attention(s, layer_norm(x, b.norm_1), b);
    x = x + feed_forward(layer_norm(x, b.norm_2), b);
  }
  const Array scores = np::matmul(layer_norm(x, p.norm), p.words.T());
  return np::mean(optax::softmax_cross_entropy_with_integer_labels(scores, next));
}

optax::GradientTransformation optimizer() {
  return optax::chain(optax::clip_by_global_norm(1.0), optax::adamw({.learning_rate = 3e-4, .weight_decay = 0.01}));
}

std::pair<Training, Array> train(const Sizes& s, const Training& state, const Array& tokens, const Array& next) {
  const auto of = [&](const Params& p) { return loss(s, p, tokens, next); };
  const auto [value, gradients] = ct::value_and_grad(of)(state.params);
  auto [updates, remembered] = optimizer().update(gradients, state.optimizer, state.params);
  return {{optax::apply_updates(state.params, updates), remembered}, value};
}

Array generate(const Sizes& s, const Params& p, const Array& prompt, std::int64_t count) {
  const std::int64_t given = prompt.shape(0), length = given + count;
  const Array empty = np::zeros({length, s.heads, s.width / s.heads});
  // Its text, and what every layer has seen of it; the prompt is read a token at a time, too.
  std::pair state{np::concatenate({prompt, np::zeros({count}, ct::i32)}, 0),
                  std::vector<Cache>(static_cast<std::size_t>(s.layers), Cache{empty, empty})};
  const auto step = [&](const Array& place, const std::pair<Array, std::vector<Cache>>& before) {
    auto [text, caches] = before;
    Array x = p.words[text[place]] + p.positions[place];
    for (std::size_t k = 0; k < p.blocks.size(); ++k)
      std::tie(x, caches[k]) = step_of_block(s, x, p.blocks[k], caches[k], place);
    const Array likely = np::argmax(np::matmul(p.words, layer_norm(x, p.norm))).astype(ct::i32);
    const Array chosen = np::where(place + 1 < given, text[np::minimum(place + 1, length - 1)], likely);
    return std::pair{lax::dynamic_update_slice(text, chosen.reshape({1}), {place + 1}), caches};
  };
  return lax::fori_loop(0, length - 1, step, state).first;
}

}  // namespace gpt2
