#include "transforms/checks.hpp"

#include <cotan/experimental/checkify.hpp>

#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

std::string Failure::with_line(const std::string& text) const {
  return where.line() == 0 ? text : fmt::format("{} At {}:{}.", text, where.file_name(), where.line());
}
FailurePtr failure_of(const Params& params) {
  return std::static_pointer_cast<const Failure>(params.get<OpaquePtr>("failure"));
}
std::optional<std::int64_t> first_false(const Array& predicates) {
  const bool* at = data<bool>(predicates);
  for (std::int64_t i = 0; i < predicates.size(); ++i)
    if (!at[i]) return i;
  return std::nullopt;
}

namespace {

Types check_type(const Primitive& self, std::span<const AbstractValue> x, const Params&) {
  if (x.size() < 2 || !effects::is_token_type(x[0]) || x[1].dtype != DType::bool_)
    raise<InternalError>("[{}] it has no token or no predicate; this is a bug in cotan.", self.name);
  return {{DType::i32, {}, false}};
}

Arrays check_eval(const Primitive&, std::span<const Array> x, const Params& params) {
  if (const auto lane = first_false(x[1])) {
    const FailurePtr failure = failure_of(params);
    const TraceScope scope(eval_trace());
    Arrays values;
    for (const Array& a : x.subspan(2)) {
      Shape rest(a.shape().begin() + x[1].ndim(), a.shape().end()), rows = rest;
      rows.insert(rows.begin(), x[1].size());
      values.push_back(ops::reshape(ops::slice_axis(ops::reshape(a, rows), 0, *lane, *lane + 1), rest));
    }
    throw experimental::checkify::CheckError(failure->with_line(failure->message(values)));
  }
  return {x[0]};
}

BatchResult check_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  const Array token = dims[0] == not_batched ? x[0] : ops::reduce_max(x[0], {dims[0]});
  Arrays operands{token};
  for (std::size_t i = 1; i < x.size(); ++i) operands.push_back(ops::batch_at_front(x[i], dims[i], size));
  if (const Array mask = effects::RunningLanes::mask(); mask.defined()) {
    const Array idle = bind1(ops::not_p, {mask});
    operands[1] = bind1(ops::or_p, {operands[1], ops::broadcast_in_dim(idle, operands[1].shape(), {0})});
  }
  return {bind(self, operands, params), {not_batched}};
}

/// As callbacks: by the token alone it is decided where it runs.
Arrays check_partial_eval(const Primitive& self, PartialEvalTrace& trace, std::span<const Array> x,
                          const Params& params) {
  if (!trace.is_unknown(x[0]))
    raise<TransformError>(
        "[check] an operand is a tangent, which reverse mode does not compute; check a primal value.");
  return trace.record(self, x, params);
}

}  // namespace

const Primitive check_p{.name = "check",
                        .op_class = OpClass::routine,
                        .type = check_type,
                        .eval = check_eval,
                        .batch = check_batch,
                        .partial_eval = check_partial_eval,
                        .not_differentiable = true};

}  // namespace cotan
