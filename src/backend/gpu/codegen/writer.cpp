#include "backend/gpu/codegen/writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.hpp"

namespace cotan::gpu {

using expr::Node;
using expr::Op;

Writer::Writer(const Dialect& dialect, Caution caution) : dialect_(dialect), caution_(caution) {
  levels_.push_back({"", "", {}});
}

void Writer::open(const std::string& head) { levels_.push_back({head, "", {}}); }
void Writer::close() {
  Level closed = std::move(levels_.back());
  levels_.pop_back();
  for (const Node* n : closed.known) known_.erase(n);
  const std::string in = indent(depth());
  levels_.back().text += in + closed.head + " {\n" + closed.text + in + "}\n";
}
void Writer::line(const std::string& statement) { levels_.back().text += indent(depth()) + statement + "\n"; }
std::string Writer::loop_head(const std::string& name, const Code& begin, const Code& end, const Code& step) const {
  return fmt::format("for ({}; {} < {}; {}{})", dialect_.variable(name, begin), name, end, name,
                     step == "1" ? "++" : " += " + step);
}
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
  return dialect_.bitcast(type_name(dtype), fmt::format("0x{:08x}u ^ zero", bits));
}

std::string Writer::value(Expr e) { return emit(e).name; }

Writer::Known Writer::note(Expr e, const Known& known) {
  known_[e.get()] = known;
  levels_[static_cast<std::size_t>(known.level)].known.push_back(e.get());
  return known;
}

Writer::Known Writer::define(Expr e, const std::string& text, int level, bool loads) {
  const std::string name = new_name("e");
  levels_[static_cast<std::size_t>(level)].text += indent(level) + dialect_.let(name, text) + "\n";
  return note(e, {name, level, loads});
}

Writer::Known Writer::define_unless(Expr e, const std::string& first, const std::string& when, const std::string& other,
                                    int level, bool loads) {
  const std::string name = new_name("e"), in = indent(level);
  std::string& text = levels_[static_cast<std::size_t>(level)].text;
  text +=
      fmt::format("{}{};\n", in,
                  first.empty() ? dialect_.variable_of(type_name(e->dtype), name, "") : dialect_.variable(name, first));
  text += fmt::format("{}if ({}) {{ {} = {}; }}\n", in, when, name, other);
  return note(e, {name, level, loads});
}

Writer::Known Writer::emit(Expr e) {
  if (const auto at = known_.find(e.get()); at != known_.end()) return at->second;
  if (!is_supported(e->dtype) && e->dtype != DType::i64) raise_unsupported(dialect_, e->dtype, "jit");
  if (e->op == Op::constant) return {literal(*e.get()), 0, false};
  if (e->op == Op::load) return emit_load(e);
  if (e->op == Op::variable)
    raise<InternalError>("[gpu] a loop index is used outside its loop; this is a bug in cotan.");
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
    levels_[0].text += fmt::format("  {}\n", dialect_.let(name, x[0]));
    x[0] = name;
  }
  if (e->op == Op::patch) {
    std::string arguments;
    for (std::size_t k = 2; k < x.size(); ++k) arguments += (k > 2 ? ", " : "") + x[k];
    return define_unless(e, x[1], x[0], call(e->function->name, arguments), level, loads);
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
  return define_unless(e, "", when.name, load(*e.get(), at.name), level, true);
}

std::string Writer::literal(const Node& node) {
  if (node.dtype == DType::bool_) return node.bits ? "true" : "false";
  if (is_floating(node.dtype)) {
    const double v = *expr::as_real(Expr(&node));
    const auto f = static_cast<float>(v);
    constexpr float large = 1 << 20, small = 0x1p-100f;
    // Zeros and large numbers are hidden from compilers that take floats for reals: x + c - c is not x.
    if (caution_.reals || !std::isfinite(f) || f == 0 || std::abs(f) >= large || std::abs(f) < small)
      return opaque(std::bit_cast<std::uint32_t>(f), DType::f32);
    std::string text = fmt::format("{}", f);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return f < 0 ? "(" + text + "f)" : text + "f";
  }
  const std::int64_t v = *expr::as_integer(Expr(&node));
  if (!is_signed_integer(node.dtype)) return fmt::format("{}u", static_cast<std::uint32_t>(v));
  if (!i32_range.contains(v)) raise_unsupported(dialect_, node.dtype, "jit");
  if (v == i32_range.lo) return "i32(-2147483647 - 1)";
  return v < 0 ? fmt::format("({})", v) : fmt::format("{}", v);
}

}  // namespace cotan::gpu
