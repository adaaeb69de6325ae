// cotan::lax: products of matrices and tensors.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <vector>

namespace cotan::lax {

/// @name Products
/// @{
/// Which axes of the operands are summed over in pairs, and which go along in pairs.
struct DotDimensionNumbers {
  std::vector<std::int64_t> contract_lhs, contract_rhs, batch_lhs, batch_rhs;
};
/// How exact products are wished to be. Ours are as exact as their dtype, so all of these mean the same; JAX has less
/// exact ones on some devices.
enum class Precision { default_, high, highest };
/// Sums of products. Result axes: batch, then free axes of `a`, then free axes of `b`. A batched matrix product:
/// dot_general(a, b, {.contract_lhs = {2}, .contract_rhs = {1}, .batch_lhs = {0}, .batch_rhs = {0}}).
///
/// They are computed in `preferred_element_type`, which is the dtype of the result; unless given, that of the operands.
Array dot_general(const ArrayLike& a, const ArrayLike& b, const DotDimensionNumbers& dimensions,
                  std::optional<DType> preferred_element_type = std::nullopt);
/// Of dot.
struct DotOptions {
  /// Needed unless both operands have one or two axes.
  std::optional<DotDimensionNumbers> dimension_numbers = {};
  std::optional<DType> preferred_element_type = {};
  Precision precision = Precision::default_;
};
/// The product of vectors and matrices, or dot_general where there are dimension numbers.
Array dot(const ArrayLike& a, const ArrayLike& b, const DotOptions& options = {});
/// Products of the matrices in the last two axes; the axes before them go along in pairs and are equal.
Array batch_matmul(const ArrayLike& a, const ArrayLike& b);

/// Of ragged_dot_general: one axis of `lhs` is cut into groups; `rhs` has an axis of groups where it has a part for
/// each.
struct RaggedDotDimensionNumbers {
  DotDimensionNumbers dot;
  std::vector<std::int64_t> lhs_ragged_dimensions;  ///< one
  std::vector<std::int64_t> rhs_group_dimensions;   ///< one where rows are ragged, else none
};
/// Rows of lhs[m, k] by groups of rows, one after the other, each group times its matrix of rhs[groups, k, n]: [m, n].
/// group_sizes[groups] are integers; rows behind the last group give 0.
Array ragged_dot(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& group_sizes,
                 std::optional<DType> preferred_element_type = std::nullopt);
/// dot_general with one axis of `lhs` cut into groups of these sizes. A free axis: each group meets its own part of
/// `rhs`. A contracted axis: the result has a new first axis, of groups, each summed over its own part. A batch axis:
/// as without groups, 0 behind the last one.
Array ragged_dot_general(const ArrayLike& lhs, const ArrayLike& rhs, const ArrayLike& group_sizes,
                         const RaggedDotDimensionNumbers& dimensions,
                         std::optional<DType> preferred_element_type = std::nullopt);
/// Of scaled_dot.
struct ScaledDotOptions {
  /// Per operand; an axis that is contracted may be shorter than the operand's by a factor: one number scales a run.
  std::optional<Array> lhs_scale = {}, rhs_scale = {};
  std::optional<DotDimensionNumbers> dimension_numbers = {};  ///< unless given, those of batch_matmul
  DType preferred_element_type = bf16;
};
/// (lhs · lhs_scale) times (rhs · rhs_scale).
Array scaled_dot(const ArrayLike& lhs, const ArrayLike& rhs, const ScaledDotOptions& options = {});

/// @}

}  // namespace cotan::lax
