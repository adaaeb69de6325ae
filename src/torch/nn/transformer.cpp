// Attention of several heads, and the layers of transformers.
#include <cmath>
#include <cotan/torch/nn/attention.hpp>
#include <cotan/torch/nn/init.hpp>
#include <cotan/torch/views.hpp>

#include "torch/nn/layers.hpp"
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn {

namespace {

using torch::detail::At;

/// What scaled_dot_product_attention takes, beside scores[N, heads, L, S]: bool where both masks are, else a float. In
/// MultiheadAttention's masks true hides.
Array joined_mask(const std::optional<Array>& given_mask, const std::optional<Array>& given_padding, std::int64_t heads,
                  DType dtype) {
  std::vector<Array> masks;
  if (given_mask)
    masks.push_back(given_mask->ndim() == 3
                        ? given_mask->reshape({-1, heads, given_mask->shape(1), given_mask->shape(2)})
                        : *given_mask);
  if (given_padding) masks.push_back(given_padding->reshape({-1, 1, 1, given_padding->shape(-1)}));
  const auto is_bool = [](const Array& m) { return m.dtype() == bool_; };
  Array out;
  if (std::all_of(masks.begin(), masks.end(), is_bool)) {
    for (const Array& m : masks) out = out.defined() ? out & ~m : ~m;
    return out;
  }
  for (const Array& m : masks) {
    const Array added = is_bool(m) ? numpy::where(m, -numpy::inf, 0.0).astype(dtype) : m.astype(dtype);
    out = out.defined() ? out + added : added;
  }
  return out;
}
/// softmax(query keyᵀ / √H + mask)
Array weights_of(const Array& q, const Array& k, const std::optional<Array>& mask, bool causal) {
  Array scores = numpy::matmul(q * (1 / std::sqrt(static_cast<double>(q.shape(-1)))), numpy::swapaxes(k, -1, -2));
  if (mask) scores = mask->dtype() == bool_ ? numpy::where(*mask, scores, -numpy::inf) : scores + *mask;
  if (causal) scores = numpy::where(numpy::tri(q.shape(-2), k.shape(-2), 0, bool_), scores, -numpy::inf);
  return cotan::nn::softmax(scores, -1);
}

/// [N, L, E] as [N, heads, L, E / heads].
Tensor with_heads(const Tensor& x, std::int64_t heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, -1}), 1, 2);
}
Tensor activated(const Tensor& x, const std::string& activation) {
  return activation == "relu" ? functional::relu(x) : functional::gelu(x);
}
void check_activation(const std::string& activation) {
  if (activation != "relu" && activation != "gelu")
    throw_with_line<ValueError>(
        fmt::format("[Transformer] the activation \"{}\"; it must be \"relu\" or \"gelu\".", activation));
}
MultiheadAttentionOptions attention_options(const TransformerLayerOptions& o) {
  return {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first, .dtype = o.dtype, .device = o.device};
}
LinearOptions linear_options(const TransformerLayerOptions& o) { return {o.bias, o.dtype, o.device}; }
LayerNormOptions norm_options(const TransformerLayerOptions& o) {
  return {.eps = o.layer_norm_eps, .bias = o.bias, .dtype = o.dtype, .device = o.device};
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t heads, const MultiheadAttentionOptions& o,
                                       std::source_location where)
    : num_heads(heads), dropout(o.dropout), batch_first(o.batch_first) {
  const At at(where);
  if (heads < 1 || embed_dim < 1 || embed_dim % heads)
    throw_with_line<ValueError>(
        fmt::format("[MultiheadAttention] {} heads of a width of {}; heads must divide it.", heads, embed_dim));
  out_proj = Linear(embed_dim, embed_dim, {o.bias, o.dtype, o.device}, where);
  in_proj_weight = detail::new_parameter({3 * embed_dim, embed_dim}, o.dtype, o.device);
  init::xavier_uniform_(in_proj_weight);
  if (!o.bias) return;
  in_proj_bias = detail::new_parameter({3 * embed_dim}, o.dtype, o.device);
  init::zeros_(out_proj.bias);
}

std::pair<Tensor, Tensor> MultiheadAttention::operator()(const Input& query, const Tensor& key, const Tensor& value,
                                                         const MultiheadAttentionCall& call) const {
  static const auto mask_op =
      torch::detail::define("attention_mask", {},
                            [](const std::optional<Array>& mask, const std::optional<Array>& padding,
                               std::int64_t heads, DType dtype) { return joined_mask(mask, padding, heads, dtype); });
  static const auto weights_op = torch::detail::define(
      "attention_weights", {.saves = torch::detail::Saves::operands, .cast = torch::detail::Cast::f32},
      [](const Array& q, const Array& k, const std::optional<Array>& mask, bool causal) {
        return weights_of(q, k, mask, causal);
      });
  const std::int64_t width = in_proj_weight.size(1);
  if ((query->dim() != 2 && query->dim() != 3) || key.dim() != query->dim() || value.dim() != query->dim() ||
      query->size(-1) != width)
    throw_with_line<ShapeError>(
        fmt::format("[MultiheadAttention] query {}, key {}, value {}; each must be [{}, {}], or without N.",
                    describe(query->sizes()), describe(key.sizes()), describe(value.sizes()),
                    batch_first ? "N, L" : "L, N", width));
  const bool batched = query->dim() == 3;
  const auto projected = [&](const Tensor& x, int which) {
    const Tensor many = !batched ? unsqueeze(x, 0) : batch_first ? x : transpose(x, 0, 1);
    const Tensor bias = in_proj_bias.defined() ? narrow(in_proj_bias, 0, which * width, width) : Tensor();
    return with_heads(functional::linear(many, narrow(in_proj_weight, 0, which * width, width), bias), num_heads);
  };
  const Tensor q = projected(*query, 0), k = projected(key, 1), v = projected(value, 2);
  // A mask that only says what is_causal says is not read.
  const bool causal = call.is_causal && !call.key_padding_mask.defined();
  const Tensor given = causal ? Tensor() : call.attn_mask;
  if (call.is_causal && !causal && !given.defined())
    throw_with_line<ValueError>("[MultiheadAttention] with key_padding_mask is_causal needs attn_mask, too.");
  Tensor mask;
  if (given.defined() || call.key_padding_mask.defined())
    mask = mask_op(given, call.key_padding_mask, num_heads, query->dtype());
  const double rate = training ? dropout : 0;
  Tensor weights, heads;
  if (call.need_weights) weights = functional::dropout(weights_op(q, k, mask, causal), rate);
  if (call.need_weights && rate > 0)
    heads = matmul(weights, v);
  else
    heads =
        functional::scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .dropout_p = rate, .is_causal = causal});
  const Tensor y = out_proj(reshape(transpose(heads, 1, 2), {q.size(0), q.size(2), width}));
  if (weights.defined() && call.average_attn_weights) weights = mean(weights, 1);
  if (weights.defined() && !batched) weights = squeeze(weights, {0});
  return {!batched ? squeeze(y, {0}) : batch_first ? y : transpose(y, 0, 1), weights};
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& o, std::source_location where)
    : self_attn(d_model, nhead, attention_options(o), where),
      linear1(d_model, o.dim_feedforward, linear_options(o), where),
      dropout{o.dropout},
      linear2(o.dim_feedforward, d_model, linear_options(o), where),
      norm1(d_model, norm_options(o), where),
      norm2(d_model, norm_options(o), where),
      dropout1{o.dropout},
      dropout2{o.dropout},
      options(o) {
  check_activation(o.activation);
}
Tensor TransformerEncoderLayer::operator()(const Input& src, const TransformerEncoderCall& call) const {
  const auto attend = [&](const Tensor& x) {
    return dropout1(self_attn(x, x, x,
                              {.key_padding_mask = call.src_key_padding_mask,
                               .need_weights = false,
                               .attn_mask = call.src_mask,
                               .is_causal = call.is_causal})
                        .first);
  };
  const auto feed = [&](const Tensor& x) {
    return dropout2(linear2(dropout(activated(linear1(x), options.activation))));
  };
  if (options.norm_first) {
    const Tensor x = *src + attend(norm1(*src));
    return x + feed(norm2(x));
  }
  const Tensor x = norm1(*src + attend(*src));
  return norm2(x + feed(x));
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& o, std::source_location where)
    : self_attn(d_model, nhead, attention_options(o), where),
      multihead_attn(d_model, nhead, attention_options(o), where),
      linear1(d_model, o.dim_feedforward, linear_options(o), where),
      dropout{o.dropout},
      linear2(o.dim_feedforward, d_model, linear_options(o), where),
      norm1(d_model, norm_options(o), where),
      norm2(d_model, norm_options(o), where),
      norm3(d_model, norm_options(o), where),
      dropout1{o.dropout},
      dropout2{o.dropout},
      dropout3{o.dropout},
      options(o) {
  check_activation(o.activation);
}
Tensor TransformerDecoderLayer::operator()(const Input& tgt, const Tensor& memory,
                                           const TransformerDecoderCall& call) const {
  const auto attend = [&](const Tensor& x) {
    return dropout1(self_attn(x, x, x,
                              {.key_padding_mask = call.tgt_key_padding_mask,
                               .need_weights = false,
                               .attn_mask = call.tgt_mask,
                               .is_causal = call.tgt_is_causal})
                        .first);
  };
  const auto attend_memory = [&](const Tensor& x) {
    return dropout2(multihead_attn(x, memory, memory,
                                   {.key_padding_mask = call.memory_key_padding_mask,
                                    .need_weights = false,
                                    .attn_mask = call.memory_mask,
                                    .is_causal = call.memory_is_causal})
                        .first);
  };
  const auto feed = [&](const Tensor& x) {
    return dropout3(linear2(dropout(activated(linear1(x), options.activation))));
  };
  if (options.norm_first) {
    Tensor x = *tgt + attend(norm1(*tgt));
    x = x + attend_memory(norm2(x));
    return x + feed(norm3(x));
  }
  Tensor x = norm1(*tgt + attend(*tgt));
  x = norm2(x + attend_memory(x));
  return norm3(x + feed(x));
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                                       std::optional<LayerNorm> given_norm)
    : layers(num_layers, [&] { return clone(layer); }), norm(std::move(given_norm)) {}
Tensor TransformerEncoder::operator()(const Input& src, const TransformerEncoderCall& call) const {
  Tensor x = *src;
  for (const auto& layer : layers) x = layer(x, call);
  return norm ? (*norm)(x) : x;
}
TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                                       std::optional<LayerNorm> given_norm)
    : layers(num_layers, [&] { return clone(layer); }), norm(std::move(given_norm)) {}
Tensor TransformerDecoder::operator()(const Input& tgt, const Tensor& memory,
                                      const TransformerDecoderCall& call) const {
  Tensor x = *tgt;
  for (const auto& layer : layers) x = layer(x, memory, call);
  return norm ? (*norm)(x) : x;
}

}  // namespace cotan::torch::nn
