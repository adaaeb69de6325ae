// The verifier: a wrong rewrite fails where it was made.

#include "core/environment.hpp"
#include "core/jaxpr.hpp"

namespace cotan {

namespace {

class Verifier {
 public:
  Verifier(const Jaxpr& jaxpr, std::string_view after) : jaxpr_(jaxpr), after_(after), bound_(jaxpr.types.size()) {}

  void run() {
    for (Var v : jaxpr_.inputs) bind(v);
    for (const Equation& e : jaxpr_.equations) equation(e);
    for (const Atom& a : jaxpr_.outputs) use(a, "the outputs");
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
    raise<InternalError>("[verify] after {}: {}; this is a bug in cotan. The program:\n{}", after_,
                         fmt::format(format, std::forward<Args>(args)...), to_string(jaxpr_));
  }
  void check_id(Var v) {
    if (v.id < 0 || v.id >= static_cast<int>(bound_.size()))
      raise<InternalError>("[verify] after {}: variable {} is not in the type table; this is a bug in cotan.", after_,
                           v.id);
  }
  void bind(Var v) {
    check_id(v);
    if (bound_[v.id]) fail("variable {} is bound twice", v.id);
    bound_[v.id] = true;
  }
  void use(const Atom& a, std::string_view where) {
    if (const Var* v = std::get_if<Var>(&a)) {
      check_id(*v);
      if (!bound_[v->id]) fail("{} reads variable {} before it is bound", where, v->id);
    } else {
      const Array& value = std::get<Literal>(a).value;
      if (!concrete(value) || value.ndim() != 0) fail("{} has a literal that is not a concrete scalar", where);
    }
  }
  void equation(const Equation& e) {
    Types operands;
    for (const Atom& a : e.inputs) {
      use(a, e.primitive->name);
      operands.push_back(jaxpr_.type(a));
    }
    Types expected;
    try {
      expected = e.primitive->type(*e.primitive, operands, e.params);
    } catch (const Error& error) {
      fail("{} is ill-typed: {}", e.primitive->name, error.what());
    }
    if (expected.size() != e.outputs.size())
      fail("{} binds {} results of {}", e.primitive->name, e.outputs.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      bind(e.outputs[i]);
      const AbstractValue& declared = jaxpr_.type(e.outputs[i]);
      if (declared.dtype != expected[i].dtype || declared.shape != expected[i].shape)
        fail("{} gives {} but its result is declared {}", e.primitive->name, expected[i].str(), declared.str());
    }
    for (const auto& [key, value] : e.params.items()) {
      if (const auto* j = std::get_if<JaxprPtr>(&value)) Verifier(**j, after_).run();
      if (const auto* js = std::get_if<std::vector<JaxprPtr>>(&value))
        for (const auto& j : *js) Verifier(*j, after_).run();
    }
  }

  const Jaxpr& jaxpr_;
  std::string_view after_;
  std::vector<bool> bound_;
};

}  // namespace

bool verification_enabled() {
#ifdef COTAN_VERIFY
  return true;
#else
  static const bool on = environment::is_on("COTAN_VERIFY");
  return on;
#endif
}
void verify(const Jaxpr& jaxpr, std::string_view after) { Verifier(jaxpr, after).run(); }
void verify_if_enabled(const Jaxpr& jaxpr, std::string_view after) {
  if (verification_enabled()) verify(jaxpr, after);
}

}  // namespace cotan
