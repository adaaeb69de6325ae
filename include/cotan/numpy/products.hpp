// Products of vectors, matrices and tensors.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace cotan::numpy {

/// @name Products
/// Operands are promoted to one dtype; integers stay integers.
/// @{
/// Of products. `precision` may be "default", "high" or "highest": products are always of all bits of their dtype, so
/// it changes nothing.
struct ProductOptions {
  std::optional<std::string_view> precision = {};
  std::optional<DType> preferred_element_type = {};  ///< what is summed in, where it is wider, and what the result has
};
/// The matrix product of the last two axes; axes before them broadcast. A vector is a row on the left and a column on
/// the right: [n] · [n, k] is [k]. Scalars raise ShapeError; use multiply.
Array matmul(const ArrayLike& a, const ArrayLike& b);
/// The same with options.
Array matmul(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options);
/// The products of matrices [m, n] and vectors [n] of the last axes; axes before them broadcast.
Array matvec(const ArrayLike& a, const ArrayLike& b);
/// The products of vectors [m] and matrices [m, n] of the last axes; axes before them broadcast.
Array vecmat(const ArrayLike& a, const ArrayLike& b);
/// The inner products of vectors along an axis, `a` conjugated; the others broadcast.
Array vecdot(const ArrayLike& a, const ArrayLike& b, int axis = -1, const ProductOptions& options = {});
/// Of the last axis of `a` and the last but one of `b`, where other axes do not broadcast but follow one another; of
/// vectors the inner product, with scalars multiply.
Array dot(const ArrayLike& a, const ArrayLike& b);
/// The same with options.
Array dot(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options);
/// The inner product of all elements; a scalar.
Array vdot(const ArrayLike& a, const ArrayLike& b);
/// The same with options.
Array vdot(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options);
/// Of the last axes of both; other axes follow one another.
Array inner(const ArrayLike& a, const ArrayLike& b);
/// The same with options.
Array inner(const ArrayLike& a, const ArrayLike& b, const ProductOptions& options);
/// [n, m]: the products of every element of `a` with every one of `b`, both flattened.
Array outer(const ArrayLike& a, const ArrayLike& b);
/// The Kronecker product: each element of `a` times all of `b`.
Array kron(const ArrayLike& a, const ArrayLike& b);
/// The cross product along the last axes, of size 2 or 3; of two of size 2 its third component.
Array cross(const ArrayLike& a, const ArrayLike& b);
/// Of cross: which axes of the operands and of the result hold the components.
struct CrossOptions {
  int axisa = -1;
  int axisb = -1;
  int axisc = -1;
  std::optional<int> axis = {};  ///< all three
};
/// The same along other axes.
Array cross(const ArrayLike& a, const ArrayLike& b, const CrossOptions& options);
/// The sum of a diagonal, as diagonal and sum.
Array trace(const ArrayLike& a, int offset = 0, int axis1 = 0, int axis2 = 1,
            std::optional<DType> dtype = std::nullopt);
/// Of the last `axes` axes of `a` with the first of `b`.
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes = 2);
/// Of the axes `axes_a` of `a` with the axes `axes_b` of `b`, one by one; the others follow one another.
Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b);
/// The same with options.
/// @{
Array tensordot(const ArrayLike& a, const ArrayLike& b, int axes, const ProductOptions& options);
Array tensordot(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b,
                const ProductOptions& options);
/// @}
/// Of einsum.
struct EinsumOptions {
  bool optimize = true;  ///< of three and more operands: those first that cost least; else from the left
  std::optional<std::string_view> precision = {};
  std::optional<DType> preferred_element_type = {};
};
/// Einstein's sums: einsum("bij,bjk->bik", {a, b}). The output may be left out, '...' broadcasts.
Array einsum(std::string_view subscripts, const ArrayList& operands, const EinsumOptions& options = {});
/// An operand and a number for each of its axes.
struct EinsumOperand {
  Array array;
  std::vector<int> axes;
};
/// The same with numbers from 0 to 51 for letters: einsum({{a, {0, 1}}, {b, {1, 2}}}, {0, 2}).
Array einsum(const std::vector<EinsumOperand>& operands, const std::optional<std::vector<int>>& output = std::nullopt,
             const EinsumOptions& options = {}, const std::source_location& where = COTAN_HERE);
/// In which order einsum contracts, and what that costs.
struct EinsumPath {
  std::vector<std::vector<int>> contractions;  ///< operands that go; their product comes last
  double multiplications = 0;                  ///< in this order …
  double from_the_left = 0;                    ///< … and in that of the operands
};
/// The order that einsum takes.
EinsumPath einsum_path(std::string_view subscripts, const ArrayList& operands, const EinsumOptions& options = {});
/// Of two vectors: c[k] = sum_j a[k - j] v[j]; mode "full", "same" or "valid" says where they overlap. Integers become
/// floats, here and in correlate.
Array convolve(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "full",
               const ProductOptions& options = {});
/// Of two vectors: c[k] = sum_j a[k + j] v[j].
Array correlate(const ArrayLike& a, const ArrayLike& v, std::string_view mode = "valid",
                const ProductOptions& options = {});
/// @}

}  // namespace cotan::numpy
