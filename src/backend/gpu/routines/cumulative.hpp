// Running sums, products and extrema along rows that lie in memory as they are: in tiles, a group of threads for each.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

struct CumulativeProblem {
  expr::ReduceOp op;
  DType dtype;
  std::int64_t rows, length;
  bool reverse;
  BufferId operand, result;
  Expr offset;  ///< of the operand in its buffer; or none

  /// How many a group takes.
  std::int64_t tile() const;
  std::int64_t tiles() const { return (length + tile() - 1) / tile(); }
};

/// Whether this is for the routine, and not for the expansion: large, and along the axis that memory runs along.
bool prefers_cumulative(const Primitive& p, std::span<const AbstractValue> types, const Params& params);
CumulativeProblem cumulative_problem(const compiler::Routine& routine);

/// One dispatch, or three where a row is several tiles: what each tile comes to, what comes before each tile, and the
/// rows. `scratch` has room for a value per tile.
std::vector<Shader> cumulative_shaders(const Program& program, const CumulativeProblem& problem, BufferId scratch,
                                       const Surroundings& around, const Capabilities& device);

/// The first rows x columns words of a buffer, each the sum of those before it in its row.
Shader exclusive_sums(const Program& program, BufferId words, std::int64_t rows, std::int64_t columns,
                      const Surroundings& around, const Capabilities& device);

}  // namespace cotan::gpu
