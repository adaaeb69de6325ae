// Expressions in C's notation.
#include "core/error.hpp"
#include "core/typed.hpp"
#include "expr/lowering.hpp"

namespace cotan::expr {

std::string_view name(Op op) {
  switch (op) {
    case Op::constant:
      return "constant";
    case Op::variable:
      return "variable";
    case Op::load:
      return "load";
    case Op::linear:
      return "linear";
    case Op::add:
      return "+";
    case Op::sub:
      return "-";
    case Op::mul:
      return "*";
    case Op::div:
      return "/";
    case Op::rem:
      return "rem";
    case Op::neg:
      return "neg";
    case Op::abs:
      return "abs";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::floor_div:
      return "//";
    case Op::floor_mod:
      return "%";
    case Op::sqrt:
      return "sqrt";
    case Op::fma:
      return "fma";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::trunc:
      return "trunc";
    case Op::round:
      return "round";
    case Op::eq:
      return "==";
    case Op::ne:
      return "!=";
    case Op::lt:
      return "<";
    case Op::le:
      return "<=";
    case Op::bit_and:
      return "&";
    case Op::bit_or:
      return "|";
    case Op::bit_xor:
      return "^";
    case Op::bit_not:
      return "~";
    case Op::shift_left:
      return "<<";
    case Op::shift_right:
      return ">>";
    case Op::shift_right_sign:
      return ">>s";
    case Op::population_count:
      return "popcount";
    case Op::leading_zeros:
      return "clz";
    case Op::select:
      return "select";
    case Op::cast:
      return "cast";
    case Op::bitcast:
      return "bitcast";
    case Op::call:
      return "call";
    case Op::patch:
      return "patch";
  }
  return "?";
}

std::string_view name(ReduceOp op) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "and", "or", "xor"};
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
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::floor_div:
    case Op::floor_mod:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
    case Op::shift_right_sign:
      return true;
    default:
      return false;
  }
}

/// Writes until there is enough: as a tree, a shared expression could take forever.
class Writer {
 public:
  explicit Writer(std::size_t limit) : limit_(limit) {}
  void write(Expr e) {
    if (out_.size() > limit_) return;
    switch (e->op) {
      case Op::constant:
        out_ += text_of_constant(e);
        return;
      case Op::variable:
        out_ += fmt::format("i{}", e->bits);
        return;
      case Op::load:
        out_ += fmt::format("b{}[", e->bits);
        write(e->operands[0]);
        out_ += "]";
        if (e->operands.size() > 1) {
          out_ += " if ";
          write(e->operands[1]);
        }
        return;
      case Op::linear:
        write_linear(e);
        return;
      case Op::cast:
      case Op::bitcast:
        out_ += fmt::format("{}{}(", e->op == Op::cast ? "" : "bits_", e->dtype);
        break;
      default:
        if (is_infix(e->op)) {
          out_ += "(";
          write(e->operands[0]);
          out_ += fmt::format(" {} ", name(e->op));
          write(e->operands[1]);
          out_ += ")";
          return;
        }
        out_ += e->function ? e->function->name : name(e->op);
        out_ += "(";
    }
    for (std::size_t k = 0; k < e->operands.size(); ++k) {
      if (k) out_ += ", ";
      write(e->operands[k]);
    }
    out_ += ")";
  }
  std::string finish() {
    if (out_.size() > limit_) out_ = out_.substr(0, limit_) + " ...";
    return std::move(out_);
  }

 private:
  void write_linear(Expr e) {
    out_ += "(";
    for (std::size_t k = 0; k < e->operands.size(); ++k) {
      const std::int64_t c = e->coefficients[k];
      out_ += (k == 0 ? (c < 0 ? "-" : "") : c < 0 ? " - " : " + ");
      if (std::abs(c) != 1) out_ += fmt::format("{}*", std::abs(c));
      write(e->operands[k]);
    }
    if (e->bits) out_ += fmt::format(" {} {}", e->bits < 0 ? "-" : "+", std::abs(e->bits));
    out_ += ")";
  }
  std::size_t limit_;
  std::string out_;
};

}  // namespace

std::string to_string(Expr e, std::size_t limit) {
  Writer writer(limit);
  writer.write(e);
  return writer.finish();
}

}  // namespace cotan::expr
