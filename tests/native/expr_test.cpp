// Index expressions: what the builders simplify is worth what was written, lies in the range they say, and
// has the form that makes views free.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "native/index_evaluator.hpp"

using namespace cotan;
using namespace cotan::expr;
using namespace expr_test;

namespace {

bool is_division(Expr e) { return e->op == Op::floor_div || e->op == Op::floor_mod; }
bool holds(Expr e, const std::function<bool(Expr)>& what) {
  return what(e) || std::any_of(e->operands.begin(), e->operands.end(), [&](Expr x) { return holds(x, what); });
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
  const auto is = [](Expr e, std::int64_t lo, std::int64_t hi) { return e->range.lo == lo && e->range.hi == hi; };
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
