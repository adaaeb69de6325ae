// First values of parameters, with the bits of jax.random.
#include <fmt/format.h>

#include <cmath>
#include <cotan/linalg.hpp>
#include <cotan/nn/initializers.hpp>
#include <cotan/numpy.hpp>
#include <cotan/random.hpp>

namespace cotan::nn::initializers {

namespace np = numpy;

namespace {

Array in(double value, DType dtype) { return np::full({}, value, dtype); }

double product(const Shape& shape, const std::vector<int>& axes) {
  double out = 1;
  for (int a : axes) out *= static_cast<double>(shape[static_cast<std::size_t>(a)]);
  return out;
}
/// Inputs and outputs of a parameter.
std::pair<double, double> fans(const Shape& shape, const FanAxes& axes) {
  const int n = static_cast<int>(shape.size());
  if (axes.in_axis.list() == std::vector<int>{-2} && n <= 1)
    throw_with_line<ValueError>(fmt::format(
        "[variance_scaling] a parameter of {} axes has no inputs and outputs; give in_axis and out_axis.", n));
  double all = 1;
  for (auto d : shape) all *= static_cast<double>(d);
  const double inputs = product(shape, axes.in_axis.resolve(n, "variance_scaling"));
  const double outputs = product(shape, axes.out_axis.resolve(n, "variance_scaling"));
  const double batch =
      axes.batch_axis.empty() ? 1 : product(shape, Axes(axes.batch_axis).resolve(n, "variance_scaling"));
  const double field = all / inputs / outputs / batch;
  return {inputs * field, outputs * field};
}

}  // namespace

Array zeros(const ArrayLike&, const Shape& shape, DType dtype) { return np::zeros(shape, dtype); }
Array ones(const ArrayLike&, const Shape& shape, DType dtype) { return np::ones(shape, dtype); }
Initializer constant(const ArrayLike& value, OptionalDType dtype) {
  return Initializer([v = value.array()](const Array&, const Shape& shape, DType d) { return np::full(shape, v, d); },
                     dtype);
}
Initializer uniform(double scale, OptionalDType dtype) {
  return Initializer(
      [=](const Array& key, const Shape& shape, DType d) { return random::uniform(key, shape, d) * in(scale, d); },
      dtype);
}
Initializer normal(double stddev, OptionalDType dtype) {
  return Initializer(
      [=](const Array& key, const Shape& shape, DType d) { return random::normal(key, shape, d) * in(stddev, d); },
      dtype);
}
Initializer truncated_normal(double stddev, OptionalDType dtype, double lower, double upper) {
  return Initializer([=](const Array& key, const Shape& shape,
                         DType d) { return random::truncated_normal(key, lower, upper, shape, d) * in(stddev, d); },
                     dtype);
}

Initializer variance_scaling(double scale, Fan mode, Distribution distribution, const FanAxes& axes) {
  return Initializer(
      [=](const Array& key, const Shape& shape, DType d) {
        const auto [inputs, outputs] = fans(shape, axes);
        const double fan = mode == Fan::fan_in    ? inputs
                           : mode == Fan::fan_out ? outputs
                           : mode == Fan::fan_avg ? (inputs + outputs) / 2
                                                  : std::sqrt(inputs * outputs);
        const Array variance = in(scale / fan, d);
        switch (distribution) {
          case Distribution::normal:
            return random::normal(key, shape, d) * np::sqrt(variance);
          case Distribution::uniform:
            return random::uniform(key, shape, d, -1) * np::sqrt(3 * variance);
          default:  // the constant is the deviation of a normal number cut off at 2
            return random::truncated_normal(key, -2, 2, shape, d) * (np::sqrt(variance) / in(.87962566103423978, d));
        }
      },
      axes.dtype);
}
Initializer glorot_uniform(const FanAxes& a) { return variance_scaling(1, Fan::fan_avg, Distribution::uniform, a); }
Initializer glorot_normal(const FanAxes& a) {
  return variance_scaling(1, Fan::fan_avg, Distribution::truncated_normal, a);
}
Initializer xavier_uniform(const FanAxes& a) { return glorot_uniform(a); }
Initializer xavier_normal(const FanAxes& a) { return glorot_normal(a); }
Initializer lecun_uniform(const FanAxes& a) { return variance_scaling(1, Fan::fan_in, Distribution::uniform, a); }
Initializer lecun_normal(const FanAxes& a) {
  return variance_scaling(1, Fan::fan_in, Distribution::truncated_normal, a);
}
Initializer he_uniform(const FanAxes& a) { return variance_scaling(2, Fan::fan_in, Distribution::uniform, a); }
Initializer he_normal(const FanAxes& a) { return variance_scaling(2, Fan::fan_in, Distribution::truncated_normal, a); }
Initializer kaiming_uniform(const FanAxes& a) { return he_uniform(a); }
Initializer kaiming_normal(const FanAxes& a) { return he_normal(a); }

Initializer orthogonal(double scale, int column_axis, OptionalDType dtype) {
  return Initializer(
      [=](const Array& key, const Shape& shape, DType d) {
        if (shape.size() < 2)
          throw_with_line<ValueError>(
              fmt::format("[orthogonal] the shape is {}; it must have two axes at least.", describe(shape)));
        const int axis = Axes(column_axis).resolve(static_cast<int>(shape.size()), "orthogonal")[0];
        Shape rest = shape;
        const std::int64_t columns = shape[static_cast<std::size_t>(axis)];
        rest.erase(rest.begin() + axis);
        std::int64_t rows = 1;
        for (auto n : rest) rows *= n;
        if (rows * columns == 0) return np::zeros(shape, d);
        rest.push_back(columns);
        const Array q = np::reshape(random::orthogonal(key, rows, {}, d, columns), rest);
        return in(scale, d) * np::moveaxis(q, -1, axis);
      },
      dtype);
}
Initializer delta_orthogonal(double scale, int column_axis, OptionalDType dtype) {
  return Initializer(
      [=](const Array& key, const Shape& shape, DType d) {
        const std::size_t n = shape.size();
        if (n < 3 || n > 5 || shape[n - 1] < shape[n - 2])
          throw_with_line<ValueError>(fmt::format(
              "[delta_orthogonal] the shape is {}; give one to three axes of a window, then inputs, then at least as "
              "many outputs.",
              describe(shape)));
        const Array matrix = orthogonal(scale, column_axis, d)(key, {shape[n - 2], shape[n - 1]});
        std::vector<std::pair<std::int64_t, std::int64_t>> width;
        Shape window(n, 1);
        for (std::size_t i = 0; i + 2 < n; ++i) {
          const std::int64_t middle = (shape[i] - 1) / 2;
          width.emplace_back(middle, shape[i] - 1 - middle);
        }
        width.insert(width.end(), 2, {0, 0});
        window[n - 2] = shape[n - 2];
        window[n - 1] = shape[n - 1];
        return np::pad(np::reshape(matrix, window), width);
      },
      dtype);
}

}  // namespace cotan::nn::initializers
