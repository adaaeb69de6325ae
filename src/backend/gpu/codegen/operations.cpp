// Operations of expressions as a shader's: what all dialects write alike, and what compilers of drivers would get
// wrong.
#include <bit>

#include "backend/gpu/codegen/writer.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

using expr::Node;
using expr::Op;

namespace {

int bits_of(DType dtype) { return static_cast<int>(8 * itemsize(dtype)); }
bool is_narrow(DType dtype) { return is_integer(dtype) && dtype != DType::bool_ && bits_of(dtype) < 32; }
bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Indices are i64 in expressions and i32 here. What does not fit raises; sums of a few that do may end past the ends.
bool fits(const expr::Range& r, int headroom) { return r.inside(i32_range.lo << headroom, i32_range.hi << headroom); }

bool is_computed_with(Op op) {
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::neg || op == Op::linear || op == Op::shift_left;
}

std::string infix(const std::vector<std::string>& x, const char* op) { return fmt::format("{} {} {}", x[0], op, x[1]); }
std::string listed(const std::vector<std::string>& x) { return fmt::format("{}", fmt::join(x, ", ")); }

}  // namespace

std::string Writer::operation(const Node& node, const Operands& x) {
  // Without 64-bit integers, those that are computed with must be known to be small; comparing and choosing is safe.
  if (node.dtype == DType::i64 && is_computed_with(node.op) && !may_wrap_ && !fits(node.range, 2))
    raise_unsupported(dialect_, DType::i64, "jit");
  switch (node.op) {
    case Op::cast:
      return cast(node.operands[0]->dtype, node.dtype, x[0]);
    case Op::bitcast:
      return reinterpreted(node, x[0]);
    case Op::call:
      return call(node.function->name, listed(x));
    case Op::linear:
      return linear(node, x);
    case Op::select:
      return selection(node, x);
    default:
      break;
  }
  for (const auto subject :
       {&Writer::arithmetic, &Writer::comparison, &Writer::bitwise, &Writer::shift, &Writer::count_of_bits})
    if (std::string out = (this->*subject)(node, x); !out.empty()) return out;
  raise<InternalError>("[{}] no {} for {}; this is a bug in cotan.", dialect_.device, dialect_.language,
                       expr::name(node.op));
}

std::string Writer::arithmetic(const Node& node, const Operands& x) {
  const DType operand = node.operands[0]->dtype;
  const bool real = is_floating(operand), logical = operand == DType::bool_;
  const auto rounded = [&](const char* op) {
    return real && caution_.reals ? dialect_.bitcast("f32", dialect_.bitcast("u32", infix(x, op)))
                                  : wrapped(node.dtype, infix(x, op));
  };
  const auto function = [&](const char* f) { return fmt::format("{}({})", f, listed(x)); };
  switch (node.op) {
    case Op::add:
      return rounded("+");
    case Op::sub:
      return rounded("-");
    case Op::mul:
      return rounded("*");
    case Op::div:
      return rounded("/");
    case Op::rem:
      return real ? call("cotan_fmod", listed(x)) : infix(x, "%");
    case Op::neg:
      if (real) return "-" + x[0];
      return wrapped(node.dtype, is_signed_integer(operand) ? "-" + x[0] : "0u - " + x[0]);
    case Op::abs:
      return is_signed_integer(operand) ? wrapped(node.dtype, function("abs")) : real ? function("abs") : x[0];
    case Op::min:
      if (logical) return infix(x, "&");
      return real ? call("cotan_min", listed(x)) : function("min");
    case Op::max:
      if (logical) return infix(x, "|");
      return real ? call("cotan_max", listed(x)) : function("max");
    case Op::floor_div:
      return node.operands[0]->range.lo >= 0 ? infix(x, "/") : call("cotan_floor_div_i32", listed(x));
    case Op::floor_mod:
      return node.operands[0]->range.lo >= 0 ? infix(x, "%") : call("cotan_floor_mod_i32", listed(x));
    case Op::fma:
      return caution_.fma ? call("cotan_careful_fma", listed(x)) : function("fma");
    case Op::sqrt:
      return function("sqrt");
    case Op::floor:
      return function("floor");
    case Op::ceil:
      return function("ceil");
    case Op::trunc:
      return function("trunc");
    case Op::round:
      return function("round");
    default:
      return "";
  }
}

std::string Writer::comparison(const Node& node, const Operands& x) {
  const DType operand = node.operands[0]->dtype;
  const bool real = is_floating(operand), logical = operand == DType::bool_;
  // Compilers take x == x for true.
  const bool same = real && node.operands.size() > 1 && node.operands[0] == node.operands[1];
  const auto word = [&](const std::string& v) { return logical ? fmt::format("u32({})", v) : v; };
  switch (node.op) {
    case Op::eq:
      return same ? "!" + call("cotan_is_nan", x[0]) : infix(x, "==");
    case Op::ne:  // with NaN it is true, which compilers get wrong
      if (same) return call("cotan_is_nan", x[0]);
      return real ? fmt::format("!({})", infix(x, "==")) : infix(x, "!=");
    case Op::lt:
      return word(x[0]) + " < " + word(x[1]);
    case Op::le:
      return word(x[0]) + " <= " + word(x[1]);
    default:
      return "";
  }
}

std::string Writer::selection(const Node& node, const Operands& x) {
  const std::string chosen = fmt::format("select({}, {}, {})", x[2], x[1], x[0]);
  // What looks like a minimum or a maximum becomes one that forgets NaN.
  const Expr test = node.operands[0];
  if (!is_floating(node.dtype) || (test->op != Op::lt && test->op != Op::le)) return chosen;
  const Expr a = test->operands[0], b = test->operands[1], p = node.operands[1], q = node.operands[2];
  if (!((a == p && b == q) || (a == q && b == p))) return chosen;
  std::string nan;
  for (std::size_t k : {1, 2})
    if (node.operands[k]->op != Op::constant) nan += (nan.empty() ? "" : " || ") + call("cotan_is_nan", x[k]);
  return nan.empty() ? chosen : fmt::format("select({}, {}, {})", chosen, x[2], nan);
}

// Bits -------------------------------------------------------------------------------------------------

std::string Writer::bitwise(const Node& node, const Operands& x) {
  const bool logical = node.operands[0]->dtype == DType::bool_;
  switch (node.op) {
    case Op::bit_and:
      return infix(x, "&");
    case Op::bit_or:
      return infix(x, "|");
    case Op::bit_xor:
      return infix(x, logical ? "!=" : "^");
    case Op::bit_not:
      return logical ? "!" + x[0] : wrapped(node.dtype, "~" + x[0]);
    default:
      return "";
  }
}

std::string Writer::shift(const Node& node, const Operands& x) {
  const DType operand = node.operands[0]->dtype;
  const int bits = std::min(bits_of(operand), 32);
  switch (node.op) {
    case Op::shift_left:
      return wrapped(node.dtype, fmt::format("{} << u32({})", x[0], x[1]));
    case Op::shift_right: {
      if (!is_signed_integer(operand)) return fmt::format("{} >> u32({})", x[0], x[1]);
      std::string u = dialect_.bitcast("u32", x[0]);
      if (bits < 32) u = fmt::format("({} & 0x{:x}u)", u, (1u << bits) - 1);
      return wrapped(node.dtype, dialect_.bitcast("i32", fmt::format("{} >> u32({})", u, x[1])));
    }
    case Op::shift_right_sign: {
      if (is_signed_integer(operand)) return fmt::format("{} >> u32({})", x[0], x[1]);
      const int unused = 32 - bits_of(operand);
      const std::string left = dialect_.bitcast("i32", fmt::format("{} << {}u", x[0], unused));
      const std::string sign = fmt::format("({} >> {}u)", left, unused);
      return wrapped(node.dtype, dialect_.bitcast("u32", fmt::format("{} >> u32({})", sign, x[1])));
    }
    default:
      return "";
  }
}

std::string Writer::count_of_bits(const Node& node, const Operands& x) {
  const DType operand = node.operands[0]->dtype;
  const int bits = std::min(bits_of(operand), 32);
  // Narrow ones are extended by their sign.
  const bool extended = bits < 32 && is_signed_integer(operand);
  const auto own = [&] { return extended ? fmt::format("{} & 0x{:x}", x[0], (1u << bits) - 1) : x[0]; };
  if (node.op == Op::population_count) return dialect_.count_ones(own());
  if (node.op != Op::leading_zeros) return "";
  const std::string zeros = dialect_.leading_zeros(own());
  return bits == 32 ? zeros : fmt::format("{} - {}{}", zeros, 32 - bits, extended ? "" : "u");
}

std::string Writer::reinterpreted(const Node& node, const std::string& x) {
  const DType from = node.operands[0]->dtype, to = node.dtype;
  if (is_half(from) || is_half(to)) return reinterpreted_half(from, to, x);
  const std::string type = type_name(to);
  return wrapped(to, type == type_name(from) ? x : dialect_.bitcast(type, x));
}

/// Halves are f32: their bits are computed.
std::string Writer::reinterpreted_half(DType from, DType to, const std::string& x) {
  const auto kind = [](DType half) { return std::string(half == DType::bf16 ? "bf16" : "f16"); };
  if (from == to) return x;
  if (!is_half(from)) {
    const std::string bits = is_signed_integer(from) ? fmt::format("({} & 0xffffu)", dialect_.bitcast("u32", x)) : x;
    return call("cotan_" + kind(to) + "_value", bits);
  }
  const std::string bits = call("cotan_" + kind(from) + "_bits", x);
  if (is_half(to)) return call("cotan_" + kind(to) + "_value", bits);
  return is_signed_integer(to) ? wrapped(to, dialect_.bitcast("i32", bits)) : bits;
}

// Conversions ------------------------------------------------------------------------------------------

std::string Writer::wrapped(DType dtype, const std::string& x) {
  if (!is_narrow(dtype)) return x;
  const int shift = 32 - bits_of(dtype);
  if (is_signed_integer(dtype)) return fmt::format("((({}) << {}u) >> {}u)", x, shift, shift);
  return fmt::format("(({}) & 0x{:x}u)", x, (1u << bits_of(dtype)) - 1);
}

std::string Writer::cast(DType from, DType to, const std::string& x) {
  if (to == DType::bool_) {
    if (from == DType::bool_) return x;
    if (is_floating(from)) return fmt::format("!({} == {})", x, opaque(0, DType::f32));
    return fmt::format("{} != {}", x, is_signed_integer(from) ? "0" : "0u");
  }
  if (is_floating(to)) {
    const auto rounded = [&](const std::string& v) {
      if (to == DType::f16 && from != DType::f16) return call("cotan_round_f16", v);
      if (to == DType::bf16 && from != DType::bf16) return call("cotan_round_bf16", v);
      return v;
    };
    if (is_floating(from)) return rounded(x);
    if (from == DType::bool_) return fmt::format("f32({})", x);
    return rounded(is_signed_integer(from) ? fmt::format("f32({})", x) : call("cotan_u32_to_f32", x));
  }
  if (from == DType::bool_) return fmt::format("{}({})", type_name(to), x);
  if (is_floating(from)) {
    const int bits = std::min(bits_of(to), 32);
    if (is_signed_integer(to)) {
      if (bits == 32) return call("cotan_f32_to_i32", x);
      return call("cotan_f32_to_int", fmt::format("{}, {}, {}", x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1));
    }
    if (bits == 32) return call("cotan_f32_to_u32", x);
    return call("cotan_f32_to_uint", fmt::format("{}, {}u", x, (1u << bits) - 1));
  }
  const std::string same = is_signed_integer(from) == is_signed_integer(to) ? x : dialect_.bitcast(type_name(to), x);
  return bits_of(to) < bits_of(from) || is_signed_integer(from) != is_signed_integer(to) ? wrapped(to, same) : same;
}

std::string Writer::linear(const Node& node, const Operands& x) {
  std::string out;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t c = node.coefficients[k];
    if (!i32_range.contains(c)) raise_unsupported(dialect_, DType::i64, "jit");
    if (c == 1)
      out += (out.empty() ? "" : " + ") + x[k];
    else if (c == -1)
      out += (out.empty() ? "-" : " - ") + x[k];
    else if (c < 0)
      out += fmt::format("{}{} * {}", out.empty() ? "-" : " - ", x[k], -c);
    else
      out += fmt::format("{}{} * {}", out.empty() ? "" : " + ", x[k], c);
  }
  if (!i32_range.contains(node.bits)) raise_unsupported(dialect_, DType::i64, "jit");
  if (node.bits > 0) out += fmt::format(" + {}", node.bits);
  if (node.bits < 0) out += fmt::format(" - {}", -node.bits);
  return out;
}

}  // namespace cotan::gpu
