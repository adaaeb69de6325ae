#include "core/trace.hpp"

#include <atomic>
#include <cmath>
#include <cotan/debug.hpp>

#include "core/backend.hpp"
#include "core/complex.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/environment.hpp"
#include "core/typed.hpp"

namespace cotan {

namespace {

std::atomic<bool>& nan_checks() {
  static std::atomic<bool> on{environment::is_on("COTAN_DEBUG_NANS")};
  return on;
}

std::atomic<bool>& bounds_checks() {
  static std::atomic<bool> on{environment::is_on("COTAN_DEBUG_BOUNDS")};
  return on;
}

bool has_nan(const Array& a) {
  if (!is_inexact(a.dtype())) return false;
  return dispatch_floating(real_dtype(a.dtype()), "debug_nans", [&]<class T>() {
    const T* x = data<T>(a);
    for (std::int64_t i = 0, n = a.size() * (is_complex(a.dtype()) ? 2 : 1); i < n; ++i)
      if (std::isnan(static_cast<Compute<T>>(x[i]))) return true;
    return false;
  });
}

thread_local Types spare_types;

class EvalTrace final : public Trace {
 public:
  EvalTrace() : Trace("eval") {}
  Arrays process(const Primitive& p, std::span<const Array> args, const Params& params) override {
    for (const Array& a : args) {
      if (concrete(a)) continue;
      check_not_leaked(a, p.name);
      if (const auto* t = tracer(a))
        raise<LeakedTracerError>(
            "[{}] {} is used where its transform does not reach (a custom rule that closes over it, or "
            "another thread); "
            "pass it as an argument, or return it as an output.",
            p.name, t->describe());
      raise<ConcretizationError>(
          "[{}] {} is abstract: it has a shape and a dtype but no elements; pass an array with values.", p.name,
          a.aval());
    }
    // Evaluation rules trust their operands: what does not fit must stop here.
    Types kept = std::move(spare_types);  // keeps its memory: this runs for every eager operation
    kept.resize(args.size());
    for (std::size_t i = 0; i < args.size(); ++i) kept[i] = args[i].aval();
    const Types expected = result_types(p, kept, params);
    spare_types = std::move(kept);
    // Programs run whole, unless someone wants to look at each of their results.
    const bool check_nans = nan_checks().load(std::memory_order_relaxed),
               check_bounds = bounds_checks().load(std::memory_order_relaxed);
    const bool nested = p.op_class == OpClass::call || p.op_class == OpClass::control;
    if (check_bounds && p.out_of_bounds)
      if (const std::string what = p.out_of_bounds(args, params); !what.empty())
        raise<IndexError>("[debug_bounds] {}: {}; check the indices, or ask for a mode (clip, wrap) that allows it.",
                          p.name, what);
    Arrays out;
    if (auto exact = exact_result(p, args, params))
      out = {*exact};
    else if ((check_nans || check_bounds) && nested)
      out = p.eval(p, args, params);
    else if (is_complex_operation(p, args, expected, params))
      out = run_complex_operation(p, args, params);
    else
      out = common_backend(p, args).run(p, args, params);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i].weak_type() != expected[i].weak_type)  // evaluation rules may leave weak types out
        out[i] = Array(std::make_shared<detail::Concrete>(expected[i], concrete(out[i])->buffer));
    if (verification_enabled()) check_results(p, out, expected);
    if (check_nans && !nested) {
      for (const Array& a : out)
        if (has_nan(a))
          raise<NanError>("[debug_nans] {} made a NaN in its result {}; {}.", p.name, a.aval(), input_note(args));
    }
    return out;
  }

 private:
  static void check_results(const Primitive& p, const Arrays& out, const Types& expected) {
    bool ok = out.size() == expected.size();
    for (std::size_t i = 0; ok && i < out.size(); ++i)
      ok = out[i].shape() == expected[i].shape && out[i].dtype() == expected[i].dtype;
    if (!ok)
      raise<InternalError>("[verify] {} did not evaluate to the types its rule gives; this is a bug in cotan.", p.name);
  }
  static std::string input_note(std::span<const Array> args) {
    for (const Array& a : args)
      if (has_nan(a)) return "an operand had one already";
    return "its operands had none";
  }
};

thread_local TracePtr current;

}  // namespace

void debug_nans(bool on) { nan_checks() = on; }
bool debug_nans() { return nan_checks(); }
void debug_bounds(bool on) { bounds_checks() = on; }
bool debug_bounds() { return bounds_checks(); }

TracePtr eval_trace() {
  static const TracePtr& trace = *new TracePtr(std::make_shared<EvalTrace>());
  return trace;
}
bool is_eval_trace(const Trace& trace) { return &trace == eval_trace().get(); }
Trace& current_trace() { return current ? *current : *eval_trace(); }
TracePtr current_trace_ptr() { return current ? current : eval_trace(); }
TraceScope::TraceScope(TracePtr trace) : saved_(std::exchange(current, std::move(trace))) {}
TraceScope::~TraceScope() { current = std::move(saved_); }

namespace detail {
Tracer::Tracer(AbstractValue type, TracePtr t) : Value(std::move(type)), trace(std::move(t)), where(user_location()) {}

std::string Tracer::describe() const {
  // Arguments are made before the user's first line runs, so only results have a line to name.
  if (made_by.empty() || made_by == "argument")
    return fmt::format("tracer {} (an argument) under {}", aval.str(), trace->transform());
  std::string out = fmt::format("tracer {} made by {}", aval.str(), made_by);
  if (where.line()) out += fmt::format(" at {}:{}", where.file_name(), where.line());
  return out + fmt::format(" under {}", trace->transform());
}
}  // namespace detail

const detail::Tracer* tracer(const Array& a) { return dynamic_cast<const detail::Tracer*>(a.value().get()); }
bool is_concrete(const Array& a) { return !tracer(a); }
const detail::Tracer* tracer_of(const Array& a, const Trace& trace) {
  const auto* t = tracer(a);
  return t && t->trace.get() == &trace ? t : nullptr;
}

namespace {
void check_real(const Primitive& p, std::span<const AbstractValue> types) {
  for (const AbstractValue& t : types)
    if (is_complex(t.dtype))
      raise<TypeError>("[{}] is not defined for complex numbers, and got {}; take np::real, np::imag or np::abs first.",
                       p.name, t);
}
}  // namespace

Types result_types(const Primitive& p, std::span<const AbstractValue> operands, const Params& params) {
  Types out = p.type(p, operands, params);
  if (!p.on_parts && p.op_class != OpClass::call) check_real(p, operands), check_real(p, out);
  for (const AbstractValue& t : out) checked_bytes(t, p.name);
  return out;
}

void check_not_leaked(const Array& a, std::string_view op) {
  const auto* t = tracer(a);
  if (t && t->trace->closed())
    raise<LeakedTracerError>(
        "[{}] {} was kept after that transform had ended; return it from the function instead of "
        "storing it elsewhere.",
        op, t->describe());
}

Arrays Bind::operator()(const Primitive& p, std::span<const Array> args, const Params& params) const {
  for (const Array& a : args)
    if (!a.defined())
      raise<ValueError>("[{}] an operand is an empty Array (default-constructed or moved from); assign it before use.",
                        p.name);
  return current_trace().process(p, args, params);
}

// Staging ---------------------------------------------------------------------------------------

Var JaxprBuilder::new_var(const AbstractValue& aval) {
  jaxpr_.types.push_back(aval);
  return {static_cast<std::int32_t>(jaxpr_.types.size()) - 1};
}
Var JaxprBuilder::add_input(const AbstractValue& aval) {
  jaxpr_.inputs.push_back(new_var(aval));
  return jaxpr_.inputs.back();
}
std::vector<Var> JaxprBuilder::add_equation(const Primitive& p, std::vector<Atom> inputs, const Types& outputs,
                                            const Params& params) {
  std::vector<Var> vars;
  for (const auto& t : outputs) vars.push_back(new_var(t));
  jaxpr_.equations.push_back({&p, std::move(inputs), vars, params, {user_location(), current_scope()}});
  return vars;
}

Array constant_of_program(const Array& value) {
  const detail::Concrete& from = *concrete(value);
  if (from.buffer->borrowed()) return value;
  struct Held {
    alignas(64) std::byte bytes[16];
    Buffer buffer;
    Held(Backend& backend, const Buffer& from) : buffer(backend, bytes, from.bytes()) {
      std::memcpy(bytes, from.data(), from.bytes());
    }
  };
  auto held = std::make_shared<Held>(from.buffer->backend(), *from.buffer);
  auto copy = std::make_shared<detail::Concrete>(from.aval, BufferPtr(held, &held->buffer));
  copy->exact = from.exact;
  return Array(std::move(copy));
}

Atom JaxprBuilder::capture(const Array& value) {
  if (value.ndim() == 0 && concrete(value)) return Literal{constant_of_program(value)};
  auto [at, is_new] = const_of_.try_emplace(value.value().get());
  if (is_new) {
    at->second = new_var(value.aval());
    const_vars_.push_back(at->second);
    consts_.push_back(value);
  }
  return at->second;
}
ClosedJaxpr JaxprBuilder::finish(std::vector<Atom> outputs, std::string name) {
  jaxpr_.name = std::move(name);
  jaxpr_.outputs = std::move(outputs);
  jaxpr_.inputs.insert(jaxpr_.inputs.begin(), const_vars_.begin(), const_vars_.end());
  auto jaxpr = std::make_shared<const Jaxpr>(std::move(jaxpr_));
  verify_if_enabled(*jaxpr, "tracing");
  return {std::move(jaxpr), std::move(consts_)};
}

Atom RecordingTrace::atom(const Array& a) {
  if (const auto* t = tracer_of(a, *this)) return static_cast<const detail::StagedTracer*>(t)->var;
  check_not_leaked(a, transform());
  return builder.capture(a);
}
Array RecordingTrace::tracer_for(Var v, std::string_view made_by) {
  auto t = std::make_shared<detail::StagedTracer>(builder.jaxpr().types[v.id], shared_from_this(), v);
  t->made_by = made_by;
  return Array(detail::ValuePtr(t));
}
Array RecordingTrace::add_input(const AbstractValue& aval) { return tracer_for(builder.add_input(aval), "argument"); }
Arrays RecordingTrace::record(const Primitive& p, std::span<const Array> args, const Params& params) {
  Types types;
  std::vector<Atom> atoms;
  for (const Array& a : args) {
    types.push_back(a.aval());
    atoms.push_back(atom(a));
  }
  Arrays out;
  for (Var v : builder.add_equation(p, std::move(atoms), result_types(p, types, params), params))
    out.push_back(tracer_for(v, p.name));
  return out;
}

ClosedJaxpr trace_to_jaxpr(const FlatFn& f, const Types& inputs, std::string_view transform, std::string name,
                           std::vector<bool>* wanted_wide) {
  auto trace = std::make_shared<JaxprTrace>(transform);
  struct Closer {
    Trace& trace;
    ~Closer() { trace.close(); }
  } closer{*trace};
  TraceScope scope(trace);
  const effects::Frame frame(effects::Frame::Kind::forbidden, {}, transform);  // callers that allow them say so inside
  Arrays args;
  for (const auto& t : inputs) args.push_back(trace->add_input(t));
  Arrays outs = f(args);
  std::vector<Atom> atoms;
  for (const Array& out : outs) {
    if (!out.defined()) raise<ValueError>("[{}] the function returned an empty Array; assign every output.", transform);
    atoms.push_back(trace->atom(out));
  }
  if (wanted_wide) *wanted_wide = trace->wanted_wide();
  return trace->builder.finish(std::move(atoms), std::move(name));
}

}  // namespace cotan
