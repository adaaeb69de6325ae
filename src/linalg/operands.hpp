// How operands of cotan::linalg are checked, promoted and broadcast, for all of its files.
#pragma once
#include <cotan/linalg.hpp>

#include "ops/promote.hpp"

namespace cotan::linalg {

/// Integers and bool as f32.
Array as_inexact(const Array& a);
void check_lapack_dtype(std::string_view op, const Array& a);
/// As as_inexact; raises naming `op` where `a` is no batch of (square) matrices, or, unless `any_dtype`, not
/// f32 or f64.
Array matrix_operand(std::string_view op, const Array& a, bool any_dtype = false);
Array square_operand(std::string_view op, const Array& a, bool any_dtype = false);

/// The distance from 1 to the next number of the dtype, or of the parts of a complex one.
double epsilon(DType dtype);

/// Numbers of the host as an array of a dtype, which takes no step through one that a device may not have.
Array from_numbers(const std::vector<double>& values, const Shape& shape, DType dtype);

Shape batch_shape(const Array& a);
/// Broadcasts all but the last `core_axes` axes to `batch`.
Array broadcast_batch(const Array& a, const Shape& batch, int core_axes);

/// a x = b with one dtype and as many rows on both sides. A right-hand side of one axis is a vector for every
/// matrix; others are matrices.
struct System {
  Array a, b;
  bool vector;
  /// x without the column axis that a vector was given.
  Array result(const Array& x) const;
};
System system_operands(std::string_view op, const Array& a, const Array& b);

/// The pseudoinverse; singular values up to the share `rtol` of the largest count as zero.
Array pseudoinverse(const Array& a, const Array& rtol, bool hermitian = false);

}  // namespace cotan::linalg
