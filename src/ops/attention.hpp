// Attention and what its derivatives are made of: how the operands of the three primitives are laid out, and what each
// of them is in terms of other operations.
#pragma once
#include "ops/ops.hpp"

namespace cotan::ops {

/// What a score is where the mask is false: finite, so that rows without any key are the mean of all values, as in JAX.
inline constexpr double masked_score = -0.7 * 3.4028234663852886e38;

/// The operands that all three begin with: query [batch…, T, N, H], key and value [batch…, S, K, H] (N a multiple of
/// K), a bias and a mask [batch…, N, T, S] where there are, with axes of one where they are broadcast.
struct AttentionOperands {
  bool has_bias, has_mask, is_causal;
  double scale;
  std::size_t count;  ///< of them

  explicit AttentionOperands(const Params& p)
      : has_bias(p.flag("has_bias")),
        has_mask(p.flag("has_mask")),
        is_causal(p.flag("is_causal")),
        scale(p.get<double>("scale")),
        count(3u + has_bias + has_mask) {}
  std::size_t bias() const { return 3; }
  std::size_t mask() const { return 3u + has_bias; }
};
/// Their sizes, from the types of query and key.
struct AttentionSizes {
  Shape batch;
  std::int64_t queries, keys, heads, key_heads, width;
  AttentionSizes(const AbstractValue& query, const AbstractValue& key);
  std::int64_t group() const { return heads / key_heads; }  ///< heads of the query that share a key
};

/// The primitives by other operations. Scores and what is summed are f32 at least.
///   forward:   operands -> output [batch…, T, N, H], and [batch…, N, T] the maximum of scores, the sum of
///              exp(score - maximum)
///   tangent:   operands, output, maximum, sum, tangents of query, key, value, bias where `active`
///              -> those of output and sum
///   backward:  operands, maximum, sum, delta, cotangent of the output -> cotangents of query, key, value[, scores]
/// The maximum is a constant to derivatives: only exp(score - maximum) / sum is ever used. `delta` is [batch…, N, T]:
/// the output times its cotangent, less sum times the cotangent of the sum.
Arrays attention_forward(std::span<const Array> x, const Params& params);
Arrays attention_tangent(std::span<const Array> x, const Params& params);
Arrays attention_backward(std::span<const Array> x, const Params& params);

}  // namespace cotan::ops
