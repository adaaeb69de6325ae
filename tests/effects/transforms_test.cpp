// Effects under derivatives, batches and checkpoints: once for each time that the program comes by.
#include "effects/recorded.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using namespace test_effects;

EFFECTS_ON_DEVICES(Transformed)

namespace {
/// x², with a word.
Array noted_square(Log& log, const Array& x) {
  log.note("x", x);
  const Array y = x * x;
  log.note("y", y);
  return y;
}
}  // namespace

TEST_P(Transformed, Gradient) {
  Log log;
  const auto f = [&](Array x) { return noted_square(log, x) * 3.0; };
  EXPECT_EQ(ct::grad(f)(number(2.0f)).item<float>(), 12.0f);
  EXPECT_EQ(log.taken(), "x2 y4 ");
  EXPECT_EQ(ct::jit(ct::grad(f))(number(2.0f)).item<float>(), 12.0f);
  EXPECT_EQ(log.taken(), "x2 y4 ");
  EXPECT_EQ(ct::grad(ct::jit(f))(number(2.0f)).item<float>(), 12.0f);
  EXPECT_EQ(log.taken(), "x2 y4 ");
  EXPECT_EQ(ct::jit(ct::grad(ct::grad(f)))(number(2.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "x2 y4 ");
}

TEST_P(Transformed, Jvp) {
  Log log;
  const auto f = [&](Array x) { return noted_square(log, x); };
  const auto df = ct::jit([&](Array x, Array t) { return ct::jvp(f, std::tuple{x}, std::tuple{t}).second; });
  EXPECT_EQ(df(number(3.0f), number(1.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "x3 y9 ");
}

TEST_P(Transformed, GradientOfScan) {
  Log log;
  const auto f = [&](Array x) {
    return lax::scan(
               [&](Array c, Array i) {
                 log.note("c", c);
                 return std::pair{c * x + i, ct::none};
               },
               number(1.0f), np::arange(3, ct::f32))
        .first;
  };
  EXPECT_EQ(ct::jit(ct::grad(f))(number(2.0f)).item<float>(), 13.0f);
  EXPECT_EQ(log.taken(), "c1 c2 c5 ");
  EXPECT_EQ(ct::grad(ct::jit(f))(number(2.0f)).item<float>(), 13.0f);
  EXPECT_EQ(log.taken(), "c1 c2 c5 ");
  const auto [y, push] = ct::linearize(ct::jit(f), number(2.0f));
  EXPECT_EQ(log.taken(), "c1 c2 c5 ");
  EXPECT_EQ(push(number(1.0f)).item<float>(), 13.0f);
  EXPECT_EQ(log.taken(), "");
}

TEST_P(Transformed, GradientOfBranches) {
  Log log;
  const auto f = [&](Array x) {
    return lax::cond(
        x > 0.0f, [&](Array v) { return noted_square(log, v); },
        [&](Array v) {
          log.note("neg", v);
          return -v;
        },
        x);
  };
  const auto df = ct::jit(ct::grad(f));
  EXPECT_EQ(df(number(3.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "x3 y9 ");
  EXPECT_EQ(df(number(-3.0f)).item<float>(), -1.0f);
  EXPECT_EQ(log.taken(), "neg-3 ");
}

TEST_P(Transformed, ForwardModeOfWhile) {
  Log log;
  const auto f = [&](Array x) {
    return lax::while_loop([](Array c) { return c < 10.0f; },
                           [&](Array c) {
                             log.note("c", c);
                             return c * 2.0;
                           },
                           x);
  };
  const auto df = ct::jit([&](Array x) { return ct::jvp(f, std::tuple{x}, std::tuple{number(1.0f)}).second; });
  EXPECT_EQ(df(number(3.0f)).item<float>(), 4.0f);
  EXPECT_EQ(log.taken(), "c3 c6 ");
  const auto [y, push] = ct::linearize(f, number(3.0f));
  EXPECT_EQ(log.taken(), "c3 c6 ");
  EXPECT_EQ(push(number(1.0f)).item<float>(), 4.0f);
  EXPECT_EQ(log.taken(), "");
}

TEST_P(Transformed, Checkpoint) {
  Log log;
  const auto f = ct::checkpoint([&](Array x) { return np::sin(noted_square(log, x)); });
  ct::jit(ct::grad(f))(number(2.0f));
  EXPECT_EQ(log.taken(), "x2 y4 ");
  ct::grad(ct::jit(f))(number(2.0f));
  EXPECT_EQ(log.taken(), "x2 y4 ");
  const auto loop = [&](Array x) {
    return lax::scan([&](Array c, Array) { return std::pair{f(c), ct::none}; }, x, np::arange(4, ct::f32),
                     {.checkpoint = 2})
        .first;
  };
  ct::jit(ct::grad(loop))(number(0.0f));
  EXPECT_EQ(log.taken(), "x0 y0 x0 y0 x0 y0 x0 y0 ");
}

TEST_P(Transformed, ResultsOfEffectsAreKeptByCheckpoints) {
  Log log;
  const auto f = ct::checkpoint([&](Array x) {
    const Array scale = ct::experimental::io_callback(
        [&](Array v) {
          log.add("io", v);
          return v * 2.0;
        },
        ct::shape_dtype({}), ct::stop_gradient(x));
    return np::sin(x * scale);
  });
  const double want = 8.0 * std::cos(32.0);  // scale is a constant
  EXPECT_NEAR(ct::jit(ct::grad(f))(number(4.0f)).item<float>(), want, 1e-4);
  EXPECT_EQ(log.taken(), "io4 ");
}

TEST_P(Transformed, Batch) {
  Log log;
  const auto f = [&](Array x) { return noted_square(log, x); };
  const Array xs = np::arange(3, ct::f32);
  EXPECT_EQ(ct::vmap(f)(xs).to_vector<float>(), (std::vector<float>{0, 1, 4}));
  EXPECT_EQ(log.taken(), "x0 x1 x2 y0 y1 y4 ");
  EXPECT_EQ(ct::jit(ct::vmap(f))(xs).to_vector<float>(), (std::vector<float>{0, 1, 4}));
  EXPECT_EQ(log.taken(), "x0 x1 x2 y0 y1 y4 ");
  ct::vmap(ct::jit(ct::grad(f)))(xs);
  EXPECT_EQ(log.taken(), "x0 x1 x2 y0 y1 y4 ");
  ct::jit(ct::vmap(ct::vmap(f)))(np::reshape(np::arange(4, ct::f32), {2, 2}));
  EXPECT_EQ(log.taken(), "x0 x1 x2 x3 y0 y1 y4 y9 ");
}

TEST_P(Transformed, BatchOfScan) {
  Log log;
  const auto f = [&](Array x) {
    return lax::scan(
               [&](Array c, Array i) {
                 log.note("c", c);
                 log.note("i", i);  // the same in all lanes
                 return std::pair{c + x, ct::none};
               },
               number(0.0f), np::arange(2, ct::f32))
        .first;
  };
  ct::jit(ct::vmap(f))(np::array({1.0f, 2.0f}));
  EXPECT_EQ(log.taken(), "c0 c0 i0 c1 c2 i1 ");
}

TEST_P(Transformed, LanesThatBranch) {
  Log log;
  const auto f = [&](Array x) {
    const Array y = lax::cond(
        x > 1.0f,
        [&](Array v) {
          log.note("big", v);
          return v * 10.0;
        },
        [&](Array v) {
          log.note("small", v);
          return v;
        },
        x);
    log.note("y", y);
    return y;
  };
  ct::jit(ct::vmap(f))(np::arange(4, ct::f32));
  EXPECT_EQ(log.taken(), "small0 small1 big2 big3 y0 y1 y20 y30 ");
  ct::vmap(f)(np::arange(3, ct::f32));
  EXPECT_EQ(log.taken(), "small0 small1 big2 y0 y1 y20 ");
}

TEST_P(Transformed, LanesThatEnd) {
  Log log;
  const auto f = [&](Array x) {
    const Array y = lax::while_loop([](Array c) { return c < 8.0f; },
                                    [&](Array c) {
                                      log.note("c", c);
                                      return c * 2.0;
                                    },
                                    x);
    log.note("y", y);
    return y;
  };
  const auto run = ct::jit(ct::vmap(f));
  EXPECT_EQ(run(np::array({1.0f, 3.0f, 9.0f})).to_vector<float>(), (std::vector<float>{8, 12, 9}));
  EXPECT_EQ(log.taken(), "c1 c3 c2 c6 c4 y8 y12 y9 ");
  // A loop in a branch.
  const auto in_branch = ct::jit(ct::vmap(
      [&](Array x) { return lax::cond(x > 2.0f, [&](Array v) { return f(v); }, [](Array v) { return v; }, x); }));
  EXPECT_EQ(in_branch(np::array({1.0f, 3.0f})).to_vector<float>(), (std::vector<float>{1, 12}));
  EXPECT_EQ(log.taken(), "c3 c6 y12 ");
}

TEST_P(Transformed, CustomRules) {
  Log log;
  const auto f = ct::custom_jvp(
      [&](Array x) {
        log.note("f", x);
        return x * x;
      },
      [&](auto x, auto t) {
        log.note("rule", std::get<0>(x));
        return std::pair{std::get<0>(x) * std::get<0>(x), 2.0 * std::get<0>(x) * std::get<0>(t)};
      });
  EXPECT_EQ(ct::jit(f)(number(3.0f)).item<float>(), 9.0f);
  EXPECT_EQ(log.taken(), "f3 ");
  EXPECT_EQ(ct::jit(ct::grad(f))(number(3.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "rule3 ");
  EXPECT_EQ(ct::grad(ct::jit(f))(number(3.0f)).item<float>(), 6.0f);
  EXPECT_EQ(log.taken(), "rule3 ");
  ct::jit([&](Array x) { return ct::vmap(ct::jit(f))(x) + 1.0; })(np::arange(2, ct::f32));
  EXPECT_EQ(log.taken(), "f0 f1 ");
  const auto total = [&](Array x) { return np::sum(ct::jit(ct::vmap(f))(x)); };
  EXPECT_EQ(ct::grad(total)(np::arange(2, ct::f32)).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(log.taken(), "rule0 rule1 ");
  const auto clipped = ct::custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair{x, ct::none}; },
                                      [&](ct::None, Array g) {
                                        log.note("cotangent", g);
                                        return np::clip(g, -1.0, 1.0);
                                      });
  EXPECT_EQ(ct::jit(ct::grad([&](Array x) { return 5.0 * clipped(x); }))(number(3.0f)).item<float>(), 1.0f);
  EXPECT_EQ(log.taken(), "cotangent5 ");
}

TEST_P(Transformed, Programs) {
  Log log;
  const auto program = ct::make_jaxpr([&](Array x) { return noted_square(log, x); })(number(1.0f));
  EXPECT_NE(program.str().find("debug_callback"), std::string::npos) << program.str();
  EXPECT_EQ(program.simplified().equations(), 3) << program.simplified();
  EXPECT_EQ(ct::eval_shape([&](Array x) { return noted_square(log, x); })(number(1.0f)).shape(), ct::Shape{});
  EXPECT_EQ(log.taken(), "");
}
