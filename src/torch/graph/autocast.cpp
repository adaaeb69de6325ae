// What autocast does to the operands of an operation.
#include <fmt/format.h>

#include <cotan/torch/amp.hpp>

#include "torch/graph/generator.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch {

namespace detail {

namespace {

bool is_eligible(const Value& value) { return is_floating(value.type()->dtype) && value.type()->dtype != f64; }
Value cast_to(const Value& value, DType dtype) {
  static const auto op = define("to", {}, [](const Array& x, DType t) { return x.astype(t); });
  return value.type()->dtype == dtype ? value : op.value(tensor_of(value), dtype);
}

}  // namespace

Value autocast(const Value& value, Cast cast) {
  if (!is_eligible(value) || cast == Cast::none || cast == Cast::widest) return value;
  return cast_to(value, cast == Cast::lower ? *modes().autocast : f32);
}

void autocast_to_widest(std::span<Value* const> values) {
  std::optional<DType> widest;
  for (const Value* v : values) {
    if (!is_floating(v->type()->dtype)) continue;
    widest = widest ? promote_types(*widest, v->type()->dtype) : v->type()->dtype;
  }
  for (Value* v : values)
    if (is_eligible(*v)) *v = cast_to(*v, *widest);
}

}  // namespace detail

autocast::autocast(DType dtype, bool enabled, std::source_location where) : former_(detail::modes().autocast) {
  const detail::At at(where);
  if (enabled && dtype != f16 && dtype != bf16)
    throw_with_line<TypeError>(
        fmt::format("[autocast] {} is no lower precision; it must be bfloat16 or float16.", name(dtype)));
  detail::modes().autocast = enabled ? std::optional(dtype) : std::nullopt;
}
autocast::~autocast() { detail::modes().autocast = former_; }
bool is_autocast_enabled() { return detail::modes().autocast.has_value(); }
std::optional<DType> get_autocast_dtype() { return detail::modes().autocast; }

}  // namespace cotan::torch
