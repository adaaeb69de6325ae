// checkify: a traced program, run once more with a state beside it: zeros, or the number of the first error and the
// values that its message shows. The state goes where tokens of effects go (core/effects.hpp).
#include <cotan/experimental/checkify.hpp>
#include <cotan/numpy.hpp>
#include <unordered_map>

#include "core/construct.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "lax/checked_program.hpp"
#include "lax/text_fields.hpp"
#include "transforms/calls.hpp"
#include "transforms/checks.hpp"

namespace cotan {

namespace flat {

Arrays checkify(const FlatFn& f, std::span<const Array> args, unsigned errors) {
  effects::Watched watched(f);
  CallProgram call = trace_call(watched, types_of(args), "checkify");
  Arrays operands = widened(args, call.wide);
  if (watched.found()) {
    operands = effects::with_token(effects::take_token("checkify"), args);
    call = trace_call(effects::Threaded(f), types_of(operands), "checkify");
    operands = widened(operands, call.wide);
  }
  operands = concat(call.closed.consts, operands);
  CheckedProgram checked(*call.closed.jaxpr, errors);
  Arrays with_state = effects::with_token(checked.no_error(), operands);
  const auto run = [&](std::span<const Array> in) { return checked.run(*call.closed.jaxpr, in); };
  const ClosedJaxpr program = trace_to_jaxpr(effects::Threaded(run), types_of(with_state), "checkify");
  Arrays out = bind(jit_p, concat(program.consts, with_state), {{"jaxpr", program.jaxpr}, {"name", "checkify"}});
  std::rotate(out.begin(), out.begin() + 1, out.end());  // the state comes last
  if (watched.found()) {
    effects::give_token(out.front());
    out.erase(out.begin());
  }
  return out;
}

void check(const Array& predicate, const debug::Format& message, std::vector<debug::Printed> args) {
  const detail::CallSite site(message.where);
  if (!predicate.defined()) raise<ValueError>("[check] the predicate is an empty Array; assign it before the call.");
  if (predicate.ndim() != 0 || predicate.dtype() != DType::bool_)
    raise<TypeError>(
        "[check] the predicate is {}; it must be one bool, as np::all(…) or a comparison of scalars gives.",
        predicate.aval());
  const TextFields text("check", message.text, std::move(args));
  auto failure = std::make_shared<Failure>();
  for (const Array& a : text.arrays()) {
    if (is_complex(a.dtype())) raise<TypeError>("[check] an argument is {}; show its np::real and np::imag.", a.aval());
    failure->shown.push_back({a.dtype(), a.shape(), false});
  }
  failure->message = [text = text.without_arrays()](std::span<const Array> values) {
    return text.filled(values) + " (`check` failed)";
  };
  failure->where = user_location();
  Arrays operands{strong(predicate)};
  for (const Array& a : text.arrays()) operands.push_back(strong(a));
  const Params params{{"failure", OpaquePtr(failure)}};
  effects::call("check",
                [&](const Array& token) { return bind(check_p, effects::with_token(token, operands), params); });
}

}  // namespace flat

namespace experimental::checkify {

namespace {
/// The numbers of a state, by lane.
std::vector<std::vector<std::int32_t>> lanes_of(const Array& state) {
  const auto words = state.to_vector<std::int32_t>();
  const auto width = static_cast<std::size_t>(state.shape().back());
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t at = 0; at < words.size(); at += width)
    out.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(at),
                     words.begin() + static_cast<std::ptrdiff_t>(at + width));
  return out;
}
/// "1, 0" of lane 3 in a batch of (3, 3).
std::string place_of(std::size_t lane, const Shape& state) {
  std::vector<std::string> numbers;
  for (std::size_t axis = state.size() - 1; axis-- > 0;) {
    const auto n = static_cast<std::size_t>(state[axis]);
    numbers.insert(numbers.begin(), std::to_string(lane % n));
    lane /= n;
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}
std::optional<std::string> message_of(const Array& state, bool with_line) {
  std::string out;
  const auto lanes = lanes_of(state);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane][0] == 0) continue;
    const std::string text = failure_text(lanes[lane], with_line);
    if (state.ndim() == 1) return text;
    out += fmt::format("{}at mapped index {}: {}", out.empty() ? "" : "\n", place_of(lane, state.shape()), text);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}
}  // namespace

std::optional<std::string> Error::get() const { return message_of(state, false); }
void Error::throw_() const {
  if (const auto text = message_of(state, true)) throw CheckError(*text);
}

}  // namespace experimental::checkify
}  // namespace cotan
