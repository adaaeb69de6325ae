// What the shaders of matrix products have in common: where elements lie, and which part a group of threads
// computes.
#pragma once
#include "backend/gpu/routines/matmul.hpp"

namespace cotan::gpu {

/// The offset of element `index` of a group of axes, as an expression of a shader.
std::string offset_of(const AxisGroup& axes, const std::string& index);

/// Elements of a vector.
inline constexpr int lanes = 4;
/// Whether the operand's memory is vectors of four neighbours, along the axis that it runs along. What the last vector
/// of a row has behind its end is anything, NaN too.
bool lies_in_quads(const MatmulSide& side);
std::int64_t whole_quads(std::int64_t extent);

/// Writes a product into a shader that is entered already and knows the `number` of the group.
class MatmulWriter {
 public:
  MatmulWriter(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch);

 protected:
  /// Names `tile`, `batch`, and the terms `first_term` up to `end_term` that the group adds up; there are
  /// `tiles` in a product.
  void enter(std::int64_t tiles);
  /// Where the operand's matrices of this batch begin, as the name `name`.
  void declare_base(const MatmulSide& side, const std::string& name);
  std::string loaded(const MatmulSide& side, const std::string& offset);
  /// Stores a sum, as a result or as a part of one.
  void store(const std::string& row, const std::string& column, const std::string& sum);
  /// The same for vectors of sums along a row, where the memory is vectors; else nothing is written.
  bool stores_quads() const;
  void store_quad(const std::string& row, const std::string& column, const std::string& sums);
  std::string multiply_add(const std::string& x, const std::string& y, const std::string& sum) const;
  std::string zero() const { return real_ ? w_.dialect().bitcast("f32", "zero") : fmt::format("{}(zero)", type_); }

  const MatmulProblem& problem_;
  const MatmulTile& tile_;
  const BufferId scratch_;
  ShaderBuilder& s_;
  Writer& w_;
  const std::string type_;  ///< of elements and sums
  const bool real_;
};

/// Groups that compute a product.
std::int64_t group_count(const MatmulProblem& problem, const MatmulTile& tile);
std::string name_of(const MatmulProblem& problem);

/// A sum of type `sum_type(dtype)` as a value of `dtype`.
std::string rounded_sum(Writer& w, DType dtype, const std::string& sum);

void write_tiled(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
                 bool is_second = false);
void write_narrow(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch);
/// Whether a tiled product reads vectors of memory.
bool reads_quads(const MatmulProblem& problem, const MatmulTile& tile);

/// Parts along the depth, none of them empty, and how long each is.
struct DepthParts {
  std::int64_t count, length;
};
DepthParts depth_parts(const MatmulProblem& problem, const MatmulTile& tile);

}  // namespace cotan::gpu
