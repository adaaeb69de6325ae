// Random index expressions: what the builders make of one has the values of what was written, for every
// index.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "compose/draw.hpp"
#include "native/index_evaluator.hpp"
#include "support/nightly.hpp"

using namespace cotan;
using namespace cotan::expr;
using namespace expr_test;
using compose::Draw;

namespace {

/// Calls f with every assignment of the variables, or with `most` random ones.
void for_each_assignment(const std::vector<Expr>& variables, Draw& draw, std::int64_t most,
                         const std::function<void(const Environment&)>& f) {
  std::int64_t all = 1;
  for (Expr v : variables) all *= v->range.hi + 1;
  for (std::int64_t k = 0; k < std::min(all, most); ++k) {
    Environment at;
    std::int64_t rest = all <= most ? k : static_cast<std::int64_t>(draw.uniform(0, static_cast<double>(all)));
    for (Expr v : variables) {
      at[v.get()] = rest % (v->range.hi + 1);
      rest /= v->range.hi + 1;
    }
    f(at);
  }
}

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
          return {min(a.built, b.built), [=](const Environment& at) { return std::min(a.value(at), b.value(at)); }};
        return {max(a.built, b.built), [=](const Environment& at) { return std::max(a.value(at), b.value(at)); }};
      }
    }
  }
  Written condition(int depth) {
    if (depth > 0 && draw_.one_in(3)) {
      const Written a = condition(depth - 1), b = condition(depth - 1);
      if (draw_.one_in(3)) return {~a.built, [a](const Environment& at) { return !a.value(at); }};
      if (draw_.one_in(2)) return {a.built & b.built, [=](const Environment& at) { return a.value(at) & b.value(at); }};
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

int programs() { return is_nightly() ? 100000 : 2000; }

}  // namespace

TEST(RandomExpressions, KeepTheirValues) {
  for (int seed = 0; seed < programs() && !testing::Test::HasFailure(); ++seed) {
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
TEST(RandomExpressions, KeepThemUnderSubstitution) {
  for (int seed = 0; seed < programs() && !testing::Test::HasFailure(); ++seed) {
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
TEST(RandomExpressions, KeepThemInAffineForm) {
  for (int seed = 0; seed < programs() && !testing::Test::HasFailure(); ++seed) {
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

namespace {

/// A view of a small array, as indices into its source and as elements.
struct View {
  Shape shape;
  std::function<std::vector<Expr>(std::vector<Expr>)> source_index;
  std::vector<std::int64_t> elements;
};
std::int64_t size_of(const Shape& shape) { return AbstractValue{i64, shape}.size(); }
std::int64_t number_of(const Shape& shape, const Shape& index) {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) n = n * shape[k] + index[k];
  return n;
}
Shape index_of(const Shape& shape, std::int64_t n) {
  Shape index(shape.size());
  for (std::size_t k = shape.size(); k-- > 0; n /= shape[k]) index[k] = n % shape[k];
  return index;
}
/// `view` seen through another index: `expressions` and `numbers` are the same function of it.
template <class F>
View through(const View& view, const Shape& shape, F f) {
  View out{shape, [=](std::vector<Expr> i) { return view.source_index(f(std::move(i))); }, {}};
  for (std::int64_t n = 0; n < size_of(shape); ++n)
    out.elements.push_back(view.elements[static_cast<std::size_t>(number_of(view.shape, f(index_of(shape, n))))]);
  return out;
}
View reshaped(const View& view, const Shape& shape) {
  return {shape,
          [=](const std::vector<Expr>& i) { return view.source_index(index_at(view.shape, offset_of(shape, i))); },
          view.elements};
}
View random_view(const View& view, Draw& draw) {
  const Shape& shape = view.shape;
  const auto axis = static_cast<std::size_t>(draw.below(static_cast<int>(shape.size())));
  const auto other = static_cast<std::size_t>(draw.below(static_cast<int>(shape.size())));
  const std::int64_t last = shape[axis] - 1;
  switch (draw.below(4)) {
    case 0:
      return through(view, shape, [=](auto i) {
        if constexpr (std::is_same_v<decltype(i), Shape>)
          i[axis] = last - i[axis];
        else
          i[axis] = integer(last) - i[axis];
        return i;
      });
    case 1: {
      Shape swapped = shape;
      std::swap(swapped[axis], swapped[other]);
      return through(view, swapped, [=](auto i) {
        std::swap(i[axis], i[other]);
        return i;
      });
    }
    case 2: {
      const std::int64_t start = draw.below(static_cast<int>(shape[axis])), step = draw.between(1, 2);
      Shape sliced = shape;
      sliced[axis] = (last - start) / step + 1;
      return through(view, sliced, [=](auto i) {
        if constexpr (std::is_same_v<decltype(i), Shape>)
          i[axis] = start + step * i[axis];
        else
          i[axis] = integer(start) + i[axis] * integer(step);
        return i;
      });
    }
    default: {
      Shape factors;
      for (std::int64_t rest = size_of(shape); rest > 1; rest /= factors.back()) {
        std::vector<std::int64_t> divisors;
        for (std::int64_t d = 2; d <= rest; ++d)
          if (rest % d == 0) divisors.push_back(d);
        factors.push_back(draw.pick(divisors));
      }
      return reshaped(view, factors.empty() ? Shape{1} : factors);
    }
  }
}

}  // namespace

TEST(RandomViews, FindTheirElements) {
  for (int seed = 0; seed < programs() / 2 && !testing::Test::HasFailure(); ++seed) {
    Graph graph;
    const GraphScope scope(graph);
    Draw draw(static_cast<std::uint64_t>(seed) + 3'000'000);
    Shape source;
    for (int k = draw.between(1, 3); k > 0; --k) source.push_back(draw.between(1, 6));
    View view{source, [](std::vector<Expr> i) { return i; }, {}};
    for (std::int64_t n = 0; n < size_of(source); ++n) view.elements.push_back(n);
    for (int steps = draw.between(1, 5); steps > 0; --steps) view = random_view(view, draw);

    std::vector<Expr> loops;
    for (auto d : view.shape) loops.push_back(variable(d));
    const Expr offset = offset_of(source, view.source_index(loops));
    for (std::int64_t n = 0; n < size_of(view.shape); ++n) {
      Environment at;
      const Shape index = index_of(view.shape, n);
      for (std::size_t k = 0; k < loops.size(); ++k)
        if (loops[k]->op == Op::variable) at[loops[k].get()] = index[k];
      EXPECT_EQ(Evaluator(at)(offset), view.elements[static_cast<std::size_t>(n)])
          << "seed " << seed << ": " << to_string(offset);
    }
  }
}
