// Constant folding and identities: what a primitive's own rules (Rewrites) say about its operands, if they are known.
#include <algorithm>
#include <unordered_map>

#include "core/construct.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

std::optional<double> literal_value(const Atom& a) {
  if (std::holds_alternative<Var>(a)) return std::nullopt;
  const Array& value = std::get<Literal>(a).value;
  if (is_complex(value.dtype())) return std::nullopt;  // folded as its parts
  return dispatch(value.dtype(), [&]<class T>() { return convert<double>(*data<T>(value)); });
}

class Folder {
 public:
  explicit Folder(const Jaxpr& jaxpr) : jaxpr_(jaxpr), rewriter_(jaxpr) {}

  JaxprPtr run() {
    for (const Equation& e : jaxpr_.equations) {
      std::vector<Atom> inputs = rewriter_.read(e.inputs);
      std::optional<Atom> same;
      if (e.outputs.size() == 1) {
        same = identity(e, inputs);
        if (!same) same = folded(e, inputs);
      }
      if (same) {
        rewriter_.substitute(e.outputs[0], *same);
        continue;
      }
      const Params params = compose_views(e, inputs, map_nested(e.params, fold_constants_and_identities));
      for (std::size_t i = 0; i < e.outputs.size(); ++i)
        defined_by_[static_cast<std::int32_t>(rewriter_.out().types.size() + i)] = rewriter_.out().equations.size();
      rewriter_.emit(e, std::move(inputs), params);
    }
    return rewriter_.finish(jaxpr_.outputs, "folding");
  }

 private:
  /// `a` stands for the result if it has the result's type; 0-d operands of larger results do not.
  std::optional<Atom> if_same_type(const Equation& e, const Atom& a) const {
    const AbstractValue &got = rewriter_.type(a), &want = jaxpr_.type(e.outputs[0]);
    return got == want ? std::optional<Atom>(a) : std::nullopt;
  }

  std::optional<Atom> identity(const Equation& e, const std::vector<Atom>& in) const {
    const Rewrites& rules = e.primitive->rewrites;
    constexpr std::size_t few = 4;  // as many as a rule looks at; concatenations can have thousands
    if (rules.same_as && in.size() <= few) {
      OperandFacts known{e.params, jaxpr_.type(e.outputs[0]).dtype, {}, {}};
      for (const Atom& a : in) {
        // Derivatives are full of ones that were broadcast.
        const Equation* view = definition(a);
        known.numbers.push_back(
            literal_value(view && view->primitive == &ops::broadcast_in_dim_p ? view->inputs[0] : a));
        known.first.push_back(first_of(in, a));
      }
      if (const auto k = rules.same_as(known)) return if_same_type(e, in[*k]);
    }
    if (rules.undoes_itself) {
      const Equation* inner = definition(in[0]);
      if (inner && inner->primitive == e.primitive && inner->params == e.params) return inner->inputs[0];
    }
    return std::nullopt;
  }
  /// Which of the operands is the first that is the same variable.
  static std::size_t first_of(const std::vector<Atom>& in, const Atom& a) {
    const auto is_same = [&](const Atom& b) {
      const Var *x = std::get_if<Var>(&a), *y = std::get_if<Var>(&b);
      return &a == &b || (x && y && *x == *y);
    };
    return static_cast<std::size_t>(std::find_if(in.begin(), in.end(), is_same) - in.begin());
  }
  const Equation* definition(const Atom& a) const {
    const Var* v = std::get_if<Var>(&a);
    if (!v) return nullptr;
    const auto at = defined_by_.find(v->id);
    return at == defined_by_.end() ? nullptr : &rewriter_.out().equations[at->second];
  }

  /// Scalar operations on literals, evaluated now.
  std::optional<Atom> folded(const Equation& e, const std::vector<Atom>& in) {
    if (e.primitive->op_class != OpClass::elementwise || in.empty() || !jaxpr_.type(e.outputs[0]).shape.empty())
      return std::nullopt;
    if (e.primitive->rewrites.shares_memory || is_complex(jaxpr_.type(e.outputs[0]).dtype)) return std::nullopt;
    Arrays operands;
    for (const Atom& a : in) {
      if (std::holds_alternative<Var>(a) || is_complex(rewriter_.type(a).dtype)) return std::nullopt;
      operands.push_back(std::get<Literal>(a).value);
    }
    TraceScope scope(eval_trace());
    return Literal{constant_of_program(e.primitive->eval(*e.primitive, operands, e.params)[0])};  // on the host
  }

  /// A view of the same kind of view is one view of the original.
  Params compose_views(const Equation& e, std::vector<Atom>& in, Params params) const {
    const Equation* inner = in.empty() ? nullptr : definition(in[0]);
    const auto compose = e.primitive->rewrites.compose;
    if (!compose || !inner || inner->primitive != e.primitive) return params;
    in[0] = inner->inputs[0];
    return compose(inner->params, params);
  }

  const Jaxpr& jaxpr_;
  mutable Rewriter rewriter_;
  std::unordered_map<std::int32_t, std::size_t> defined_by_;  // new variable -> emitted equation
};

}  // namespace

JaxprPtr fold_constants_and_identities(const JaxprPtr& jaxpr) { return Folder(*jaxpr).run(); }

}  // namespace cotan
