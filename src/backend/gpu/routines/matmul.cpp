#include "backend/gpu/routines/matmul.hpp"

#include <algorithm>

#include "backend/gpu/routines/matmul_parts.hpp"
#include "ops/ops.hpp"

namespace cotan::gpu {

namespace {

/// The axes of an operand by their role: batch, contracted, and what is left.
struct Roles {
  Ints batch, depth, width;
  Roles(std::int64_t ndim, const Ints& batch_axes, const Ints& contracted) : batch(batch_axes), depth(contracted) {
    const auto has = [](const Ints& axes, std::int64_t a) {
      return std::find(axes.begin(), axes.end(), a) != axes.end();
    };
    for (std::int64_t a = 0; a < ndim; ++a)
      if (!has(batch, a) && !has(depth, a)) width.push_back(a);
  }
};
Roles roles_of(const AbstractValue& type, const Params& params, bool left) {
  return {type.ndim(), params.ints(left ? "batch_lhs" : "batch_rhs"),
          params.ints(left ? "contract_lhs" : "contract_rhs")};
}

std::int64_t count(const AbstractValue& type, const Ints& axes) {
  std::int64_t n = 1;
  for (auto a : axes) n *= type.shape[static_cast<std::size_t>(a)];
  return n;
}

AxisGroup group(const compiler::Operand& o, const Ints& axes) {
  AxisGroup out;
  for (auto a : axes) {
    const std::int64_t extent = o.type.shape[static_cast<std::size_t>(a)],
                       stride = o.strides[static_cast<std::size_t>(a)];
    if (extent == 1) continue;
    if (!out.extents.empty() && out.strides.back() == stride * extent) {
      out.extents.back() *= extent;
      out.strides.back() = stride;
    } else {
      out.extents.push_back(extent);
      out.strides.push_back(stride);
    }
  }
  return out;
}

MatmulSide side(const compiler::Operand& o, const Roles& roles) {
  return {o.buffer, o.offset, group(o, roles.batch), group(o, roles.width), group(o, roles.depth)};
}

}  // namespace

bool MatmulSide::along_depth() const {
  const std::int64_t d = std::abs(depth.step()), w = std::abs(width.step());
  return d != 0 && (w == 0 || d < w);
}

MatmulProblem matmul_problem(const compiler::Routine& routine) {
  const compiler::Operand &x = routine.operands[0], &y = routine.operands[1];
  const Roles left = roles_of(x.type, routine.params, true), right = roles_of(y.type, routine.params, false);
  return {.dtype = x.type.dtype,
          .batch = count(x.type, left.batch),
          .rows = count(x.type, left.width),
          .columns = count(y.type, right.width),
          .depth = count(x.type, left.depth),
          .left = side(x, left),
          .right = side(y, right),
          .result = routine.results[0]};
}

bool is_matmul(const Primitive& p) { return &p == &ops::dot_general_p; }

bool prefers_matmul(std::span<const AbstractValue> types, const Params& params) {
  // As many terms as make a loop want the whole device (plan_loop): loops over smaller products stay one
  // shader.
  constexpr std::int64_t small_product = 1 << 17, few_terms = 16;
  const DType dtype = types[0].dtype;
  if (!is_supported(dtype) || dtype == DType::bool_) return false;
  const Roles left = roles_of(types[0], params, true), right = roles_of(types[1], params, false);
  const std::int64_t rows = count(types[0], left.width), columns = count(types[1], right.width),
                     depth = count(types[0], left.depth);
  return types[0].size() > 0 && types[1].size() > 0 && depth >= few_terms && rows * columns * depth > small_product;
}

std::vector<Shader> matmul_shaders(const Program& program, const MatmulProblem& problem, const MatmulTile& tile,
                                   BufferId scratch, const Surroundings& around, const Capabilities& device) {
  std::vector<Shader> out;
  const auto write = tile.kind == MatmulTile::Kind::tiled ? tiled_matmul : narrow_matmul;
  out.push_back(write(program, problem, tile, scratch, around, device));
  if (scratch < 0) return out;
  // The parts, always added in the same order.
  constexpr std::uint32_t threads = 64;
  ShaderBuilder s(program, "matmul parts", device);
  Writer& w = s.body;
  s.enter(around, threads);
  w.let("i", fmt::format("i32((group.y * groups.x + group.x) * {}u + thread)", threads));
  w.line(fmt::format("if (i >= {}) {{ return; }}", problem.size()));
  const DType type = sum_type(problem.dtype);
  w.variable("sum", s.loaded(scratch, type, "i"));
  w.open_loop("part", "1", depth_parts(problem, tile).count);
  w.line(fmt::format("sum += {};", s.loaded(scratch, type, fmt::format("part * {} + i", problem.size()))));
  w.close();
  w.line(s.store(problem.result, problem.dtype, "i", rounded_sum(w, problem.dtype, "sum")));
  out.push_back(s.finish(threads, grid((problem.size() + threads - 1) / threads, device.groups)));
  return out;
}

}  // namespace cotan::gpu
