// Constant folding and identities. Only rewrites that keep every bit: x + 0 is not one (-0 + 0 is +0), x - 0
// is.
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
bool is_negative_zero(double v) { return v == 0.0 && std::signbit(v); }

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
    const Primitive* p = e.primitive;
    // Derivatives are full of ones that were broadcast.
    const auto literal = [&](std::size_t i) {
      const Equation* view = definition(in[i]);
      return literal_value(view && view->primitive == &ops::broadcast_in_dim_p ? view->inputs[0] : in[i]);
    };
    const auto is = [&](std::size_t i, double v) { return literal(i) == v; };
    const bool floating = is_floating(jaxpr_.type(e.outputs[0]).dtype);
    if (p == &ops::mul_p && is(1, 1)) return if_same_type(e, in[0]);
    if (p == &ops::mul_p && is(0, 1)) return if_same_type(e, in[1]);
    if ((p == &ops::div_p || p == &ops::pow_p) && is(1, 1)) return if_same_type(e, in[0]);
    if (p == &ops::sub_p && is(1, 0) && !is_negative_zero(*literal(1))) return if_same_type(e, in[0]);
    if (p == &ops::add_p)
      for (std::size_t i : {0, 1})
        if (is(i, 0) && (!floating || is_negative_zero(*literal(i)))) return if_same_type(e, in[1 - i]);
    if (p == &ops::integer_pow_p && e.params.integer("y") == 1) return in[0];
    if ((p == &ops::max_p || p == &ops::min_p || p == &ops::and_p || p == &ops::or_p) && same_var(in[0], in[1]))
      return in[0];
    if (p == &ops::select_p && same_var(in[1], in[2])) return if_same_type(e, in[1]);
    if (p == &ops::select_p && literal(0)) return if_same_type(e, in[*literal(0) != 0 ? 1 : 2]);
    if (p == &ops::convert_element_type_p || p == &ops::reshape_p || p == &ops::broadcast_in_dim_p)
      return if_same_type(e, in[0]);
    if (p == &ops::transpose_p &&
        std::is_sorted(e.params.ints("permutation").begin(), e.params.ints("permutation").end()))
      return in[0];
    if (p == &ops::slice_p || p == &ops::pad_p) return all_of_it(e) ? if_same_type(e, in[0]) : std::nullopt;
    if (p == &ops::rev_p && e.params.ints("dimensions").empty()) return in[0];
    if (p == &ops::concatenate_p && in.size() == 1) return in[0];
    if (p == &ops::stop_gradient_p) return std::nullopt;
    // Involutions: neg(neg x), not(not x), rev(rev x).
    if (p == &ops::neg_p || p == &ops::not_p || p == &ops::rev_p) {
      const Equation* inner = definition(in[0]);
      if (inner && inner->primitive == p && inner->params == e.params) return inner->inputs[0];
    }
    return std::nullopt;
  }
  static bool same_var(const Atom& a, const Atom& b) {
    const Var *x = std::get_if<Var>(&a), *y = std::get_if<Var>(&b);
    return x && y && *x == *y;
  }
  bool all_of_it(const Equation& e) const {
    const auto zero = [&](std::string_view key) {
      const Ints& v = e.params.ints(key);
      return std::all_of(v.begin(), v.end(), [](auto i) { return i == 0; });
    };
    if (e.primitive == &ops::pad_p) return zero("low") && zero("high") && zero("interior");
    const Ints& strides = e.params.ints("strides");
    return zero("start_indices") && std::all_of(strides.begin(), strides.end(), [](auto i) { return i == 1; });
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
    if (e.primitive == &ops::stop_gradient_p || is_complex(jaxpr_.type(e.outputs[0]).dtype)) return std::nullopt;
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
    if (!inner || inner->primitive != e.primitive) return params;
    if (e.primitive == &ops::reshape_p) in[0] = inner->inputs[0];
    if (e.primitive == &ops::transpose_p) {
      const Ints &first = inner->params.ints("permutation"), &second = params.ints("permutation");
      Ints both;
      for (auto i : second) both.push_back(first[i]);
      in[0] = inner->inputs[0];
      return params.with("permutation", both);
    }
    return params;
  }

  const Jaxpr& jaxpr_;
  mutable Rewriter rewriter_;
  std::unordered_map<std::int32_t, std::size_t> defined_by_;  // new variable -> emitted equation
};

}  // namespace

JaxprPtr fold_constants_and_identities(const JaxprPtr& jaxpr) { return Folder(*jaxpr).run(); }

}  // namespace cotan
