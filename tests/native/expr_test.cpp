// Index expressions: what the builders simplify is worth what was written, lies in the range they say, and
// has the form that makes views free.
#include "expr/expr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "compose/draw.hpp"

namespace cotan::expr {
void PrintTo(const Expr& e, std::ostream* out) { *out << to_string(e); }
}  // namespace cotan::expr

using namespace cotan;
using namespace cotan::expr;
using compose::Draw;

namespace {

/// Values of variables, by node.
using Environment = std::unordered_map<const Node*, std::int64_t>;

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t wrapped(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}
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

/// An integer or bool expression by the letter of expr.hpp; checks every node's range on the way.
class Evaluator {
 public:
  explicit Evaluator(const Environment& variables) : values_(variables) {}

  std::int64_t operator()(Expr e) {
    if (const auto at = values_.find(e.get()); at != values_.end()) return checked(e, at->second);
    std::vector<std::int64_t> x;
    if (e->op != Op::constant && e->op != Op::variable)
      for (Expr operand : e->operands) x.push_back((*this)(operand));
    return values_[e.get()] = checked(e, apply(*e.get(), x));
  }

 private:
  static std::int64_t checked(Expr e, std::int64_t v) {
    EXPECT_TRUE(e->range.contains(v))
        << to_string(e) << " is " << v << ", outside [" << e->range.lo << ", " << e->range.hi << "]";
    return v;
  }
  static std::int64_t apply(const Node& n, const std::vector<std::int64_t>& x) {
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
  Environment values_;
};

/// Calls f with every assignment of the variables, or with `most` random ones.
void for_each_assignment(const std::vector<Expr>& variables, Draw& draw, std::int64_t most,
                         const std::function<void(const Environment&)>& f) {
  std::int64_t all = 1;
  for (Expr v : variables) all *= v->range.hi + 1;
  for (std::int64_t k = 0; k < std::min(all, most); ++k) {
    Environment at;
    std::int64_t rest =
        all <= most ? k : static_cast<std::int64_t>(draw.uniform(0, static_cast<double>(all)));
    for (Expr v : variables) {
      at[v.get()] = rest % (v->range.hi + 1);
      rest /= v->range.hi + 1;
    }
    f(at);
  }
}
bool is_division(Expr e) { return e->op == Op::floor_div || e->op == Op::floor_mod; }
bool holds(Expr e, const std::function<bool(Expr)>& what) {
  return what(e) ||
         std::any_of(e->operands.begin(), e->operands.end(), [&](Expr x) { return holds(x, what); });
}

class Expressions : public testing::Test {
 protected:
  std::vector<Expr> variables(const Shape& extents) {
    std::vector<Expr> out;
    for (auto d : extents) out.push_back(variable(d));
    return out;
  }
  Graph graph_;
  GraphScope scope_{graph_};
};
using Indices = Expressions;
using Ranges = Expressions;
using Simplification = Expressions;

}  // namespace

// Nodes -----------------------------------------------------------------------------------------------

TEST_F(Expressions, EqualOnesAreOneNode) {
  const Expr i = variable(7), j = variable(9);
  EXPECT_EQ(i * integer(9) + j, j + i * integer(9));
  EXPECT_EQ(floor_div(i, 2), floor_div(i, 2));
  EXPECT_EQ(load(3, f32, i + j), load(3, f32, j + i));
  EXPECT_NE(load(3, f32, i), load(4, f32, i));
  EXPECT_NE(load(3, f32, i), load(3, f64, i));
  EXPECT_NE(variable(7), variable(7)) << "each loop has an index of its own";
}
TEST_F(Expressions, DependsOn) {
  const Expr i = variable(7), j = variable(9);
  const Expr e = load(0, f32, floor_div(i + 3, 2));
  EXPECT_TRUE(depends_on(e, i));
  EXPECT_FALSE(depends_on(e, j));
  EXPECT_FALSE(depends_on(i - i, i));
}
TEST_F(Expressions, AffineForm) {
  const Expr i = variable(7), j = variable(9);
  const auto sum = affine_in(i * integer(9) + j + integer(4), i);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->coefficient, 9);
  EXPECT_EQ(sum->rest, j + integer(4));
  EXPECT_EQ(affine_in(j, i)->coefficient, 0);
  EXPECT_EQ(affine_in(i, i)->coefficient, 1);
  EXPECT_EQ(affine_in(j - i, i)->coefficient, -1);
  EXPECT_FALSE(affine_in(floor_div(i, 2), i));
  EXPECT_FALSE(affine_in(i + floor_mod(i, 2), i));
  EXPECT_EQ(affine_in(i + floor_mod(j, 2), i)->rest, floor_mod(j, 2));
}

// Indices of views ------------------------------------------------------------------------------------

TEST_F(Indices, QuotientAndRemainderMakeTheNumberAgain) {
  const Expr i = variable(60), j = variable(7);
  EXPECT_EQ(floor_div(i, 4) * integer(4) + floor_mod(i, 4), i);
  EXPECT_EQ(floor_div(i, 4) * integer(12) + floor_mod(i, 4) * integer(3) + j, i * integer(3) + j);
  const Expr x = i * integer(7) + j;
  EXPECT_EQ(floor_div(x, 7), i);
  EXPECT_EQ(floor_mod(x, 7), j);
  EXPECT_EQ(floor_div(x, 14), floor_div(i, 2));
  EXPECT_EQ(floor_div(floor_div(i, 3), 4), floor_div(i, 12));
  EXPECT_EQ(floor_mod(floor_mod(i, 12), 4), floor_mod(i, 4));
  EXPECT_EQ(floor_div(i, 60), integer(0));
  EXPECT_EQ(floor_mod(i, 60), i);
  EXPECT_EQ(floor_mod(i * integer(4), 2), integer(0));
}
TEST_F(Indices, AnOffsetTakenApartGivesTheIndices) {
  for (const Shape& shape :
       {Shape{5}, Shape{3, 4}, Shape{2, 1, 5}, Shape{1, 1}, Shape{6, 7, 8, 9}, Shape{2, 3, 1, 4, 5}}) {
    const auto index = variables(shape);
    EXPECT_EQ(index_at(shape, offset_of(shape, index)), index) << describe(shape);
  }
}
TEST_F(Indices, AReshapeAndBackIsNothing) {
  const std::vector<Shape> shapes{{24}, {4, 6}, {4, 2, 3}, {3, 8}, {24, 1}, {2, 2, 2, 3}, {8, 3}};
  for (const Shape& from : shapes)
    for (const Shape& to : shapes) {
      const auto index = variables(from);
      const auto there = index_at(to, offset_of(from, index));
      const auto back = index_at(from, offset_of(to, there));
      EXPECT_EQ(back, index) << describe(from) << " to " << describe(to);
    }
}
TEST_F(Indices, TransposesOfReshapesAreAffine) {
  // (b, s, h * d) -> (b, s, h, d) -> (b, h, s, d): the heads of attention.
  const Expr b = variable(2), h = variable(4), s = variable(10), d = variable(8);
  const Expr split = offset_of(Shape{2, 10, 4, 8}, std::vector{b, s, h, d});
  const auto joined = index_at(Shape{2, 10, 32}, split);
  EXPECT_EQ(joined[2], h * integer(8) + d);
  const Expr offset = offset_of(Shape{2, 10, 32}, joined);
  EXPECT_FALSE(holds(offset, is_division)) << to_string(offset);
  // Joined the other way it needs a division, and only by the size of a head.
  const Expr i = variable(40);
  const auto heads = index_at(Shape{4, 10}, i);
  EXPECT_EQ(heads[0], floor_div(i, 10));
  EXPECT_EQ(heads[1], floor_mod(i, 10));
}
TEST_F(Indices, ReversedTwiceIsNothing) {
  const Expr i = variable(9);
  const Expr back = integer(8) - i;
  EXPECT_EQ(integer(8) - back, i);
  EXPECT_EQ(affine_in(back, i)->coefficient, -1);
}
TEST_F(Indices, PaddingPredicatesFold) {
  const Expr i = variable(10), j = variable(10);
  const Expr yes = boolean(true), no = boolean(false);
  EXPECT_EQ(ge(i, integer(0)), yes);
  EXPECT_EQ(lt(i, integer(10)), yes);
  EXPECT_EQ(le(integer(10), i), no);
  EXPECT_EQ(lt(i + integer(3), integer(13)), yes);
  EXPECT_EQ(lt(i - integer(3), integer(-3)), no);
  EXPECT_EQ(lt(i, i + integer(1)), yes);
  EXPECT_EQ(le(i + j, j + i), yes);
  EXPECT_EQ(eq(i, i), yes);
  EXPECT_EQ(ne(i, i), no);
  EXPECT_EQ(eq(i * integer(2), i * integer(2) + integer(1)), no);
  EXPECT_EQ(floor_mod(i * integer(3), 3), integer(0));
  EXPECT_FALSE(as_integer(lt(i, j))) << "depends on both";
  EXPECT_FALSE(as_integer(lt(i, integer(5))));
  // A padding of no width inside a slice that cuts it off again.
  EXPECT_EQ(ge(i, integer(0)) & lt(i, integer(10)), yes);
  EXPECT_EQ(load(0, f32, i, yes), load(0, f32, i));
  EXPECT_EQ(load(0, f32, i, no), constant(f32, 0));
}
TEST_F(Indices, NegativeNumbersAreFloored) {
  const Expr i = variable(20);
  const Expr x = i - integer(10);
  for (const std::int64_t m : {2, 3, 4, 5, 7, 10, 20}) {
    const Expr quotient = floor_div(x, m), rest = floor_mod(x, m);
    for (std::int64_t v = 0; v < 20; ++v) {
      const Environment at{{i.get(), v}};
      EXPECT_EQ(Evaluator(at)(quotient), floored(v - 10, m));
      EXPECT_EQ(Evaluator(at)(rest), v - 10 - floored(v - 10, m) * m);
    }
  }
  EXPECT_EQ(floor_div(x, 10), floor_div(i, 10) - integer(1));
  EXPECT_EQ(floor_mod(integer(-1), 8), integer(7));
  EXPECT_EQ(floor_div(integer(-1), 8), integer(-1));
}

// Ranges ----------------------------------------------------------------------------------------------

TEST_F(Ranges, OfSumsAndDivisions) {
  const Expr i = variable(10), j = variable(4);
  const auto is = [](Expr e, std::int64_t lo, std::int64_t hi) {
    return e->range.lo == lo && e->range.hi == hi;
  };
  EXPECT_TRUE(is(i * integer(4) + j, 0, 39));
  EXPECT_TRUE(is(j - i, -9, 3));
  EXPECT_TRUE(is(floor_div(i, 3), 0, 3));
  EXPECT_TRUE(is(floor_mod(i, 3), 0, 2));
  EXPECT_TRUE(is(min(i, j), 0, 3));
  EXPECT_TRUE(is(max(i, j), 0, 9));
  EXPECT_TRUE(is(cast(i, i32), 0, 9));
  EXPECT_TRUE(is(select(lt(i, j), i, integer(-5)), -5, 9));
}
TEST_F(Ranges, SumsThatMayWrapAreNotTrusted) {
  const Expr x = load(0, i64, integer(0));
  EXPECT_FALSE(as_integer(lt(x, x + integer(1)))) << "wraps for the largest number";
  const Expr i = variable(4);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() - 1;
  const Expr wraps = i + integer(huge);
  EXPECT_FALSE(as_integer(lt(integer(0), wraps)));
  const Expr scaled = i * integer(std::int64_t{1} << 62);
  for (std::int64_t v = 0; v < 4; ++v) {
    const Environment at{{i.get(), v}};
    EXPECT_EQ(Evaluator(at)(wraps), wrapped(huge, v, 1));
    EXPECT_EQ(Evaluator(at)(scaled), wrapped(0, v, std::int64_t{1} << 62));
    EXPECT_EQ(Evaluator(at)(floor_div(scaled, 8)), floored(wrapped(0, v, std::int64_t{1} << 62), 8));
  }
}
TEST_F(Ranges, OfLoadedElements) {
  EXPECT_EQ(lt(load(0, u8, integer(0)), constant(u8, 0)), boolean(false));
  EXPECT_FALSE(as_integer(lt(load(0, i8, integer(0)), constant(i8, 0))));
  const Expr index = cast(load(0, u8, integer(0)), i64);
  EXPECT_EQ(lt(index, integer(256)), boolean(true));
  EXPECT_FALSE(as_integer(lt(index, integer(255))));
  // Unsigned 64-bit numbers do not fit the ranges: nothing is known of them.
  const Expr big = constant_bits(u64, ~std::uint64_t{0});
  EXPECT_FALSE(as_integer(lt(load(0, u64, integer(0)), constant(u64, 0))) == std::optional<std::int64_t>(1));
  EXPECT_FALSE(as_integer(lt(big, constant(u64, 1))) == std::optional<std::int64_t>(1));
  EXPECT_FALSE(as_integer(max(big, constant(u64, 1))) == std::optional<std::int64_t>(1));
}

// Identities ------------------------------------------------------------------------------------------

TEST_F(Simplification, OfConditions) {
  const Expr c = lt(variable(10), integer(5)), yes = boolean(true), no = boolean(false);
  EXPECT_EQ(c & yes, c);
  EXPECT_EQ(no & c, no);
  EXPECT_EQ(c | no, c);
  EXPECT_EQ(yes | c, yes);
  EXPECT_EQ(c & c, c);
  EXPECT_EQ(~~c, c);
  EXPECT_EQ(~no, yes);
  const Expr x = load(0, f32, integer(0)), y = load(1, f32, integer(0));
  EXPECT_EQ(select(yes, x, y), x);
  EXPECT_EQ(select(no, x, y), y);
  EXPECT_EQ(select(c, x, x), x);
}
TEST_F(Simplification, FloatingArithmeticIsLeftAlone) {
  const Expr x = load(0, f32, integer(0));
  EXPECT_EQ((x + 0.0)->op, Op::add) << "-0 + 0 is +0";
  EXPECT_EQ((x * 0.0)->op, Op::mul) << "NaN * 0 is NaN";
  EXPECT_EQ((x - x)->op, Op::sub);
  EXPECT_EQ(eq(x, x)->op, Op::eq) << "false for NaN";
  EXPECT_EQ(lt(x, x)->op, Op::lt);
}
TEST_F(Simplification, ConstantsAreCastByValue) {
  EXPECT_EQ(cast(constant(f32, 300), u8), constant_bits(u8, 255)) << "saturates";
  EXPECT_EQ(cast(constant(f32, -1.5), i32), constant(i32, -1));
  EXPECT_EQ(cast(constant(f64, std::nan("")), i32), constant(i32, 0));
  EXPECT_EQ(cast(integer(-1), u8), constant_bits(u8, 255)) << "wraps";
  EXPECT_EQ(cast(integer(3), f32), constant(f32, 3));
  EXPECT_EQ(cast(integer(2), bool_), boolean(true));
  EXPECT_EQ(as_real(cast(constant(f32, 0.1), f16)), 0.0999755859375);
}

// Random expressions ----------------------------------------------------------------------------------

namespace {

/// An expression as it was written, beside what the builders made of it.
struct Written {
  Expr built;
  std::function<std::int64_t(const Environment&)> value;
};

class RandomExpression {
 public:
  RandomExpression(Draw& draw, const std::vector<Expr>& variables) : draw_(draw), variables_(variables) {}

  Written index(int depth) {
    if (depth == 0 || draw_.one_in(8)) {
      if (draw_.one_in(4)) return constant(draw_.between(-12, 12));
      const Expr v = draw_.pick(variables_);
      if (const auto c = as_integer(v)) return constant(*c);
      return {v, [v](const Environment& at) { return at.at(v.get()); }};
    }
    const Written a = index(depth - 1);
    const std::int64_t m = draw_.pick(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 8, 12, 16, 24});
    switch (draw_.below(9)) {
      case 0:
      case 1: {
        const Written b = index(depth - 1);
        return {a.built + b.built, [a, b](const Environment& at) { return a.value(at) + b.value(at); }};
      }
      case 2: {
        const Written b = index(depth - 1);
        return {a.built - b.built, [a, b](const Environment& at) { return a.value(at) - b.value(at); }};
      }
      case 3: {
        const std::int64_t c = draw_.one_in(4) ? -m : m;
        return {a.built * integer(c), [a, c](const Environment& at) { return a.value(at) * c; }};
      }
      case 4:
      case 5:
        return {floor_div(a.built, m), [a, m](const Environment& at) { return floored(a.value(at), m); }};
      case 6:
      case 7:
        return {floor_mod(a.built, m), [a, m](const Environment& at) {
                  const std::int64_t v = a.value(at);
                  return v - floored(v, m) * m;
                }};
      default: {
        const Written b = index(depth - 1);
        if (draw_.one_in(3)) {
          const Written c = condition(1);
          return {select(c.built, a.built, b.built),
                  [=](const Environment& at) { return c.value(at) ? a.value(at) : b.value(at); }};
        }
        if (draw_.one_in(2))
          return {min(a.built, b.built),
                  [=](const Environment& at) { return std::min(a.value(at), b.value(at)); }};
        return {max(a.built, b.built),
                [=](const Environment& at) { return std::max(a.value(at), b.value(at)); }};
      }
    }
  }
  Written condition(int depth) {
    if (depth > 0 && draw_.one_in(3)) {
      const Written a = condition(depth - 1), b = condition(depth - 1);
      if (draw_.one_in(3)) return {~a.built, [a](const Environment& at) { return !a.value(at); }};
      if (draw_.one_in(2))
        return {a.built & b.built, [=](const Environment& at) { return a.value(at) & b.value(at); }};
      return {a.built | b.built, [=](const Environment& at) { return a.value(at) | b.value(at); }};
    }
    const Written a = index(depth), b = index(depth);
    switch (draw_.below(4)) {
      case 0:
        return {lt(a.built, b.built), [=](const Environment& at) { return a.value(at) < b.value(at); }};
      case 1:
        return {le(a.built, b.built), [=](const Environment& at) { return a.value(at) <= b.value(at); }};
      case 2:
        return {eq(a.built, b.built), [=](const Environment& at) { return a.value(at) == b.value(at); }};
      default:
        return {ne(a.built, b.built), [=](const Environment& at) { return a.value(at) != b.value(at); }};
    }
  }

 private:
  static Written constant(std::int64_t c) {
    return {integer(c), [c](const Environment&) { return c; }};
  }
  Draw& draw_;
  const std::vector<Expr>& variables_;
};

int programs() {
  const char* nightly = std::getenv("COTAN_NIGHTLY");
  return nightly && *nightly && *nightly != '0' ? 100000 : 2000;
}

}  // namespace

TEST_F(Simplification, RandomExpressionsKeepTheirValues) {
  for (int seed = 0; seed < programs() && !HasFailure(); ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    Draw draw(static_cast<std::uint64_t>(seed));
    std::vector<Expr> loops;
    for (int k = draw.between(1, 3); k > 0; --k) loops.push_back(variable(draw.between(2, 13)));
    RandomExpression random(draw, loops);
    const Written e = draw.one_in(3) ? random.condition(3) : random.index(draw.between(2, 5));
    for_each_assignment(loops, draw, 300, [&](const Environment& at) {
      EXPECT_EQ(Evaluator(at)(e.built), e.value(at)) << "seed " << seed << ": " << to_string(e.built);
    });
  }
}
TEST_F(Simplification, SubstitutionKeepsValues) {
  for (int seed = 0; seed < programs() && !HasFailure(); ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    Draw draw(static_cast<std::uint64_t>(seed) + 1'000'000);
    const std::vector<Expr> loops{variable(draw.between(2, 9)), variable(draw.between(2, 9))};
    RandomExpression random(draw, loops);
    const Written e = random.index(4);
    // As when a loop is split, or two are merged.
    const std::int64_t inner = draw.between(1, 4), outer = draw.between(1, 4);
    const Expr i = variable(outer), j = variable(inner);
    Substitution map{{loops[0].get(), floor_mod(i * integer(inner) + j, loops[0]->range.hi + 1)}};
    const Expr changed = substitute(e.built, map);
    EXPECT_FALSE(depends_on(changed, loops[0]));
    std::vector<Expr> open{loops[1]};
    for (Expr v : {i, j})
      if (v->op == Op::variable) open.push_back(v);
    for_each_assignment(open, draw, 200, [&](const Environment& at) {
      Environment before = at;
      const auto value = [&](Expr v) { return v->op == Op::variable ? at.at(v.get()) : 0; };
      before[loops[0].get()] = (value(i) * inner + value(j)) % (loops[0]->range.hi + 1);
      EXPECT_EQ(Evaluator(at)(changed), e.value(before)) << "seed " << seed << ": " << to_string(e.built);
    });
  }
}
TEST_F(Simplification, AffineFormsKeepValues) {
  for (int seed = 0; seed < programs() && !HasFailure(); ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    Draw draw(static_cast<std::uint64_t>(seed) + 2'000'000);
    const std::vector<Expr> loops{variable(6), variable(7)};
    RandomExpression random(draw, loops);
    const Written e = random.index(3);
    const auto affine = affine_in(e.built, loops[0]);
    if (!affine) continue;
    EXPECT_FALSE(depends_on(affine->rest, loops[0]));
    for_each_assignment(loops, draw, 50, [&](const Environment& at) {
      EXPECT_EQ(affine->coefficient * at.at(loops[0].get()) + Evaluator(at)(affine->rest), e.value(at))
          << "seed " << seed << ": " << to_string(e.built);
    });
  }
}
TEST_F(Simplification, ChainsOfViewsKeepTheirElements) {
  // Reshapes, transposes, reversals and slices of an array that holds its own offsets, against doing it by
  // hand.
  for (int seed = 0; seed < programs() / 4 && !HasFailure(); ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    Draw draw(static_cast<std::uint64_t>(seed) + 3'000'000);
    Shape shape;
    for (int k = draw.between(1, 3); k > 0; --k) shape.push_back(draw.between(1, 6));
    const Shape source = shape;
    std::vector<std::function<std::vector<Expr>(const std::vector<Expr>&)>> chain;  // outermost last
    std::vector<std::int64_t> elements(static_cast<std::size_t>(AbstractValue{i64, shape}.size()));
    for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = static_cast<std::int64_t>(k);
    for (int step = draw.between(1, 5); step > 0; --step) {
      const Shape from = shape;
      std::vector<std::int64_t> next;
      Shape to = from;
      std::function<Shape(const Shape&)> source_of;  // index of `to` -> index of `from`
      switch (draw.below(3)) {
        case 0: {  // reverse an axis
          const auto axis = static_cast<std::size_t>(draw.below(static_cast<int>(from.size())));
          chain.push_back([=](std::vector<Expr> i) {
            i[axis] = integer(from[axis] - 1) - i[axis];
            return i;
          });
          source_of = [=](Shape i) {
            i[axis] = from[axis] - 1 - i[axis];
            return i;
          };
          break;
        }
        case 1: {  // swap two axes
          const auto a = static_cast<std::size_t>(draw.below(static_cast<int>(from.size())));
          const auto b = static_cast<std::size_t>(draw.below(static_cast<int>(from.size())));
          std::swap(to[a], to[b]);
          const auto swapped = [=](auto i) {
            std::swap(i[a], i[b]);
            return i;
          };
          chain.push_back(swapped);
          source_of = swapped;
          break;
        }
        default: {  // reshape
          std::int64_t rest = AbstractValue{i64, from}.size();
          to.clear();
          while (rest > 1) {
            std::vector<std::int64_t> factors;
            for (std::int64_t d = 2; d <= rest; ++d)
              if (rest % d == 0) factors.push_back(d);
            to.push_back(draw.pick(factors));
            rest /= to.back();
          }
          if (to.empty()) to.push_back(1);
          chain.push_back([=](const std::vector<Expr>& i) { return index_at(from, offset_of(to, i)); });
          source_of = [=](const Shape& i) {
            std::int64_t offset = 0;
            for (std::size_t k = 0; k < to.size(); ++k) offset = offset * to[k] + i[k];
            Shape out(from.size());
            for (std::size_t k = from.size(); k-- > 0; offset /= from[k]) out[k] = offset % from[k];
            return out;
          };
        }
      }
      for (std::size_t n = 0; n < elements.size(); ++n) {
        Shape i(to.size());
        auto rest = static_cast<std::int64_t>(n);
        for (std::size_t k = to.size(); k-- > 0; rest /= to[k]) i[k] = rest % to[k];
        const Shape at = source_of(i);
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < from.size(); ++k) offset = offset * from[k] + at[k];
        next.push_back(elements[static_cast<std::size_t>(offset)]);
      }
      elements = next;
      shape = to;
    }
    const auto loops = variables(shape);
    std::vector<Expr> index = loops;
    for (std::size_t k = chain.size(); k-- > 0;) index = chain[k](index);
    const Expr offset = offset_of(source, index);
    for (std::size_t n = 0; n < elements.size(); ++n) {
      Environment at;
      auto rest = static_cast<std::int64_t>(n);
      for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k])
        if (loops[k]->op == Op::variable) at[loops[k].get()] = rest % shape[k];
      EXPECT_EQ(Evaluator(at)(offset), elements[n]) << "seed " << seed << ": " << to_string(offset);
    }
  }
}
