#include <algorithm>
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <limits>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::nn {

namespace {

void check_operand(const Array& a, const char* name, const char* axes) {
  if (!is_floating(a.dtype()))
    raise<TypeError>("[dot_product_attention] {} is {}; convert it to a float dtype with astype.", name, a.aval());
  if (a.ndim() != 3 && a.ndim() != 4)
    raise<ShapeError>("[dot_product_attention] {} is {}; give it the axes [B, {}], or [{}].", name, a.aval(), axes,
                      axes);
}

void check_shapes(const Array& query, const Array& key, const Array& value) {
  check_operand(query, "query", "T, N, H");
  check_operand(key, "key", "S, K, H");
  check_operand(value, "value", "S, K, H");
  if (query.ndim() != key.ndim() || (query.ndim() == 4 && query.shape(0) != key.shape(0)) ||
      query.shape(-1) != key.shape(-1))
    raise<ShapeError>("[dot_product_attention] query is {} and key {}; they need the same batch (B) and width (H).",
                      query.aval(), key.aval());
  if (key.shape() != value.shape())
    raise<ShapeError>("[dot_product_attention] key is {} and value {}; give them one shape.", key.aval(), value.aval());
  if (key.shape(-2) == 0 || query.shape(-2) % key.shape(-2))
    raise<ShapeError>(
        "[dot_product_attention] query has {} heads and key {}; the first must be a multiple of the second.",
        query.shape(-2), key.shape(-2));
  if (key.shape(-3) == 0 || query.shape(-1) == 0)
    raise<ShapeError>("[dot_product_attention] query is {} and key {}; there must be a key, and a width.", query.aval(),
                      key.aval());
}

/// With leading axes of one, as many axes as scores have.
Array as_scores(const Array& a, const Shape& scores, const char* name) {
  bool fits = a.shape().size() <= 4;
  Shape shape(4 - std::min<std::size_t>(4, a.shape().size()), 1);
  shape.insert(shape.end(), a.shape().begin(), a.shape().end());
  for (std::size_t i = 0; fits && i < 4; ++i)
    fits = shape[i] == 1 || shape[i] == (i < 4 - scores.size() ? 1 : scores[i + scores.size() - 4]);
  if (!fits)
    raise<ShapeError>("[dot_product_attention] {} is {}; it must broadcast to {}, the shape of the scores.", name,
                      a.aval(), describe(scores));
  shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(scores.size()));
  return ops::reshape(a, shape);
}

/// Lengths of sequences as [B, 1, 1, 1], or [1, 1, 1] without a batch.
Array as_lengths(const Array& lengths, const Array& query, const char* name) {
  const std::int64_t batch = query.ndim() == 4 ? query.shape(0) : 1;
  if (lengths.dtype() != i32 || lengths.shape() != Shape{batch})
    raise<ShapeError>("[dot_product_attention] {} is {}; give i32[{}], a length for each sequence.", name,
                      lengths.aval(), batch);
  return ops::reshape(lengths, query.ndim() == 4 ? Shape{batch, 1, 1, 1} : Shape{1, 1, 1});
}
/// The mask of the options with what lengths and window hide; empty: nothing is hidden.
Array whole_mask(const AttentionOptions& o, const Array& query, const Array& key) {
  Array out = o.mask;
  const auto hide = [&](const Array& seen) { out = out.defined() ? out & seen : seen; };
  const std::int64_t T = query.shape(-3), S = key.shape(-3);
  const Array rows = lax::iota(i32, {T, 1}, 0), columns = lax::iota(i32, {1, S}, 1);
  if (o.local_window_size)
    hide((rows <= columns + o.local_window_size->left) & (rows >= columns - o.local_window_size->right));
  if (o.query_seq_lengths.defined()) hide(rows < as_lengths(o.query_seq_lengths, query, "query_seq_lengths"));
  if (o.key_value_seq_lengths.defined())
    hide(columns < as_lengths(o.key_value_seq_lengths, query, "key_value_seq_lengths"));
  return out;
}
/// Queries behind the end of their sequence are 0.
Array without_padding(const Array& out, const AttentionOptions& o, const Array& query) {
  if (!o.query_seq_lengths.defined()) return out;
  const Array seen =
      lax::iota(i32, {query.shape(-3), 1, 1}, 0) < as_lengths(o.query_seq_lengths, query, "query_seq_lengths");
  return out * seen.astype(out.dtype());
}

}  // namespace

Array dot_product_attention(const ArrayLike& q, const ArrayLike& k, const ArrayLike& v, const AttentionOptions& given) {
  Arrays x{q, k, v};
  check_shapes(x[0], x[1], x[2]);
  if (!given.implementation.empty() && given.implementation != "xla")
    raise<ValueError>("[dot_product_attention] the implementation \"{}\"; there is \"xla\", what the device has.",
                      given.implementation);
  x = numpy::cast_all(x, {numpy::result_type(x).dtype, false});
  AttentionOptions options = given;
  if (options.mask.defined() && options.mask.dtype() != bool_)
    raise<TypeError>("[dot_product_attention] mask is {}; make it bool by a comparison, or give it as the bias.",
                     options.mask.aval());
  options.mask = whole_mask(given, x[0], x[1]);
  Shape scores{x[0].shape(-2), x[0].shape(-3), x[1].shape(-3)};
  if (x[0].ndim() == 4) scores.insert(scores.begin(), x[0].shape(0));
  if (options.bias.defined()) {
    if (!is_floating(options.bias.dtype()))
      raise<TypeError>(
          "[dot_product_attention] bias is {}; convert it to a float dtype, or give a bool array as the mask.",
          options.bias.aval());
    x.push_back(as_scores(options.bias, scores, "bias"));
  }
  if (options.mask.defined()) x.push_back(as_scores(options.mask, scores, "mask"));
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(x[0].shape(-1))));
  const Array out = bind(ops::attention_p, x,
                         {{"has_bias", options.bias.defined()},
                          {"has_mask", options.mask.defined()},
                          {"is_causal", options.is_causal},
                          {"scale", scale}})[0];
  return without_padding(out, options, x[0]);
}

std::pair<Array, Array> dot_product_attention_with_residual(const ArrayLike& q, const ArrayLike& k, const ArrayLike& v,
                                                            const AttentionOptions& o) {
  const Array out = dot_product_attention(q, k, v, o);
  const Array query = q->ndim() == 4 ? q.array() : numpy::expand_dims(q, 0);
  const Array key = k->ndim() == 4 ? k.array() : numpy::expand_dims(k, 0);
  const std::int64_t heads = query.shape(2), shared = heads / key.shape(2);
  const DType wide = out.dtype() == f64 ? f64 : f32;
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(query.shape(-1))));
  Array scores =
      scale * numpy::einsum("btnh,bsnh->bnts", {query.astype(wide), numpy::repeat(key.astype(wide), shared, 2)});
  if (o.bias.defined()) scores = scores + o.bias.astype(wide);
  AttentionOptions seen = o;
  Array mask = whole_mask(seen, query, key);
  if (o.is_causal) {
    const Array causal = numpy::tri(query.shape(1), key.shape(1), 0, bool_);
    mask = mask.defined() ? mask & causal : causal;
  }
  // What hidden scores are in JAX: far below all others, and finite.
  if (mask.defined())
    scores = numpy::where(mask, scores, -0.7 * static_cast<double>(std::numeric_limits<float>::max()));
  const Array sum = numpy::transpose(numpy::logsumexp(scores, -1), {0, 2, 1}).astype(out.dtype());
  return {out, lax::stop_gradient(q->ndim() == 4 ? sum : numpy::squeeze(sum, 0))};
}

}  // namespace cotan::nn
