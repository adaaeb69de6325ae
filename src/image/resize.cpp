// cotan::image: every axis is a product with a matrix of weights, known when the sizes are, or computed from scales.
#include <cotan/image.hpp>
#include <cotan/linalg.hpp>
#include <map>

#include "image/kernels.hpp"
#include "ops/promote.hpp"

namespace cotan::image {

namespace {

namespace np = numpy;
using Kind = ResizeMethod::Kind;

/// Weights [in, out] of an axis that is scaled by a known number.
Array known_weights(Kind kind, std::int64_t in, std::int64_t out, bool antialias, DType dtype) {
  const auto rows = static_cast<std::size_t>(in), columns = static_cast<std::size_t>(out);
  const double inverse = static_cast<double>(in) / static_cast<double>(out);
  const double wide = antialias ? std::max(inverse, 1.0) : 1.0;
  const std::int64_t edges = repeated_edges(kind);
  std::vector<double> weights(rows * columns);
  for (std::size_t k = 0; k < columns; ++k) {
    const double place = (static_cast<double>(k) + 0.5) * inverse - 0.5;
    double sum = 0;
    for (std::int64_t j = -edges; j < in + edges; ++j) {
      const double w = sample_weight(kind, place, static_cast<double>(j), inverse, wide);
      weights[static_cast<std::size_t>(std::clamp<std::int64_t>(j, 0, in - 1)) * columns + k] += w;
      sum += w;
    }
    for (std::size_t j = 0; j < rows; ++j)
      weights[j * columns + k] = std::abs(sum) > least_sum ? weights[j * columns + k] / sum : 0.0;
  }
  if (dtype == f64) return Array::from_host(weights, {in, out});
  return Array::from_host(std::vector<float>(weights.begin(), weights.end()), {in, out}).astype(dtype, {});
}

/// The same of an axis whose scale and translation are scalars.
Array computed_weights(Kind kind, std::int64_t in, std::int64_t out, const Array& scale, const Array& translation,
                       bool antialias) {
  const DType dtype = scale.dtype();
  const Array inverse = 1.0 / scale;
  const Array wide = antialias ? np::maximum(inverse, 1.0) : np::ones({}, dtype);
  const Array place = (np::arange(out, dtype) + 0.5) * inverse - translation * inverse - 0.5;
  const std::int64_t edges = repeated_edges(kind);
  const Array samples = np::expand_dims(np::arange(-edges, in + edges, 1, dtype), 1);
  Array weights = sample_weight(kind, np::expand_dims(place, 0), samples, inverse, wide);
  if (edges > 0) {
    const auto folded = [&](std::int64_t from, std::int64_t to) { return np::sum(weights(range(from, to)), 0, true); };
    weights = in == 1 ? folded(0, in + 2 * edges)
                      : Array(np::concatenate({folded(0, edges + 1), weights(range(edges + 1, edges + in - 1)),
                                               folded(edges + in - 1, in + 2 * edges)}));
  }
  const Array sum = np::sum(weights, 0, true);
  weights = np::where(np::abs(sum) > least_sum, weights / np::where(sum != 0.0, sum, 1.0), 0.0);
  if (edges > 0) return weights;
  return np::where((place >= -0.5) & (place <= static_cast<double>(in) - 0.5), weights, 0.0);
}

Array with_weights(const Array& image, const std::map<int, Array>& weights) {
  if (weights.empty()) return image;
  std::vector<np::EinsumOperand> operands{{image, {}}};
  std::vector<int> out;
  for (int i = 0; i < image.ndim(); ++i) {
    operands[0].axes.push_back(i);
    out.push_back(i);
  }
  for (const auto& [axis, matrix] : weights) {
    out[static_cast<std::size_t>(axis)] = image.ndim() + axis;
    operands.push_back({matrix.astype(image.dtype(), {}), {axis, image.ndim() + axis}});
  }
  return np::einsum(operands, out);
}

/// Keys' cubics do for both where the kernel is stretched.
Kind kernel_of(const ResizeMethod& method, bool antialias) {
  return method.kind() == ResizeMethod::cubic_pytorch && antialias ? ResizeMethod::cubic : method.kind();
}

void check_sizes(std::string_view op, const Array& image, const Shape& shape) {
  if (shape.size() != image.shape().size())
    raise<ShapeError>("[{}] the image is {}, but the shape {}; it must have as many axes.", op, image.aval(),
                      describe(shape));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      raise<ShapeError>("[{}] the shape {} has a negative size; sizes are 0 or more.", op, describe(shape));
    if (image.shape()[i] == 0 && shape[i] > 0)
      raise<ShapeError>("[{}] the image is {}, which has no samples along axis {}; it cannot become {}.", op,
                        image.aval(), i, describe(shape));
  }
}

Array resized_to_nearest(Array image, const Shape& shape) {
  for (int axis = 0; axis < image.ndim(); ++axis) {
    const std::int64_t in = image.shape(axis), out = shape[static_cast<std::size_t>(axis)];
    if (in == out) continue;
    std::vector<std::int32_t> places;
    for (std::int64_t k = 0; k < out; ++k) places.push_back(static_cast<std::int32_t>((2 * k + 1) * in / (2 * out)));
    image = np::take(image, Array::from_host(places), axis, "clip");
  }
  return image;
}

}  // namespace

Kind ResizeMethod::from_string(std::string_view name) {
  static const std::map<std::string_view, Kind> kinds{{"nearest", nearest},
                                                      {"linear", linear},
                                                      {"bilinear", linear},
                                                      {"trilinear", linear},
                                                      {"triangle", linear},
                                                      {"lanczos3", lanczos3},
                                                      {"lanczos5", lanczos5},
                                                      {"cubic", cubic},
                                                      {"bicubic", cubic},
                                                      {"tricubic", cubic},
                                                      {"cubic-pytorch", cubic_pytorch},
                                                      {"bicubic-pytorch", cubic_pytorch},
                                                      {"area", area}};
  const auto found = kinds.find(name);
  if (found == kinds.end())
    raise<ValueError>(
        "[resize] there is no method '{}'; use nearest, linear, cubic, cubic-pytorch, lanczos3, lanczos5 or area.",
        name);
  return found->second;
}

Array resize(const ArrayLike& image, const Shape& shape, const ResizeMethod& method, bool antialias, lax::Precision) {
  check_sizes("resize", image, shape);
  if (method.kind() == ResizeMethod::nearest) return resized_to_nearest(image, shape);
  const Array x = np::to_inexact(image);
  const Kind kind = kernel_of(method, antialias);
  std::map<int, Array> weights;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::int64_t in = x.shape(axis), out = shape[static_cast<std::size_t>(axis)];
    if (in != out) weights[axis] = known_weights(kind, in, out, antialias, real_dtype(x.dtype()));
  }
  return with_weights(x, weights);
}

Array scale_and_translate(const ArrayLike& image, const Shape& shape, const std::vector<int>& spatial_dims,
                          const ArrayLike& scale, const ArrayLike& translation, const ResizeMethod& method,
                          bool antialias, lax::Precision) {
  constexpr std::string_view op = "scale_and_translate";
  check_sizes(op, image, shape);
  if (method.kind() == ResizeMethod::nearest)
    raise<ValueError>("[{}] is not by the nearest sample, as in JAX; use another method.", op);
  const Shape one_each{static_cast<std::int64_t>(spatial_dims.size())};
  if (scale->shape() != one_each || translation->shape() != one_each)
    raise<ShapeError>("[{}] scale is {} and translation {} for {} axes; give vectors with one number for each.", op,
                      scale->aval(), translation->aval(), spatial_dims.size());
  const Array x = np::to_inexact(image);
  const std::vector<int> axes = Axes(spatial_dims).resolve(x.ndim(), op);
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end() &&
        x.shape(axis) != shape[static_cast<std::size_t>(axis)])
      raise<ShapeError>(
          "[{}] {} cannot become {}: axis {} is not one of the spatial_dims; name it there, or let it keep its size.",
          op, x.aval(), describe(shape), axis);
  const Array both[] = {scale, translation};
  const Arrays numbers = np::cast_all(both, np::inexact_result_type(both));
  const Kind kind = kernel_of(method, antialias);
  std::map<int, Array> weights;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    weights[axes[i]] = computed_weights(kind, x.shape(axes[i]), shape[static_cast<std::size_t>(axes[i])],
                                        numbers[0](number), numbers[1](number), antialias);
  }
  return with_weights(x, weights);
}

}  // namespace cotan::image
