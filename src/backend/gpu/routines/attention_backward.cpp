// Attention backwards: weights are computed again from the largest score and the sum of each query. One shader has a
// tile of keys and goes through the queries, of all heads that share the key; the other has a tile of queries and goes
// through the keys. Every sum has one owner and one order.
#include "backend/gpu/routines/attention_parts.hpp"
#include "ops/attention.hpp"

namespace cotan::gpu {

namespace {

class BackwardWriter : protected AttentionWriter {
 protected:
  using AttentionWriter::AttentionWriter;

  std::int64_t row_tiles(std::int64_t extent) const { return (extent + tile_.row_count() - 1) / tile_.row_count(); }
  std::int64_t column_tiles(std::int64_t extent) const {
    return (extent + tile_.column_count() - 1) / tile_.column_count();
  }

  /// Where the operands by queries begin, for the head of that name.
  void declare_query_bases(const std::string& head) {
    declare_base(p_.query, "query_base", head);
    declare_base(p_.cotangent, "cotangent_base", head);
    declare_base(p_.maximum, "maximum_base", head);
    declare_base(p_.sum, "sum_base", head);
    declare_base(p_.delta, "delta_base", head);
    if (p_.bias.buffer >= 0) declare_base(p_.bias, "bias_base", head);
    if (p_.mask.buffer >= 0) declare_base(p_.mask, "mask_base", head);
  }
  void declare_key_bases(const std::string& head) {
    declare_base(p_.key, "key_base", head);
    declare_base(p_.value, "value_base", head);
  }
  /// What a query needs to be known by: `name` is its number. Past the end any one will do.
  void load_query(const std::string& name, const std::string& number) {
    const std::string at = fmt::format("min({}, {})", number, p_.queries - 1);
    w_.let(fmt::format("maximum_{}", name), row_value(p_.maximum, "maximum_base", at));
    w_.let(fmt::format("sum_{}", name), row_value(p_.sum, "sum_base", at));
    w_.let(fmt::format("delta_{}", name), row_value(p_.delta, "delta_base", at));
  }
  /// From products s and d to weights s and gradients of scores d; zero where `outside`, if that is not empty.
  void finish_gradient(int i, int j, const std::string& query, const std::string& query_number,
                       const std::string& key_number, const std::string& outside) {
    const std::string s = value("s", i, j), d = value("d", i, j), name = fmt::format("{}_{}", i, j);
    finish_score(s, name, query_number, key_number);
    w_.line(fmt::format("{} = exp({} - maximum_{}) / sum_{};", s, s, query, query));
    w_.line(fmt::format("{} = {} * ({} - delta_{});", d, s, d, query));
    if (can_hide()) w_.line(fmt::format("{} = select(0.0f, {}, visible{});", d, d, name));
    if (outside.empty()) return;
    for (const std::string& x : {s, d}) w_.line(fmt::format("{} = select({}, 0.0f, {});", x, x, outside));
  }
};

/// Rows are keys, columns are queries.
class KeysWriter : BackwardWriter {
 public:
  KeysWriter(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
             const Surroundings& around, const Capabilities& device)
      : BackwardWriter(program, problem, tile, "attention_backward keys", around, device) {}

  Shader write() {
    const std::int64_t tiles = row_tiles(p_.keys);
    enter(tiles, p_.key_heads, false);
    declare_key_bases("head");
    for (const char* name : {"keys", "values"}) declare_tile(name, tile_.row_count());
    for (const char* name : {"queries", "cotangents"}) declare_tile(name, tile_.column_count());
    for (const char* name : {"weights", "gradients"}) declare_weights(name);
    load_tile(p_.key, "key_base", "keys", tile_.row_count(), "first_row", p_.keys);
    load_tile(p_.value, "value_base", "values", tile_.row_count(), "first_row", p_.keys);
    for (int i = 0; i < tile_.rows; ++i) w_.let(fmt::format("row{}", i), fmt::format("first_row + {}", row_of(i)));
    declare_sums("k");
    declare_sums("v");
    // Queries before the first key do not see it; but one that sees nothing has weights everywhere.
    const bool skips = p_.is_causal && !p_.may_hide_all();
    w_.let("first_step", skips ? fmt::format("first_row / {}", tile_.column_count()) : "0");
    w_.open_loop("member", "0", p_.group());
    w_.let("query_head", fmt::format("head * {} + member", p_.group()));
    declare_query_bases("query_head");
    w_.open_loop("step", "first_step", column_tiles(p_.queries));
    w_.let("first_column", fmt::format("step * {}", tile_.column_count()));
    if (p_.is_causal && !skips) leave_unless_hidden();
    add_tile();
    w_.close();
    w_.close();
    if (p_.key_gradient.buffer >= 0) {
      declare_base(p_.key_gradient, "key_gradient_base", "head");
      store_sums(p_.key_gradient, "key_gradient_base", "k", real(p_.scale), p_.keys);
    }
    if (p_.value_gradient.buffer >= 0) {
      declare_base(p_.value_gradient, "value_gradient_base", "head");
      store_sums(p_.value_gradient, "value_gradient_base", "v", "1.0f", p_.keys);
    }
    return finish(tiles, p_.key_heads);
  }

 private:
  void leave_unless_hidden() {
    w_.open(fmt::format("if (first_column + {} < first_row)", tile_.column_count() - 1));
    w_.let("mine", fmt::format("first_column + i32(thread) % {}", tile_.column_count()));
    declare_any("sees_nothing",
                fmt::format("mine < {} && {} <= {}", p_.queries,
                            row_value(p_.maximum, "maximum_base", fmt::format("min(mine, {})", p_.queries - 1)),
                            real(ops::masked_score)));
    w_.line("if (!sees_nothing) { continue; }");
    w_.close();
  }

  void add_tile() {
    w_.barrier();
    load_tile(p_.query, "query_base", "queries", tile_.column_count(), "first_column", p_.queries);
    load_tile(p_.cotangent, "cotangent_base", "cotangents", tile_.column_count(), "first_column", p_.queries);
    w_.barrier();
    multiply("s", "keys", "queries");
    multiply("d", "values", "cotangents");
    for (int j = 0; j < 4; ++j) {
      w_.let(fmt::format("column{}", j), fmt::format("first_column + {}", column_of(j)));
      load_query(fmt::format("c{}", j), fmt::format("column{}", j));
    }
    const bool checks = p_.queries % tile_.column_count() != 0;
    for_each_score([&](int i, int j) {
      const std::string column = fmt::format("column{}", j);
      finish_gradient(i, j, fmt::format("c{}", j), column, fmt::format("row{}", i),
                      checks ? fmt::format("{} >= {}", column, p_.queries) : "");
    });
    store_weights("weights", "s");
    store_weights("gradients", "d");
    w_.barrier();
    if (p_.value_gradient.buffer >= 0) add_weighted("v", "weights", "cotangents");
    if (p_.key_gradient.buffer >= 0) add_weighted("k", "gradients", "queries");
  }
};

/// Rows are queries, columns are keys.
class QueriesWriter : BackwardWriter {
 public:
  QueriesWriter(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                const Surroundings& around, const Capabilities& device)
      : BackwardWriter(program, problem, tile, "attention_backward queries", around, device) {}

  Shader write() {
    const std::int64_t tiles = row_tiles(p_.queries), steps = column_tiles(p_.keys);
    enter(tiles, p_.heads, true);
    w_.let("key_head", fmt::format("head / {}", p_.group()));
    declare_key_bases("key_head");
    declare_query_bases("head");
    if (gives_scores()) declare_base(p_.score_gradient, "score_base", "head");
    for (const char* name : {"queries", "cotangents"}) declare_tile(name, tile_.row_count());
    for (const char* name : {"keys", "values"}) declare_tile(name, tile_.column_count());
    declare_weights("gradients");
    load_tile(p_.query, "query_base", "queries", tile_.row_count(), "first_row", p_.queries);
    load_tile(p_.cotangent, "cotangent_base", "cotangents", tile_.row_count(), "first_row", p_.queries);
    for (int i = 0; i < tile_.rows; ++i) {
      w_.let(fmt::format("row{}", i), fmt::format("first_row + {}", row_of(i)));
      load_query(fmt::format("r{}", i), fmt::format("row{}", i));
    }
    declare_sums("q");
    // Hidden scores have no gradient: tiles of them alone are left out, unless somebody wants their zeros.
    const bool skips = p_.is_causal && !gives_scores();
    w_.let("end", skips ? seen_by_rows(steps) : std::to_string(steps));
    w_.open_loop("step", "0", "end");
    add_tile();
    w_.close();
    if (p_.query_gradient.buffer >= 0) {
      declare_base(p_.query_gradient, "query_gradient_base", "head");
      store_sums(p_.query_gradient, "query_gradient_base", "q", real(p_.scale), p_.queries);
    }
    return finish(tiles, p_.heads);
  }

 private:
  bool gives_scores() const { return p_.score_gradient.buffer >= 0; }

  void add_tile() {
    w_.let("first_column", fmt::format("step * {}", tile_.column_count()));
    w_.barrier();
    load_tile(p_.key, "key_base", "keys", tile_.column_count(), "first_column", p_.keys);
    load_tile(p_.value, "value_base", "values", tile_.column_count(), "first_column", p_.keys);
    w_.barrier();
    multiply("s", "queries", "keys");
    multiply("d", "cotangents", "values");
    for (int j = 0; j < 4; ++j) w_.let(fmt::format("column{}", j), fmt::format("first_column + {}", column_of(j)));
    const bool checks = p_.keys % tile_.column_count() != 0;
    for_each_score([&](int i, int j) {
      const std::string row = fmt::format("row{}", i), column = fmt::format("column{}", j);
      finish_gradient(i, j, fmt::format("r{}", i), row, column, checks ? fmt::format("{} >= {}", column, p_.keys) : "");
      if (!gives_scores()) return;
      w_.open(fmt::format("if ({} < {} && {} < {})", row, p_.queries, column, p_.keys));
      w_.line(s_.store(
          p_.score_gradient.buffer, p_.score_gradient.dtype,
          fmt::format("score_base + {} * {} + {} * {}", row, p_.score_gradient.row, column, p_.score_gradient.element),
          value("d", i, j)));
      w_.close();
    });
    store_weights("gradients", "d");
    w_.barrier();
    if (p_.query_gradient.buffer >= 0) add_weighted("q", "gradients", "keys");
  }
};

}  // namespace

Shader attention_keys_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                             const Surroundings& around, const Capabilities& device) {
  return KeysWriter(program, problem, tile, around, device).write();
}
Shader attention_queries_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                                const Surroundings& around, const Capabilities& device) {
  return QueriesWriter(program, problem, tile, around, device).write();
}

}  // namespace cotan::gpu
