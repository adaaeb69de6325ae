#include "backend/gpu/routines/matmul_parts.hpp"

#include <algorithm>

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

std::int64_t whole_quads(std::int64_t extent) { return (extent + lanes - 1) / lanes * lanes; }

bool lies_in_quads(const MatmulSide& side) {
  const AxisGroup &along = side.along_depth() ? side.depth : side.width,
                  &other = side.along_depth() ? side.width : side.depth;
  if (along.step() != 1) return false;
  // The last vector of a row may reach into what lies between it and the next.
  const bool whole_rows = along.extents.back() % lanes == 0;
  const std::int64_t row = whole_quads(along.extents.back());
  if (!whole_rows && (!along.single() || other.strides.empty())) return false;
  const auto fits = [&](const std::vector<std::int64_t>& strides, std::size_t count) {
    return std::all_of(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](std::int64_t s) { return s % lanes == 0 && (whole_rows || s >= row); });
  };
  return fits(along.strides, along.strides.size() - 1) && fits(other.strides, other.strides.size()) &&
         fits(side.batch.strides, side.batch.strides.size()) &&
         (!side.offset || expr::as_integer(expr::floor_mod(side.offset, lanes)) == 0);
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

std::int64_t group_count(const MatmulProblem& p, const MatmulTile& t) {
  const auto pieces = [](std::int64_t extent, std::int64_t step) { return (extent + step - 1) / step; };
  const bool tiled = t.kind == MatmulTile::Kind::tiled;
  const std::int64_t rows = tiled ? p.rows : std::max(p.rows, p.columns),
                     columns = tiled ? p.columns : std::min(p.rows, p.columns);
  return p.batch * pieces(rows, t.rows) * pieces(columns, t.columns) * depth_parts(p, t).count;
}

std::string name_of(const MatmulProblem& p) { return fmt::format("matmul {}x{}x{}", p.rows, p.columns, p.depth); }

MatmulWriter::MatmulWriter(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile,
                           BufferId scratch)
    : problem_(problem),
      tile_(tile),
      scratch_(scratch),
      s_(shader),
      w_(s_.body),
      type_(type_name(problem.dtype)),
      real_(is_floating(problem.dtype)) {}

void MatmulWriter::enter(std::int64_t tiles) {
  const DepthParts parts = depth_parts(problem_, tile_);
  w_.line(fmt::format("if (number >= {}) {{ return; }}", tiles * parts.count * problem_.batch));
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

void MatmulWriter::declare_base(const MatmulSide& side, const std::string& name) {
  const std::string offset = side.offset ? w_.value(side.offset) : "0";
  w_.let(name, fmt::format("{} + {}", offset, offset_of(side.batch, "batch")));
}

std::string MatmulWriter::loaded(const MatmulSide& side, const std::string& offset) {
  return s_.loaded(side.buffer, problem_.dtype, offset);
}

bool MatmulWriter::stores_quads() const {
  return s_.vectors && problem_.columns % lanes == 0 && itemsize(problem_.dtype) == 4;
}

void MatmulWriter::store_quad(const std::string& row, const std::string& column, const std::string& sums) {
  const std::string at =
      fmt::format("(batch * {} + {}) * {} + ({}) / {}", problem_.rows, row, problem_.columns / lanes, column, lanes);
  const auto quad = scratch_ >= 0 ? s_.quad_at(scratch_, fmt::format("part * {} + {}", problem_.size() / lanes, at))
                                  : s_.quad_at(problem_.result, at);
  if (quad) {
    w_.line(fmt::format("{} = {};", *quad, w_.dialect().bitcast(w_.dialect().vector("u32"), sums)));
    return;
  }
  for (int k = 0; k < lanes; ++k) store(row, fmt::format("{} + {}", column, k), fmt::format("{}.{}", sums, "xyzw"[k]));
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
