// Householder's reflections, and parts of matrices by numbers that are not known before.
#pragma once
#include "expansions/tools.hpp"
#include "ops/linalg/matrix.hpp"

namespace cotan::expansions {

/// Row and column numbers of one matrix, in its shape: comparisons of them are masks, which fuse with what
/// they mask.
struct Grid {
  Array row, column;
  explicit Grid(const Array& a) : row(ops::iota(i32, a.shape(), 0)), column(ops::iota(i32, a.shape(), 1)) {}
};
/// Column j as [m, 1], row i as [1, n], and one element.
inline Array column_at(const Array& a, const Array& j) {
  return bind1(ops::dynamic_slice_p, {a, scalar(i32, 0), j}, {{"slice_sizes", Ints{rows(a), 1}}});
}
inline Array row_at(const Array& a, const Array& i) {
  return bind1(ops::dynamic_slice_p, {a, i, scalar(i32, 0)}, {{"slice_sizes", Ints{1, columns(a)}}});
}
inline Array element_at(const Array& a, const Array& i, const Array& j) {
  return ops::reshape(bind1(ops::dynamic_slice_p, {a, i, j}, {{"slice_sizes", Ints{1, 1}}}), {});
}
inline Array element_at(const Array& a, const Array& i) {
  return ops::reshape(bind1(ops::dynamic_slice_p, {a, i}, {{"slice_sizes", Ints{1}}}), {});
}

/// I - factor v vᵀ.
struct Reflection {
  Array vector, factor;  ///< [m, 1], []
};
/// The reflection that takes the part of a column, [m, 1], from row `first` on to a multiple of its first unit vector;
/// LAPACK's signs.
Reflection reflection_of(const Array& column, const Array& first);
/// (I - factor v vᵀ) a
Array reflected(const Array& a, const Reflection& h);

}  // namespace cotan::expansions
