#include "backend/gpu/codegen/tiles.hpp"

#include <algorithm>

#include "backend/gpu/codegen/units.hpp"
#include "compiler/definitions.hpp"

namespace cotan::gpu {

namespace {

constexpr int side = 32, padded_side = side + 1;  ///< so that neither rows nor columns are in one bank of memory
constexpr int threads_along = 8, threads = side * threads_along;
constexpr std::int64_t shortest_axis = 16, many_elements = 1 << 16;

struct Tiling {
  const Loop *read, *written;  ///< the axes
  std::vector<Expr> loads;     ///< that go through tiles
};

std::int64_t stride_along(Expr load, const Loop& loop) {
  const auto a = affine_in(load->operands[0], loop.variable);
  return a ? a->coefficient : 0;
}

std::optional<Tiling> tiling_of(const Kernel& kernel, const Capabilities& device) {
  if (kernel.loops.size() < 2 || kernel.passes.size() != 1 || !kernel.passes[0].rows.empty() ||
      device.workgroup_threads < threads)
    return std::nullopt;
  std::int64_t elements = 1;
  for (const Loop& l : kernel.loops) {
    if (l.reduced || l.piece) return std::nullopt;
    elements *= l.extent;
  }
  Tiling out{nullptr, &kernel.loops.back(), {}};
  if (elements < many_elements || out.written->extent < shortest_axis) return std::nullopt;
  std::vector<Expr> loads;
  for (const Store& st : kernel.passes[0].stores) compiler::collect_loads(st.value, loads);
  std::size_t room = device.workgroup_bytes / (side * padded_side * 4);
  for (Expr load : loads) {
    if (load->operands.size() > 1 || std::abs(stride_along(load, *out.written)) < 2 || room == 0) continue;
    const auto along = std::find_if(kernel.loops.begin(), kernel.loops.end(), [&](const Loop& l) {
      return stride_along(load, l) == 1 && l.extent >= shortest_axis && (!out.read || out.read == &l);
    });
    if (along == kernel.loops.end() || std::find(out.loads.begin(), out.loads.end(), load) != out.loads.end()) continue;
    out.read = &*along;
    out.loads.push_back(load);
    --room;
  }
  return out.loads.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

std::optional<Shader> tiled_shader(Program& program, const Kernel& kernel, const Surroundings& around,
                                   const Capabilities& device) {
  const auto tiling = tiling_of(kernel, device);
  if (!tiling) return std::nullopt;
  const Loop &read = *tiling->read, &written = *tiling->written;
  ShaderBuilder s(program, kernel.name, device);
  Writer& w = s.body;
  s.enter(around, threads);
  // Which tile: the axis that is written along fastest, then the other, then all other loops.
  const auto tiles_along = [](const Loop& l) { return (l.extent + side - 1) / side; };
  std::int64_t groups = tiles_along(read) * tiles_along(written);
  std::vector<const Loop*> outer;
  for (const Loop& l : kernel.loops)
    if (&l != &read && &l != &written) {
      outer.push_back(&l);
      groups *= l.extent;
    }
  w.let("tile", "i32(group.y * groups.x + group.x)");
  if (groups > device.groups) w.line(fmt::format("if (tile >= {}) {{ return; }}", groups));
  w.let("first_written", fmt::format("tile % {} * {}", tiles_along(written), side));
  w.let("first_read", fmt::format("tile / {} % {} * {}", tiles_along(written), tiles_along(read), side));
  w.let("rest", fmt::format("tile / {}", tiles_along(written) * tiles_along(read)));
  w.let("x", fmt::format("i32(thread) % {}", side));
  w.let("y", fmt::format("i32(thread) / {}", side));
  bind_loops(s, outer, "rest");
  w.keep_loads_here();

  // Index `at` of a loop, held inside it; whether it was is added to `inside`.
  const auto bind = [&](const Loop& l, const std::string& at, expr::Substitution& of, std::string& inside) {
    const std::string index = w.new_name("at");
    const Expr variable = expr::variable(l.extent);
    of.emplace(l.variable.get(), variable);
    const bool whole = l.extent % side == 0;
    w.let(index, whole ? at : fmt::format("min({}, {})", at, l.extent - 1));
    if (!whole) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", at, l.extent);
    w.bind(variable, index);
  };
  for (std::size_t k = 0; k < tiling->loads.size(); ++k)
    s.share(fmt::format("tile_{}", k), type_name(tiling->loads[k]->dtype), side * padded_side);
  std::vector<std::pair<std::string, std::string>> fills;
  for (int y = 0; y < side; y += threads_along) {
    expr::Substitution of;
    std::string inside;
    bind(read, "first_read + x", of, inside);
    bind(written, fmt::format("first_written + y + {}", y), of, inside);
    for (std::size_t k = 0; k < tiling->loads.size(); ++k)
      fills.emplace_back(fmt::format("tile_{}[(y + {}) * {} + x]", k, y, padded_side),
                         w.value(substitute(tiling->loads[k], of)));
  }
  for (const auto& [place, value] : fills) w.line(fmt::format("{} = {};", place, value));
  w.barrier();
  std::vector<ReadyStores> ready;
  for (int y = 0; y < side; y += threads_along) {
    Unit unit{std::vector<expr::Substitution>(1), ""};
    expr::Substitution& of = unit.elements[0];
    bind(read, fmt::format("first_read + y + {}", y), of, unit.inside);
    bind(written, "first_written + x", of, unit.inside);
    for (std::size_t k = 0; k < tiling->loads.size(); ++k) {
      expr::Substitution copy = of;
      w.set_known(substitute(tiling->loads[k], copy), fmt::format("tile_{}[x * {} + y + {}]", k, padded_side, y));
    }
    ready.emplace_back(s, kernel.passes[0].stores, unit);
  }
  for (const ReadyStores& r : ready) r.write();
  return s.finish(threads, grid(groups, device.groups));
}

}  // namespace cotan::gpu
