// Dropout, embedding, one_hot.
#include <cmath>
#include <cotan/random.hpp>
#include <cotan/torch/nn/functional/normalization.hpp>

#include "torch/graph/devices.hpp"
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

namespace {

void check_probability(double p, std::string_view op) {
  if (!(p >= 0 && p <= 1))
    throw_with_line<ValueError>(fmt::format("[{}] a probability of {}; it must be from 0 to 1.", op, p));
}
/// x where the draw keeps it, larger by as much as goes; one draw for all of the last axes.
Array dropped(const Array& x, double p, int last_axes, const Array& key) {
  Shape shape = x.shape();
  for (int i = 0; i < last_axes; ++i) shape[shape.size() - 1 - static_cast<std::size_t>(i)] = 1;
  if (p == 1) return x * 0.0;
  return np::where(random::bernoulli(key, 1 - p, shape), x * (1 / (1 - p)), 0.0);
}
Tensor drop(const Tensor& x, double p, bool training, int last_axes, std::string_view name) {
  static const auto op = define("dropout", {}, [](const Array& a, double rate, int axes, const Key& key) {
    return dropped(a, rate, axes, key.array);
  });
  check_probability(p, name);
  return training && p > 0 ? op(x, p, last_axes) : x;
}

}  // namespace

Tensor dropout(const Input& x, double p, bool training) { return drop(*x, p, training, 0, "dropout"); }
Tensor dropout1d(const Input& x, double p, bool training) {
  check_image(*x, 1, "dropout1d");
  return drop(*x, p, training, 1, "dropout1d");
}
Tensor dropout2d(const Input& x, double p, bool training) {
  check_image(*x, 2, "dropout2d");
  return drop(*x, p, training, 2, "dropout2d");
}
Tensor alpha_dropout(const Input& x, double p, bool training) {
  static const auto op = define("alpha_dropout", {}, [](const Array& a, double rate, const Key& key) {
    const double low = -1.7580993408473766;  // what selu tends to
    const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * low * low));
    const Array kept = np::where(random::bernoulli(key.array, 1 - rate, a.shape()), a, low);
    return kept * scale - scale * low * rate;
  });
  check_probability(p, "alpha_dropout");
  if (!training || p == 0) return *x;
  return p == 1 ? drop(*x, 1, true, 0, "alpha_dropout") : op(*x, p);
}

Tensor embedding(const Input& indices, const Tensor& weight, const EmbeddingOptions& o) {
  static const auto op = define("embedding", {.saves = Saves::first},
                                [](const Array& i, const Array& table, std::optional<std::int64_t> padding) {
                                  // In PyTorch negative indices name nothing.
                                  const Array at = np::where(i < 0, table.shape(0), i);
                                  const Array rows = np::take(table, at, 0);
                                  if (!padding) return rows;
                                  const Array is_padding = np::expand_dims(i == *padding, -1);
                                  return np::where(is_padding, stop_gradient(rows), rows);
                                });
  if (!is_integer(indices->dtype()))
    throw_with_line<TypeError>(
        fmt::format("[embedding] indices are {}; they must be integers.", name(indices->dtype())));
  if (weight.dim() != 2)
    throw_with_line<ShapeError>(
        fmt::format("[embedding] the weight has shape {}; it must be [rows, width].", describe(weight.sizes())));
  std::optional<std::int64_t> padding = o.padding_idx;
  if (padding && *padding < 0) *padding += weight.size(0);
  if (padding && (*padding < 0 || *padding >= weight.size(0)))
    throw_with_line<IndexError>(fmt::format("[embedding] padding_idx {} of {} rows.", *o.padding_idx, weight.size(0)));
  return op(*indices, weight, padding);
}

Tensor one_hot(const Input& indices, std::int64_t num_classes) {
  static const auto op =
      define("one_hot", {.differentiable = false},
             [](const Array& i, std::int64_t classes, DType t) { return rules::one_hot(i, classes, t); });
  if (!is_integer(indices->dtype()))
    throw_with_line<TypeError>(fmt::format("[one_hot] indices are {}; they must be integers.", name(indices->dtype())));
  if (num_classes == -1) num_classes = np::max(indices->array(line())).item<std::int64_t>() + 1;
  return op(*indices, num_classes, has_doubles(device_named(indices->device())) ? i64 : i32);
}

}  // namespace cotan::torch::nn::functional
