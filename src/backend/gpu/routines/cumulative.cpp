#include "backend/gpu/routines/cumulative.hpp"

#include "backend/gpu/codegen/reduction.hpp"
#include "ops/ops.hpp"

namespace cotan::gpu {

using expr::ReduceOp;

namespace {

constexpr std::uint32_t threads = 256;
constexpr std::int64_t shortest_row = 256, many_elements = 1 << 14;

std::optional<ReduceOp> operation_of(const Primitive& p) {
  if (&p == &ops::cumsum_p) return ReduceOp::sum;
  if (&p == &ops::cumprod_p) return ReduceOp::product;
  if (&p == &ops::cummax_p) return ReduceOp::max;
  if (&p == &ops::cummin_p) return ReduceOp::min;
  return std::nullopt;
}

/// Shaders over tiles of rows. A thread has so many neighbours of one tile, in order.
class CumulativeWriter {
 public:
  CumulativeWriter(const Program& program, const CumulativeProblem& problem, BufferId scratch, const char* name,
                   const Surroundings& around, const Capabilities& device)
      : p_(problem),
        scratch_(scratch),
        device_(device),
        s_(program, name, device),
        w_(s_.body),
        per_thread_(problem.tile() / threads) {
    s_.vectors = p_.length % 4 == 0;
    s_.enter(around, threads);
    type_ = type_name(p_.dtype);
  }

  /// Each tile's total, into the scratch.
  Shader totals() {
    find_tile();
    read_tile();
    run_inside();
    scan_threads();
    w_.line(fmt::format("if (thread == {}u) {{ {} }}", threads - 1, s_.store(scratch_, kept(), "number", "combined")));
    return s_.finish(threads, grid(p_.rows * p_.tiles(), device_.groups));
  }

  /// The totals of a row become what comes before each tile.
  Shader before_tiles() {
    w_.let("row", "i32(group.y * groups.x + group.x)");
    if (p_.rows > device_.groups) w_.line(fmt::format("if (row >= {}) {{ return; }}", p_.rows));
    w_.variable_of(type_, "carry", none());
    w_.open_loop("first", "0", p_.tiles(), p_.tile());
    for (std::int64_t k = 0; k < per_thread_; ++k) {
      w_.let(fmt::format("at{}", k), fmt::format("first + i32(thread) * {} + {}", per_thread_, k));
      w_.variable_of(type_, fmt::format("x{}", k), none());
      w_.line(fmt::format("if (at{} < {}) {{ x{} = {}; }}", k, p_.tiles(), k,
                          s_.loaded(scratch_, kept(), place("at" + std::to_string(k)))));
    }
    run_inside();
    scan_threads();
    w_.variable("before_me", combined("carry", "before"));
    for (std::int64_t k = 0; k < per_thread_; ++k) {
      w_.line(fmt::format("if (at{} < {}) {{ {} }}", k, p_.tiles(),
                          s_.store(scratch_, kept(), place("at" + std::to_string(k)), "before_me")));
      if (k + 1 < per_thread_)
        w_.line(fmt::format("before_me = {};", combined("carry", combined("before", fmt::format("x{}", k)))));
    }
    w_.line(fmt::format("if (thread == {}u) {{ carried = {}; }}", threads - 1, combined("carry", "combined")));
    w_.barrier();
    w_.line("carry = carried;");
    w_.barrier();
    w_.close();
    s_.declare_shared("carried", type_);
    return s_.finish(threads, grid(p_.rows, device_.groups));
  }

  /// The results; `has_tiles`: what comes before each tile is in the scratch.
  Shader rows(bool has_tiles) {
    find_tile();
    read_tile();
    run_inside();
    scan_threads();
    w_.let("before_me", has_tiles ? combined(s_.loaded(scratch_, kept(), "number"), "before") : "before");
    write_tile();
    return s_.finish(threads, grid(p_.rows * p_.tiles(), device_.groups));
  }

 private:
  /// Halves are f32 until they are stored.
  DType kept() const { return is_floating(p_.dtype) ? DType::f32 : p_.dtype; }
  std::string none() { return identity(w_, p_.op, p_.dtype); }
  std::string combined(const std::string& x, const std::string& y) {
    return "(" + combine(w_, p_.op, p_.dtype, x, y) + ")";
  }
  std::string place(const std::string& at) const { return fmt::format("row * {} + {}", p_.tiles(), at); }

  void find_tile() {
    w_.let("number", "i32(group.y * groups.x + group.x)");
    if (p_.rows * p_.tiles() > device_.groups)
      w_.line(fmt::format("if (number >= {}) {{ return; }}", p_.rows * p_.tiles()));
    w_.let("row", fmt::format("number / {}", p_.tiles()));
    w_.let("mine", fmt::format("number % {} * {} + i32(thread) * {}", p_.tiles(), p_.tile(), per_thread_));
  }
  /// Where element `at` of the row is, which may have to be read from its end.
  std::string element(const std::string& at) const {
    return fmt::format("row * {} + {}", p_.length, p_.reverse ? fmt::format("{} - ({})", p_.length - 1, at) : at);
  }
  Expr operand_at(Expr e) const { return p_.offset ? e + p_.offset : e; }

  /// Memory four by four: f(number of the first element, an Expr of where it is in the row).
  template <class F>
  void each_quad(const char* name, F&& f) {
    for (std::int64_t k = 0; k < per_thread_; k += 4) {
      const std::string quad = fmt::format("{}{}", name, k), last = std::to_string(p_.length / 4 - 1);
      const std::string at = fmt::format("min((mine + {}) / 4, {})", k, last);
      w_.let(quad, fmt::format("row * {} + {}", p_.length / 4, p_.reverse ? last + " - " + at : at));
      const Expr variable = expr::variable(p_.rows * p_.length / 4);
      w_.bind(variable, quad);
      f(k, variable * expr::integer(4));
    }
  }
  char component(std::int64_t u) const { return "xyzw"[p_.reverse ? 3 - u : u]; }

  void read_tile() {
    for (std::int64_t k = 0; k < per_thread_; ++k) w_.variable_of(type_, fmt::format("x{}", k), none());
    bool in_fours = s_.vectors;
    if (in_fours) {
      each_quad("quad", [&](std::int64_t k, Expr offset) {
        const auto quad = s_.quad(p_.operand, operand_at(offset));
        in_fours = in_fours && quad;
        if (!in_fours) return;
        w_.let(fmt::format("read{}", k), *quad);
        for (std::int64_t u = 0; u < 4; ++u)
          w_.line(fmt::format("if (mine + {} < {}) {{ x{} = {}; }}", k, p_.length, k + u,
                              w_.dialect().bitcast(type_, fmt::format("read{}.{}", k, component(u)))));
      });
    }
    if (in_fours) return;
    const std::string base = p_.offset ? w_.value(p_.offset) + " + " : "";
    for (std::int64_t k = 0; k < per_thread_; ++k)
      w_.line(fmt::format("if (mine + {} < {}) {{ x{} = {}; }}", k, p_.length, k,
                          s_.loaded(p_.operand, p_.dtype, base + element(fmt::format("mine + {}", k)))));
  }

  void write_tile() {
    std::vector<std::string> values;
    for (std::int64_t k = 0; k < per_thread_; ++k) {
      const std::string name = fmt::format("y{}", k);
      std::string v = combined("before_me", fmt::format("x{}", k));
      if (p_.dtype == DType::f16) v = w_.call("cotan_round_f16", v);
      if (p_.dtype == DType::bf16) v = w_.call("cotan_round_bf16", v);
      w_.let(name, v);
      values.push_back(name);
    }
    bool in_fours = s_.vectors;
    if (in_fours) {
      each_quad("to", [&](std::int64_t k, Expr offset) {
        const auto quad = s_.quad(p_.result, offset);
        in_fours = in_fours && quad;
        if (!in_fours) return;
        std::vector<std::string> words;
        for (std::int64_t u = 0; u < 4; ++u)
          words.push_back(w_.dialect().bitcast("u32", values[static_cast<std::size_t>(k + (p_.reverse ? 3 - u : u))]));
        w_.line(fmt::format("if (mine + {} < {}) {{ {} = {}; }}", k, p_.length, *quad,
                            w_.dialect().make_vector("u32", fmt::format("{}", fmt::join(words, ", ")))));
      });
    }
    if (in_fours) return;
    for (std::int64_t k = 0; k < per_thread_; ++k)
      w_.line(fmt::format(
          "if (mine + {} < {}) {{ {} }}", k, p_.length,
          s_.store(p_.result, p_.dtype, element(fmt::format("mine + {}", k)), values[static_cast<std::size_t>(k)])));
  }

  /// A thread's own elements: x0, x1, … become what they come to from x0 on.
  void run_inside() {
    for (std::int64_t k = 1; k < per_thread_; ++k)
      w_.line(fmt::format("x{} = {};", k, combined(fmt::format("x{}", k - 1), fmt::format("x{}", k))));
  }
  void scan_threads() { gpu::scan_threads(s_, p_.op, p_.dtype, threads, fmt::format("x{}", per_thread_ - 1)); }

  const CumulativeProblem p_;
  const BufferId scratch_;
  const Capabilities& device_;
  ShaderBuilder s_;
  Writer& w_;
  const std::int64_t per_thread_;
  std::string type_;
};

}  // namespace

std::int64_t CumulativeProblem::tile() const { return threads * (length <= 4 * threads ? 4 : 16); }

bool prefers_cumulative(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  if (!operation_of(p) || types[0].dtype == DType::bool_ || !is_supported(types[0].dtype)) return false;
  const Shape& shape = types[0].shape;
  const auto axis = static_cast<std::size_t>(params.integer("axis"));
  for (std::size_t k = axis + 1; k < shape.size(); ++k)
    if (shape[k] != 1) return false;
  return shape[axis] >= shortest_row && types[0].size() >= many_elements;
}

CumulativeProblem cumulative_problem(const compiler::Routine& routine) {
  const compiler::Operand& x = routine.operands[0];
  const std::int64_t length = x.type.shape[static_cast<std::size_t>(routine.params.integer("axis"))];
  return {.op = *operation_of(*routine.primitive),
          .dtype = x.type.dtype,
          .rows = x.type.size() / length,
          .length = length,
          .reverse = routine.params.flag("reverse"),
          .operand = x.buffer,
          .result = routine.results[0],
          .offset = x.offset};
}

Shader exclusive_sums(const Program& program, BufferId words, std::int64_t rows, std::int64_t columns,
                      const Surroundings& around, const Capabilities& device) {
  // They are the totals of a row of so many tiles.
  CumulativeProblem problem{ReduceOp::sum, DType::u32, rows, std::int64_t{1} << 20, false, words, words, {}};
  problem.length = columns * problem.tile();
  return CumulativeWriter(program, problem, words, "what is before each", around, device).before_tiles();
}

std::vector<Shader> cumulative_shaders(const Program& program, const CumulativeProblem& problem, BufferId scratch,
                                       const Surroundings& around, const Capabilities& device) {
  const auto writer = [&](const char* name) {
    return CumulativeWriter(program, problem, scratch, name, around, device);
  };
  std::vector<Shader> out;
  if (scratch >= 0) {
    out.push_back(writer("totals of tiles").totals());
    out.push_back(writer("what is before tiles").before_tiles());
  }
  out.push_back(writer("running results").rows(scratch >= 0));
  return out;
}

}  // namespace cotan::gpu
