// torch::nn: attention and transformers.
#pragma once
#include <cotan/torch/nn/container.hpp>
#include <cotan/torch/nn/linear.hpp>
#include <cotan/torch/nn/normalization.hpp>

namespace cotan::torch::nn {

/// Of MultiheadAttention.
struct MultiheadAttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool batch_first = false;
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// Of a call of MultiheadAttention.
struct MultiheadAttentionCall {
  Tensor key_padding_mask = {};      ///< [N, S]: true hides a key; or floats that are added
  bool need_weights = true;          ///< without them the fused kernel computes it
  Tensor attn_mask = {};             ///< [L, S] or [N · heads, L, S]: true hides a key from a query; or floats
  bool average_attn_weights = true;  ///< over heads
  bool is_causal = false;            ///< query t sees the keys up to t
};
/// Attention of several heads, of which query, key and value are linear functions: [L, N, E], or with batch_first
/// [N, L, E].
class MultiheadAttention {
 public:
  MultiheadAttention() = default;
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& options = {},
                     std::source_location where = COTAN_HERE);
  /// The result, and weights [N, L, S] if they are needed.
  std::pair<Tensor, Tensor> operator()(const Input& query, const Tensor& key, const Tensor& value,
                                       const MultiheadAttentionCall& call = {}) const;
  Parameter in_proj_weight, in_proj_bias;  ///< [3 E, E] and [3 E]: of query, key and value
  Linear out_proj;
  Training training;
  std::int64_t num_heads = 1;
  double dropout = 0;
  bool batch_first = false;
  COTAN_TREE(in_proj_weight, in_proj_bias, out_proj, training)
};

/// Of layers of transformers.
struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  ///< or "gelu"
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
  std::optional<DType> dtype = {};
  std::string device = "";
};
/// Of a call of an encoder.
struct TransformerEncoderCall {
  Tensor src_mask = {}, src_key_padding_mask = {};
  bool is_causal = false;
};
/// Self-attention and a feedforward network, each with a residual and a norm.
class TransformerEncoderLayer {
 public:
  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options = {},
                          std::source_location where = COTAN_HERE);
  /// src[S, N, E], or with batch_first [N, S, E].
  Tensor operator()(const Input& src, const TransformerEncoderCall& call = {}) const;
  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;
  TransformerLayerOptions options;
  COTAN_TREE(self_attn, linear1, dropout, linear2, norm1, norm2, dropout1, dropout2)
};
/// Of a call of a decoder.
struct TransformerDecoderCall {
  Tensor tgt_mask = {}, memory_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;
};
/// Self-attention, attention to what an encoder gave, and a feedforward network.
class TransformerDecoderLayer {
 public:
  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options = {},
                          std::source_location where = COTAN_HERE);
  /// tgt[T, N, E] and memory[S, N, E], or with batch_first [N, …, E].
  Tensor operator()(const Input& tgt, const Tensor& memory, const TransformerDecoderCall& call = {}) const;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;
  TransformerLayerOptions options;
  COTAN_TREE(self_attn, multihead_attn, linear1, dropout, linear2, norm1, norm2, norm3, dropout1, dropout2, dropout3)
};
/// Encoder layers, one after the other: clones of `layer`, which begin with the same weights, as in PyTorch.
class TransformerEncoder {
 public:
  TransformerEncoder() = default;
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers, std::optional<LayerNorm> norm = {});
  Tensor operator()(const Input& src, const TransformerEncoderCall& call = {}) const;  ///< through all of them
  ModuleList<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
  COTAN_TREE(layers, norm)
};
/// Decoder layers, one after the other.
class TransformerDecoder {
 public:
  TransformerDecoder() = default;
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers, std::optional<LayerNorm> norm = {});
  /// Through all of them.
  Tensor operator()(const Input& tgt, const Tensor& memory, const TransformerDecoderCall& call = {}) const;
  ModuleList<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
  COTAN_TREE(layers, norm)
};

}  // namespace cotan::torch::nn
