// Families of operations that differ in one function of Arrays: elementwise ones of one and of two operands.
#pragma once
#include <cotan/numpy.hpp>

#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"
#include "torch/ops/promotion.hpp"

namespace cotan::torch::detail {

/// An operation of two operands, each a tensor or a number. `f` computes in the dtype that both are cast to. Real
/// numbers are arguments of the program, so that another one compiles nothing; integers are part of it.
///
///     static const Binary<[](const Array& a, const Array& b) { return a * b; }> op("mul", {.saves = Saves::others});
///     return op(a, b, result_type(a, b));
template <auto f>
class Binary {
 public:
  Binary(std::string_view name, Traits traits)
      : tensors_(name, traits, [](Array a, Array b, DType t) { return f(a.astype(t), b.astype(t)); }),
        real_right_(name, traits, [](Array a, Number b, DType t) { return f(a.astype(t), b.array.astype(t)); }),
        real_left_(name, traits, [](Number a, Array b, DType t) { return f(a.array.astype(t), b.astype(t)); }),
        whole_right_(name, traits,
                     [](Array a, std::int64_t b, DType t) { return f(a.astype(t), numpy::full({}, b, t)); }),
        whole_left_(name, traits,
                    [](std::int64_t a, Array b, DType t) { return f(numpy::full({}, a, t), b.astype(t)); }) {}

  Tensor operator()(const Operand& a, const Operand& b, DType t) const {
    if (a.is_number() && b.is_number())
      throw_with_line<TypeError>("[torch] an operation needs a tensor; both operands are numbers.");
    if (!a.is_number() && !b.is_number()) return tensors_(a.tensor(), b.tensor(), t);
    const Scalar& number = a.is_number() ? a.number() : b.number();
    const bool whole = number.kind != Scalar::Kind::real;
    if (b.is_number())
      return whole ? whole_right_(a.tensor(), number.integer, t) : real_right_(a.tensor(), number.real, t);
    return whole ? whole_left_(number.integer, b.tensor(), t) : real_left_(number.real, b.tensor(), t);
  }

 private:
  Op<Array, Array, Array, DType> tensors_;
  Op<Array, Array, Number, DType> real_right_;
  Op<Array, Number, Array, DType> real_left_;
  Op<Array, Array, std::int64_t, DType> whole_right_;
  Op<Array, std::int64_t, Array, DType> whole_left_;
};

/// `y`, which was computed from x among others, is written into x. Its shape must be x's; its dtype may be another one
/// of the same kind.
const Tensor& write_back(const Tensor& x, const Tensor& y, std::string_view op);
/// The axes of a reduction, not negative, in order; none where all are meant.
std::vector<int> axes_of(const Tensor& x, const std::vector<int>& dims, std::string_view op);
inline Axes over(const std::vector<int>& axes) { return axes.empty() ? Axes() : Axes(axes); }
/// What indices and sums of integers have: int64, or where there are no 64-bit numbers int32.
DType whole_type(const Tensor& x);
/// What a sum is computed in: `asked`, or of integers and bools `whole`.
inline DType summed_type(const Array& a, std::optional<DType> asked, DType whole) {
  return asked ? *asked : is_inexact(a.dtype()) ? a.dtype() : whole;
}
/// The tensor, or the number as a 0-d tensor of dtype t where `like` is.
Tensor as_tensor(const Operand& operand, DType t, const Tensor& like);

}  // namespace cotan::torch::detail
