// Attention, by the kernel of cotan::nn wherever what is asked for is in its form.
#include <cmath>
#include <cotan/random.hpp>
#include <cotan/torch/nn/functional/attention.hpp>

#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

/// [B, N, T, H] of an operand with fewer or more axes.
Array with_heads(const Array& a) {
  if (a.ndim() == 4) return a;
  const std::int64_t t = a.shape(-2), h = a.shape(-1);
  if (a.ndim() == 2) return a.reshape({1, 1, t, h});
  return a.reshape({-1, a.ndim() == 3 ? 1 : a.shape(-3), t, h});
}
/// A mask beside scores[B, N, T, S] of a query that had other axes.
Array mask_with_heads(const Array& mask, const Array& query, std::int64_t keys) {
  if (query.ndim() == 4 || mask.ndim() <= 2) return mask;
  Shape scores(query.shape().begin(), query.shape().end() - 1);
  scores.push_back(keys);
  return with_heads(np::broadcast_to(mask, scores));
}

struct Scores {
  bool is_causal;
  double scale, dropout;
};
/// Step by step: where weights are dropped, or values have another width than keys.
Array step_by_step(const Array& q, const Array& k, const Array& v, const Array& mask, const Array& bias,
                   const Scores& how, const Key& key) {
  const DType wide = computed_in(q.dtype());
  const std::int64_t shared = q.shape(1) / k.shape(1);
  const auto heads = [&](const Array& a) { return shared == 1 ? a : np::repeat(a, shared, 1); };
  Array scores = np::matmul(q, np::swapaxes(heads(k), -1, -2)).astype(wide) * how.scale;
  if (bias.defined()) scores = scores + bias.astype(wide);
  Array seen = mask;
  if (how.is_causal) {
    const Array causal = np::tri(q.shape(2), k.shape(2), 0, bool_);
    seen = seen.defined() ? seen & causal : causal;
  }
  Array weights = rules::softmax(seen.defined() ? np::where(seen, scores, -0.7 * 3.4e38) : scores, -1);
  if (how.dropout > 0)
    weights = np::where(random::bernoulli(key.array, 1 - how.dropout, weights.shape()),
                        weights * (1 / (1 - how.dropout)), 0.0);
  return np::matmul(weights.astype(q.dtype()), heads(v));
}

Array attend(const Array& query, const Array& key, const Array& value, const std::optional<Array>& given,
             const Scores& how, const Key* random_key) {
  const Array q = with_heads(query), k = with_heads(key), v = with_heads(value);
  Array mask, bias;
  if (given) {
    const Array m = mask_with_heads(*given, query, k.shape(2));
    if (m.dtype() == bool_)
      mask = m;
    else {  // -inf hides, so that a row of it has a derivative
      mask = m != -np::inf;
      bias = np::where(mask, m, 0.0);
    }
  }
  Array out;
  if (random_key || v.shape(3) != k.shape(3))
    out = step_by_step(q, k, v, mask, bias, how, random_key ? *random_key : Key{});
  else
    out = np::swapaxes(
        rules::dot_product_attention(np::swapaxes(q, 1, 2), np::swapaxes(k, 1, 2), np::swapaxes(v, 1, 2),
                                     {.bias = bias, .mask = mask, .is_causal = how.is_causal, .scale = how.scale}),
        1, 2);
  if (mask.defined()) out = np::where(np::any(mask, -1, true), out, 0.0);
  Shape shape = query.shape();
  shape.back() = v.shape(3);
  return out.reshape(shape);
}

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  const auto describe_all = [&] {
    return fmt::format("query {}, key {}, value {}", describe(q.sizes()), describe(k.sizes()), describe(v.sizes()));
  };
  if (q.dim() < 2 || k.dim() != q.dim() || v.dim() != q.dim() || q.size(-1) != k.size(-1) || k.size(-2) != v.size(-2))
    throw_with_line<ShapeError>(
        fmt::format("[scaled_dot_product_attention] {}; they must be [B, N, T, H], [B, N, S, H] and [B, N, S, E].",
                    describe_all()));
  for (int i = 0; i < q.dim() - 2; ++i) {
    const bool heads = o.enable_gqa && i == q.dim() - 3;
    const bool fits = heads ? k.size(i) > 0 && q.size(i) % k.size(i) == 0 : q.size(i) == k.size(i);
    if (!fits || k.size(i) != v.size(i))
      throw_with_line<ShapeError>(fmt::format("[scaled_dot_product_attention] {}; dimension {} must be equal{}.",
                                              describe_all(), i,
                                              heads ? ", or query's a multiple of the others'" : ""));
  }
  if (o.is_causal && o.attn_mask.defined())
    throw_with_line<ValueError>("[scaled_dot_product_attention] is_causal and attn_mask; give one of them.");
  if (!(o.dropout_p >= 0 && o.dropout_p < 1))
    throw_with_line<ValueError>(
        fmt::format("[scaled_dot_product_attention] dropout_p is {}; it must be from 0 to below 1.", o.dropout_p));
}

}  // namespace

Tensor scaled_dot_product_attention(const Input& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& o) {
  static const auto op =
      define("scaled_dot_product_attention", {.saves = Saves::operands, .cast = Cast::lower},
             [](const Array& q, const Array& k, const Array& v, const std::optional<Array>& mask, bool causal,
                double scale) { return attend(q, k, v, mask, {causal, scale, 0}, nullptr); });
  static const auto dropping = define(
      "scaled_dot_product_attention", {.saves = Saves::operands, .cast = Cast::lower},
      [](const Array& q, const Array& k, const Array& v, const std::optional<Array>& mask, bool causal, double scale,
         double rate, const Key& random_key) { return attend(q, k, v, mask, {causal, scale, rate}, &random_key); });
  check_operands(*query, key, value, o);
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(query->size(-1))));
  return o.dropout_p > 0 ? dropping(*query, key, value, o.attn_mask, o.is_causal, scale, o.dropout_p)
                         : op(*query, key, value, o.attn_mask, o.is_causal, scale);
}

}  // namespace cotan::torch::nn::functional
