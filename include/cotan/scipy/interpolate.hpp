// cotan::scipy::interpolate: values between the points of a grid.
#pragma once
#include <cotan/array.hpp>
#include <cotan/tree_fields.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// `jax.scipy.interpolate`.
namespace cotan::scipy::interpolate {

/// Of RegularGridInterpolator.
struct GridOptions {
  std::string method = "linear";  ///< or "nearest"
  bool bounds_error = false;      ///< true raises, as in JAX: a program cannot stop where a point is outside
  std::optional<Array> fill_value = Array(std::numeric_limits<double>::quiet_NaN());  ///< outside; none extrapolates
};

/// Interpolates values on a grid. points[i], a rising vector of at least two numbers, are the coordinates along axis i
/// of `values`, which may have more axes. It is a pytree. `jax.scipy.interpolate.RegularGridInterpolator`.
///
///     const RegularGridInterpolator f({x, y}, z);
///     ct::Array at = f(np::array({{0.5, 1.5}, {2.0, 0.1}}));      // at two points
class RegularGridInterpolator {
 public:
  RegularGridInterpolator(const ArrayList& points, const ArrayLike& values, const GridOptions& options = {});
  /// The values at the points along the last axis of `xi` [..., d]: [...], and the further axes of the values. A vector
  /// is points of a grid of one axis, or one point. `method` may be another one than the interpolator's.
  Array operator()(const ArrayLike& xi, const std::optional<std::string>& method = std::nullopt) const;
  /// The same with an array per coordinate, which broadcast.
  Array operator()(const std::vector<Array>& xi, const std::optional<std::string>& method = std::nullopt,
                   const std::source_location& where = COTAN_HERE) const;

  std::vector<Array> grid;          ///< the coordinates of its points
  Array values;                     ///< what is there
  std::optional<Array> fill_value;  ///< and what is outside
  std::string method;               ///< "linear" or "nearest"
  COTAN_TREE(grid, values, fill_value, method)
};

}  // namespace cotan::scipy::interpolate
