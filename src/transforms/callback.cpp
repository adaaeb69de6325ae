// pure_callback, io_callback and debug_callback: functions of the user's that run on the host. On every device they are
// routines, by the evaluation below.
#include "transforms/callback.hpp"

#include "core/backend.hpp"
#include "core/construct.hpp"
#include "core/effects.hpp"
#include "ops/ops.hpp"
#include "transforms/callback_batch.hpp"
#include "transforms/traces.hpp"

namespace cotan {

namespace {

/// `a` for the user, who may keep it and compute with it: memory of its own, on the default device.
Array handed_out(const Array& a) {
  const Buffer& from = *concrete(a)->buffer;
  Backend& to = default_backend();
  if (!from.borrowed() && &from.backend() == &to) return strong(a);
  auto [copy, buffer] = allocate(to, {a.dtype(), a.shape(), false});
  if (from.bytes()) std::memcpy(buffer->data(), from.data(), from.bytes());
  return copy;
}

/// What the user's function returned, as it was promised.
Array taken_back(const Array& a, const AbstractValue& want, const Callback& callback, std::size_t number) {
  if (!a.defined() || !concrete(a))
    raise<ValueError>("[{}] the function returned an Array without elements as result {}; return one with values.",
                      callback.name, number);
  if (a.shape() != want.shape)
    raise<ShapeError>("[{}] the function returned {} as result {}, but {} was announced; return that shape.",
                      callback.name, a.aval(), number, want);
  if (a.dtype() != want.dtype && !a.weak_type())
    raise<TypeError>("[{}] the function returned {} as result {}, but {} was announced; cast it with astype.",
                     callback.name, a.aval(), number, want);
  return ops::cast(strong(a), want.dtype);
}

Arrays call_user(const Primitive& p, const Callback& callback, std::span<const Array> operands) {
  Arrays given;
  for (const Array& a : operands) given.push_back(handed_out(a));
  const TraceScope scope(eval_trace());
  const effects::Frame frame(effects::Frame::Kind::immediate);
  Arrays results = callback.function(given);
  if (results.size() != callback.results.size())
    raise<TreeError>("[{}] the function returned {} arrays, but {} were announced; return as many.", callback.name,
                     results.size(), callback.results.size());
  Backend& to = operands.empty() ? default_backend() : common_backend(p, operands);
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = copy_to_backend(taken_back(results[i], callback.results[i], callback, i), to);
  return results;
}

Types pure_type(const Primitive&, std::span<const AbstractValue>, const Params& params) {
  return callback_of(params)->results;
}
Arrays pure_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  return call_user(self, *callback_of(params), x);
}

Types effect_type(const Primitive& self, std::span<const AbstractValue> x, const Params& params) {
  if (x.empty() || !effects::is_token_type(x[0]))
    raise<InternalError>("[{}] it has no token; this is a bug in cotan.", self.name);
  Types out{{DType::i32, {}, false}};
  const CallbackPtr callback = callback_of(params);
  out.insert(out.end(), callback->results.begin(), callback->results.end());
  return out;
}
Arrays effect_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  const auto before = *reinterpret_cast<const std::uint32_t*>(concrete(x[0])->buffer->data());
  const Arrays results = call_user(self, *callback_of(params), x.subspan(1));
  auto [token, buffer] = allocate(concrete(x[0])->buffer->backend(), {DType::i32, {}, false});
  *reinterpret_cast<std::uint32_t*>(buffer->data()) = before + 1;
  return effects::with_token(token, results);
}

/// A loop is cut in two by what is the same in all steps: the token is not, and so the operation stays whole. Where the
/// token is known and an operand is not, that is a tangent in reverse mode, which is never computed.
Arrays effect_partial_eval(const Primitive& self, PartialEvalTrace& trace, std::span<const Array> x,
                           const Params& params) {
  if (!trace.is_unknown(x[0]))
    raise<TransformError>(
        "[{}] an operand is a tangent, which reverse mode does not compute; use jvp, or give it a primal value.",
        callback_of(params)->name);
  return trace.record(self, x, params);
}

PartsList callback_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  std::vector<bool> complex;
  Arrays operands;
  for (const ComplexParts& operand : x) {
    complex.push_back(operand.complex());
    operands.push_back(operand.re);
    if (operand.complex()) operands.push_back(operand.im);
  }
  const bool has_token = &self != &pure_callback_p;
  if (has_token) complex.erase(complex.begin());
  const CallbackPtr whole = callback_of(params);
  const CallbackPtr in_parts = callback_on_parts(whole, complex);
  const Arrays flat = bind(self, operands, params.with("callback", OpaquePtr(in_parts)));
  PartsList out;
  std::size_t at = 0;
  if (has_token) out.push_back({flat[at++], {}});
  for (const AbstractValue& t : whole->results) {
    const Array& re = flat[at++];
    out.push_back({re, is_complex(t.dtype) ? flat[at++] : Array()});
  }
  return out;
}

Types join_type(const Primitive&, std::span<const AbstractValue> x, const Params&) { return {x[0]}; }
Arrays join_eval(const Primitive&, std::span<const Array> x, const Params&) { return {x[0]}; }
BatchResult join_batch(const Primitive&, std::span<const Array> x, std::span<const int> dims, std::int64_t,
                       const Params&) {
  return {{ops::reduce_max(x[0], {dims[0]})}, {not_batched}};
}

}  // namespace

const Primitive effects::join_tokens_p{.name = "join_tokens",
                                       .op_class = OpClass::routine,
                                       .type = join_type,
                                       .eval = join_eval,
                                       .batch = join_batch,
                                       .not_differentiable = true};

const Primitive pure_callback_p{.name = "pure_callback",
                                .op_class = OpClass::routine,
                                .type = pure_type,
                                .eval = pure_eval,
                                .batch = pure_callback_batch,
                                .on_parts = callback_parts};
const Primitive io_callback_p{.name = "io_callback",
                              .op_class = OpClass::routine,
                              .type = effect_type,
                              .eval = effect_eval,
                              .batch = effect_batch,
                              .partial_eval = effect_partial_eval,
                              .on_parts = callback_parts};
const Primitive debug_callback_p{.name = "debug_callback",
                                 .op_class = OpClass::routine,
                                 .type = effect_type,
                                 .eval = effect_eval,
                                 .batch = effect_batch,
                                 .partial_eval = effect_partial_eval,
                                 .not_differentiable = true,
                                 .on_parts = callback_parts};

}  // namespace cotan
