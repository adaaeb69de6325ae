// GPT-2 as a user writes it on the functional API: structs of Arrays, functions over them, an optimizer of optax.
#pragma once
#include <cotan/cotan.hpp>
#include <cotan/optax.hpp>
#include <utility>
#include <vector>

namespace gpt2 {

namespace ct = cotan;
using ct::Array;

struct Sizes {
  std::int64_t layers = 6, width = 768, heads = 12, vocabulary = 50257, context = 1024;
};

struct Affine {
  Array weight, bias;
};
struct Block {
  Affine norm_1, qkv, out, norm_2, widen, narrow;
};
struct Params {
  Array words, positions;
  std::vector<Block> blocks;
  Affine norm;
};
struct Training {
  Params params;
  ct::optax::State optimizer;
};

/// The same weights in every peer: uniform, by the position (bench/workload.hpp).
Params first_params(const Sizes& sizes);

/// Of tokens [B, T] and those that follow: the mean cross-entropy.
Array loss(const Sizes& sizes, const Params& params, const Array& tokens, const Array& next);

/// AdamW behind clipping by the global norm.
ct::optax::GradientTransformation optimizer();
/// One step; gives the loss before it.
std::pair<Training, Array> train(const Sizes& sizes, const Training& state, const Array& tokens, const Array& next);

/// The most likely `count` tokens after `prompt` [T], one after the other with a cache of keys and values, in one loop.
Array generate(const Sizes& sizes, const Params& params, const Array& prompt, std::int64_t count);

}  // namespace gpt2
