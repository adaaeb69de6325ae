#include "backend/gpu/routines/matmul_parts.hpp"

namespace cotan::gpu {

std::string offset_of(const AxisGroup& axes, const std::string& index) {
  std::string out;
  std::int64_t inner = 1;
  for (std::size_t k = axes.extents.size(); k-- > 0;) {
    std::string digit = inner == 1 ? index : fmt::format("{} / {}", index, inner);
    if (k > 0) digit = fmt::format("({}) % {}", digit, axes.extents[k]);
    inner *= axes.extents[k];
    if (axes.strides[k] == 0) continue;
    out += out.empty() ? "" : " + ";
    out += axes.strides[k] == 1 ? fmt::format("({})", digit) : fmt::format("({}) * ({})", digit, axes.strides[k]);
  }
  return out.empty() ? "0" : out;
}

DepthParts depth_parts(const MatmulProblem& problem, const MatmulTile& tile) {
  const std::int64_t steps = (problem.depth + tile.depth - 1) / tile.depth;
  const std::int64_t each = (steps + tile.splits - 1) / tile.splits;
  return {(steps + each - 1) / each, each * tile.depth};
}

DType sum_type(DType dtype) {
  if (is_floating(dtype)) return DType::f32;
  return is_signed_integer(dtype) ? DType::i32 : DType::u32;
}

std::string rounded_sum(Writer& w, DType dtype, const std::string& sum) {
  if (dtype == DType::f16) return w.call("cotan_round_f16", sum);
  if (dtype == DType::bf16) return w.call("cotan_round_bf16", sum);
  const int bits = static_cast<int>(8 * itemsize(dtype));
  if (is_floating(dtype) || bits >= 32) return sum;
  if (is_signed_integer(dtype)) return fmt::format("((({}) << {}u) >> {}u)", sum, 32 - bits, 32 - bits);
  return fmt::format("(({}) & 0x{:x}u)", sum, (1u << bits) - 1);
}

MatmulWriter::MatmulWriter(const Program& program, const MatmulProblem& problem, const MatmulTile& tile,
                           BufferId scratch, const Surroundings& around, const Capabilities& device)
    : problem_(problem),
      tile_(tile),
      scratch_(scratch),
      around_(around),
      device_(device),
      s_(program, fmt::format("matmul {}x{}x{}", problem.rows, problem.columns, problem.depth), device),
      w_(s_.body),
      type_(type_name(problem.dtype)),
      real_(is_floating(problem.dtype)) {}

void MatmulWriter::enter(std::int64_t tiles) {
  s_.enter(around_, static_cast<std::uint32_t>(tile_.threads()));
  const DepthParts parts = depth_parts(problem_, tile_);
  groups_ = tiles * parts.count * problem_.batch;
  w_.let("number", "i32(group.y * groups.x + group.x)");
  w_.line(fmt::format("if (number >= {}) {{ return; }}", groups_));
  w_.let("tile", fmt::format("number % {}", tiles));
  if (scratch_ < 0) {
    w_.let("batch", fmt::format("number / {}", tiles));
    const Dialect& d = w_.dialect();
    w_.line(d.constant("first_term", "0") + " " + d.constant("end_term", std::to_string(problem_.depth)));
    return;
  }
  w_.let("part", fmt::format("(number / {}) % {}", tiles, parts.count));
  w_.let("batch", fmt::format("number / {}", tiles * parts.count));
  w_.let("first_term", fmt::format("part * {}", parts.length));
  w_.let("end_term", fmt::format("min({}, first_term + {})", problem_.depth, parts.length));
}

Shader MatmulWriter::finish() {
  return s_.finish(static_cast<std::uint32_t>(tile_.threads()), grid(groups_, device_.groups));
}

void MatmulWriter::declare_base(const MatmulSide& side, const std::string& name) {
  const std::string offset = side.offset ? w_.value(side.offset) : "0";
  w_.let(name, fmt::format("{} + {}", offset, offset_of(side.batch, "batch")));
}

std::string MatmulWriter::loaded(const MatmulSide& side, const std::string& offset) {
  return s_.loaded(side.buffer, problem_.dtype, offset);
}

void MatmulWriter::store(const std::string& row, const std::string& column, const std::string& sum) {
  const std::string at = fmt::format("(batch * {} + {}) * {} + {}", problem_.rows, row, problem_.columns, column);
  if (scratch_ >= 0)
    w_.line(s_.store(scratch_, sum_type(problem_.dtype), fmt::format("part * {} + {}", problem_.size(), at), sum));
  else
    w_.line(s_.store(problem_.result, problem_.dtype, at, rounded_sum(w_, problem_.dtype, sum)));
}

std::string MatmulWriter::multiply_add(const std::string& x, const std::string& y, const std::string& sum) const {
  return real_ ? fmt::format("fma({}, {}, {})", x, y, sum) : fmt::format("{} + {} * {}", sum, x, y);
}

}  // namespace cotan::gpu
