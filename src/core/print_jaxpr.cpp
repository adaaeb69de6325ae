// Programs in JAX's notation.
#include <ostream>

#include "core/jaxpr.hpp"
#include "core/typed.hpp"

namespace cotan {

namespace {

std::string var_name(int n) {
  // a … z, ba, bb …: digits of base 26, as JAX counts.
  std::string out;
  do out.insert(out.begin(), static_cast<char>('a' + n % 26));
  while ((n /= 26) > 0);
  return out;
}

std::string literal_text(const Array& value) {
  return dispatch_any(value.dtype(), [&]<class T>() -> std::string {
    const T v = *data<T>(value);
    if constexpr (HostComplex<T>)
      return fmt::format("({}{:+}j)", v.real(), v.imag());
    else if constexpr (std::is_same_v<T, bool>)
      return v ? "True" : "False";
    else if constexpr (is_half<T>)
      return fmt::format("{}", static_cast<float>(v));
    else if constexpr (std::is_floating_point_v<T>) {
      std::string s = fmt::format("{}", v);
      return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
    } else
      return fmt::format("{}", static_cast<std::conditional_t<(sizeof(T) < 4), int, T>>(v));
  });
}

class Printer {
 public:
  std::string program(const Jaxpr& j, int consts, int indent) {
    std::vector<std::string> names(j.types.size());
    int next = 0;
    const auto binder = [&](Var v) {
      names[v.id] = var_name(next++);
      return fmt::format("{}:{}", names[v.id], j.type(v).str());
    };
    const auto atom = [&](const Atom& a) {
      if (const Var* v = std::get_if<Var>(&a)) return names[v->id];
      const Array& value = std::get<Literal>(a).value;
      return fmt::format("{}:{}", literal_text(value), value.aval().str());
    };
    const std::string pad(static_cast<std::size_t>(indent), ' ');
    std::vector<std::string> captured, inputs;
    for (int i = 0; i < static_cast<int>(j.inputs.size()); ++i)
      (i < consts ? captured : inputs).push_back(binder(j.inputs[i]));
    std::string out =
        fmt::format("{{ lambda {}; {}. let\n", captured.empty() ? "" : fmt::format("{} ", fmt::join(captured, " ")),
                    fmt::join(inputs, " "));
    for (const Equation& e : j.equations) {
      std::vector<std::string> operands, results;
      for (const Atom& a : e.inputs) operands.push_back(atom(a));
      const std::string params = parameters(e.params, indent + 4);
      for (Var v : e.outputs) results.push_back(binder(v));
      out += fmt::format("{}    {} = {}{} {}{}\n", pad, fmt::join(results, " "), e.primitive->name, params,
                         fmt::join(operands, " "), e.where.scope ? "  # " + *e.where.scope : "");
    }
    std::vector<std::string> outputs;
    for (const Atom& a : j.outputs) outputs.push_back(atom(a));
    out += fmt::format("{}  in ({}{}) }}", pad, fmt::join(outputs, ", "), outputs.size() == 1 ? "," : "");
    return out;
  }

 private:
  std::string parameters(const Params& params, int indent) {
    if (params.empty()) return "";
    std::vector<std::string> parts;
    bool nested = false;
    for (const auto& [key, value] : params.items()) {
      nested |= std::holds_alternative<JaxprPtr>(value) || std::holds_alternative<std::vector<JaxprPtr>>(value);
      parts.push_back(fmt::format("{}={}", key, std::visit([&](const auto& v) { return text(v, indent + 2); }, value)));
    }
    if (!nested) return fmt::format("[{}]", fmt::join(parts, " "));
    const std::string pad(static_cast<std::size_t>(indent), ' ');
    return fmt::format("[\n{}  {}\n{}]", pad, fmt::join(parts, "\n" + pad + "  "), pad);
  }
  std::string text(bool v, int) { return v ? "True" : "False"; }
  std::string text(std::int64_t v, int) { return fmt::format("{}", v); }
  std::string text(double v, int) { return fmt::format("{}", v); }
  std::string text(const std::string& v, int) { return v; }
  std::string text(DType v, int) { return std::string(cotan::name(v)); }
  std::string text(const Ints& v, int) { return describe(v); }
  std::string text(const JaxprPtr& v, int indent) { return program(*v, 0, indent); }
  std::string text(const std::vector<JaxprPtr>& v, int indent) {
    std::vector<std::string> parts;
    for (const auto& j : v) parts.push_back(program(*j, 0, indent));
    return fmt::format("({})", fmt::join(parts, ", "));
  }
  std::string text(const OpaquePtr& v, int) { return v->describe(); }
};

}  // namespace

std::string to_string(const Jaxpr& jaxpr, int consts) { return Printer().program(jaxpr, consts, 0); }

std::string Program::str() const { return to_string(*jaxpr_, static_cast<int>(consts_.size())); }
int Program::equations() const { return static_cast<int>(jaxpr_->equations.size()); }
std::ostream& operator<<(std::ostream& out, const Program& program) { return out << program.str(); }

}  // namespace cotan
