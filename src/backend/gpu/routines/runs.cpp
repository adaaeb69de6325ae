#include "backend/gpu/routines/runs.hpp"

#include <bit>

#include "backend/gpu/codegen/reduction.hpp"
#include "expansions/expansions.hpp"

namespace cotan::gpu {

namespace {

constexpr std::uint32_t threads = 256;

/// Element `at` of a dense operand.
std::string element(ShaderBuilder& s, const compiler::Operand& x, const std::string& at) {
  return s.loaded(x.buffer, x.type.dtype, x.offset ? fmt::format("{} + {}", s.body.value(x.offset), at) : at);
}

}  // namespace

bool prefers_counting_sort(const Primitive& p, std::span<const AbstractValue> types, const Capabilities& device) {
  // n * n comparisons, which a GPU has done before the dispatches of a radix sort have begun.
  const std::int64_t most = device.software ? 1 << 12 : 1 << 14;
  return &p == &order_of_words_p && types[0].size() <= most && device.workgroup_threads >= threads;
}

/// A thread for each word: its place is how many are smaller, or as large and before it.
Shader counting_sort_shader(const Program& program, const compiler::Routine& routine, const Surroundings& around,
                            const Capabilities& device) {
  const compiler::Operand& words = routine.operands[0];
  const std::int64_t n = words.type.size();
  ShaderBuilder s(program, "order of words", device);
  Writer& w = s.body;
  s.enter(around, threads);
  s.share("tile", "u32", threads);
  w.let("mine", fmt::format("i32((group.y * groups.x + group.x) * {}u + thread)", threads));
  w.let("word", element(s, words, fmt::format("min(mine, {})", n - 1)));
  w.variable("place", "0");
  w.open_loop("first", "0", n, threads);
  w.line(fmt::format("tile[thread] = {};", element(s, words, fmt::format("min(first + i32(thread), {})", n - 1))));
  w.barrier();
  w.let("count", fmt::format("min({}, {} - first)", threads, n));
  w.open_loop("k", "0", "count");
  w.let("other", "tile[k]");
  w.line("place += select(0, 1, other < word || (other == word && first + k < mine));");
  w.close();
  w.barrier();
  w.close();
  w.line(fmt::format("if (mine < {}) {{ {} }}", n, s.store(routine.results[0], DType::i32, "place", "mine")));
  return s.finish(threads, grid((n + threads - 1) / threads, device.groups));
}

bool prefers_sum_of_runs(const Primitive& p) { return &p == &sum_of_runs_p; }

/// A team of threads for some keys that follow each other: it finds where the run of the first begins, and the next
/// ones begin where that ends. Threads add up each in its columns.
Shader sum_of_runs_shader(const Program& program, const compiler::Routine& routine, const Surroundings& around,
                          const Capabilities& device) {
  const compiler::Operand &keys = routine.operands[0], &order = routine.operands[1], &values = routine.operands[2];
  const std::int64_t n = keys.type.size(), width = values.type.shape[1], count = routine.params.integer("count");
  const DType dtype = values.type.dtype;
  const std::uint32_t all = std::min(threads, device.workgroup_threads);
  const auto team = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 1))), all));
  // Searching takes as long as writing tens of rows: no more teams than are needed to keep a large GPU busy.
  constexpr std::int64_t enough_threads = 1 << 18, most_keys = 64;
  const std::uint32_t rows = all / team;
  const std::int64_t each = std::clamp<std::int64_t>(count * team / enough_threads, 1, most_keys);
  const std::int64_t teams = (count + each - 1) / each, groups = (teams + rows - 1) / rows;
  ShaderBuilder s(program, "sums by key", device);
  Writer& w = s.body;
  s.enter(around, all);
  w.let("first_key",
        fmt::format("(i32(group.y * groups.x + group.x) * {} + i32(thread / {}u)) * {}", rows, team, each));
  w.line(fmt::format("if (first_key >= {}) {{ return; }}", count));
  const auto entry = [&](const std::string& at) { return element(s, order, at); };
  const auto key_at = [&](const std::string& at) {
    return element(s, keys, entry(fmt::format("min({}, {})", at, n - 1)));
  };
  w.variable("end", "0");
  w.variable("jump", std::bit_floor(static_cast<std::uint64_t>(n)));
  w.open("for (; jump > 0; jump = jump >> 1u)");
  w.let("last", "end + jump - 1");
  w.line(fmt::format("if (last < {} && {} < first_key) {{ end += jump; }}", n, key_at("last")));
  w.close();
  w.variable("next_key", key_at("end"));
  w.let("end_key", fmt::format("min(first_key + {}, {})", each, count));
  w.open_loop("key", "first_key", "end_key");
  w.let("begin", "end");
  w.line(fmt::format("while (end < {} && next_key == key) {{ end++; next_key = {}; }}", n, key_at("end")));
  w.open_loop("column", fmt::format("i32(thread % {}u)", team), width, team);
  const double start = routine.params.get<double>("start");
  w.variable_of(type_name(dtype), "sum",
                is_floating(dtype) ? w.opaque(std::bit_cast<std::uint32_t>(static_cast<float>(start)), DType::f32)
                                   : fmt::format("{}(0)", type_name(dtype)));
  w.open_loop("at", "begin", "end");
  w.line(fmt::format("sum = {};", combine(w, expr::ReduceOp::sum, dtype, "sum",
                                          element(s, values, fmt::format("{} * {} + column", entry("at"), width)))));
  w.close();
  w.line(s.store(routine.results[0], dtype, fmt::format("key * {} + column", width), "sum"));
  w.close();
  w.close();
  return s.finish(all, grid(groups, device.groups));
}

}  // namespace cotan::gpu
