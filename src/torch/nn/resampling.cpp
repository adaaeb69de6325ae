// Images in another size, padded, shuffled.
#include "torch/nn/resampling.hpp"

#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/torch/nn/functional/pooling.hpp>

namespace cotan::torch::nn::functional {

Array resampled(const Array& x, int axis, const Array& weights) {
  return np::moveaxis(lax::dot_general(x, weights, {{axis}, {1}, {}, {}}), -1, axis);
}
Array averages(std::int64_t in, std::int64_t out, DType dtype) {
  const Array o = lax::iota(i32, {out, 1}, 0), i = lax::iota(i32, {1, in}, 1);
  const Array first = np::floor_divide(o * in, out), last = np::floor_divide((o + 1) * in + (out - 1), out);
  return ((i >= first) & (i < last)).astype(dtype) / (last - first).astype(dtype);
}
Ints kept(const Tensor& x, Ints size) {
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] == -1) size[i] = x.size(static_cast<int>(i) - static_cast<int>(size.size()));
    if (size[i] < 1)
      throw_with_line<ValueError>(
          fmt::format("[adaptive_avg_pool] output_size {}; it must be positive, or -1.", size[i]));
  }
  return size;
}

namespace {

/// Where samples of a result are among those of an axis: PyTorch's rule.
struct Scale {
  std::int64_t in, out;
  bool align_corners;
  double factor;  ///< as it was given; 0: none was
  double step() const {
    if (align_corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
    return factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
  }
  Array places(DType dtype) const {
    const Array o = lax::iota(dtype, {out, 1}, 0);
    return align_corners ? o * step() : (o + 0.5) * step() - 0.5;
  }
};

/// The two samples next to a place, each by how near it is.
Array linear_weights(const Scale& scale, DType dtype) {
  const Array at = np::clip(scale.places(dtype), 0.0, static_cast<double>(scale.in - 1));
  return np::maximum(1.0 - np::abs(at - lax::iota(dtype, {1, scale.in}, 1)), 0.0);
}
/// Keys' cubic with a = -0.75. Samples at the ends are repeated: `around` of them are before the axis.
Array cubic_weights(const Scale& scale, std::int64_t around, DType dtype) {
  const double a = -0.75;
  const Array d = np::abs(scale.places(dtype) - (lax::iota(dtype, {1, scale.in + 2 * around}, 1) - around));
  const Array near = ((a + 2) * d - (a + 3)) * d * d + 1.0, far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return np::where(d <= 1.0, near, np::where(d < 2.0, far, 0.0));
}
Array nearest(const Array& x, int axis, const Scale& scale, bool exact) {
  if (scale.factor == 0 && scale.out % scale.in == 0) return np::repeat(x, scale.out / scale.in, axis);
  // In f32, as PyTorch does.
  const Array place = (lax::iota(f32, {scale.out}, 0) + (exact ? 0.5 : 0.0)) * static_cast<float>(scale.step());
  return np::take(x, np::minimum(np::floor(place).astype(i32), scale.in - 1), axis, "clip");
}

enum class Mode : std::uint8_t { nearest, nearest_exact, linear, cubic, area };
Mode mode_named(const std::string& name, int axes) {
  if (name == "nearest") return Mode::nearest;
  if (name == "nearest-exact") return Mode::nearest_exact;
  if (name == "area") return Mode::area;
  if ((name == "linear" && axes == 1) || (name == "bilinear" && axes == 2) || (name == "trilinear" && axes == 3))
    return Mode::linear;
  if (name == "bicubic" && axes == 2) return Mode::cubic;
  throw_with_line<ValueError>(
      fmt::format("[interpolate] the mode \"{}\" of an input with {} spatial dimensions; there are nearest, "
                  "nearest-exact and area, "
                  "linear (1), bilinear and bicubic (2), and trilinear (3).",
                  name, axes));
}

}  // namespace

Tensor interpolate(const Input& x, const InterpolateOptions& o) {
  static const auto op =
      define("interpolate", {.cast = Cast::f32},
             [](const Array& a, const Ints& size, const std::vector<double>& factors, Mode mode, bool align_corners) {
               Array y = a;
               if (mode == Mode::linear || mode == Mode::cubic) y = widened(a);
               for (std::size_t i = 0; i < size.size(); ++i) {
                 const int axis = a.ndim() - static_cast<int>(size.size() - i);
                 const double factor = factors.empty() ? 0 : factors[i];
                 const Scale scale{y.shape(axis), size[i], align_corners, factor};
                 if (mode == Mode::linear)
                   y = resampled(y, axis, linear_weights(scale, y.dtype()));
                 else if (mode == Mode::cubic) {
                   const std::int64_t around = 2;
                   lax::ConvPadding::Pairs edges(static_cast<std::size_t>(a.ndim()));
                   edges[static_cast<std::size_t>(axis)] = {around, around};
                   y = resampled(np::pad(y, edges, "edge"), axis, cubic_weights(scale, around, y.dtype()));
                 } else
                   y = nearest(y, axis, scale, mode == Mode::nearest_exact);
               }
               return y.astype(a.dtype());
             });
  const int axes = x->dim() - 2;
  if (axes < 1 || axes > 3 || o.size.has_value() == o.scale_factor.has_value())
    throw_with_line<ValueError>(fmt::format(
        "[interpolate] needs size or scale_factor, not both, and an input [N, C, …] of 1 to 3 spatial dimensions, not "
        "{}.",
        describe(x->sizes())));
  std::vector<double> factors;
  Ints size;
  if (o.scale_factor) {
    factors = *o.scale_factor;
    if (factors.size() == 1) factors.resize(static_cast<std::size_t>(axes), factors[0]);
    if (factors.size() != static_cast<std::size_t>(axes))
      throw_with_line<ValueError>(
          fmt::format("[interpolate] scale_factor has {} numbers for {} dimensions.", factors.size(), axes));
    for (int i = 0; i < axes; ++i)
      size.push_back(static_cast<std::int64_t>(
          std::floor(static_cast<double>(x->size(i + 2)) * factors[static_cast<std::size_t>(i)])));
  } else
    size = o.size->of(axes, "interpolate", "size");
  for (const std::int64_t n : size)
    if (n < 1) throw_with_line<ValueError>(fmt::format("[interpolate] a size of {}; it must be positive.", n));
  const Mode mode = mode_named(o.mode, axes);
  return mode == Mode::area ? adaptive_average(*x, size) : op(*x, size, factors, mode, o.align_corners);
}

Tensor pad(const Input& x, const std::vector<std::int64_t>& widths, const PadOptions& o) {
  static const auto constant =
      define("pad", {}, [](const Array& a, const lax::ConvPadding::Pairs& pairs, double value) {
        std::vector<lax::PaddingConfig> around;
        for (const auto& [low, high] : pairs) around.push_back({low, high});
        return lax::pad(a, np::full({}, value, a.dtype()), around);
      });
  static const auto of_elements =
      define("pad", {}, [](const Array& a, const lax::ConvPadding::Pairs& pairs, const std::string& mode) {
        return np::pad(a, pairs, mode);
      });
  if (widths.size() % 2 || widths.size() > 2 * static_cast<std::size_t>(x->dim()))
    throw_with_line<ValueError>(
        fmt::format("[pad] {} numbers for an input of {} dimensions; give a pair for each of the last ones.",
                    widths.size(), x->dim()));
  const bool is_constant = o.mode == "constant";
  const std::string mode = o.mode == "reflect" ? "reflect" : o.mode == "replicate" ? "edge" : "wrap";
  if (!is_constant && mode == "wrap" && o.mode != "circular")
    throw_with_line<ValueError>(fmt::format(
        "[pad] the mode \"{}\"; there are \"constant\", \"reflect\", \"replicate\" and \"circular\".", o.mode));
  lax::ConvPadding::Pairs pairs(static_cast<std::size_t>(x->dim()));
  for (std::size_t i = 0; i < widths.size() / 2; ++i) {
    const auto& [low, high] = pairs[pairs.size() - 1 - i] = {widths[2 * i], widths[2 * i + 1]};
    const std::int64_t size = x->size(-1 - static_cast<int>(i)), most = mode == "reflect" ? size - 1 : size;
    if (low + high + size < 0 ||
        (!is_constant && (low < 0 || high < 0 || (mode != "edge" && std::max(low, high) > most))))
      throw_with_line<ValueError>(fmt::format("[pad] {} and {} around a dimension of {}, which mode \"{}\" cannot do.",
                                              low, high, size, o.mode));
  }
  return is_constant ? constant(*x, pairs, o.value) : of_elements(*x, pairs, mode);
}

namespace {

void check_shuffle(const Tensor& x, std::int64_t factor, bool fits, std::string_view op) {
  if (factor < 1 || x.dim() < 3 || !fits)
    throw_with_line<ShapeError>(
        fmt::format("[{}] the input {} does not divide by {}.", op, describe(x.sizes()), factor));
}

}  // namespace

Tensor pixel_shuffle(const Input& x, std::int64_t upscale_factor) {
  static const auto op = define("pixel_shuffle", {}, [](const Array& a, std::int64_t r) {
    const std::int64_t c = a.shape(-3) / (r * r), h = a.shape(-2), w = a.shape(-1);
    const Shape before(a.shape().begin(), a.shape().end() - 3);
    Shape out = before;
    out.insert(out.end(), {c, h * r, w * r});
    return a.reshape({-1, c, r, r, h, w}).transpose({0, 1, 4, 2, 5, 3}).reshape(out);
  });
  check_shuffle(*x, upscale_factor, x->dim() >= 3 && x->size(-3) % (upscale_factor * upscale_factor) == 0,
                "pixel_shuffle");
  return op(*x, upscale_factor);
}
Tensor pixel_unshuffle(const Input& x, std::int64_t downscale_factor) {
  static const auto op = define("pixel_unshuffle", {}, [](const Array& a, std::int64_t r) {
    const std::int64_t c = a.shape(-3), h = a.shape(-2) / r, w = a.shape(-1) / r;
    Shape out(a.shape().begin(), a.shape().end() - 3);
    out.insert(out.end(), {c * r * r, h, w});
    return a.reshape({-1, c, h, r, w, r}).transpose({0, 1, 3, 5, 2, 4}).reshape(out);
  });
  check_shuffle(*x, downscale_factor,
                x->dim() >= 3 && x->size(-1) % downscale_factor == 0 && x->size(-2) % downscale_factor == 0,
                "pixel_unshuffle");
  return op(*x, downscale_factor);
}
Tensor channel_shuffle(const Input& x, std::int64_t groups) {
  static const auto op = define("channel_shuffle", {}, [](const Array& a, std::int64_t g) {
    Shape split{a.shape(0), g, a.shape(1) / g};
    split.insert(split.end(), a.shape().begin() + 2, a.shape().end());
    return np::swapaxes(a.reshape(split), 1, 2).reshape(a.shape());
  });
  check_shuffle(*x, groups, x->dim() >= 3 && x->size(1) % groups == 0, "channel_shuffle");
  return op(*x, groups);
}

}  // namespace cotan::torch::nn::functional
