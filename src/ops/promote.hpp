// How operands of unlike dtypes and shapes meet: JAX's type lattice with weak scalars, NumPy's broadcasting.
#pragma once
#include <span>
#include <string_view>

#include "core/primitive.hpp"

namespace cotan::numpy {

/// The dtype that an operation computes in, and whether that dtype still gives way to others.
struct ResultType {
  DType dtype;
  bool weak;
};
ResultType result_type(std::span<const Array> args);
ResultType result_type(const Array& a);
/// As result_type, but integers and bool become f32.
ResultType inexact_result_type(std::span<const Array> args);
/// As result_type, but bool becomes i32.
ResultType numeric_result_type(std::span<const Array> args);

Array cast_to(const Array& a, ResultType type);
/// Integers and bool as floats, floats as they are.
Array to_inexact(const Array& a);
Arrays cast_all(std::span<const Array> args, ResultType type);

/// The shape that all shapes broadcast to; raises naming `op` where they do not fit.
Shape broadcast_shapes(std::string_view op, std::span<const Array> args);
Shape broadcast_shapes(std::string_view op, std::span<const Shape> shapes);
/// Operands for an elementwise primitive: of the common shape, or 0-d.
Arrays broadcast_operands(std::string_view op, Arrays args);

/// `p` on an operand that becomes a float.
Array on_float(const Primitive& p, const Array& a, const Params& params = {});

/// Both together, for elementwise operations.
Arrays promote(std::string_view op, std::initializer_list<Array> args);
Arrays promote_inexact(std::string_view op, std::initializer_list<Array> args);
Arrays promote_numeric(std::string_view op, std::initializer_list<Array> args);

/// `axis` in [0, ndim), counted from the end where it is negative.
int resolve_axis(int axis, int ndim, std::string_view op);

/// TypeError for complex operands.
void check_real(std::string_view op, const Array& a);

}  // namespace cotan::numpy
