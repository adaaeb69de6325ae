#include "backend/gpu/routines/attention_parts.hpp"

#include "backend/gpu/routines/matmul_parts.hpp"
#include "ops/attention.hpp"

namespace cotan::gpu {

AttentionWriter::AttentionWriter(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                                 const char* name, const Surroundings& around, const Capabilities& device)
    : p_(problem),
      tile_(tile),
      around_(around),
      device_(device),
      s_(program, fmt::format("{} {}x{}x{}", name, problem.queries, problem.keys, problem.width), device),
      w_(s_.body),
      d_(w_.dialect()),
      vectors_(static_cast<int>((problem.width + lanes - 1) / lanes)) {
  s_.vectors = has_quads(p_.query) || has_quads(p_.key) || has_quads(p_.value) || has_quads(p_.cotangent);
}

std::string AttentionWriter::real(double value) {
  const std::string text = fmt::format("{:.9g}", static_cast<float>(value));
  return text + (text.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

/// The number of times a loop runs, hidden from compilers that would write out all of them.
std::string AttentionWriter::bound(int count) const {
  return tile_.compact ? fmt::format("{} + i32(zero)", count) : std::to_string(count);
}

void AttentionWriter::enter(std::int64_t tiles, std::int64_t heads, bool last_tile_first) {
  s_.enter(around_, static_cast<std::uint32_t>(tile_.threads()));
  w_.let("number", "i32(group.y * groups.x + group.x)");
  w_.line(fmt::format("if (number >= {}) {{ return; }}", tiles * heads * p_.batch));
  const std::string slowest = fmt::format("number / {}", heads * p_.batch);
  w_.let("tile", last_tile_first ? fmt::format("{} - {}", tiles - 1, slowest) : slowest);
  w_.let("head", fmt::format("number % {}", heads));
  w_.let("batch", fmt::format("number / {} % {}", heads, p_.batch));
  w_.let("first_row", fmt::format("tile * {}", tile_.row_count()));
  w_.let("thread_row", fmt::format("i32(thread / {}u)", tile_.thread_columns));
  w_.let("thread_column", fmt::format("i32(thread % {}u)", tile_.thread_columns));
  for (int u = 0; u < own_vectors(); ++u) {
    const bool inside = (u + 1) * tile_.thread_columns <= vectors_;
    w_.let(fmt::format("vector{}", u), inside ? column_of(u) : fmt::format("min({}, {})", column_of(u), vectors_ - 1));
  }
}

Shader AttentionWriter::finish(std::int64_t tiles, std::int64_t heads) {
  return s_.finish(static_cast<std::uint32_t>(tile_.threads()), grid(tiles * heads * p_.batch, device_.groups));
}

void AttentionWriter::declare_base(const AttentionSide& side, const std::string& base, const std::string& head) {
  const std::string offset = side.offset ? w_.value(side.offset) : "0";
  w_.let(base, fmt::format("{} + {} + {} * {}", offset, offset_of(side.batch, "batch"), head, side.head));
}

// Tiles ---------------------------------------------------------------------------------------------------

void AttentionWriter::declare_tile(const std::string& tile, int rows) {
  s_.declare_shared(tile, d_.vector("f32"), rows * pitch());
}
void AttentionWriter::declare_weights(const std::string& weights) {
  s_.declare_shared(weights, d_.vector("f32"), tile_.row_count() * weight_pitch());
}

bool AttentionWriter::has_quads(const AttentionSide& side) const {
  if (side.buffer < 0 || side.element != 1 || p_.width % lanes || side.row % lanes || side.head % lanes) return false;
  for (auto stride : side.batch.strides)
    if (stride % lanes) return false;
  return !side.offset || expr::as_integer(expr::floor_mod(side.offset, lanes)) == 0;
}

std::string AttentionWriter::loaded_vector(const AttentionSide& side, const std::string& row_at,
                                           const std::string& vector) {
  if (s_.vectors && has_quads(side))
    if (const auto quad = s_.quad_at(side.buffer, fmt::format("({} >> 2u) + {}", row_at, vector)))
      return d_.bitcast(d_.vector("f32"), *quad);
  std::string out;
  for (int k = 0; k < lanes; ++k) {
    std::string element = fmt::format("{} * {} + {}", vector, lanes, k);
    const bool checks = p_.width % lanes != 0 && k >= p_.width % lanes;
    const std::string inside = fmt::format("{} < {}", element, p_.width);
    if (checks) element = fmt::format("min({}, {})", element, p_.width - 1);
    std::string x = s_.loaded(side.buffer, side.dtype, fmt::format("{} + ({}) * {}", row_at, element, side.element));
    if (checks) x = fmt::format("select(0.0f, {}, {})", x, inside);
    out += (k ? ", " : "") + x;
  }
  return d_.make_vector("f32", out);
}

void AttentionWriter::load_tile(const AttentionSide& side, const std::string& base, const std::string& tile, int rows,
                                const std::string& first, std::int64_t extent) {
  const int count = rows * vectors_, threads = tile_.threads(), loads = (count + threads - 1) / threads;
  if (tile_.compact) {
    w_.open_loop("e", "i32(thread)", bound(count), threads);
    const std::string row = fmt::format("({} + e / {})", first, vectors_);
    w_.let("at", fmt::format("{} + min({}, {}) * {}", base, row, extent - 1, side.row));
    w_.let("c", fmt::format("e % {}", vectors_));
    const std::string x = loaded_vector(side, "at", "c");
    w_.line(fmt::format("{}[e / {} * {} + c] = select({}, {}, {} < {});", tile, vectors_, pitch(),
                        d_.make_vector("f32", ""), x, row, extent));
    w_.close();
    return;
  }
  constexpr int ahead = 8;  // loads on their way at a time
  for (int from = 0; from < loads; from += ahead) {
    w_.open("");
    const int end = std::min(loads, from + ahead);
    for (int k = from; k < end; ++k) {
      w_.let(fmt::format("e{}", k), fmt::format("i32(thread) + {}", k * threads));
      const bool past = (k + 1) * threads > count;
      w_.let(fmt::format("r{}", k),
             past ? fmt::format("min(e{}, {}) / {}", k, count - 1, vectors_) : fmt::format("e{} / {}", k, vectors_));
      w_.let(fmt::format("c{}", k), fmt::format("e{} % {}", k, vectors_));
      const std::string row = fmt::format("({} + r{})", first, k);
      const bool checks = extent % rows != 0;
      w_.let(fmt::format("at{}", k),
             fmt::format("{} + {} * {}", base, checks ? fmt::format("min({}, {})", row, extent - 1) : row, side.row));
      std::string x = loaded_vector(side, fmt::format("at{}", k), fmt::format("c{}", k));
      if (checks) x = fmt::format("select({}, {}, {} < {})", d_.make_vector("f32", ""), x, row, extent);
      w_.let(fmt::format("x{}", k), x);
    }
    for (int k = from; k < end; ++k) {
      const std::string store = fmt::format("{}[r{} * {} + c{}] = x{};", tile, k, pitch(), k, k);
      w_.line((k + 1) * threads > count ? fmt::format("if (e{} < {}) {{ {} }}", k, count, store) : store);
    }
    w_.close();
  }
}

void AttentionWriter::store_weights(const std::string& weights, const std::string& values) {
  for (int i = 0; i < tile_.rows; ++i)
    w_.line(fmt::format("{}[({}) * {} + thread_column] = {};", weights, row_of(i), weight_pitch(),
                        d_.make_vector("f32", fmt::format("{}, {}, {}, {}", value(values, i, 0), value(values, i, 1),
                                                          value(values, i, 2), value(values, i, 3)))));
}

// Products ------------------------------------------------------------------------------------------------

void AttentionWriter::multiply(const std::string& values, const std::string& a, const std::string& b) {
  for_each_score([&](int i, int j) { w_.variable(value(values, i, j), "0.0f"); });
  w_.open_loop("h", "0", bound(vectors_));
  for (int i = 0; i < tile_.rows; ++i)
    w_.let(fmt::format("a{}", i), fmt::format("{}[({}) * {} + h]", a, row_of(i), pitch()));
  for (int j = 0; j < lanes; ++j)
    w_.let(fmt::format("b{}", j), fmt::format("{}[({}) * {} + h]", b, column_of(j), pitch()));
  for (const char c : {'x', 'y', 'z', 'w'})
    for_each_score([&](int i, int j) {
      const std::string v = value(values, i, j);
      w_.line(fmt::format("{} = fma(a{}.{}, b{}.{}, {});", v, i, c, j, c, v));
    });
  w_.close();
}

void AttentionWriter::declare_sums(const std::string& sums) {
  for (int i = 0; i < tile_.rows; ++i)
    for (int u = 0; u < own_vectors(); ++u) w_.variable(value(sums, i, u), d_.make_vector("f32", ""));
}

void AttentionWriter::scale_sums(const std::string& sums, int i, const std::string& factor) {
  for (int u = 0; u < own_vectors(); ++u) w_.line(fmt::format("{} *= {};", value(sums, i, u), factor));
}

void AttentionWriter::add_weighted(const std::string& sums, const std::string& weights, const std::string& tile) {
  // Weights of a vector are those of columns that are as far apart as there are threads: so they were stored.
  w_.open_loop("k", "0", bound(tile_.thread_columns));
  for (int i = 0; i < tile_.rows; ++i)
    w_.let(fmt::format("w{}", i), fmt::format("{}[({}) * {} + k]", weights, row_of(i), weight_pitch()));
  for (int j = 0; j < lanes; ++j) {
    for (int u = 0; u < own_vectors(); ++u)
      w_.let(fmt::format("x{}_{}", j, u),
             fmt::format("{}[(k + {}) * {} + vector{}]", tile, j * tile_.thread_columns, pitch(), u));
    for (int i = 0; i < tile_.rows; ++i)
      for (int u = 0; u < own_vectors(); ++u) {
        const std::string sum = value(sums, i, u);
        w_.line(fmt::format("{} = fma({}, x{}_{}, {});", sum,
                            d_.make_vector("f32", fmt::format("w{}.{}", i, "xyzw"[j])), j, u, sum));
      }
  }
  w_.close();
}

void AttentionWriter::store_sums(const AttentionSide& side, const std::string& base, const std::string& sums,
                                 const std::string& factor, std::int64_t extent) {
  const auto rounded = [&](const std::string& x) { return rounded_sum(w_, side.dtype, x); };
  for (int i = 0; i < tile_.rows; ++i) {
    const std::string row = fmt::format("(first_row + {})", row_of(i));
    w_.open(fmt::format("if ({} < {})", row, extent));
    w_.let("at", fmt::format("{} + {} * {}", base, row, side.row));
    for (int u = 0; u < own_vectors(); ++u) {
      w_.open((u + 1) * tile_.thread_columns <= vectors_ ? "" : fmt::format("if ({} < {})", column_of(u), vectors_));
      w_.let("y", fmt::format("{} * {}", value(sums, i, u), fmt::format(fmt::runtime(factor), i)));
      const auto quad = s_.vectors && has_quads(side) ? s_.quad_at(side.buffer, fmt::format("(at >> 2u) + vector{}", u))
                                                      : std::nullopt;
      if (quad) {
        const std::string y =
            fmt::format("{}, {}, {}, {}", rounded("y.x"), rounded("y.y"), rounded("y.z"), rounded("y.w"));
        w_.line(fmt::format("{} = {};", *quad, d_.bitcast(d_.vector("u32"), d_.make_vector("f32", y))));
      } else {
        for (int k = 0; k < lanes; ++k) {
          const std::string element = fmt::format("vector{} * {} + {}", u, lanes, k);
          const std::string store =
              s_.store(side.buffer, side.dtype, fmt::format("at + ({}) * {}", element, side.element),
                       rounded(fmt::format("y.{}", "xyzw"[k])));
          w_.line(p_.width % lanes ? fmt::format("if ({} < {}) {{ {} }}", element, p_.width, store) : store);
        }
      }
      w_.close();
    }
    w_.close();
  }
}

std::string AttentionWriter::row_value(const AttentionSide& side, const std::string& base, const std::string& row) {
  return s_.loaded(side.buffer, side.dtype, fmt::format("{} + ({}) * {}", base, row, side.row));
}

// Scores --------------------------------------------------------------------------------------------------

void AttentionWriter::finish_score(const std::string& score, const std::string& name, const std::string& query,
                                   const std::string& key) {
  w_.line(fmt::format("{} *= {};", score, real(p_.scale)));
  const auto element = [&](const AttentionSide& side, const char* base) {
    // What is past the ends is not used: any element will do.
    return s_.loaded(side.buffer, side.dtype,
                     fmt::format("{} + min({}, {}) * {} + min({}, {}) * {}", base, query, p_.queries - 1, side.row, key,
                                 p_.keys - 1, side.element));
  };
  if (p_.bias.buffer >= 0) w_.line(fmt::format("{} += {};", score, element(p_.bias, "bias_base")));
  if (!can_hide()) return;
  std::string visible;
  if (p_.mask.buffer >= 0) visible = element(p_.mask, "mask_base");
  if (p_.is_causal) visible = fmt::format("{}{} <= {}", visible.empty() ? "" : "(" + visible + ") && ", key, query);
  w_.let(fmt::format("visible{}", name), visible);
  w_.line(fmt::format("{} = select({}, {}, visible{});", score, real(ops::masked_score), score, name));
}

void AttentionWriter::join_rows(const std::string& names, bool max) {
  const auto joined = [&](const std::string& x, const std::string& y) {
    return max ? fmt::format("max({}, {})", x, y) : fmt::format("{} + {}", x, y);
  };
  const auto across = static_cast<std::uint32_t>(tile_.thread_columns);
  if (device_.subgroups && device_.subgroup_size >= across) {
    s_.uses_subgroups = true;
    for (std::uint32_t distance = 1; distance < across; distance *= 2)
      for (int i = 0; i < tile_.rows; ++i) {
        const std::string x = fmt::format("{}{}", names, i);
        w_.line(fmt::format("{} = {};", x, joined(x, d_.shuffle_xor(x, distance))));
      }
    return;
  }
  if (s_.declarations.find("joined") == std::string::npos)
    s_.declare_shared("joined", "f32", tile_.threads() * tile_.rows);
  for (int i = 0; i < tile_.rows; ++i)
    w_.line(fmt::format("joined[i32(thread) + {}] = {}{};", i * tile_.threads(), names, i));
  w_.barrier();
  for (int i = 0; i < tile_.rows; ++i) {
    const std::string x = fmt::format("{}{}", names, i);
    const auto of = [&](const std::string& k) {
      return fmt::format("joined[thread_row * {} + {} + {}]", across, i * tile_.threads(), k);
    };
    w_.line(fmt::format("{} = {};", x, of("0")));
    w_.line(fmt::format("{} {{ {} = {}; }}", w_.loop_head("k", 1, bound(tile_.thread_columns)), x, joined(x, of("k"))));
  }
  w_.barrier();
}

void AttentionWriter::declare_any(const std::string& name, const std::string& condition) {
  if (s_.declarations.find("any_thread") == std::string::npos) s_.declare_shared("any_thread", "u32");
  w_.barrier();
  w_.line("if (thread == 0u) { any_thread = 0u; }");
  w_.barrier();
  w_.line(fmt::format("if ({}) {{ any_thread = 1u; }}", condition));
  w_.let(name, d_.uniform_load("any_thread") + " != 0u");
}

}  // namespace cotan::gpu
