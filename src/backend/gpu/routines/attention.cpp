#include "backend/gpu/routines/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "backend/gpu/routines/attention_parts.hpp"
#include "core/environment.hpp"
#include "ops/attention.hpp"

namespace cotan::gpu {

namespace {

/// The axes after the batch, in order.
enum class Axes { row_head_element, head_row_element, head_row };

AttentionSide side(BufferId buffer, Expr offset, const Shape& shape, const Ints& strides, DType dtype,
                   const Shape& batch, Axes axes) {
  AttentionSide out{.buffer = buffer, .offset = offset, .dtype = dtype};
  const auto stride = [&](std::size_t k) { return shape[k] == 1 ? 0 : strides[k]; };
  for (std::size_t k = 0; k < batch.size(); ++k) {
    if (batch[k] == 1) continue;
    AxisGroup& g = out.batch;
    if (!g.extents.empty() && g.strides.back() == stride(k) * batch[k]) {
      g.extents.back() *= batch[k];
      g.strides.back() = stride(k);
    } else {
      g.extents.push_back(batch[k]);
      g.strides.push_back(stride(k));
    }
  }
  const std::size_t n = batch.size();
  const bool rows_first = axes == Axes::row_head_element;
  out.row = stride(rows_first ? n : n + 1);
  out.head = stride(rows_first ? n + 1 : n);
  // Vectors along an axis of one element are none: any stride will do.
  if (axes != Axes::head_row)
    out.element = shape[n + 2] == 1 ? (axes == Axes::row_head_element ? 1 : 0) : strides[n + 2];
  return out;
}

struct Sides {
  const Program& program;
  const compiler::Routine& routine;
  const Shape& batch;
  AttentionSide operand(std::size_t k, Axes axes) const {
    const compiler::Operand& o = routine.operands[k];
    return side(o.buffer, o.offset, o.type.shape, o.strides, o.type.dtype, batch, axes);
  }
  AttentionSide result(std::size_t k, Axes axes) const {
    const BufferId b = routine.results[k];
    const auto& buffer = program.buffers[static_cast<std::size_t>(b)];
    const bool wanted = program.buffers[static_cast<std::size_t>(program.root(b))].storage != Storage::none;
    return side(wanted ? b : -1, {}, buffer.type.shape, ops::strides_of(buffer.type.shape), buffer.type.dtype, batch,
                axes);
  }
};

std::optional<AttentionTile> parse(const char* text) {
  AttentionTile t;
  const bool whole = std::sscanf(text, "%dx%dx%d", &t.thread_rows, &t.rows, &t.thread_columns) == 3;
  const auto is_power = [](int n) { return n > 0 && (n & (n - 1)) == 0; };
  return whole && t.thread_rows > 0 && t.rows > 0 && is_power(t.thread_columns) ? std::optional(t) : std::nullopt;
}

/// What the environment says.
std::optional<AttentionTile> forced_tile(bool backward) {
  const auto setting = environment::text("COTAN_WEBGPU_ATTENTION");
  if (!setting) return std::nullopt;
  const std::size_t comma = setting->find(',');
  if (backward && comma == std::string::npos) return std::nullopt;
  const auto tile = parse(setting->c_str() + (backward ? comma + 1 : 0));
  if (!tile)
    raise<ValueError>(
        "[COTAN_WEBGPU_ATTENTION] is \"{}\"; set it to tiles as in 16x4x8 or 16x4x8,8x4x8 (the last number a power of "
        "two), or unset it.",
        *setting);
  return tile;
}

}  // namespace

AttentionProblem attention_problem(const Program& program, const compiler::Routine& routine) {
  const ops::AttentionOperands is(routine.params);
  const ops::AttentionSizes at(routine.operands[0].type, routine.operands[1].type);
  const Sides sides{program, routine, at.batch};
  AttentionProblem p{.batch = ops::product(at.batch),
                     .queries = at.queries,
                     .keys = at.keys,
                     .heads = at.heads,
                     .key_heads = at.key_heads,
                     .width = at.width,
                     .scale = is.scale,
                     .is_causal = is.is_causal};
  p.query = sides.operand(0, Axes::row_head_element);
  p.key = sides.operand(1, Axes::row_head_element);
  p.value = sides.operand(2, Axes::row_head_element);
  if (is.has_bias) p.bias = sides.operand(is.bias(), Axes::head_row_element);
  if (is.has_mask) p.mask = sides.operand(is.mask(), Axes::head_row_element);
  if (routine.primitive == &ops::attention_p) {
    p.output = sides.result(0, Axes::row_head_element);
    p.maximum = sides.result(1, Axes::head_row);
    p.sum = sides.result(2, Axes::head_row);
    return p;
  }
  p.maximum = sides.operand(is.count, Axes::head_row);
  p.sum = sides.operand(is.count + 1, Axes::head_row);
  p.delta = sides.operand(is.count + 2, Axes::head_row);
  p.cotangent = sides.operand(is.count + 3, Axes::row_head_element);
  p.query_gradient = sides.result(0, Axes::row_head_element);
  p.key_gradient = sides.result(1, Axes::row_head_element);
  p.value_gradient = sides.result(2, Axes::row_head_element);
  if (routine.results.size() > 3) p.score_gradient = sides.result(3, Axes::head_row_element);
  return p;
}

std::size_t AttentionTile::shared_bytes(std::int64_t width, bool backward) const {
  const auto vectors = static_cast<std::size_t>((width + 3) / 4) | 1, rows_of = static_cast<std::size_t>(row_count()),
             columns = static_cast<std::size_t>(column_count()),
             weights = rows_of * static_cast<std::size_t>(thread_columns | 1);
  const std::size_t joined = static_cast<std::size_t>(threads() * rows) * 4 + 16;
  return backward ? 2 * 16 * ((rows_of + columns) * vectors + weights) + 16
                  : 16 * ((rows_of + columns) * vectors + weights) + joined;
}

std::optional<AttentionTile> attention_tile(std::int64_t rows, std::int64_t width, std::int64_t count, bool backward,
                                            const Capabilities& device) {
  const auto fits = [&](const AttentionTile& t) {
    return t.shared_bytes(width, backward) <= device.workgroup_bytes &&
           static_cast<std::uint32_t>(t.threads()) <= device.workgroup_threads;
  };
  if (const auto forced = forced_tile(backward); forced && fits(*forced)) return forced;
  constexpr AttentionTile tiles[] = {{16, 4, 8}, {16, 2, 8}, {8, 4, 8}, {8, 2, 8}, {8, 1, 8},
                                     {8, 2, 4},  {8, 1, 4},  {4, 1, 4}, {2, 1, 4}};
  constexpr AttentionTile quickly_compiled{4, 1, 4, true};
  if (device.software && fits(quickly_compiled)) return quickly_compiled;
  // Few tiles do not keep a large GPU busy: smaller ones, with the same number of threads.
  constexpr AttentionTile for_few{8, 4, 16};
  constexpr std::int64_t few = 256;
  const std::int64_t tiles_of_largest = count * ((rows + tiles[0].row_count() - 1) / tiles[0].row_count());
  if (!backward && tiles_of_largest < few && rows > for_few.row_count() / 2 && fits(for_few)) return for_few;
  for (const AttentionTile& t : tiles) {
    const bool mostly_empty = t.row_count() > 8 && t.row_count() >= 2 * rows;
    if (!mostly_empty && fits(t)) return t;
  }
  return std::nullopt;
}

bool is_attention(const Primitive& p) { return &p == &ops::attention_p || &p == &ops::attention_backward_p; }
bool prefers_attention(const Primitive& p, std::span<const AbstractValue> types, const Params& params,
                       const Capabilities& device) {
  if (!is_attention(p)) return false;
  constexpr std::int64_t widest = 256;
  const ops::AttentionSizes at(types[0], types[1]);
  const DType dtype = types[0].dtype;
  if (!is_floating(dtype) || !is_supported(dtype) || types[0].size() == 0 || types[1].size() == 0 || at.width > widest)
    return false;
  // Sums that one shader makes must be those that the other divides by: both ways, or none.
  return std::isfinite(static_cast<float>(params.get<double>("scale"))) &&
         attention_tile(at.queries, at.width, 1, true, device) && attention_tile(at.keys, at.width, 1, true, device) &&
         attention_tile(at.queries, at.width, 1, false, device);
}

std::vector<Shader> attention_shaders(const Program& program, const compiler::Routine& routine,
                                      const Surroundings& around, const Capabilities& device) {
  const AttentionProblem p = attention_problem(program, routine);
  std::vector<Shader> out;
  if (routine.primitive == &ops::attention_p) {
    out.push_back(attention_forward_shader(
        program, p, *attention_tile(p.queries, p.width, p.batch * p.heads, false, device), around, device));
    return out;
  }
  if (p.key_gradient.buffer >= 0 || p.value_gradient.buffer >= 0)
    out.push_back(attention_keys_shader(
        program, p, *attention_tile(p.keys, p.width, p.batch * p.key_heads, true, device), around, device));
  if (p.query_gradient.buffer >= 0 || p.score_gradient.buffer >= 0)
    out.push_back(attention_queries_shader(
        program, p, *attention_tile(p.queries, p.width, p.batch * p.heads, true, device), around, device));
  return out;
}

}  // namespace cotan::gpu
