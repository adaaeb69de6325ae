// Arithmetic and elementary functions.
#include <cotan/nn.hpp>
#include <cotan/torch/elementwise.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

Tensor add(const Operand& a, const Operand& b) {
  static const Binary<[](const Array& x, const Array& y) { return x + y; }> op("add", {});
  return op(a, b, result_type(a, b));
}
Tensor sub(const Operand& a, const Operand& b) {
  static const Binary<[](const Array& x, const Array& y) { return x - y; }> op("sub", {});
  return op(a, b, result_type(a, b));
}
Tensor mul(const Operand& a, const Operand& b) {
  static const Binary<[](const Array& x, const Array& y) { return x * y; }> op("mul", {.saves = Saves::others});
  return op(a, b, result_type(a, b));
}
Tensor div(const Operand& a, const Operand& b) {
  static const Binary<[](const Array& x, const Array& y) { return x / y; }> op("div", {.saves = Saves::others});
  return op(a, b, floating_type(result_type(a, b)));
}
Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b); }
Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b); }
Tensor operator/(const Operand& a, const Operand& b) { return div(a, b); }

Tensor exp(const Input& x) {
  static const auto op = define("exp", {.saves = Saves::result},
                                [](const Array& a) { return numpy::exp(a.astype(floating_type(a.dtype()))); });
  return op(*x);
}
Tensor relu(const Input& x) {
  static const auto op = define("relu", {.saves = Saves::result}, [](const Array& a) { return nn::relu(a); });
  return op(*x);
}
Tensor matmul(const Input& a, const Input& b) {
  static const auto op = define("matmul", {.saves = Saves::others, .cast = Cast::lower},
                                [](const Array& x, const Array& y) { return numpy::matmul(x, y); });
  return op(*a, *b);
}
Tensor sum(const Input& x) {
  static const auto op = define("sum", {}, [](const Array& a) { return numpy::sum(a); });
  return op(*x);
}
Tensor mean(const Input& x) {
  static const auto op = define("mean", {}, [](const Array& a) { return numpy::mean(a); });
  return op(*x);
}

}  // namespace cotan::torch
