#include "lax/checked_program.hpp"

#include <cotan/control_flow.hpp>
#include <cotan/eager.hpp>
#include <cotan/experimental/checkify.hpp>
#include <cotan/lax/reductions.hpp>
#include <mutex>

#include "control/control.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "ops/ops.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

using namespace experimental::checkify;

// What a state has of a failure: its number, and values as words ---------------------------------------

class Failures {
 public:
  std::int32_t number_of(const FailurePtr& failure) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t k = 0; k < all_.size(); ++k)
      if (all_[k] == failure) return static_cast<std::int32_t>(k) + 1;
    all_.push_back(failure);
    return static_cast<std::int32_t>(all_.size());
  }
  /// Of operations and their lines there is one each.
  FailurePtr of_operation(const std::string& text, const Types& shown,
                          std::function<std::string(std::span<const Array>)> message) {
    const std::source_location where = user_location();
    const std::string key = fmt::format("{} {} {}", text, where.file_name(), where.line());
    const std::scoped_lock lock(mutex_);
    FailurePtr& known = by_text_[key];
    if (!known) {
      auto made = std::make_shared<Failure>();
      made->message = message ? std::move(message) : [text](std::span<const Array>) { return text; };
      made->shown = shown;
      made->where = where;
      known = made;
    }
    return known;
  }
  FailurePtr at(std::int32_t number) {
    const std::scoped_lock lock(mutex_);
    return all_.at(static_cast<std::size_t>(number) - 1);
  }

 private:
  std::mutex mutex_;
  std::vector<FailurePtr> all_;
  std::unordered_map<std::string, FailurePtr> by_text_;
};
Failures& failures() {
  static Failures& all = *new Failures;
  return all;
}

/// How a value of a message is kept: in words of 32 bits.
DType stored(DType dtype) {
  if (itemsize(dtype) >= 4) return dtype;
  return is_floating(dtype) ? DType::f32 : DType::i32;
}
std::int64_t words_of(const AbstractValue& shown) {
  return shown.size() * static_cast<std::int64_t>(itemsize(stored(shown.dtype)) / 4);
}
Array as_words(const Array& a) {
  const Array wide = ops::cast(a, stored(a.dtype()));
  const Array words =
      wide.dtype() == DType::i32 ? wide : bind1(ops::bitcast_convert_type_p, {wide}, {{"new_dtype", DType::i32}});
  return ops::reshape(words, {words.size()});
}

Array any(const Array& a) {
  Ints axes;
  for (int i = 0; i < a.ndim(); ++i) axes.push_back(i);
  return axes.empty() ? a : bind1(ops::reduce_or_p, {a}, {{"axes", axes}});
}

/// Whether an operation computes floats; others hand on what they are given.
bool may_make_nan(const Primitive& p) {
  if (p.op_class == OpClass::view || p.op_class == OpClass::data || p.op_class == OpClass::call) return false;
  constexpr std::string_view hand_on[] = {"select",
                                          "neg",
                                          "abs",
                                          "sign",
                                          "max",
                                          "min",
                                          "floor",
                                          "ceil",
                                          "round",
                                          "trunc",
                                          "clamp",
                                          "real",
                                          "imag",
                                          "conj",
                                          "name",
                                          "sort",
                                          "top_k",
                                          "reduce_max",
                                          "reduce_min",
                                          "nextafter",
                                          "complex",
                                          "scan",
                                          "while",
                                          "cond",
                                          "convert_element_type",
                                          "stop_gradient",
                                          "reduce_precision",
                                          "optimization_barrier",
                                          "pure_callback",
                                          "io_callback"};
  return std::find(std::begin(hand_on), std::end(hand_on), p.name) == std::end(hand_on);
}

}  // namespace

std::string failure_text(std::span<const std::int32_t> state, bool with_line) {
  const FailurePtr failure = failures().at(state[0]);
  const CompileTimeEval now;
  Arrays values;
  std::size_t at = 1;
  for (const AbstractValue& t : failure->shown) {
    const auto words = state.subspan(at, static_cast<std::size_t>(words_of(t)));
    values.push_back(ops::cast(Array::from_bytes(stored(t.dtype), t.shape, std::as_bytes(words)), t.dtype));
    at += words.size();
  }
  const std::string text = failure->message(values);
  return with_line ? failure->with_line(text) : text;
}

FailurePtr index_failure(const AbstractValue& array) {
  const std::string shape = describe(array.shape);
  return failures().of_operation(
      fmt::format("out-of-bounds indexing for array of shape {}", shape), {{DType::i32, {3}, false}},
      [shape](std::span<const Array> values) {
        const auto v = values[0].to_vector<std::int32_t>();
        return fmt::format(
            "out-of-bounds indexing for array of shape {}: index {} is out of bounds for axis {} with size {}.", shape,
            v[0], v[1], v[2]);
      });
}

CheckedProgram::CheckedProgram(const Jaxpr& whole, unsigned errors) : errors_(errors) {
  constexpr std::int64_t index_words = 3;
  if (wants(index_checks.bits)) words_ = index_words;
  const auto look = [&](const auto& self, const Jaxpr& jaxpr) -> void {
    for (const Equation& e : jaxpr.equations) {
      if (e.primitive == &check_p && wants(user_checks.bits)) {
        std::int64_t words = 0;
        for (const AbstractValue& t : failure_of(e.params)->shown) words += words_of(t);
        words_ = std::max(words_, words);
      }
      map_nested(e.params, [&](const JaxprPtr& j) {
        self(self, *j);
        return j;
      });
    }
  };
  look(look, whole);
}

Array CheckedProgram::no_error() const { return ops::zeros_of({DType::i32, {1 + words_}, false}); }

void CheckedProgram::fail_where(const Array& bad, const FailurePtr& failure, const Arrays& shown) {
  const Array state = effects::take_token("checkify");
  if (state.ndim() == 0) return;  // only watched
  Arrays words{ops::full({1}, scalar(DType::i32, failures().number_of(failure)))};
  std::int64_t left = words_;
  for (const Array& a : shown) {
    words.push_back(as_words(a));
    left -= words.back().size();
  }
  if (left > 0) words.push_back(ops::zeros_of({DType::i32, {left}, false}));
  const Array none = bind1(ops::eq_p, {ops::reshape(ops::slice_axis(state, 0, 0, 1), {}), scalar(DType::i32, 0)});
  const Array now = bind1(ops::and_p, {bad, none});
  effects::give_token(ops::select(ops::broadcast_in_dim(now, state.shape(), {}), ops::concatenate(words, 0), state));
}

void CheckedProgram::check_user(const Equation& e, const Arrays& x) {
  const int axes = x[1].ndim();
  const Array bad = bind1(ops::not_p, {x[1]});
  Arrays shown(x.begin() + 2, x.end());
  if (axes > 0) {  // of a batch the first one that fails
    const std::int64_t n = x[1].size();
    const Array first = lax::argmax({ops::cast(ops::reshape(bad, {n}), DType::i32), {}}, 0);
    for (Array& a : shown) {
      Shape rest(a.shape().begin() + axes, a.shape().end()), rows = rest, window = rest;
      rows.insert(rows.begin(), n);
      window.insert(window.begin(), 1);
      Arrays operands{ops::reshape(a, rows), first};
      operands.resize(1 + rows.size(), scalar(DType::i32, 0));
      a = ops::reshape(bind1(ops::dynamic_slice_p, operands, {{"slice_sizes", Ints(window)}}), rest);
    }
  }
  fail_where(any(bad), failure_of(e.params), shown);
}

void CheckedProgram::check_division(const Equation&, const Arrays& x) {
  const Array zero = ops::full(x[1].shape(), scalar(x[1].dtype(), 0));
  fail_where(any(bind1(ops::eq_p, {x[1], zero})), failures().of_operation("division by zero", {}, {}), {});
}

void CheckedProgram::check_nan(const Equation& e, const Arrays& results) {
  Array bad;
  for (const Array& a : results) {
    if (!is_inexact(a.dtype()) || a.size() == 0) continue;
    const Array here = any(bind1(ops::ne_p, {a, a}));
    bad = bad.defined() ? bind1(ops::or_p, {bad, here}) : here;
  }
  if (!bad.defined()) return;
  const std::string text = fmt::format("nan generated by primitive: {}.", e.primitive->name);
  fail_where(bad, failures().of_operation(text, {}, {}), {});
}

Arrays CheckedProgram::equation(const Equation& e, const Arrays& x) {
  const Primitive* p = e.primitive;
  if (p == &check_p) {
    if (wants(user_checks.bits)) check_user(e, x);
    return {x[0]};
  }
  if (p == &jit_p) return run(*e.params.jaxpr("jaxpr"), x);
  if (p == &lanes_p) return run(*batched_program(Lanes(e.params)), x);
  if (p == &scan_p) return scan(e, x);
  if (p == &while_p) return while_loop(e, x);
  if (p == &cond_p) return branches(e, x);
  if (p == &checkpoint_p || p == &custom_jvp_call_p || p == &custom_vjp_call_p) return call(e, x);
  if (wants(index_checks.bits)) check_index(e, x);
  if (wants(div_checks.bits) && p == &ops::div_p) check_division(e, x);
  const Arrays out = bind(*p, x, e.params);
  if (wants(nan_checks.bits) && may_make_nan(*p)) check_nan(e, out);
  return out;
}

Arrays CheckedProgram::run(const Jaxpr& jaxpr, std::span<const Array> args) {
  Arrays env(jaxpr.types.size());
  for (std::size_t i = 0; i < args.size(); ++i) env[static_cast<std::size_t>(jaxpr.inputs[i].id)] = args[i];
  const auto read = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v ? env[static_cast<std::size_t>(v->id)] : std::get<Literal>(a).value;
  };
  EquationLines lines;
  for (const Equation& e : jaxpr.equations) {
    lines.move_to(e);
    Arrays operands;
    for (const Atom& a : e.inputs) operands.push_back(read(a));
    const Arrays results = equation(e, operands);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) env[static_cast<std::size_t>(e.outputs[k].id)] = results[k];
  }
  Arrays out;
  for (const Atom& a : jaxpr.outputs) out.push_back(read(a));
  return out;
}

}  // namespace cotan
