#include "native/index_evaluator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cotan::expr {
void PrintTo(const Expr& e, std::ostream* out) { *out << to_string(e); }
}  // namespace cotan::expr

namespace expr_test {

using namespace cotan;
using expr::Node, expr::Op;

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t wrapped(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}

namespace {

std::int64_t as_type(std::int64_t v, DType t) {
  switch (t) {
    case DType::bool_:
      return v != 0;
    case DType::i8:
      return static_cast<std::int8_t>(v);
    case DType::u8:
      return static_cast<std::uint8_t>(v);
    case DType::i32:
      return static_cast<std::int32_t>(v);
    case DType::u32:
      return static_cast<std::uint32_t>(v);
    default:
      return v;
  }
}

std::int64_t value_of(const Node& n, const std::vector<std::int64_t>& x) {
  const auto typed = [&](std::int64_t v) { return as_type(v, n.dtype); };
  switch (n.op) {
    case Op::constant:
      return n.bits;
    case Op::linear: {
      std::int64_t sum = n.bits;
      for (std::size_t k = 0; k < x.size(); ++k) sum = wrapped(sum, n.coefficients[k], x[k]);
      return sum;
    }
    case Op::add:
      return typed(wrapped(x[0], x[1], 1));
    case Op::sub:
      return typed(wrapped(x[0], x[1], -1));
    case Op::mul:
      return typed(wrapped(0, x[0], x[1]));
    case Op::neg:
      return typed(wrapped(0, x[0], -1));
    case Op::abs:
      return typed(x[0] < 0 ? wrapped(0, x[0], -1) : x[0]);
    case Op::min:
      return std::min(x[0], x[1]);
    case Op::max:
      return std::max(x[0], x[1]);
    case Op::floor_div:
      return floored(x[0], x[1]);
    case Op::floor_mod:
      return x[0] - floored(x[0], x[1]) * x[1];
    case Op::eq:
      return x[0] == x[1];
    case Op::ne:
      return x[0] != x[1];
    case Op::lt:
      return x[0] < x[1];
    case Op::le:
      return x[0] <= x[1];
    case Op::bit_and:
      return x[0] & x[1];
    case Op::bit_or:
      return x[0] | x[1];
    case Op::bit_xor:
      return x[0] ^ x[1];
    case Op::bit_not:
      return typed(n.dtype == DType::bool_ ? !x[0] : ~x[0]);
    case Op::select:
      return x[0] ? x[1] : x[2];
    case Op::cast:
      return typed(x[0]);
    default:
      ADD_FAILURE() << "the evaluator of the tests has no " << name(n.op);
      return 0;
  }
}

std::int64_t checked(Expr e, std::int64_t v) {
  EXPECT_TRUE(e->range.contains(v)) << to_string(e) << " is " << v << ", outside [" << e->range.lo << ", "
                                    << e->range.hi << "]";
  return v;
}

}  // namespace

std::int64_t Evaluator::operator()(Expr e) {
  if (const auto at = values_.find(e.get()); at != values_.end()) return checked(e, at->second);
  std::vector<std::int64_t> x;
  for (Expr operand : e->operands) x.push_back((*this)(operand));
  return values_[e.get()] = checked(e, value_of(*e.get(), x));
}

}  // namespace expr_test
