// Effects happen once each, in the order of the program: in straight code, loops, branches and calls, under every
// transform, on every device.
#include "effects/recorded.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using namespace test_effects;

EFFECTS_ON_DEVICES(Order)

TEST_P(Order, StraightCode) {
  Log log;
  const auto f = ct::jit([&](Array x) {
    log.note("a", x);
    const Array y = x * 2.0;
    log.note("b", y);
    log.note("a", x);  // the same call once more
    return y + 1.0;
  });
  EXPECT_EQ(f(number(3.0f)).item<float>(), 7.0f);
  EXPECT_EQ(log.taken(), "a3 b6 a3 ");
  EXPECT_EQ(f(number(4.0f)).item<float>(), 9.0f);
  EXPECT_EQ(log.taken(), "a4 b8 a4 ");
}

TEST_P(Order, WithoutJit) {
  Log log;
  log.note("a", number(1.0f));
  const Array y = lax::scan(
                      [&](Array c, Array x) {
                        log.note("s", x);
                        return std::pair{c + x, ct::none};
                      },
                      number(0.0f), np::arange(3, ct::f32))
                      .first;
  log.note("b", y);
  EXPECT_EQ(log.taken(), "a1 s0 s1 s2 b3 ");
}

TEST_P(Order, ResultsNobodyReads) {
  Log log;
  const auto f = ct::jit([&](Array x) {
    ct::experimental::io_callback(
        [&](Array v) {
          log.add("io", v);
          return v;
        },
        ct::shape_dtype({}), x);
    log.note("d", np::sin(x) * 0.0);
    return x;
  });
  f(number(1.0f));
  EXPECT_EQ(log.taken(), "io1 d0 ");
}

TEST_P(Order, Scan) {
  Log log;
  const auto f = ct::jit([&](Array xs) {
    log.note("before", xs[0]);
    auto [last, ys] = lax::scan(
        [&](Array c, Array x) {
          log.note("x", x);
          log.note("c", c);
          return std::pair{c + x, c};
        },
        number(0.0f), xs);
    log.note("after", last);
    return ys;
  });
  f(np::arange(1, 4, 1, ct::f32));
  EXPECT_EQ(log.taken(), "before1 x1 c0 x2 c1 x3 c3 after6 ");
}

TEST_P(Order, ReversedAndNestedScans) {
  Log log;
  const auto f = ct::jit([&](Array xs) {
    return lax::scan(
               [&](Array c, Array x) {
                 log.note("o", x);
                 const Array inner = lax::fori_loop(
                     0, 2,
                     [&](Array i, Array d) {
                       log.note("i", i);
                       return d + x;
                     },
                     c);
                 return std::pair{inner, ct::none};
               },
               number(0.0f), xs, {.reverse = true})
        .first;
  });
  EXPECT_EQ(f(np::arange(2, ct::f32)).item<float>(), 2.0f);
  EXPECT_EQ(log.taken(), "o1 i0 i1 o0 i0 i1 ");
}

TEST_P(Order, LongScan) {
  Log log;
  const auto f = ct::jit([&](Array xs) {
    return lax::scan(
               [&](Array c, Array x) {
                 log.note("", x);
                 return std::pair{c + x, ct::none};
               },
               number(0.0f), xs)
        .first;
  });
  EXPECT_EQ(f(np::arange(40, ct::f32)).item<float>(), 780.0f);
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += std::to_string(i) + " ";
  EXPECT_EQ(log.taken(), expected);
}

TEST_P(Order, While) {
  Log log;
  const auto f = ct::jit([&](Array n) {
    return lax::while_loop([](Array c) { return c < 20.0f; },
                           [&](Array c) {
                             log.note("w", c);
                             return c * 2.0;
                           },
                           n);
  });
  EXPECT_EQ(f(number(3.0f)).item<float>(), 24.0f);
  EXPECT_EQ(log.taken(), "w3 w6 w12 ");
  EXPECT_EQ(f(number(30.0f)).item<float>(), 30.0f);
  EXPECT_EQ(log.taken(), "");
}

TEST_P(Order, EffectsInConditions) {
  Log log;
  const auto f = ct::jit([&](Array n) {
    return lax::while_loop(
        [&](Array c) {
          log.note("?", c);
          return c < 20.0f;
        },
        [&](Array c) {
          log.note("w", c);
          return c * 3.0;
        },
        n);
  });
  EXPECT_EQ(f(number(5.0f)).item<float>(), 45.0f);
  EXPECT_EQ(log.taken(), "?5 w5 ?15 w15 ?45 ");
}

TEST_P(Order, Branches) {
  Log log;
  const auto f = ct::jit([&](Array x) {
    const Array y = lax::cond(
        x > 0.0f,
        [&](Array v) {
          log.note("pos", v);
          return v * 2.0;
        },
        [&](Array v) { return v - 1.0; }, x);
    log.note("then", y);
    return y;
  });
  f(number(2.0f));
  EXPECT_EQ(log.taken(), "pos2 then4 ");
  f(number(-2.0f));
  EXPECT_EQ(log.taken(), "then-3 ");
}

TEST_P(Order, BranchesInLoops) {
  Log log;
  const auto f = ct::jit([&](Array n) {
    return lax::fori_loop(
        0, n,
        [&](Array i, Array c) {
          return lax::cond(
              i % 2 == 0,
              [&](Array v) {
                log.note("even", i);
                return v + 1.0;
              },
              [&](Array v) {
                log.note("odd", i);
                return v - 1.0;
              },
              c);
        },
        number(0.0f));
  });
  EXPECT_EQ(f(Array(3)).item<float>(), 1.0f);
  EXPECT_EQ(log.taken(), "even0 odd1 even2 ");
}

TEST_P(Order, NestedJit) {
  Log log;
  const auto inner = ct::jit([&](Array x) {
    log.note("in", x);
    return x + 1.0;
  });
  const auto f = ct::jit([&](Array x) {
    const Array y = inner(x);
    log.note("mid", y);
    return inner(y) + inner(y);
  });
  EXPECT_EQ(f(number(1.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "in1 mid2 in2 in2 ");
  EXPECT_EQ(inner(number(8.0f)).item<float>(), 9.0f);
  EXPECT_EQ(log.taken(), "in8 ");
}
