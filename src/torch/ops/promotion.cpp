#include "torch/ops/promotion.hpp"

#include <deque>

namespace cotan::torch::detail {

namespace {

using Known = std::optional<DType>;

Known joined(Known a, Known b) { return a && b ? Known(promote_types(*a, *b)) : a ? a : b; }

/// `higher`, unless what comes after it is of another category of numbers.
Known combined(Known higher, Known lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? Known(promote_types(*higher, *lower)) : higher;
  if (*higher == DType::bool_ || is_inexact(*lower)) return joined(higher, lower);
  return higher;
}

}  // namespace

DType result_type(std::span<const Operand* const> operands) {
  Known with_axes, scalars, numbers;
  for (const Operand* o : operands) {
    if (o->is_number()) {
      using Kind = Scalar::Kind;
      const Kind kind = o->number().kind;
      numbers = joined(numbers, kind == Kind::boolean ? DType::bool_ : kind == Kind::integer ? i64 : f32);
    } else if (o->tensor().dim() == 0)
      scalars = joined(scalars, o->tensor().dtype());
    else
      with_axes = joined(with_axes, o->tensor().dtype());
  }
  return *combined(with_axes, combined(scalars, numbers));
}
DType result_type(const Operand& a, const Operand& b) {
  const Operand* const both[] = {&a, &b};
  return result_type(both);
}
DType result_type(const std::vector<Tensor>& tensors) {
  std::deque<Operand> operands;
  std::vector<const Operand*> all;
  for (const Tensor& t : tensors) all.push_back(&operands.emplace_back(t, std::source_location{}));
  return result_type(all);
}
DType floating_type(DType t) { return is_inexact(t) ? t : f32; }

}  // namespace cotan::torch::detail
