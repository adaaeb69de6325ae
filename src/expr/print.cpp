// Expressions in C's notation.
#include "core/error.hpp"
#include "core/typed.hpp"
#include "expr/lowering.hpp"

namespace cotan::expr {

std::string_view name(Op op) {
  switch (op) {
    case Op::constant: return "constant";
    case Op::variable: return "variable";
    case Op::load: return "load";
    case Op::linear: return "linear";
    case Op::add: return "+";
    case Op::sub: return "-";
    case Op::mul: return "*";
    case Op::div: return "/";
    case Op::rem: return "rem";
    case Op::neg: return "neg";
    case Op::abs: return "abs";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::floor_div: return "//";
    case Op::floor_mod: return "%";
    case Op::sqrt: return "sqrt";
    case Op::fma: return "fma";
    case Op::floor: return "floor";
    case Op::ceil: return "ceil";
    case Op::trunc: return "trunc";
    case Op::round: return "round";
    case Op::eq: return "==";
    case Op::ne: return "!=";
    case Op::lt: return "<";
    case Op::le: return "<=";
    case Op::bit_and: return "&";
    case Op::bit_or: return "|";
    case Op::bit_xor: return "^";
    case Op::bit_not: return "~";
    case Op::shift_left: return "<<";
    case Op::shift_right: return ">>";
    case Op::shift_right_sign: return ">>s";
    case Op::population_count: return "popcount";
    case Op::leading_zeros: return "clz";
    case Op::select: return "select";
    case Op::cast: return "cast";
    case Op::bitcast: return "bitcast";
    case Op::call: return "call";
    case Op::patch: return "patch";
  }
  return "?";
}

std::string_view name(ReduceOp op) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "and", "or", "argmax", "argmin"};
  return names[static_cast<std::size_t>(op)];
}

namespace {

std::string text_of_constant(Expr e) {
  if (const auto v = as_real(e)) return fmt::format("{:g}", *v);
  if (e->dtype == DType::bool_) return e->bits ? "true" : "false";
  return fmt::format("{}", e->bits);
}
bool is_infix(Op op) {
  switch (op) {
    case Op::add: case Op::sub: case Op::mul: case Op::div: case Op::floor_div: case Op::floor_mod:
    case Op::eq: case Op::ne: case Op::lt: case Op::le: case Op::bit_and: case Op::bit_or: case Op::bit_xor:
    case Op::shift_left: case Op::shift_right: case Op::shift_right_sign:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string to_string(Expr e) {
  const auto arg = [&](std::size_t k) { return to_string(e->operands[k]); };
  switch (e->op) {
    case Op::constant:
      return text_of_constant(e);
    case Op::variable:
      return fmt::format("i{}", e->bits);
    case Op::load:
      return fmt::format("b{}[{}]{}", e->bits, arg(0), e->operands.size() > 1 ? " if " + arg(1) : "");
    case Op::linear: {
      std::string out;
      for (std::size_t k = 0; k < e->operands.size(); ++k) {
        const std::int64_t c = e->coefficients[k];
        out += (k == 0 ? (c < 0 ? "-" : "") : c < 0 ? " - " : " + ");
        if (std::abs(c) != 1) out += fmt::format("{}*", std::abs(c));
        out += arg(k);
      }
      if (e->bits) out += fmt::format(" {} {}", e->bits < 0 ? "-" : "+", std::abs(e->bits));
      return "(" + out + ")";
    }
    case Op::cast:
    case Op::bitcast:
      return fmt::format("{}{}({})", e->op == Op::cast ? "" : "bits_", e->dtype, arg(0));
    default:
      break;
  }
  if (is_infix(e->op)) return fmt::format("({} {} {})", arg(0), name(e->op), arg(1));
  std::vector<std::string> list;
  for (std::size_t k = 0; k < e->operands.size(); ++k) list.push_back(arg(k));
  return fmt::format("{}({})", e->function ? e->function->name : name(e->op), fmt::join(list, ", "));
}

}  // namespace cotan::expr
