// The functions of a distribution that follow from others. Names of parameters come in parentheses.
#pragma once
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>
#include <cotan/scipy/stats.hpp>

#include "scipy/operands.hpp"

namespace cotan::scipy::stats {

namespace np = numpy;
namespace sp = special;

// NOLINTBEGIN: lists of parameters cannot be templates
#define COTAN_UNPACK(...) __VA_ARGS__
/// name = f(of), for distributions with these parameters.
#define COTAN_DERIVED(name, f, of, parameters, arguments) \
  Array name(COTAN_UNPACK parameters) { return f(of(COTAN_UNPACK arguments)); }
#define COTAN_X const ArrayLike &x, const ArrayLike &loc, const ArrayLike &scale
#define COTAN_X1(a) const ArrayLike &x, const ArrayLike &a, const ArrayLike &loc, const ArrayLike &scale
#define COTAN_X2(a, b) \
  const ArrayLike &x, const ArrayLike &a, const ArrayLike &b, const ArrayLike &loc, const ArrayLike &scale
// NOLINTEND

/// What pdf is of logpdf, and back.
inline Array density(const Array& log) { return np::exp(log); }
inline Array logarithm(const Array& value) { return np::log(value); }

/// log of a probability that is constant where `outside`: no derivative comes through there, were it that of log 0.
inline Array log_inside(const Array& outside, const Array& value) {
  return np::where(outside, np::log(lax::stop_gradient(value)), np::log(np::where(outside, 1.0, value)));
}

/// NaN outside of [0, 1].
inline Array if_probability(const Array& q, const Array& value) {
  return np::where(np::isnan(q) | (q < 0.0) | (q > 1.0), np::nan, value);
}

}  // namespace cotan::scipy::stats
