// What the shaders of matrix products have in common: where elements lie, and which part a group of threads
// computes.
#pragma once
#include "backend/gpu/routines/matmul.hpp"

namespace cotan::gpu {

/// The offset of element `index` of a group of axes, as an expression of a shader.
std::string offset_of(const AxisGroup& axes, const std::string& index);

class MatmulWriter {
 public:
  MatmulWriter(const Program& program, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
               const Surroundings& around, const Capabilities& device);

 protected:
  /// Names `tile`, `batch`, and the terms `first_term` up to `end_term` that the group adds up; there are
  /// `tiles` in a product.
  void enter(std::int64_t tiles);
  Shader finish();
  /// Where the operand's matrices of this batch begin, as the name `name`.
  void declare_base(const MatmulSide& side, const std::string& name);
  std::string loaded(const MatmulSide& side, const std::string& offset);
  /// Stores a sum, as a result or as a part of one.
  void store(const std::string& row, const std::string& column, const std::string& sum);
  std::string multiply_add(const std::string& x, const std::string& y, const std::string& sum) const;
  std::string zero() const { return real_ ? w_.dialect().bitcast("f32", "zero") : fmt::format("{}(zero)", type_); }

  const MatmulProblem& problem_;
  const MatmulTile& tile_;
  const BufferId scratch_;
  const Surroundings& around_;
  const Capabilities& device_;
  ShaderBuilder s_;
  Writer& w_;
  const std::string type_;  ///< of elements and sums
  const bool real_;

 private:
  std::int64_t groups_ = 0;
};

/// A sum of type `sum_type(dtype)` as a value of `dtype`.
std::string rounded_sum(Writer& w, DType dtype, const std::string& sum);

Shader tiled_matmul(const Program& program, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
                    const Surroundings& around, const Capabilities& device);
Shader narrow_matmul(const Program& program, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
                     const Surroundings& around, const Capabilities& device);

/// Parts along the depth, none of them empty, and how long each is.
struct DepthParts {
  std::int64_t count, length;
};
DepthParts depth_parts(const MatmulProblem& problem, const MatmulTile& tile);

}  // namespace cotan::gpu
