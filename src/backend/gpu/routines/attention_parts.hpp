// What the shaders of attention have in common: tiles in shared memory, products of two of them in registers, and sums
// of rows weighted by such products.
#pragma once
#include "backend/gpu/routines/attention.hpp"

namespace cotan::gpu {

class AttentionWriter {
 protected:
  AttentionWriter(const Program& program, const AttentionProblem& problem, const AttentionTile& tile, const char* name,
                  const Surroundings& around, const Capabilities& device);

  /// Names `tile`, `batch` and `head` of the group, `thread_row` and `thread_column`. Tiles with much work come first.
  void enter(std::int64_t tiles, std::int64_t heads, bool last_tile_first);
  Shader finish(std::int64_t tiles, std::int64_t heads);

  /// Where an operand's matrix of this batch and head begins: `base` is given as a name.
  void declare_base(const AttentionSide& side, const std::string& base, const std::string& head);
  /// A tile of `rows` rows in shared memory, as vectors of four elements along the width.
  void declare_tile(const std::string& tile, int rows);
  /// Copies rows from number `first` on into it, zeros after the last one.
  void load_tile(const AttentionSide& side, const std::string& base, const std::string& tile, int rows,
                 const std::string& first, std::int64_t extent);
  /// Weights of the tile's rows at the columns, as vectors of four columns.
  void declare_weights(const std::string& weights);
  void store_weights(const std::string& weights, const std::string& values);

  /// values{i}_{j} = row i of `a` times row j of `b`: a thread has every so many-th of both.
  void multiply(const std::string& values, const std::string& a, const std::string& b);
  void declare_sums(const std::string& sums);
  /// sums{i}_{u} += weights times rows of `tile`: vectors of the width, every so many-th.
  void add_weighted(const std::string& sums, const std::string& weights, const std::string& tile);
  void scale_sums(const std::string& sums, int i, const std::string& factor);
  /// Writes the sums as rows from number `first_row` on. `factor` is by row, `{}` its number.
  void store_sums(const AttentionSide& side, const std::string& base, const std::string& sums,
                  const std::string& factor, std::int64_t extent);
  /// The element of a side with one value per row.
  std::string row_value(const AttentionSide& side, const std::string& base, const std::string& row);

  /// What turns a product at (query, key) into a score: scale, bias and mask. Declares `visible{name}` where scores can
  /// be hidden.
  void finish_score(const std::string& score, const std::string& name, const std::string& query,
                    const std::string& key);
  /// How many of the `steps` through columns any of the group's rows sees, where it sees none after its own.
  std::string seen_by_rows(std::int64_t steps) const {
    return fmt::format("min({}, (first_row + {}) / {} + 1)", steps, tile_.row_count() - 1, tile_.column_count());
  }
  bool can_hide() const { return p_.mask.buffer >= 0 || p_.is_causal; }

  static std::string value(const std::string& values, int i, int j) { return fmt::format("{}{}_{}", values, i, j); }
  std::string row_of(int i) const { return fmt::format("thread_row + {}", i * tile_.thread_rows); }
  std::string column_of(int j) const { return fmt::format("thread_column + {}", j * tile_.thread_columns); }
  template <class F>
  void for_each_score(F&& f) {
    for (int i = 0; i < tile_.rows; ++i)
      for (int j = 0; j < 4; ++j) f(i, j);
  }
  /// Each `names` of a row's threads becomes their sum or maximum (`max`), for all rows of the thread.
  void join_rows(const std::string& names, bool max);
  /// `name`: whether `condition` holds in any thread. All threads take part.
  void declare_any(const std::string& name, const std::string& condition);
  static std::string real(double value);

  const AttentionProblem& p_;
  const AttentionTile& tile_;
  const Surroundings& around_;
  const Capabilities& device_;
  ShaderBuilder s_;
  Writer& w_;
  const Dialect& d_;
  const int vectors_;  ///< of a row

 private:
  std::string bound(int count) const;
  int pitch() const { return vectors_ | 1; }  // an odd number of vectors keeps rows out of each other's banks
  int weight_pitch() const { return tile_.thread_columns | 1; }
  int own_vectors() const { return (vectors_ + tile_.thread_columns - 1) / tile_.thread_columns; }
  std::string loaded_vector(const AttentionSide& side, const std::string& row_at, const std::string& vector);
  bool has_quads(const AttentionSide& side) const;
};

Shader attention_forward_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                                const Surroundings& around, const Capabilities& device);
Shader attention_keys_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                             const Surroundings& around, const Capabilities& device);
Shader attention_queries_shader(const Program& program, const AttentionProblem& problem, const AttentionTile& tile,
                                const Surroundings& around, const Capabilities& device);

}  // namespace cotan::gpu
