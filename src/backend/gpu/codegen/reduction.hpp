// Reductions in shaders: what they start from, how two results become one, and how threads join theirs.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

std::string identity(Writer& w, expr::ReduceOp op, DType dtype);
std::string combine(Writer& w, expr::ReduceOp op, DType dtype, const std::string& x, const std::string& y);
/// Whether (x, p) comes before (y, q) in a search for the largest or smallest: NaN wins, then the first.
std::string is_better(Writer& w, const compiler::Reduce& r, const std::string& x, const std::string& p,
                      const std::string& y, const std::string& q);

/// What a thread has reduced so far.
struct Accumulator {
  const compiler::Reduce* reduce;
  std::string value, position;
};

/// How the threads of a group are spread: `rows` teams, each of which shares the elements of one row.
struct Spread {
  std::uint32_t team = 1, rows = 1;
  /// Neighbours belong to one team and take neighbouring elements; if not, they take neighbouring rows.
  bool teams_are_neighbours = true;
  std::uint32_t threads() const { return team * rows; }
  /// The number of a thread in its team, and of its team in the group.
  std::string member() const;
  std::string row() const;
};

/// What all threads of each team have, combined in an order that depends on nothing but the spread; then every thread
/// knows it. `again`: it is written into a loop, which shared memory has to be kept for.
void join(ShaderBuilder& s, const std::vector<Accumulator>& all, const Spread& spread, bool again);

/// What the threads of a group have of `own`, from the first one on: up to this one as `combined`, before it as
/// `before`.
void scan_threads(ShaderBuilder& s, expr::ReduceOp op, DType dtype, std::uint32_t threads, const std::string& own);

}  // namespace cotan::gpu
