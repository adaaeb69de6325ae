// Attention as shaders that keep scores in registers: a group of threads has a tile of rows (queries, or keys where
// their gradients are summed) and goes through tiles of the others. No score is ever in memory, whatever the lengths.
#pragma once
#include "backend/gpu/routines/matmul.hpp"

namespace cotan::gpu {

/// An operand or a result: where element [batch, row, head, element] lies. Axes along which it is broadcast have stride
/// 0.
struct AttentionSide {
  BufferId buffer = -1;
  Expr offset = {};
  AxisGroup batch = {};
  std::int64_t row = 0, head = 0, element = 0;  ///< strides
  DType dtype = DType::f32;
};

struct AttentionProblem {
  std::int64_t batch = 1, queries = 1, keys = 1, heads = 1, key_heads = 1, width = 1;
  double scale = 1;
  bool is_causal = false;
  AttentionSide query = {}, key = {}, value = {}, bias = {}, mask = {};  ///< the last two where they have a buffer
  AttentionSide maximum = {}, sum = {};                                  ///< by queries: results of the forward pass
  AttentionSide output = {};                                             ///< forwards only
  AttentionSide delta = {}, cotangent = {};                              ///< from here on backwards only
  AttentionSide query_gradient = {}, key_gradient = {}, value_gradient = {}, score_gradient = {};
  std::int64_t group() const { return heads / key_heads; }
  /// Whether queries may see no key at all: then their weights are at the keys that are hidden.
  bool may_hide_all() const { return bias.buffer >= 0 || mask.buffer >= 0; }
};
AttentionProblem attention_problem(const Program& program, const compiler::Routine& routine);

/// A group has thread_rows * rows rows and goes through 4 * thread_columns others at a time; a thread has `rows` x 4
/// scores.
struct AttentionTile {
  int thread_rows = 16, rows = 4, thread_columns = 8;
  bool compact = false;  ///< loops are not written out: the software driver would compile for minutes
  int threads() const { return thread_rows * thread_columns; }
  int row_count() const { return thread_rows * rows; }
  int column_count() const { return 4 * thread_columns; }
  std::size_t shared_bytes(std::int64_t width, bool backward) const;
};
/// For `count` matrices of `rows` rows: the largest that the device has room for, or where these are few one that makes
/// more groups; unless COTAN_WEBGPU_ATTENTION says "16x4x8", or "16x4x8,8x4x8" for
/// forwards and backwards; nothing: there is none.
std::optional<AttentionTile> attention_tile(std::int64_t rows, std::int64_t width, std::int64_t count, bool backward,
                                            const Capabilities& device);

/// Whether these shaders are for this operation.
bool is_attention(const Primitive& p);
/// Whether this is for these shaders, and not for the expansion.
bool prefers_attention(const Primitive& p, std::span<const AbstractValue> types, const Params& params,
                       const Capabilities& device);

/// One dispatch forwards. Backwards two: keys and values by tiles of keys, queries by tiles of queries; results that
/// nobody wants are left out.
std::vector<Shader> attention_shaders(const Program& program, const compiler::Routine& routine,
                                      const Surroundings& around, const Capabilities& device);

}  // namespace cotan::gpu
