// cotan::nn: what neural networks are built of, as in jax.nn.
#pragma once
#include <cotan/array.hpp>
#include <optional>

/// `jax.nn`, of what numpy and lax do not have.
namespace cotan::nn {

/// Of dot_product_attention.
struct AttentionOptions {
  Array bias = {};                   ///< added to the scores; broadcasts to [B, N, T, S]
  Array mask = {};                   ///< bool, broadcasts likewise: false hides a key from a query
  bool is_causal = false;            ///< query t sees the keys up to t
  std::optional<double> scale = {};  ///< of the products; by default 1 / sqrt(H)
};
/// softmax(query keyᵀ scale + bias) value for each head. query: [B, T, N, H], key and value: [B, S, K, H], all of them
/// with or without B; N is a multiple of K, and so many heads share a key. Scores are f32 at least; halves are rounded
/// once, at the end. A query that sees no key gets the mean of all values. On the device 'webgpu' scores are never in
/// memory, forwards or backwards.
Array dot_product_attention(const ArrayLike& query, const ArrayLike& key, const ArrayLike& value,
                            const AttentionOptions& options = {});

}  // namespace cotan::nn
