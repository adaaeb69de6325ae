// cotan::numpy: what the namespace is, and its constants.
#pragma once
#include <limits>
#include <numbers>

/// `jax.numpy`, with its names, argument orders and results: what a comment here does not say is as there. Operands
/// broadcast as NumPy's do, and dtypes promote as JAX's with x64 on; C++ numbers take the dtype of what they meet.
/// Shapes that do not fit raise ShapeError, dtypes that do not fit TypeError, axes that do not exist IndexError.
/// Options that Python passes by name are the fields of a struct here: sum(x, {.axis = 0, .where = mask}).
///
///     namespace np = cotan::numpy;
///     ct::Array y = np::mean(np::square(x - 1), 0);
namespace cotan::numpy {

inline constexpr double pi = std::numbers::pi;                           ///< 3.14159…
inline constexpr double e = std::numbers::e;                             ///< 2.71828…
inline constexpr double euler_gamma = std::numbers::egamma;              ///< 0.57721…
inline constexpr double inf = std::numeric_limits<double>::infinity();   ///< infinity
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();  ///< not a number

}  // namespace cotan::numpy
