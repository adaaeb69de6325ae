// Elementwise operations of the fuzzer's catalogue.
#include "native/fuzz_program.hpp"

namespace fuzz {

namespace {

using Unary = Array (*)(const Array&);
using Binary = Array (*)(const Array&, const Array&);
struct NamedUnary {
  const char* name;
  Unary f;
};
struct NamedBinary {
  const char* name;
  Binary f;
};

bool any(const Array&) { return true; }
bool is_bool(const Array& a) { return a.dtype() == DType::bool_; }
bool is_number(const Array& a) { return !is_bool(a); }

std::optional<Slot> unary(std::optional<std::size_t> x, const NamedUnary& op, Rounding rounding) {
  if (!x) return std::nullopt;
  return Slot{op.name, {*x}, [f = op.f](const Arrays& v) { return f(v[0]); }, rounding};
}
std::optional<Slot> binary(const Pool& pool, std::optional<std::size_t> x, bool (*fits)(const Array&),
                           const NamedBinary& op, Rounding rounding) {
  if (!x) return std::nullopt;
  const auto y = pool.pick_partner(pool.at(*x), fits);
  if (!y) return std::nullopt;
  std::vector<std::size_t> operands{*x, *y};
  if (pool.draw.one_in(2)) std::swap(operands[0], operands[1]);
  return Slot{op.name, operands, [f = op.f](const Arrays& v) { return f(v[0], v[1]); }, rounding};
}

// What IEEE defines, and integer arithmetic.

std::optional<Slot> exact_unary(const Pool& pool) {
  static const std::vector<NamedUnary> ops{
      {"negative", [](const Array& x) { return -x; }},
      {"abs", [](const Array& x) { return np::abs(x); }},
      {"sign", [](const Array& x) { return np::sign(x); }},
      {"x * x", [](const Array& x) { return x * x; }},
      {"square", [](const Array& x) { return np::square(x); }},
      {"x + 1", [](const Array& x) { return x + 1; }},
      {"3 - x", [](const Array& x) { return 3 - x; }},
      {"x * 2", [](const Array& x) { return x * 2; }},
      {"maximum 0", [](const Array& x) { return np::maximum(x, 0); }},
      {"clip", [](const Array& x) { return np::clip(x, 0, 2); }},
      {"stop_gradient", [](const Array& x) { return lax::stop_gradient(x); }},
  };
  return unary(pool.pick(is_number), pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> exact_real_unary(const Pool& pool) {
  static const std::vector<NamedUnary> ops{
      {"sqrt of abs", [](const Array& x) { return np::sqrt(np::abs(x)); }},
      {"reciprocal of abs + 0.5", [](const Array& x) { return 1 / (np::abs(x) + 0.5); }},
      {"x / 3", [](const Array& x) { return x / 3; }},
      {"x * 0.1", [](const Array& x) { return x * 0.1; }},
  };
  return unary(pool.pick(is_real), pool.draw.pick(ops), Rounding::exact);
}
/// Of values whose every bit is the same on all devices.
std::optional<Slot> jumping_unary(const Pool& pool) {
  static const std::vector<NamedUnary> ops{
      {"floor", [](const Array& x) { return np::floor(x); }},
      {"ceil", [](const Array& x) { return np::ceil(x); }},
      {"trunc", [](const Array& x) { return np::trunc(x); }},
      {"rint", [](const Array& x) { return np::rint(x); }},
      {"isfinite", [](const Array& x) { return np::isfinite(x); }},
      {"isnan", [](const Array& x) { return np::isnan(x); }},
      {"signbit", [](const Array& x) { return np::signbit(x); }},
      {"nan_to_num", [](const Array& x) { return np::nan_to_num(x, 0.0, 7.0, -7.0); }},
  };
  return unary(pool.pick_exact(is_real), pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> exact_binary(const Pool& pool) {
  static const std::vector<NamedBinary> ops{
      {"add", [](const Array& x, const Array& y) { return x + y; }},
      {"add", [](const Array& x, const Array& y) { return x + y; }},
      {"subtract", [](const Array& x, const Array& y) { return x - y; }},
      {"multiply", [](const Array& x, const Array& y) { return x * y; }},
      {"multiply", [](const Array& x, const Array& y) { return x * y; }},
      {"maximum", [](const Array& x, const Array& y) { return np::maximum(x, y); }},
      {"minimum", [](const Array& x, const Array& y) { return np::minimum(x, y); }},
  };
  return binary(pool, pool.pick(is_number), is_number, pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> comparison(const Pool& pool) {
  static const std::vector<NamedBinary> ops{
      {"less", [](const Array& x, const Array& y) { return x < y; }},
      {"less_equal", [](const Array& x, const Array& y) { return x <= y; }},
      {"greater", [](const Array& x, const Array& y) { return x > y; }},
      {"equal", [](const Array& x, const Array& y) { return x == y; }},
      {"not_equal", [](const Array& x, const Array& y) { return x != y; }},
  };
  const auto slot = binary(pool, pool.pick_exact(is_number), is_number, pool.draw.pick(ops), Rounding::exact);
  if (!slot || !pool.exact(slot->operands[0]) || !pool.exact(slot->operands[1])) return std::nullopt;
  return slot;
}
std::optional<Slot> logic(const Pool& pool) {
  static const std::vector<NamedBinary> ops{
      {"logical_and", [](const Array& x, const Array& y) { return x & y; }},
      {"logical_or", [](const Array& x, const Array& y) { return x | y; }},
      {"logical_xor", [](const Array& x, const Array& y) { return x ^ y; }},
  };
  if (pool.draw.one_in(4))
    return unary(pool.pick(is_bool), {"not", [](const Array& x) { return ~x; }}, Rounding::exact);
  return binary(pool, pool.pick(is_bool), is_bool, pool.draw.pick(ops), Rounding::exact);
}
std::optional<Slot> integer_binary(const Pool& pool) {
  static const std::vector<NamedBinary> ops{
      {"floor_divide", [](const Array& x, const Array& y) { return np::floor_divide(x, y); }},
      {"mod", [](const Array& x, const Array& y) { return np::mod(x, y); }},
      {"div", [](const Array& x, const Array& y) { return lax::div(x, y); }},
      {"rem", [](const Array& x, const Array& y) { return lax::rem(x, y); }},
      {"and", [](const Array& x, const Array& y) { return x & y; }},
      {"or", [](const Array& x, const Array& y) { return x | y; }},
      {"xor", [](const Array& x, const Array& y) { return x ^ y; }},
      {"left_shift", [](const Array& x, const Array& y) { return np::left_shift(x, y); }},
      {"right_shift", [](const Array& x, const Array& y) { return np::right_shift(x, y); }},
      {"shift_right_logical", [](const Array& x, const Array& y) { return lax::shift_right_logical(x, y); }},
  };
  const auto x = pool.pick(is_integral);
  if (!x) return std::nullopt;
  const auto y = pool.pick_partner(pool.at(*x), [&](const Array& b) { return b.dtype() == pool.at(*x).dtype(); });
  const NamedBinary& op = pool.draw.pick(ops);
  return Slot{op.name, {*x, *y}, [f = op.f](const Arrays& v) { return f(v[0], v[1]); }};
}
std::optional<Slot> integer_unary(const Pool& pool) {
  static const std::vector<NamedUnary> ops{
      {"not", [](const Array& x) { return ~x; }},
      {"population_count", [](const Array& x) { return lax::population_count(x); }},
      {"clz", [](const Array& x) { return lax::clz(x); }},
      {"x // 3", [](const Array& x) { return np::floor_divide(x, 3); }},
      {"x % 5", [](const Array& x) { return np::mod(x, 5); }},
      {"integer_pow 3", [](const Array& x) { return lax::integer_pow(x, 3); }},
  };
  return unary(pool.pick(is_integral), pool.draw.pick(ops), Rounding::exact);
}

std::optional<Slot> select(const Pool& pool) {
  const auto c = pool.pick(is_bool);
  if (!c) return std::nullopt;
  const auto x = pool.pick_partner(pool.at(*c), any);
  if (!x) return std::nullopt;
  if (pool.draw.one_in(3))
    return Slot{"where x else 1", {*c, *x}, [](const Arrays& v) { return np::where(v[0], v[1], 1); }};
  const auto y = pool.pick_partner(pool.at(*x), [&](const Array& b) {
    return b.shape() == pool.at(*x).shape() || b.shape() == pool.at(*c).shape();
  });
  return Slot{"where", {*c, *x, *y}, [](const Arrays& v) { return np::where(v[0], v[1], v[2]); }};
}
/// A select that compares, as in relu and its kind.
std::optional<Slot> threshold(const Pool& pool) {
  const auto x = pool.pick_exact(is_number);
  if (!x) return std::nullopt;
  return Slot{"where(x > 0, x, -x / 2)", {*x}, [](const Arrays& v) {
                return np::where(v[0] > 0, v[0], is_real(v[0]) ? v[0] * -0.5 : v[0] - 2);
              }};
}
std::optional<Slot> cast(const Pool& pool) {
  static const std::vector<DType> all{DType::bool_, DType::i8,  DType::i16, DType::i32, DType::i64,
                                      DType::u8,    DType::u16, DType::u32, DType::u64, DType::f16,
                                      DType::bf16,  DType::f32, DType::f64};
  static const std::vector<DType> real{DType::f16, DType::bf16, DType::f32, DType::f64};
  const bool to_real = pool.draw.one_in(2);
  const DType to = pool.draw.pick(to_real ? real : all);
  const auto x = ct::is_floating(to) ? pool.pick(any) : pool.pick_exact(any);
  if (!x || pool.at(*x).dtype() == to) return std::nullopt;
  return Slot{"astype " + std::string(ct::name(to)), {*x}, [to](const Arrays& v) { return v[0].astype(to); }};
}
std::optional<Slot> bitcast(const Pool& pool) {
  const auto x = pool.pick_exact([](const Array& a) { return a.dtype() == DType::f32 || a.dtype() == DType::u32; });
  if (!x) return std::nullopt;
  const DType to = is_real(pool.at(*x)) ? DType::u32 : DType::i32;
  return Slot{"bitcast " + std::string(ct::name(to)), {*x}, [to](const Arrays& v) {
                return lax::bitcast_convert_type(v[0], to);
              }};
}

// Functions that may differ in the last place.

std::optional<Slot> rounded_unary(const Pool& pool) {
  static const std::vector<NamedUnary> ops{
      {"exp of -abs", [](const Array& x) { return np::exp(-np::abs(x)); }},
      {"exp", [](const Array& x) { return np::exp(x); }},
      {"exp2", [](const Array& x) { return np::exp2(x); }},
      {"log of abs + 0.5", [](const Array& x) { return np::log(np::abs(x) + 0.5); }},
      {"sin", [](const Array& x) { return np::sin(x); }},
      {"cos", [](const Array& x) { return np::cos(x); }},
      {"tanh", [](const Array& x) { return np::tanh(x); }},
      {"logistic", [](const Array& x) { return lax::logistic(x); }},
      {"erf", [](const Array& x) { return lax::erf(x); }},
      {"expm1", [](const Array& x) { return np::expm1(x); }},
      {"log1p of abs", [](const Array& x) { return np::log1p(np::abs(x)); }},
      {"rsqrt of abs + 0.5", [](const Array& x) { return lax::rsqrt(np::abs(x) + 0.5); }},
      {"cbrt", [](const Array& x) { return np::cbrt(x); }},
      {"arctan", [](const Array& x) { return np::arctan(x); }},
      {"integer_pow 5", [](const Array& x) { return lax::integer_pow(x, 5); }},
      {"gelu", [](const Array& x) { return 0.5 * x * (1 + lax::erf(x * 0.70710678)); }},
  };
  return unary(pool.pick(is_real), pool.draw.pick(ops), Rounding::function);
}
std::optional<Slot> rounded_binary(const Pool& pool) {
  static const std::vector<NamedBinary> ops{
      {"x / (abs y + 0.5)", [](const Array& x, const Array& y) { return x / (np::abs(y) + 0.5); }},
      {"pow(abs x + 0.5, y)", [](const Array& x, const Array& y) { return np::power(np::abs(x) + 0.5, y); }},
      {"arctan2(x, abs y + 0.5)", [](const Array& x, const Array& y) { return np::arctan2(x, np::abs(y) + 0.5); }},
      {"hypot", [](const Array& x, const Array& y) { return np::hypot(x, y); }},
      {"logaddexp", [](const Array& x, const Array& y) { return np::logaddexp(x, y); }},
  };
  return binary(pool, pool.pick(is_real), is_real, pool.draw.pick(ops), Rounding::function);
}

}  // namespace

std::vector<Op> elementwise_ops() {
  return {{exact_unary, true},    {exact_unary, true},    {exact_real_unary, true},
          {jumping_unary, true},  {exact_binary, true},   {exact_binary, true},
          {exact_binary, true},   {comparison, true},     {logic, true},
          {integer_binary, true}, {integer_unary, true},  {select, true},
          {select, true},         {threshold, true},      {cast, true},
          {cast, true},           {bitcast, true},        {rounded_unary, false},
          {rounded_unary, false}, {rounded_binary, false}};
}

}  // namespace fuzz
