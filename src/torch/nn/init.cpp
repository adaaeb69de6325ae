// First values: a draw, written where nothing is recorded for gradients.
#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/random.hpp>
#include <cotan/torch/autograd.hpp>
#include <cotan/torch/nn/init.hpp>

#include "torch/graph/devices.hpp"
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::init {

using namespace functional;

namespace {

Place place_of(const Tensor& t) { return {device_named(t.device())}; }
const Tensor& written(const Tensor& t, const Tensor& values) {
  const no_grad off;
  return t.copy_(values, line());
}

struct Fans {
  double in, out;
};
Fans fans(const Tensor& t, std::string_view op) {
  if (t.dim() < 2)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the tensor has shape {}; inputs and outputs are counted of at least "
                    "2 dimensions.",
                    op, describe(t.sizes())));
  double window = 1;
  for (int i = 2; i < t.dim(); ++i) window *= static_cast<double>(t.size(i));
  return {static_cast<double>(t.size(1)) * window, static_cast<double>(t.size(0)) * window};
}
double kaiming_std(const Tensor& t, const KaimingOptions& o, std::string_view op) {
  const Fans f = fans(t, op);
  if (o.mode != "fan_in" && o.mode != "fan_out")
    throw_with_line<ValueError>(fmt::format("[{}] mode \"{}\"; it must be \"fan_in\" or \"fan_out\".", op, o.mode));
  return calculate_gain(o.nonlinearity, o.a) / std::sqrt(o.mode == "fan_in" ? f.in : f.out);
}

}  // namespace

const Tensor& uniform_(const Tensor& tensor, double a, double b) {
  static const auto op =
      define("uniform_", {}, [](const Shape& shape, DType t, Place, Number low, Number high, Key key) {
        const Array draw = random::uniform(key.array, shape, t);
        return low.like(draw) + draw * (high.like(draw) - low.like(draw));
      });
  return written(tensor, op(tensor.sizes(), tensor.dtype(), place_of(tensor), a, b));
}
const Tensor& normal_(const Tensor& tensor, double mean, double std) {
  static const auto op =
      define("normal_", {}, [](const Shape& shape, DType t, Place, Number centre, Number width, Key key) {
        const Array draw = random::normal(key.array, shape, t);
        return centre.like(draw) + draw * width.like(draw);
      });
  return written(tensor, op(tensor.sizes(), tensor.dtype(), place_of(tensor), mean, std));
}
const Tensor& trunc_normal_(const Tensor& tensor, double mean, double std, double a, double b) {
  static const auto op =
      define("trunc_normal_", {},
             [](const Shape& shape, DType t, Place, double low, double high, Number centre, Number width, Key key) {
               const Array draw = random::truncated_normal(key.array, low, high, shape, t);
               return centre.like(draw) + draw * width.like(draw);
             });
  return written(tensor,
                 op(tensor.sizes(), tensor.dtype(), place_of(tensor), (a - mean) / std, (b - mean) / std, mean, std));
}
const Tensor& constant_(const Tensor& tensor, double value) {
  const no_grad off;
  return tensor.fill_(value, line());
}
const Tensor& zeros_(const Tensor& tensor) { return constant_(tensor, 0); }
const Tensor& ones_(const Tensor& tensor) { return constant_(tensor, 1); }
const Tensor& eye_(const Tensor& tensor) {
  static const auto op =
      define("eye_", {}, [](const Shape& shape, DType t, Place) { return np::eye(shape[0], shape[1], 0, t); });
  if (tensor.dim() != 2)
    throw_with_line<ShapeError>(
        fmt::format("[eye_] the tensor has shape {}; it must be a matrix.", describe(tensor.sizes())));
  return written(tensor, op(tensor.sizes(), tensor.dtype(), place_of(tensor)));
}

const Tensor& xavier_uniform_(const Tensor& tensor, double gain) {
  const Fans f = fans(tensor, "xavier_uniform_");
  const double bound = gain * std::sqrt(6 / (f.in + f.out));
  return uniform_(tensor, -bound, bound);
}
const Tensor& xavier_normal_(const Tensor& tensor, double gain) {
  const Fans f = fans(tensor, "xavier_normal_");
  return normal_(tensor, 0, gain * std::sqrt(2 / (f.in + f.out)));
}
const Tensor& kaiming_uniform_(const Tensor& tensor, const KaimingOptions& options) {
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, options, "kaiming_uniform_");
  return uniform_(tensor, -bound, bound);
}
const Tensor& kaiming_normal_(const Tensor& tensor, const KaimingOptions& options) {
  return normal_(tensor, 0, kaiming_std(tensor, options, "kaiming_normal_"));
}
const Tensor& orthogonal_(const Tensor& tensor, double gain) {
  static const auto op = define("orthogonal_", {}, [](const Shape& shape, DType t, Place, Number scale, Key key) {
    const std::int64_t rows = shape[0];
    std::int64_t columns = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) columns *= shape[i];
    const Array draw =
        random::normal(key.array, {std::max(rows, columns), std::min(rows, columns)}, t == f64 ? f64 : f32);
    const auto [q, r] = linalg::qr(draw);
    const Array signs = np::where(np::diagonal(r) < 0.0, -1.0, 1.0).astype(q.dtype());
    const Array unique = q * signs;
    const Array out = rows < columns ? np::matrix_transpose(unique) : unique;
    return (out.reshape(shape) * scale.like(out)).astype(t);
  });
  fans(tensor, "orthogonal_");
  return written(tensor, op(tensor.sizes(), tensor.dtype(), place_of(tensor), gain));
}

double calculate_gain(std::string_view nonlinearity, double param) {
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2 / (1 + param * param));
  if (nonlinearity == "selu") return 0.75;
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv")) return 1;
  throw_with_line<ValueError>(fmt::format(
      "[calculate_gain] the nonlinearity \"{}\"; there are linear, conv…, sigmoid, tanh, relu, leaky_relu and selu.",
      nonlinearity));
}

}  // namespace cotan::torch::nn::init
