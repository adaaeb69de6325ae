// cotan::scipy::integrate: integrals of points.
#pragma once
#include <cotan/numpy/statistics.hpp>

/// `jax.scipy.integrate`: numpy's trapezoidal rule.
namespace cotan::scipy::integrate {
using numpy::trapezoid;
using numpy::TrapezoidOptions;
}  // namespace cotan::scipy::integrate
