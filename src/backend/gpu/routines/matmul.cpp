#include "backend/gpu/routines/matmul.hpp"

#include <algorithm>

#include "backend/gpu/routines/matmul_parts.hpp"
#include "compiler/definitions.hpp"
#include "ops/matrix_product.hpp"

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

bool is_matmul(const Primitive& p) { return is_matrix_product(p); }

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

/// Adds up the parts, always in the same order.
Shader sum_of_parts(const Program& program, const CutMatmul& product, const Surroundings& around,
                    const Capabilities& device) {
  constexpr std::uint32_t threads = 64;
  const auto& [problem, tile, scratch] = product;
  const DType type = sum_type(problem.dtype);
  ShaderBuilder s(program, "matmul parts", device);
  Writer& w = s.body;
  const Dialect& d = w.dialect();
  s.vectors = problem.size() % lanes == 0 && itemsize(problem.dtype) == 4;
  s.enter(around, threads);
  const auto result = s.quad(problem.result, expr::integer(0));
  const std::int64_t count = result ? problem.size() / lanes : problem.size();
  w.let("i", fmt::format("i32((group.y * groups.x + group.x) * {}u + thread)", threads));
  w.line(fmt::format("if (i >= {}) {{ return; }}", count));
  const auto part = [&](const std::string& at) {
    return result ? d.bitcast(d.vector(type_name(type)), s.quad_at(product.scratch, at).value())
                  : s.loaded(product.scratch, type, at);
  };
  w.variable("sum", part("i"));
  w.open_loop("part", "1", depth_parts(problem, tile).count);
  w.let("more", part(fmt::format("part * {} + i", count)));
  w.line("sum += more;");
  w.close();
  if (result)
    w.line(fmt::format("{} = {};", s.quad_at(problem.result, "i").value(), d.bitcast(d.vector("u32"), "sum")));
  else
    w.line(s.store(problem.result, problem.dtype, "i", rounded_sum(w, problem.dtype, "sum")));
  return s.finish(threads, grid((count + threads - 1) / threads, device.groups));
}

namespace {
constexpr const char* number_of_group = "i32(group.y * groups.x + group.x)";
}

std::vector<Shader> matmul_shaders(const Program& program, const MatmulProblem& problem, const MatmulTile& tile,
                                   BufferId scratch, const Surroundings& around, const Capabilities& device) {
  const bool tiled = tile.kind == MatmulTile::Kind::tiled;
  const auto threads = static_cast<std::uint32_t>(tile.threads());
  ShaderBuilder s(program, name_of(problem), device);
  s.vectors = tiled && reads_quads(problem, tile);
  s.enter(around, threads);
  s.body.let("number", number_of_group);
  if (tiled)
    write_tiled(s, problem, tile, scratch);
  else
    write_narrow(s, problem, tile, scratch);
  std::vector<Shader> out;
  out.push_back(s.finish(threads, grid(group_count(problem, tile), device.groups)));
  if (scratch >= 0) out.push_back(sum_of_parts(program, {problem, tile, scratch}, around, device));
  return out;
}

Shader matmul_pair_shader(const Program& program, const CutMatmul& first, const CutMatmul& second,
                          const Surroundings& around, const Capabilities& device) {
  const auto threads = static_cast<std::uint32_t>(first.tile.threads());
  const std::int64_t own = group_count(first.problem, first.tile),
                     groups = own + group_count(second.problem, second.tile);
  ShaderBuilder s(program, name_of(first.problem) + " beside " + name_of(second.problem).substr(7), device);
  s.vectors = reads_quads(first.problem, first.tile) || reads_quads(second.problem, second.tile);
  s.enter(around, threads);
  s.body.let("group_number", number_of_group);
  s.body.open(fmt::format("if (group_number < {})", own));
  s.body.let("number", "group_number");
  write_tiled(s, first.problem, first.tile, first.scratch);
  s.body.close();
  s.body.open(fmt::format("if (group_number >= {})", own));
  s.body.let("number", fmt::format("group_number - {}", own));
  write_tiled(s, second.problem, second.tile, second.scratch, true);
  s.body.close();
  return s.finish(threads, grid(groups, device.groups));
}

std::optional<compiler::Kernel> reading_parts(const compiler::Kernel& kernel, const CutMatmul& product) {
  const auto& [problem, tile, scratch] = product;
  const std::int64_t count = depth_parts(problem, tile).count;
  expr::Substitution map;
  const auto add = [&](Expr e) {
    std::vector<Expr> loads;
    compiler::collect_loads(e, loads);
    for (Expr l : loads) {
      if (l->bits != std::int64_t{product.problem.result} || map.contains(l.get())) continue;
      if (l->operands.size() > 1) return false;
      Expr sum = expr::load(product.scratch, DType::f32, l->operands[0]);
      for (std::int64_t part = 1; part < count; ++part)
        sum = sum +
              expr::load(product.scratch, DType::f32, l->operands[0] + expr::integer(part * product.problem.size()));
      map.emplace(l.get(), sum);
    }
    return true;
  };
  compiler::Kernel out = kernel;
  for (compiler::Pass& pass : out.passes) {
    for (compiler::Reduce& r : pass.reductions)
      if (!add(r.value)) return std::nullopt;
    for (auto* stores : {&pass.stores, &pass.rows})
      for (compiler::Store& s : *stores)
        if (!add(s.value) || s.buffer == product.problem.result) return std::nullopt;
  }
  if (map.empty()) return std::nullopt;
  for (compiler::Pass& pass : out.passes) {
    for (compiler::Reduce& r : pass.reductions) r.value = substitute(r.value, map);
    for (auto* stores : {&pass.stores, &pass.rows})
      for (compiler::Store& s : *stores) s.value = substitute(s.value, map);
  }
  return out;
}

}  // namespace cotan::gpu
