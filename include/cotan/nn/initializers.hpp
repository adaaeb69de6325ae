// Functions that draw the first values of parameters, as in jax.nn.initializers.
#pragma once
#include <cotan/array.hpp>
#include <functional>

/// `jax.nn.initializers`: functions of a key, a shape and a dtype, with the bits of jax.random.
///
///     ct::Array w = ct::nn::initializers::he_normal()(key, {784, 512});
namespace cotan::nn::initializers {

/// Draws an array. Its dtype is the one in the call, or the one that the initializer was made with, or f32.
class Initializer {
 public:
  /// Of a function of key, shape and dtype.
  explicit Initializer(std::function<Array(const Array& key, const Shape& shape, DType dtype)> draw,
                       std::optional<DType> dtype = std::nullopt)
      : draw_(std::move(draw)), dtype_(dtype) {}
  /// An array of that shape.
  Array operator()(const ArrayLike& key, const Shape& shape, std::optional<DType> dtype = std::nullopt) const {
    return draw_(key.array(), shape, dtype.value_or(dtype_.value_or(f32)));
  }

 private:
  std::function<Array(const Array&, const Shape&, DType)> draw_;
  std::optional<DType> dtype_;
};
using OptionalDType = std::optional<DType>;  ///< none: that of the call

/// Zeros, whatever the key.
Array zeros(const ArrayLike& key, const Shape& shape, DType dtype = f32);
/// Ones, whatever the key.
Array ones(const ArrayLike& key, const Shape& shape, DType dtype = f32);
/// That value, which broadcasts.
Initializer constant(const ArrayLike& value, OptionalDType dtype = std::nullopt);
/// Uniform in [0, scale).
Initializer uniform(double scale = 1e-2, OptionalDType dtype = std::nullopt);
/// Normal of mean 0.
Initializer normal(double stddev = 1e-2, OptionalDType dtype = std::nullopt);
/// Normal between `lower` and `upper`, times stddev.
Initializer truncated_normal(double stddev = 1e-2, OptionalDType dtype = std::nullopt, double lower = -2.0,
                             double upper = 2.0);
/// What the variance is divided by: the number of inputs, of outputs, their mean, or their geometric mean.
enum class Fan : std::uint8_t { fan_in, fan_out, fan_avg, fan_geo_avg };
/// What is drawn.
enum class Distribution : std::uint8_t { truncated_normal, normal, uniform };
/// Which axes count inputs, outputs and batches; the others count for both.
struct FanAxes {
  Axes in_axis = -2, out_axis = -1;
  std::vector<int> batch_axis = {};
  OptionalDType dtype = std::nullopt;
};
/// Of variance scale / fan.
Initializer variance_scaling(double scale, Fan mode, Distribution distribution, const FanAxes& axes = {});
Initializer glorot_uniform(const FanAxes& axes = {});   ///< variance 1 / mean of inputs and outputs
Initializer glorot_normal(const FanAxes& axes = {});    ///< variance 1 / mean of inputs and outputs
Initializer xavier_uniform(const FanAxes& axes = {});   ///< the same as glorot_uniform
Initializer xavier_normal(const FanAxes& axes = {});    ///< the same as glorot_normal
Initializer lecun_uniform(const FanAxes& axes = {});    ///< variance 1 / inputs
Initializer lecun_normal(const FanAxes& axes = {});     ///< variance 1 / inputs
Initializer he_uniform(const FanAxes& axes = {});       ///< variance 2 / inputs
Initializer he_normal(const FanAxes& axes = {});        ///< variance 2 / inputs
Initializer kaiming_uniform(const FanAxes& axes = {});  ///< the same as he_uniform
Initializer kaiming_normal(const FanAxes& axes = {});   ///< the same as he_normal
/// Columns, the axis column_axis, or else rows are orthogonal and of length `scale`. f32 or f64.
Initializer orthogonal(double scale = 1.0, int column_axis = -1, OptionalDType dtype = std::nullopt);
/// Of convolutions, [k…, in, out] with in <= out: orthogonal in the middle of the window, else 0.
Initializer delta_orthogonal(double scale = 1.0, int column_axis = -1, OptionalDType dtype = std::nullopt);

}  // namespace cotan::nn::initializers
