// Where random numbers come from: a seed and a count of draws. The n-th draw of a seed is the same on every device,
// wherever programs begin and end.
#pragma once
#include "torch/graph/node.hpp"
#include "torch/graph/record.hpp"

namespace cotan::torch::detail {

Draw next_draw();
/// A floating value as autocast wants it.
Value autocast(const Value& value, Cast cast);
/// Floating values as the widest of them.
void autocast_to_widest(std::span<Value* const> values);

}  // namespace cotan::torch::detail
