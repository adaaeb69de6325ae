// Quaternions (x, y, z, w) along the last axis, by their components.
#pragma once
#include <cotan/numpy.hpp>
#include <cotan/scipy/spatial.hpp>

#include "ops/promote.hpp"

namespace cotan::scipy::spatial::transform {

namespace np = numpy;

/// Component i of vectors along the last axis.
inline Array component(const Array& vectors, int i) { return vectors(ellipsis, i); }
/// Vectors of components, which broadcast.
Array vectors_of(const std::vector<Array>& components);
/// The length of vectors, as [..., 1]: its derivative is 0 where they are 0.
Array length_of(const Array& vectors);
/// The rotation q, then p.
Array product(const Array& p, const Array& q);
/// Of length 1.
Array normalized(const Array& quaternions);
/// Floats [..., n], else ShapeError.
Array checked_vectors(std::string_view op, const Array& a, std::int64_t n, std::string_view what);

}  // namespace cotan::scipy::spatial::transform
