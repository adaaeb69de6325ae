// Traces: who handles a primitive. The current trace is thread-local; each transform pushes one whose
// rules run under its parent, so transforms compose in any order and outer tracers are plain constants.
#pragma once
#include <cotan/flat.hpp>
#include <functional>
#include <source_location>
#include <unordered_map>

#include "core/jaxpr.hpp"

namespace cotan {

class Trace : public std::enable_shared_from_this<Trace> {
 public:
  explicit Trace(std::string_view transform) : transform_(transform) {}
  virtual ~Trace() = default;
  virtual Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) = 0;
  /// The transform that made this trace, for messages: "jit", "vmap", "grad".
  std::string_view transform() const { return transform_; }
  /// Ends the trace: from here on its tracers are leaked.
  void close() { closed_ = true; }
  bool closed() const { return closed_; }

 private:
  std::string_view transform_;
  bool closed_ = false;
};
using TracePtr = std::shared_ptr<Trace>;

namespace detail {
class Tracer : public Value {
 public:
  Tracer(AbstractValue type, TracePtr t);
  const TracePtr trace;
  const std::source_location where;  ///< the user's line that made it
  std::string_view made_by;          ///< the primitive, or "argument"
  std::string describe() const;
  /// A value this tracer certainly has, or an undefined Array.
  virtual Array known_value() const { return {}; }
};
}  // namespace detail

const detail::Tracer* tracer(const Array& a);
/// `a`'s tracer if it belongs to `trace`.
const detail::Tracer* tracer_of(const Array& a, const Trace& trace);

Trace& current_trace();
/// Makes `trace` current for a scope.
class TraceScope {
 public:
  explicit TraceScope(TracePtr trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;

 private:
  TracePtr saved_;
};
TracePtr current_trace_ptr();
/// The trace that evaluates on concrete arrays.
TracePtr eval_trace();
bool is_eval_trace(const Trace& trace);

/// The innermost line of the user's that called into cotan (cotan/call_site.hpp).
std::source_location user_location();

/// While it lives, errors name these arguments of the user's function by their paths.
class ArgumentScope {
 public:
  ArgumentScope(std::span<const Array> arguments, const flat::Paths& paths);
  ~ArgumentScope();
  ArgumentScope(const ArgumentScope&) = delete;
  /// "argument 0.w" where `a` is an argument of this function or one around it, else nothing.
  static std::string path_of(const Array& a);

 private:
  std::span<const Array> arguments_;
  const flat::Paths& paths_;
  ArgumentScope* outer_;
};
/// While it lives, errors name the step of a loop that runs step by step.
class StepScope {
 public:
  explicit StepScope(const std::int64_t& number);
  ~StepScope();
  StepScope(const StepScope&) = delete;
  /// " in step 3 (counted from 0) of the loop", or nothing.
  static std::string note();

 private:
  const std::int64_t& number_;
  StepScope* outer_;
};
/// `f`, whose arguments have names while it runs.
inline auto with_names(const FlatFn& f, const flat::Paths& paths) {
  return [&](std::span<const Array> in) {
    const ArgumentScope scope(in, paths);
    return f(in);
  };
}

/// The primitive's type rule; raises also where a result could not be addressed.
Types result_types(const Primitive& p, std::span<const AbstractValue> operands, const Params& params);

/// Raises LeakedTracerError if `a` is a tracer of a transform that has ended.
void check_not_leaked(const Array& a, std::string_view op);

// Staging ---------------------------------------------------------------------------------------

/// Builds a Jaxpr equation by equation.
class JaxprBuilder {
 public:
  Var new_var(const AbstractValue& aval);
  Var add_input(const AbstractValue& aval);
  std::vector<Var> add_equation(const Primitive& p, std::vector<Atom> inputs, const Types& outputs,
                                const Params& params);
  /// The atom for a value from outside: a literal for scalars, else a captured constant.
  Atom capture(const Array& value);
  /// Ends the program: captured constants become its leading inputs.
  ClosedJaxpr finish(std::vector<Atom> outputs, std::string name = {});
  const Arrays& consts() const { return consts_; }
  Jaxpr& jaxpr() { return jaxpr_; }
  const Jaxpr& jaxpr() const { return jaxpr_; }

 private:
  Jaxpr jaxpr_;
  std::vector<Var> const_vars_;
  Arrays consts_;
  std::unordered_map<const detail::Value*, Var> const_of_;
};

namespace detail {
class StagedTracer final : public Tracer {
 public:
  StagedTracer(AbstractValue type, TracePtr t, Var v) : Tracer(std::move(type), std::move(t)), var(v) {}
  const Var var;
};
}  // namespace detail

/// A trace that writes equations down. Its tracers stand for variables of the program.
class RecordingTrace : public Trace {
 public:
  using Trace::Trace;
  Array add_input(const AbstractValue& aval);
  /// The atom for a value: a variable of this program, or what the program captures from outside.
  Atom atom(const Array& a);
  Arrays record(const Primitive& p, std::span<const Array> args, const Params& params);
  JaxprBuilder builder;

 protected:
  Array tracer_for(Var v, std::string_view made_by);
};

/// Records every operation: what jit, scan and make_jaxpr trace with.
class JaxprTrace final : public RecordingTrace {
 public:
  using RecordingTrace::RecordingTrace;
  Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) override {
    if (widens_weak(p, args, params)) return {wider(p, args[0], params)};
    return record(p, args, params);
  }
  /// Per input: whether it is weak and met an f64, so that it should be passed in f64.
  std::vector<bool> wanted_wide() const;

 private:
  // core/weak.cpp
  static bool widens_weak(const Primitive& p, std::span<const Array> args, const Params& params);
  Array wider(const Primitive& cast, const Array& weak, const Params& params);
  Atom wide_atom(const Atom& narrow) const;
  std::unordered_map<std::int32_t, Atom> wide_;  ///< weak variables of the program once more, in f64
};

/// Traces `f` on abstract inputs. Constants may be tracers of enclosing transforms. `wanted_wide`, if given, says which
/// weak inputs met f64.
ClosedJaxpr trace_to_jaxpr(const FlatFn& f, const Types& inputs, std::string_view transform = "jit",
                           std::string name = {}, std::vector<bool>* wanted_wide = nullptr);

// C++ numbers ------------------------------------------------------------------------------------

/// The result of an operation on C++ numbers alone, still exact; nullopt if this is none.
std::optional<Array> exact_result(const Primitive& p, std::span<const Array> args, const Params& params);

}  // namespace cotan
