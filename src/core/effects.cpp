#include "core/effects.hpp"

#include "core/construct.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"

namespace cotan::effects {

namespace {
thread_local Frame* innermost = nullptr;
thread_local Array lanes_mask;

/// The frame that counts, or nullptr where effects run at once.
Frame* frame() {
  if (is_eval_trace(current_trace()) || !innermost || innermost->kind == Frame::Kind::immediate) return nullptr;
  return innermost;
}
}  // namespace

Array first_token() { return scalar(DType::i32, 0); }
bool is_token_type(const AbstractValue& type) { return type.dtype == DType::i32 && type.shape.empty(); }

Frame::Frame(Kind kind, Array token, std::string_view where)
    : kind(kind),
      token(std::move(token)),
      where(where),
      home(&current_trace()),
      outer_(std::exchange(innermost, this)) {}
Frame::~Frame() { innermost = outer_; }

Array take_token(std::string_view op) {
  Frame* const now = frame();
  if (!now) return first_token();
  switch (now->kind) {
    case Frame::Kind::threaded:
      return now->token;
    case Frame::Kind::forbidden:
      raise<TransformError>(
          "[{}] it has an effect, and inside of {} there is no order that it could be part of; call it outside, or use "
          "pure_callback.",
          op, now->where);
    default:
      now->found = true;
      return first_token();
  }
}
void give_token(const Array& token) {
  Frame* const now = frame();
  if (!now || now->kind != Frame::Kind::threaded) return;
  now->token = token;
  while (tracer(now->token) && tracer(now->token)->trace.get() != now->home)
    now->token = bind1(join_tokens_p, {now->token});
}

Arrays with_token(const Array& token, std::span<const Array> args) {
  Arrays out{token};
  out.insert(out.end(), args.begin(), args.end());
  return out;
}
flat::Paths after_token(const flat::Paths& paths, std::size_t tokens) {
  return [&paths, tokens](std::size_t i) { return i < tokens ? std::string("the token") : paths(i - tokens); };
}

RunningLanes::RunningLanes(const Array& mask) : saved_(lanes_mask) { lanes_mask = mask; }
RunningLanes::~RunningLanes() { lanes_mask = saved_; }
Array RunningLanes::mask() { return lanes_mask; }

}  // namespace cotan::effects
