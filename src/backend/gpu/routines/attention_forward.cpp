// Attention forwards: a group has a tile of queries and goes through the keys, a tile at a time. What it has summed up
// so far is relative to the largest score so far, and made smaller whenever a larger one comes.
//
// Weights are the dialect's exp of a number that is at most 0: its error is relative to the largest weight of the row,
// which is 1.
#include "backend/gpu/routines/attention_parts.hpp"
#include "ops/attention.hpp"

namespace cotan::gpu {

namespace {

class ForwardWriter : AttentionWriter {
 public:
  ForwardWriter(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                const Surroundings& around, const Capabilities& device)
      : AttentionWriter(program, problem, tile, "attention", around, device) {}

  Shader write() {
    const std::int64_t tiles = (p_.queries + tile_.row_count() - 1) / tile_.row_count();
    enter(tiles, p_.heads, true);
    w_.let("key_head", fmt::format("head / {}", p_.group()));
    declare_base(p_.query, "query_base", "head");
    declare_base(p_.key, "key_base", "key_head");
    declare_base(p_.value, "value_base", "key_head");
    if (p_.bias.buffer >= 0) declare_base(p_.bias, "bias_base", "head");
    if (p_.mask.buffer >= 0) declare_base(p_.mask, "mask_base", "head");
    declare_tile("queries", tile_.row_count());
    declare_tile("keys", tile_.column_count());  // then their values
    declare_weights("weights");
    load_tile(p_.query, "query_base", "queries", tile_.row_count(), "first_row", p_.queries);
    for (int i = 0; i < tile_.rows; ++i) {
      w_.let(fmt::format("row{}", i), fmt::format("first_row + {}", row_of(i)));
      w_.variable(fmt::format("maximum{}", i), lowest);
      w_.variable(fmt::format("sum{}", i), "0.0f");
    }
    declare_sums("out");
    const std::int64_t steps = (p_.keys + tile_.column_count() - 1) / tile_.column_count();
    // Tiles that no query of the group sees are left out.
    w_.let("seen", p_.is_causal ? seen_by_rows(steps) : std::to_string(steps));
    w_.variable("end", "seen");
    w_.open_loop("step", "0", "end");
    add_tile();
    if (p_.is_causal && p_.may_hide_all()) look_further(steps);
    w_.close();
    join_rows("sum", false);
    for (int i = 0; i < tile_.rows; ++i) w_.let(fmt::format("factor{}", i), fmt::format("1.0f / sum{}", i));
    if (p_.output.buffer >= 0) {
      declare_base(p_.output, "out_base", "head");
      store_sums(p_.output, "out_base", "out", "factor{}", p_.queries);
    }
    store_rows(p_.maximum, "maximum");
    store_rows(p_.sum, "sum");
    return finish(tiles, p_.heads);
  }

 private:
  /// Less than any score but -inf, which then weighs nothing: a row of those alone is 0 / 0.
  static constexpr const char* lowest = "-3.4028234e38f";

  void add_tile() {
    w_.let("first_column", fmt::format("step * {}", tile_.column_count()));
    w_.barrier();
    load_tile(p_.key, "key_base", "keys", tile_.column_count(), "first_column", p_.keys);
    w_.barrier();
    multiply("s", "queries", "keys");
    for (int j = 0; j < 4; ++j) w_.let(fmt::format("column{}", j), fmt::format("first_column + {}", column_of(j)));
    for_each_score([&](int i, int j) {
      finish_score(value("s", i, j), fmt::format("{}_{}", i, j), fmt::format("row{}", i), fmt::format("column{}", j));
    });
    for (int i = 0; i < tile_.rows; ++i) {
      const auto score = [&](int j) {
        return checks() ? fmt::format("select({}, {}, {})", lowest, value("s", i, j), inside(j)) : value("s", i, j);
      };
      w_.variable(fmt::format("largest{}", i),
                  fmt::format("max(max({}, {}), max({}, {}))", score(0), score(1), score(2), score(3)));
    }
    join_rows("largest", true);
    for (int i = 0; i < tile_.rows; ++i) {
      w_.line(fmt::format("largest{} = max(largest{}, maximum{});", i, i, i));
      w_.let(fmt::format("shrink{}", i), fmt::format("exp(maximum{} - largest{})", i, i));
      w_.line(fmt::format("maximum{} = largest{};", i, i));
      for (int j = 0; j < 4; ++j) w_.line(fmt::format("{} -= largest{};", value("s", i, j), i));
      w_.let(fmt::format("all{}", i), sum_of("s", i));
      for (int j = 0; j < 4; ++j) {
        const std::string s = value("s", i, j), e = fmt::format("exp({})", s);
        w_.line(fmt::format("{} = {};", s, checks() ? fmt::format("select(0.0f, {}, {})", e, inside(j)) : e));
      }
      // Some drivers' exp of NaN is none.
      w_.let(fmt::format("more{}", i), fmt::format("select({}, all{}, ({} & 0x7fffffffu) > 0x7f800000u)",
                                                   sum_of("s", i), i, d_.bitcast("u32", fmt::format("all{}", i))));
      w_.line(fmt::format("sum{} = fma(sum{}, shrink{}, more{});", i, i, i, i));
    }
    store_weights("weights", "s");
    for (int i = 0; i < tile_.rows; ++i) scale_sums("out", i, fmt::format("shrink{}", i));
    w_.barrier();
    load_tile(p_.value, "value_base", "keys", tile_.column_count(), "first_column", p_.keys);
    w_.barrier();
    add_weighted("out", "weights", "keys");
  }
  static std::string sum_of(const std::string& values, int i) {
    return fmt::format("(({} + {}) + ({} + {}))", value(values, i, 0), value(values, i, 1), value(values, i, 2),
                       value(values, i, 3));
  }
  bool checks() const { return p_.keys % tile_.column_count() != 0; }
  std::string inside(int j) const { return fmt::format("column{} < {}", j, p_.keys); }

  /// A query that has seen nothing has its weights at the keys that are hidden, further ones too.
  void look_further(std::int64_t steps) {
    w_.open(fmt::format("if (step + 1 == seen && end < {})", steps));
    std::string none;
    for (int i = 0; i < tile_.rows; ++i)
      none +=
          fmt::format("{}(row{} < {} && maximum{} <= {})", i ? " || " : "", i, p_.queries, i, real(ops::masked_score));
    declare_any("sees_nothing", none);
    w_.line(fmt::format("if (sees_nothing) {{ end = {}; }}", steps));
    w_.close();
  }

  void store_rows(const AttentionSide& side, const std::string& name) {
    if (side.buffer < 0) return;
    declare_base(side, name + "_base", "head");
    w_.open("if (thread_column == 0)");
    for (int i = 0; i < tile_.rows; ++i)
      w_.line(fmt::format("if (row{} < {}) {{ {} }}", i, p_.queries,
                          s_.store(side.buffer, side.dtype, fmt::format("{}_base + row{} * {}", name, i, side.row),
                                   fmt::format("{}{}", name, i))));
    w_.close();
  }
};

}  // namespace

Shader attention_forward_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                                const Surroundings& around, const Capabilities& device) {
  return ForwardWriter(program, problem, tile, around, device).write();
}

}  // namespace cotan::gpu
