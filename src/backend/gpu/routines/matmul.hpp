// Matrix products: dot_general as shaders. A product is cut into tiles, which groups of threads compute from
// shared memory; products with vectors and narrow matrices are sums that the threads of a group share.
#pragma once
#include <optional>

#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

/// Axes of an operand that are walked by one running number, the last one fastest. Few: those that lie in
/// memory one after the other are one.
struct AxisGroup {
  std::vector<std::int64_t> extents, strides;
  /// Of the innermost axis: what neighbours are apart.
  std::int64_t step() const { return strides.empty() ? 0 : strides.back(); }
  bool single() const { return strides.size() <= 1; }
};

/// An operand as a batch of matrices: `width` are rows of the left one, columns of the right one.
struct MatmulSide {
  BufferId buffer = -1;
  Expr offset = {};
  AxisGroup batch, width, depth;
  /// Whether memory runs along the depth and not along the width.
  bool along_depth() const;
};

/// result[batch, row, column] = sum over depth of left[batch, row, depth] * right[batch, depth, column]
struct MatmulProblem {
  DType dtype = DType::f32;
  std::int64_t batch = 1, rows = 1, columns = 1, depth = 1;
  MatmulSide left, right;
  BufferId result = -1;
  std::int64_t size() const { return batch * rows * columns; }
};
MatmulProblem matmul_problem(const compiler::Routine& routine);

/// How a product is cut up.
struct MatmulTile {
  enum class Kind : std::uint8_t {
    tiled,   ///< a group computes `rows` x `columns`, each thread a part of that, `depth` terms at a time
    narrow,  ///< a group computes `rows` of the wider operand by `columns` of the narrow one, `depth` threads
             ///< to a sum
  };
  Kind kind = Kind::tiled;
  int rows = 128, columns = 128, depth = 16;
  int thread_rows = 8, thread_columns = 8;
  bool prefetch = true;      ///< the next terms are on their way to registers while these are computed with
  bool two_buffers = false;  ///< shared memory twice: threads meet once per step and not twice
  int unroll = 4;            ///< terms written out one after the other
  int band = 8;              ///< rows of tiles that are walked together, so that caches see both operands again
  int splits = 1;            ///< parts of the depth, which are added up afterwards
  int threads() const;
  std::size_t shared_bytes() const;
  bool operator==(const MatmulTile&) const = default;
};
/// As in COTAN_WEBGPU_MATMUL, which overrides the choice:
/// "128x128x16,8x8,prefetch,two_buffers,unroll=4,band=8,splits=1"; all but the first may be left out. Raises
/// ValueError.
MatmulTile parse_tile(std::string_view text);
std::string to_string(const MatmulTile& tile);

/// Whether the tile can compute the problem on the device.
bool fits(const MatmulTile& tile, const MatmulProblem& problem, const Capabilities& device);
/// All that are worth trying, the ones that should be fast first …
std::vector<MatmulTile> candidate_tiles(const MatmulProblem& problem, const Capabilities& device);
/// … and the one to take: what the environment says, what was found by trying (matmul_table.hpp), else by rules.
MatmulTile choose_tile(const MatmulProblem& problem, const Capabilities& device);

/// While it lives, this thread's products get this tile where it fits.
class ForcedTile {
 public:
  explicit ForcedTile(const MatmulTile& tile);
  ~ForcedTile();
  ForcedTile(const ForcedTile&) = delete;
  static const MatmulTile* current();

 private:
  const MatmulTile tile_;
};

/// One dispatch, or where the depth is split two: parts, which go to `scratch` (splits * size elements of the
/// type that is summed in), and their sum.
std::vector<Shader> matmul_shaders(const Program& program, const MatmulProblem& problem, const MatmulTile& tile,
                                   BufferId scratch, const Surroundings& around, const Capabilities& device);
/// A product as it is cut up.
struct CutMatmul {
  MatmulProblem problem;
  MatmulTile tile;
  BufferId scratch = -1;
};
/// Two products that know nothing of each other in one dispatch; parts are not added up.
Shader matmul_pair_shader(const Program& program, const CutMatmul& first, const CutMatmul& second,
                          const Surroundings& around, const Capabilities& device);
Shader sum_of_parts(const Program& program, const CutMatmul& product, const Surroundings& around,
                    const Capabilities& device);
/// Tiles for two products at the same time, with as many threads; nothing where they had better follow each other.
std::optional<std::pair<MatmulTile, MatmulTile>> tiles_of_pair(const MatmulProblem& first, const MatmulProblem& second,
                                                               const Capabilities& device);
/// A kernel that reads the product, as one that adds up the parts in its place, in the same order; nothing where it
/// reads more than the product of one step, or reads what it writes.
std::optional<compiler::Kernel> reading_parts(const compiler::Kernel& kernel, const CutMatmul& product);
/// The type of sums: halves are added up as f32, narrow integers as wide ones.
DType sum_type(DType dtype);

/// Whether a dot_general is worth shaders of its own; small ones fuse with what is around them.
bool prefers_matmul(std::span<const AbstractValue> types, const Params& params);
/// Whether these shaders are for this operation.
bool is_matmul(const Primitive& p);

}  // namespace cotan::gpu
