// Builders: each returns the simplest node that its range analysis and its identities allow. Floating-point
// arithmetic is never rewritten.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/typed.hpp"
#include "expr/expr.hpp"

namespace cotan::expr {

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr Range anything{lowest, highest};

Range range_of(DType t) {
  switch (t) {
    case DType::bool_:
      return {0, 1};
    case DType::i8:
      return {-128, 127};
    case DType::u8:
      return {0, 255};
    case DType::i16:
      return {-32768, 32767};
    case DType::u16:
      return {0, 65535};
    case DType::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case DType::u32:
      return {0, std::numeric_limits<std::uint32_t>::max()};
    default:
      return anything;
  }
}
bool known(Range r) { return r.lo != lowest || r.hi != highest; }

Expr make(Op op, DType dtype, std::vector<Expr> operands) {
  return current_graph().intern(
      {.op = op, .dtype = dtype, .id = 0, .operands = std::move(operands), .range = range_of(dtype)});
}
Expr make(Op op, DType dtype, std::vector<Expr> operands, Range range) {
  return current_graph().intern({.op = op, .dtype = dtype, .id = 0, .operands = std::move(operands), .range = range});
}
/// Operands of one dtype.
Expr binary(Op op, Expr a, Expr b) {
  internal_check(a->dtype == b->dtype, "an expression mixes dtypes");
  return make(op, a->dtype, {a, b});
}

// Sums: constant + sum of coefficient * term, terms in order of their ids -----------------------------

struct Sum {
  std::int64_t constant = 0;
  std::vector<std::pair<Expr, std::int64_t>> terms;

  static Sum of(Expr e) {
    Sum s;
    if (e->op == Op::constant) {
      s.constant = e->bits;
    } else if (e->op == Op::linear) {
      s.constant = e->bits;
      for (std::size_t k = 0; k < e->operands.size(); ++k) s.terms.push_back({e->operands[k], e->coefficients[k]});
    } else {
      s.terms.push_back({e, 1});
    }
    return s;
  }
  void add(const Sum& other, std::int64_t factor) {
    constant = wrap(constant, other.constant, factor);
    for (const auto& [term, coefficient] : other.terms) add(term, wrap(0, coefficient, factor));
  }
  void add(Expr term, std::int64_t coefficient) {
    const auto at =
        std::lower_bound(terms.begin(), terms.end(), term, [](const auto& t, Expr e) { return t.first->id < e->id; });
    if (at != terms.end() && at->first == term)
      at->second = wrap(at->second, coefficient, 1);
    else
      terms.insert(at, {term, coefficient});
  }
  /// a + b * c modulo 2^64.
  static std::int64_t wrap(std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                     static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
  }
  /// Everything, where the sum might wrap.
  Range range() const {
    __int128 lo = constant, hi = constant;
    for (const auto& [term, c] : terms) {
      if (!known(term->range)) return anything;
      lo += static_cast<__int128>(c) * (c > 0 ? term->range.lo : term->range.hi);
      hi += static_cast<__int128>(c) * (c > 0 ? term->range.hi : term->range.lo);
    }
    if (lo <= lowest || hi >= highest) return anything;
    return {static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi)};
  }
  Expr build();
};

/// m * floor_div(x, m) + floor_mod(x, m) is x: what makes most reshapes free.
bool recombine(Sum& sum) {
  for (std::size_t k = 0; k < sum.terms.size(); ++k) {
    const auto [term, coefficient] = sum.terms[k];
    if (term->op != Op::floor_mod) continue;
    const Expr x = term->operands[0];
    const std::int64_t m = *as_integer(term->operands[1]);
    const Expr quotient = floor_div(x, m);
    for (const auto& [other, c] : sum.terms)
      if (other == quotient && c == coefficient * m) {
        sum.add(other, -c);
        sum.add(term, -coefficient);
        sum.add(Sum::of(x), coefficient);
        return true;
      }
  }
  return false;
}

Expr Sum::build() {
  do std::erase_if(terms, [](const auto& t) { return t.second == 0; });
  while (recombine(*this));
  if (terms.empty()) return integer(constant);
  if (terms.size() == 1 && constant == 0 && terms[0].second == 1) return terms[0].first;
  Node n{.op = Op::linear, .dtype = DType::i64, .id = 0, .bits = constant, .range = range()};
  for (const auto& [term, c] : terms) {
    n.operands.push_back(term);
    n.coefficients.push_back(c);
  }
  return current_graph().intern(std::move(n));
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

/// e = divisor * quotient + rest, with everything in the quotient that divides evenly.
struct Division {
  Sum quotient, rest;
};
Division divide(Expr e, std::int64_t divisor) {
  Division d;
  const Sum sum = Sum::of(e);
  d.quotient.constant = floor_quotient(sum.constant, divisor);
  d.rest.constant = sum.constant - d.quotient.constant * divisor;
  for (const auto& [term, c] : sum.terms) {
    if (c % divisor == 0)
      d.quotient.terms.push_back({term, c / divisor});
    else
      d.rest.terms.push_back({term, c});
  }
  return d;
}
/// The largest divisor of `divisor` that all coefficients of `s` share.
std::int64_t common_factor(const Sum& s, std::int64_t divisor) {
  std::int64_t g = divisor;
  for (const auto& [term, c] : s.terms) g = std::gcd(g, c);
  return g;
}
/// s = factor * multiple + small, where the factor divides `divisor`: of the small part, dividing by the divisor
/// needs the quotient by the factor alone, which often is 0.
struct Scales {
  std::int64_t factor = 1;
  Sum multiple, small;
};
Scales scales_of(const Sum& s, std::int64_t divisor) {
  Scales any;
  for (const auto& [term, c] : s.terms) {
    const std::int64_t g = std::gcd(c, divisor);
    if (g <= 1) continue;
    Scales out{g, {}, {}};
    out.multiple.constant = floor_quotient(s.constant, g);
    out.small.constant = s.constant - out.multiple.constant * g;
    for (const auto& [t, k] : s.terms) {
      if (k % g == 0)
        out.multiple.terms.push_back({t, k / g});
      else
        out.small.terms.push_back({t, k});
    }
    const Range r = out.small.range();
    if (r.lo >= 0 && r.hi < g) return out;
    if (any.factor == 1 && known(r)) any = std::move(out);
  }
  return any;
}
/// (s + …)/g, rounded down; all coefficients are multiples of g.
Sum divided(const Sum& s, std::int64_t g) {
  Sum out;
  out.constant = floor_quotient(s.constant, g);
  for (const auto& [term, c] : s.terms) out.terms.push_back({term, c / g});
  return out;
}

}  // namespace

Expr floor_div(Expr a, std::int64_t b) {
  internal_check(b > 0, "floor_div by a number that is not positive");
  if (b == 1) return a;
  if (!known(a->range)) return make(Op::floor_div, DType::i64, {a, integer(b)});
  Division d = divide(a, b);
  const Range r = d.rest.range();
  if (floor_quotient(r.lo, b) == floor_quotient(r.hi, b)) {
    d.quotient.constant += floor_quotient(r.lo, b);
    return d.quotient.build();
  }
  if (const std::int64_t g = common_factor(d.rest, b); g > 1)
    return d.quotient.build() + floor_div(divided(d.rest, g).build(), b / g);
  if (Scales s = scales_of(d.rest, b); s.factor > 1)
    return d.quotient.build() + floor_div(s.multiple.build() + floor_div(s.small.build(), s.factor), b / s.factor);
  const Expr rest = d.rest.build();
  Expr quotient;
  if (rest->op == Op::floor_div)
    quotient = floor_div(rest->operands[0], *as_integer(rest->operands[1]) * b);
  else if (rest->op == Op::floor_mod && *as_integer(rest->operands[1]) % b == 0)
    quotient = floor_mod(floor_div(rest->operands[0], b), *as_integer(rest->operands[1]) / b);
  else
    quotient = make(Op::floor_div, DType::i64, {rest, integer(b)}, {floor_quotient(r.lo, b), floor_quotient(r.hi, b)});
  return d.quotient.build() + quotient;
}

Expr floor_mod(Expr a, std::int64_t b) {
  internal_check(b > 0, "floor_mod by a number that is not positive");
  if (b == 1) return integer(0);
  if (!known(a->range)) return make(Op::floor_mod, DType::i64, {a, integer(b)}, {0, b - 1});
  Division d = divide(a, b);
  const Range r = d.rest.range();
  if (floor_quotient(r.lo, b) == floor_quotient(r.hi, b)) {
    d.rest.constant -= floor_quotient(r.lo, b) * b;
    return d.rest.build();
  }
  if (const std::int64_t g = common_factor(d.rest, b); g > 1)
    return floor_mod(divided(d.rest, g).build(), b / g) * integer(g) + integer(d.rest.constant % g);
  if (Scales s = scales_of(d.rest, b); s.factor > 1)
    return floor_mod(s.multiple.build() + floor_div(s.small.build(), s.factor), b / s.factor) * integer(s.factor) +
           floor_mod(s.small.build(), s.factor);
  const Expr rest = d.rest.build();
  if (rest->op == Op::floor_mod && *as_integer(rest->operands[1]) % b == 0) return floor_mod(rest->operands[0], b);
  return make(Op::floor_mod, DType::i64, {rest, integer(b)}, {0, b - 1});
}

Expr variable(std::int64_t extent) {
  if (extent == 1) return integer(0);
  return current_graph().intern({.op = Op::variable,
                                 .dtype = DType::i64,
                                 .id = 0,
                                 .bits = current_graph().new_variable_number(),
                                 .range = {0, std::max<std::int64_t>(extent - 1, 0)}});
}
Expr load(std::int64_t buffer, DType dtype, Expr offset, Expr predicate) {
  std::vector<Expr> operands{offset};
  if (predicate) {
    if (const auto always = as_integer(predicate); always && !*always) return constant(dtype, 0);
    if (!as_integer(predicate)) operands.push_back(predicate);
  }
  return current_graph().intern({.op = Op::load,
                                 .dtype = dtype,
                                 .id = 0,
                                 .bits = buffer,
                                 .operands = std::move(operands),
                                 .range = range_of(dtype)});
}

// Arithmetic ------------------------------------------------------------------------------------------

Expr operator+(Expr a, Expr b) {
  if (a->dtype != DType::i64) return binary(Op::add, a, b);
  Sum s = Sum::of(a);
  s.add(Sum::of(b), 1);
  return s.build();
}
Expr operator-(Expr a, Expr b) {
  if (a->dtype != DType::i64) return binary(Op::sub, a, b);
  Sum s = Sum::of(a);
  s.add(Sum::of(b), -1);
  return s.build();
}
Expr operator*(Expr a, Expr b) {
  if (a->dtype != DType::i64) return binary(Op::mul, a, b);
  if (as_integer(a)) std::swap(a, b);
  const auto factor = as_integer(b);
  if (!factor) return binary(Op::mul, a, b);
  Sum s;
  s.add(Sum::of(a), *factor);
  return s.build();
}
Expr operator/(Expr a, Expr b) { return binary(Op::div, a, b); }
Expr operator-(Expr a) {
  if (a->dtype == DType::i64) return integer(0) - a;
  return make(Op::neg, a->dtype, {a});
}
Expr operator+(Expr a, double b) { return a + like(a, b); }
Expr operator-(Expr a, double b) { return a - like(a, b); }
Expr operator*(Expr a, double b) { return a * like(a, b); }
Expr operator/(Expr a, double b) { return a / like(a, b); }
Expr operator+(double a, Expr b) { return like(b, a) + b; }
Expr operator-(double a, Expr b) { return like(b, a) - b; }
Expr operator*(double a, Expr b) { return like(b, a) * b; }
Expr operator/(double a, Expr b) { return like(b, a) / b; }
Expr rem(Expr a, Expr b) { return binary(Op::rem, a, b); }

Expr min(Expr a, Expr b) {
  if (!is_floating(a->dtype) && a->dtype != DType::u64) {
    if (a->range.hi <= b->range.lo) return a;
    if (b->range.hi <= a->range.lo) return b;
    return make(Op::min, a->dtype, {a, b}, {std::min(a->range.lo, b->range.lo), std::min(a->range.hi, b->range.hi)});
  }
  return a == b ? a : binary(Op::min, a, b);
}
Expr max(Expr a, Expr b) {
  if (!is_floating(a->dtype) && a->dtype != DType::u64) {
    if (a->range.lo >= b->range.hi) return a;
    if (b->range.lo >= a->range.hi) return b;
    return make(Op::max, a->dtype, {a, b}, {std::max(a->range.lo, b->range.lo), std::max(a->range.hi, b->range.hi)});
  }
  return a == b ? a : binary(Op::max, a, b);
}
Expr abs(Expr a) { return make(Op::abs, a->dtype, {a}); }
Expr sqrt(Expr a) { return make(Op::sqrt, a->dtype, {a}); }
Expr fma(Expr a, Expr b, Expr c) { return make(Op::fma, a->dtype, {a, b, c}); }
Expr floor(Expr a) { return make(Op::floor, a->dtype, {a}); }
Expr ceil(Expr a) { return make(Op::ceil, a->dtype, {a}); }
Expr trunc(Expr a) { return make(Op::trunc, a->dtype, {a}); }
Expr round(Expr a) { return make(Op::round, a->dtype, {a}); }

// Comparisons: decided where the ranges do not overlap --------------------------------------------------

namespace {

std::optional<bool> always(Op op, Expr a, Expr b) {
  if (is_floating(a->dtype) || a->dtype == DType::u64) return std::nullopt;
  Range r = a->range, s = b->range;
  if (a->dtype == DType::i64 && known(r) && known(s)) {
    const Expr difference = a - b;  // shared terms cancel
    if (known(difference->range)) r = difference->range, s = {0, 0};
  }
  switch (op) {
    case Op::lt:
      if (r.hi < s.lo) return true;
      if (r.lo >= s.hi) return false;
      break;
    case Op::le:
      if (r.hi <= s.lo) return true;
      if (r.lo > s.hi) return false;
      break;
    default:
      if (r.hi < s.lo || s.hi < r.lo) return op == Op::ne;
      if (r.lo == r.hi && s.lo == s.hi && r.lo == s.lo) return op == Op::eq;
  }
  return std::nullopt;
}
Expr compare(Op op, Expr a, Expr b) {
  internal_check(a->dtype == b->dtype, "a comparison mixes dtypes");
  if (const auto result = always(op, a, b)) return boolean(*result);
  return make(op, DType::bool_, {a, b});
}

}  // namespace

Expr eq(Expr a, Expr b) { return compare(Op::eq, a, b); }
Expr ne(Expr a, Expr b) { return compare(Op::ne, a, b); }
Expr lt(Expr a, Expr b) { return compare(Op::lt, a, b); }
Expr le(Expr a, Expr b) { return compare(Op::le, a, b); }

// Bits ------------------------------------------------------------------------------------------------

Expr operator&(Expr a, Expr b) {
  if (a->dtype == DType::bool_) {
    if (as_integer(b)) std::swap(a, b);
    if (const auto v = as_integer(a)) return *v ? b : a;
  }
  return a == b ? a : binary(Op::bit_and, a, b);
}
Expr operator|(Expr a, Expr b) {
  if (a->dtype == DType::bool_) {
    if (as_integer(b)) std::swap(a, b);
    if (const auto v = as_integer(a)) return *v ? a : b;
  }
  return a == b ? a : binary(Op::bit_or, a, b);
}
Expr operator^(Expr a, Expr b) { return binary(Op::bit_xor, a, b); }
Expr operator~(Expr a) {
  if (a->dtype == DType::bool_)
    if (const auto v = as_integer(a)) return boolean(!*v);
  return a->op == Op::bit_not ? a->operands[0] : make(Op::bit_not, a->dtype, {a});
}
Expr shift_left(Expr a, Expr b) { return binary(Op::shift_left, a, b); }
Expr shift_right(Expr a, Expr b) { return binary(Op::shift_right, a, b); }
Expr shift_right_sign(Expr a, Expr b) { return binary(Op::shift_right_sign, a, b); }
Expr shift_left(Expr a, int count) { return shift_left(a, like(a, count)); }
Expr shift_right(Expr a, int count) { return shift_right(a, like(a, count)); }
Expr shift_right_sign(Expr a, int count) { return shift_right_sign(a, like(a, count)); }
Expr population_count(Expr a) { return make(Op::population_count, a->dtype, {a}); }
Expr leading_zeros(Expr a) { return make(Op::leading_zeros, a->dtype, {a}); }

// Choices and conversions -------------------------------------------------------------------------------

Expr select(Expr condition, Expr a, Expr b) {
  internal_check(a->dtype == b->dtype && condition->dtype == DType::bool_, "a select mixes dtypes");
  if (const auto v = as_integer(condition)) return *v ? a : b;
  if (a == b) return a;
  if (is_floating(a->dtype)) return make(Op::select, a->dtype, {condition, a, b});
  return make(Op::select, a->dtype, {condition, a, b},
              {std::min(a->range.lo, b->range.lo), std::max(a->range.hi, b->range.hi)});
}

Expr cast(Expr a, DType dtype) {
  if (a->dtype == dtype) return a;
  if (const auto v = as_real(a)) return constant(dtype, *v);
  if (const auto v = as_integer(a); v && a->dtype != DType::u64) {
    return dispatch(dtype, [&]<class T>() {
      const T value = convert<T>(*v);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      return constant_bits(dtype, bits);
    });
  }
  if (is_floating(dtype)) return make(Op::cast, dtype, {a});
  const Range limits = range_of(dtype);
  const bool fits = !is_floating(a->dtype) && a->dtype != DType::u64 && dtype != DType::bool_ && dtype != DType::u64 &&
                    a->range.inside(limits.lo, limits.hi);
  return make(Op::cast, dtype, {a}, fits ? a->range : limits);
}
Expr bitcast(Expr a, DType dtype) {
  if (a->dtype == dtype) return a;
  if (a->op == Op::constant) return constant_bits(dtype, static_cast<std::uint64_t>(a->bits));
  return make(Op::bitcast, dtype, {a});
}

Expr call(const Function& function, std::vector<Expr> operands) {
  const DType dtype = operands[0]->dtype;
  return current_graph().intern(
      {.op = Op::call, .dtype = dtype, .id = 0, .operands = std::move(operands), .function = &function});
}
Expr patch(Expr condition, Expr value, const Function& function, std::vector<Expr> operands) {
  operands.insert(operands.begin(), {condition, value});
  return current_graph().intern(
      {.op = Op::patch, .dtype = value->dtype, .id = 0, .operands = std::move(operands), .function = &function});
}

}  // namespace cotan::expr
