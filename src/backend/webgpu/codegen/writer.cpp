#include "backend/webgpu/codegen/writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/webgpu/memory.hpp"
#include "core/error.hpp"

namespace cotan::webgpu {

using expr::Node;
using expr::Op;

namespace {

int bits_of(DType dtype) { return static_cast<int>(8 * itemsize(dtype)); }
bool is_narrow(DType dtype) { return is_integer(dtype) && dtype != DType::bool_ && bits_of(dtype) < 32; }
bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

constexpr expr::Range i32_range{-(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1};

/// Indices are i64 in expressions and i32 here. What does not fit raises; sums of a few that do may end past the ends.
bool fits(const expr::Range& r, int headroom) { return r.inside(i32_range.lo << headroom, i32_range.hi << headroom); }

}  // namespace

const char* wgsl_type(DType dtype) {
  if (dtype == DType::bool_) return "bool";
  if (is_floating(dtype)) return "f32";
  return is_signed_integer(dtype) ? "i32" : "u32";
}

Writer::Writer(Dialect dialect) : dialect_(dialect) { levels_.push_back({"", "", {}}); }

void Writer::open(const std::string& head) { levels_.push_back({head, "", {}}); }
void Writer::close() {
  Level closed = std::move(levels_.back());
  levels_.pop_back();
  for (const Node* n : closed.known) known_.erase(n);
  const std::string in = indent(depth());
  levels_.back().text += in + closed.head + " {\n" + closed.text + in + "}\n";
}
void Writer::line(const std::string& statement) { levels_.back().text += indent(depth()) + statement + "\n"; }
std::string Writer::finish() { return std::move(levels_[0].text); }

void Writer::bind(Expr variable, const std::string& name) {
  known_[variable.get()] = {name, depth(), false};
  levels_.back().known.push_back(variable.get());
}
void Writer::set_known(Expr e, const std::string& name) {
  known_[e.get()] = {name, depth(), false};
  levels_.back().known.push_back(e.get());
}
void Writer::bind(Expr variable, std::int64_t value) { bind(variable, std::to_string(value)); }

void Writer::forget_loads() {
  std::erase_if(known_, [](const auto& entry) { return entry.second.loads; });
}

std::string Writer::call(std::string_view function, const std::string& arguments) {
  library_.emplace(function);
  return fmt::format("{}({})", function, arguments);
}

std::string Writer::opaque(std::uint32_t bits, DType dtype) {
  return fmt::format("bitcast<{}>(0x{:08x}u ^ zero)", wgsl_type(dtype), bits);
}

std::string Writer::value(Expr e) { return emit(e).name; }

Writer::Known Writer::define(Expr e, const std::string& text, int level, bool loads) {
  const std::string name = new_name("e");
  levels_[static_cast<std::size_t>(level)].text += indent(level) + "let " + name + " = " + text + ";\n";
  const Known known{name, level, loads};
  known_[e.get()] = known;
  levels_[static_cast<std::size_t>(level)].known.push_back(e.get());
  return known;
}

Writer::Known Writer::emit(Expr e) {
  if (const auto at = known_.find(e.get()); at != known_.end()) return at->second;
  if (!is_supported(e->dtype) && e->dtype != DType::i64) raise_unsupported(e->dtype, "jit");
  if (e->op == Op::constant) return {literal(*e.get()), 0, false};
  if (e->op == Op::load) return emit_load(e);
  if (e->op == Op::variable)
    raise<InternalError>("[webgpu] a loop index is used outside its loop; this is a bug in cotan.");
  std::vector<std::string> x;
  int level = 0;
  bool loads = false, constants = true;
  for (Expr operand : e->operands) {
    const Known k = emit(operand);
    x.push_back(k.name);
    level = std::max(level, k.level);
    loads = loads || k.loads;
    constants = constants && operand->op == Op::constant;
  }
  // Compilers refuse to compute some constants; a name hides them.
  if (constants && !x.empty()) {
    const std::string name = new_name("c");
    levels_[0].text += fmt::format("  let {} = {};\n", name, x[0]);
    x[0] = name;
  }
  if (e->op == Op::patch) {
    const std::string name = new_name("e"), in = indent(level);
    std::string arguments;
    for (std::size_t k = 2; k < x.size(); ++k) arguments += (k > 2 ? ", " : "") + x[k];
    const std::string rare = call(e->function->name, arguments);
    std::string& text = levels_[static_cast<std::size_t>(level)].text;
    text += fmt::format("{}var {} = {};\n", in, name, x[1]);
    text += fmt::format("{}if ({}) {{ {} = {}; }}\n", in, x[0], name, rare);
    const Known known{name, level, loads};
    known_[e.get()] = known;
    levels_[static_cast<std::size_t>(level)].known.push_back(e.get());
    return known;
  }
  return define(e, operation(*e.get(), x), level, loads);
}

Writer::Known Writer::emit_load(Expr e) {
  if (before_load) before_load(e);
  const bool predicated = e->operands.size() > 1;
  const Known when = predicated ? emit(e->operands[1]) : Known{"", 0, false};
  const bool saved = std::exchange(may_wrap_, may_wrap_ || predicated);
  const Known at = emit(e->operands[0]);
  may_wrap_ = saved;
  const int level = std::max({at.level, when.level, load_level_});
  if (!predicated) return define(e, load(*e.get(), at.name), level, true);
  // Read only where the predicate holds: elsewhere there may be no memory.
  const std::string name = new_name("e"), in = indent(level);
  const std::string element = load(*e.get(), at.name);
  std::string& text = levels_[static_cast<std::size_t>(level)].text;
  text += fmt::format("{}var {}: {};\n", in, name, wgsl_type(e->dtype));
  text += fmt::format("{}if ({}) {{ {} = {}; }}\n", in, when.name, name, element);
  const Known known{name, level, true};
  known_[e.get()] = known;
  levels_[static_cast<std::size_t>(level)].known.push_back(e.get());
  return known;
}

std::string Writer::literal(const Node& node) {
  if (node.dtype == DType::bool_) return node.bits ? "true" : "false";
  if (is_floating(node.dtype)) {
    const double v = *expr::as_real(Expr(&node));
    const auto f = static_cast<float>(v);
    constexpr float large = 1 << 20, small = 0x1p-100f;
    // Zeros and large numbers are hidden from compilers that take floats for reals: x + c - c is not x.
    if (dialect_.careful || !std::isfinite(f) || f == 0 || std::abs(f) >= large || std::abs(f) < small)
      return opaque(std::bit_cast<std::uint32_t>(f), DType::f32);
    std::string text = fmt::format("{}", f);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return f < 0 ? "(" + text + "f)" : text + "f";
  }
  const std::int64_t v = *expr::as_integer(Expr(&node));
  if (!is_signed_integer(node.dtype)) return fmt::format("{}u", static_cast<std::uint32_t>(v));
  if (!i32_range.contains(v)) raise_unsupported(node.dtype, "jit");
  if (v == i32_range.lo) return "i32(-2147483647 - 1)";
  return v < 0 ? fmt::format("({})", v) : fmt::format("{}", v);
}

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
  if (from == DType::bool_) return fmt::format("{}({})", wgsl_type(to), x);
  if (is_floating(from)) {
    const int bits = std::min(bits_of(to), 32);
    if (is_signed_integer(to)) {
      if (bits == 32) return call("cotan_f32_to_i32", x);
      return call("cotan_f32_to_int", fmt::format("{}, {}, {}", x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1));
    }
    if (bits == 32) return call("cotan_f32_to_u32", x);
    return call("cotan_f32_to_uint", fmt::format("{}, {}u", x, (1u << bits) - 1));
  }
  const std::string same =
      is_signed_integer(from) == is_signed_integer(to) ? x : fmt::format("bitcast<{}>({})", wgsl_type(to), x);
  return bits_of(to) < bits_of(from) || is_signed_integer(from) != is_signed_integer(to) ? wrapped(to, same) : same;
}

std::string Writer::linear(const Node& node, const std::vector<std::string>& x) {
  std::string out;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t c = node.coefficients[k];
    if (!i32_range.contains(c)) raise_unsupported(DType::i64, "jit");
    if (c == 1)
      out += (out.empty() ? "" : " + ") + x[k];
    else if (c == -1)
      out += (out.empty() ? "-" : " - ") + x[k];
    else if (c < 0)
      out += fmt::format("{}{} * {}", out.empty() ? "-" : " - ", x[k], -c);
    else
      out += fmt::format("{}{} * {}", out.empty() ? "" : " + ", x[k], c);
  }
  if (!i32_range.contains(node.bits)) raise_unsupported(DType::i64, "jit");
  if (node.bits > 0) out += fmt::format(" + {}", node.bits);
  if (node.bits < 0) out += fmt::format(" - {}", -node.bits);
  return out;
}

std::string Writer::operation(const Node& node, const std::vector<std::string>& x) {
  const DType operand = node.operands[0]->dtype;
  const bool real = is_floating(operand), logical = operand == DType::bool_;
  // Without 64-bit integers, those that are computed with must be known to be small; comparing and choosing is safe.
  if (node.dtype == DType::i64) {
    const bool computes = node.op == Op::add || node.op == Op::sub || node.op == Op::mul || node.op == Op::neg ||
                          node.op == Op::linear || node.op == Op::shift_left;
    if (computes && !may_wrap_ && !fits(node.range, 2)) raise_unsupported(DType::i64, "jit");
  }
  const auto infix = [&](const char* op) { return fmt::format("{} {} {}", x[0], op, x[1]); };
  const auto arithmetic = [&](const char* op) {
    return real && dialect_.careful ? fmt::format("bitcast<f32>(bitcast<u32>({}))", infix(op))
                                    : wrapped(node.dtype, infix(op));
  };
  const auto function = [&](const char* f) { return fmt::format("{}({})", f, x[0]); };
  const auto two = [&] { return x[0] + ", " + x[1]; };
  const auto word = [&](const std::string& v) { return logical ? fmt::format("u32({})", v) : v; };
  switch (node.op) {
    case Op::add:
      return arithmetic("+");
    case Op::sub:
      return arithmetic("-");
    case Op::mul:
      return arithmetic("*");
    case Op::div:
      return arithmetic("/");
    case Op::rem:
      return real ? call("cotan_fmod", two()) : infix("%");
    case Op::neg:
      if (real) return "-" + x[0];
      return wrapped(node.dtype, is_signed_integer(operand) ? "-" + x[0] : "0u - " + x[0]);
    case Op::abs:
      return is_signed_integer(operand) ? wrapped(node.dtype, function("abs")) : real ? function("abs") : x[0];
    case Op::min:
      if (logical) return infix("&");
      return real ? call("cotan_min", two()) : fmt::format("min({})", two());
    case Op::max:
      if (logical) return infix("|");
      return real ? call("cotan_max", two()) : fmt::format("max({})", two());
    case Op::floor_div:
      return node.operands[0]->range.lo >= 0 ? infix("/") : call("cotan_floor_div_i32", two());
    case Op::floor_mod:
      return node.operands[0]->range.lo >= 0 ? infix("%") : call("cotan_floor_mod_i32", two());
    case Op::sqrt:
      return function("sqrt");
    case Op::fma:
      if (dialect_.careful_fma) return call("cotan_careful_fma", fmt::format("{}, {}, {}", x[0], x[1], x[2]));
      return fmt::format("fma({}, {}, {})", x[0], x[1], x[2]);
    case Op::floor:
      return function("floor");
    case Op::ceil:
      return function("ceil");
    case Op::trunc:
      return function("trunc");
    case Op::round:
      return function("round");
    case Op::eq:
      // Compilers take x == x for true.
      if (real && node.operands[0] == node.operands[1]) return "!" + call("cotan_is_nan", x[0]);
      return infix("==");
    case Op::ne:  // with NaN it is true, which compilers get wrong
      if (real && node.operands[0] == node.operands[1]) return call("cotan_is_nan", x[0]);
      return real ? fmt::format("!({})", infix("==")) : infix("!=");
    case Op::lt:
      return word(x[0]) + " < " + word(x[1]);
    case Op::le:
      return word(x[0]) + " <= " + word(x[1]);
    case Op::bit_and:
      return infix("&");
    case Op::bit_or:
      return infix("|");
    case Op::bit_xor:
      return logical ? infix("!=") : infix("^");
    case Op::bit_not:
      return logical ? "!" + x[0] : wrapped(node.dtype, "~" + x[0]);
    case Op::shift_left:
      return wrapped(node.dtype, fmt::format("{} << u32({})", x[0], x[1]));
    case Op::shift_right: {
      if (!is_signed_integer(operand)) return fmt::format("{} >> u32({})", x[0], x[1]);
      const int bits = std::min(bits_of(operand), 32);
      std::string u = fmt::format("bitcast<u32>({})", x[0]);
      if (bits < 32) u = fmt::format("({} & 0x{:x}u)", u, (1u << bits) - 1);
      return wrapped(node.dtype, fmt::format("bitcast<i32>({} >> u32({}))", u, x[1]));
    }
    case Op::shift_right_sign: {
      if (is_signed_integer(operand)) return fmt::format("{} >> u32({})", x[0], x[1]);
      const int shift = 32 - bits_of(operand);
      const std::string sign = fmt::format("(bitcast<i32>({} << {}u) >> {}u)", x[0], shift, shift);
      return wrapped(node.dtype, fmt::format("bitcast<u32>({} >> u32({}))", sign, x[1]));
    }
    case Op::population_count: {
      const int bits = std::min(bits_of(operand), 32);
      if (bits == 32) return function("countOneBits");
      return is_signed_integer(operand) ? fmt::format("countOneBits({} & 0x{:x})", x[0], (1u << bits) - 1)
                                        : function("countOneBits");
    }
    case Op::leading_zeros: {
      const int bits = std::min(bits_of(operand), 32);
      if (bits == 32) return function("countLeadingZeros");
      if (is_signed_integer(operand))
        return fmt::format("countLeadingZeros({} & 0x{:x}) - {}", x[0], (1u << bits) - 1, 32 - bits);
      return fmt::format("countLeadingZeros({}) - {}u", x[0], 32 - bits);
    }
    case Op::select: {
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
    case Op::cast:
      return cast(operand, node.dtype, x[0]);
    case Op::bitcast: {
      if (is_half(operand) || is_half(node.dtype)) {
        if (operand == node.dtype) return x[0];
        const bool bf = operand == DType::bf16 || node.dtype == DType::bf16;
        const std::string kind = bf ? "bf16" : "f16";
        if (is_half(operand) && is_half(node.dtype))
          return call("cotan_" + std::string(node.dtype == DType::bf16 ? "bf16" : "f16") + "_value",
                      call("cotan_" + std::string(operand == DType::bf16 ? "bf16" : "f16") + "_bits", x[0]));
        if (is_half(operand)) {
          const std::string bits = call("cotan_" + kind + "_bits", x[0]);
          return is_signed_integer(node.dtype) ? wrapped(node.dtype, "bitcast<i32>(" + bits + ")") : bits;
        }
        const std::string bits = is_signed_integer(operand) ? fmt::format("(bitcast<u32>({}) & 0xffffu)", x[0]) : x[0];
        return call("cotan_" + kind + "_value", bits);
      }
      if (std::string_view(wgsl_type(operand)) == wgsl_type(node.dtype)) return wrapped(node.dtype, x[0]);
      return wrapped(node.dtype, fmt::format("bitcast<{}>({})", wgsl_type(node.dtype), x[0]));
    }
    case Op::call: {
      std::string arguments;
      for (std::size_t k = 0; k < x.size(); ++k) arguments += (k ? ", " : "") + x[k];
      return call(node.function->name, arguments);
    }
    case Op::linear:
      return linear(node, x);
    default:
      break;
  }
  raise<InternalError>("[webgpu] no WGSL for {}; this is a bug in cotan.", expr::name(node.op));
}

}  // namespace cotan::webgpu
