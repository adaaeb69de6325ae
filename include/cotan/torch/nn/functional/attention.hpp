// torch::nn::functional: attention.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <optional>

namespace cotan::torch::nn::functional {

/// Of scaled_dot_product_attention.
struct AttentionOptions {
  Tensor attn_mask =
      {};  ///< bool: false hides a key from a query; float: added to the scores. Broadcasts to [B, N, T, S]
  double dropout_p = 0;              ///< of attention weights
  bool is_causal = false;            ///< query t sees the keys up to t; then there is no attn_mask
  std::optional<double> scale = {};  ///< of the scores; by default 1 / √H
  bool enable_gqa = false;           ///< fewer heads in key and value, each for several of query
};
/// softmax(query keyᵀ scale) value: query[B, N, T, H], key and value[B, N, S, H]. A query that sees no key gives 0.
Tensor scaled_dot_product_attention(const Input& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

}  // namespace cotan::torch::nn::functional
