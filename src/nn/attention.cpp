#include <algorithm>
#include <cmath>
#include <cotan/nn.hpp>

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

}  // namespace

Array dot_product_attention(const ArrayLike& q, const ArrayLike& k, const ArrayLike& v,
                            const AttentionOptions& options) {
  Arrays x{q, k, v};
  check_shapes(x[0], x[1], x[2]);
  x = numpy::cast_all(x, {numpy::result_type(x).dtype, false});
  Shape scores{x[0].shape(-2), x[0].shape(-3), x[1].shape(-3)};
  if (x[0].ndim() == 4) scores.insert(scores.begin(), x[0].shape(0));
  if (options.bias.defined()) {
    if (!is_floating(options.bias.dtype()))
      raise<TypeError>(
          "[dot_product_attention] bias is {}; convert it to a float dtype, or give a bool array as the mask.",
          options.bias.aval());
    x.push_back(as_scores(options.bias, scores, "bias"));
  }
  if (options.mask.defined()) {
    if (options.mask.dtype() != bool_)
      raise<TypeError>("[dot_product_attention] mask is {}; make it bool by a comparison, or give it as the bias.",
                       options.mask.aval());
    x.push_back(as_scores(options.mask, scores, "mask"));
  }
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(x[0].shape(-1))));
  return bind(ops::attention_p, x,
              {{"has_bias", options.bias.defined()},
               {"has_mask", options.mask.defined()},
               {"is_causal", options.is_causal},
               {"scale", scale}})[0];
}

}  // namespace cotan::nn
