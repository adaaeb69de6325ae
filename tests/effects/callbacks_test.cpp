// pure_callback, io_callback, debug::print: what they take and give, what they throw, and what they may call.
#include <fmt/format.h>

#include <complex>
#include <iostream>
#include <sstream>
#include <thread>

#include "effects/recorded.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using namespace test_effects;

EFFECTS_ON_DEVICES(Callbacks)

namespace {

Array host_double(const Array& x) {
  std::vector<float> v = x.to_vector<float>();
  for (float& e : v) e *= 2;
  return Array::from_host(v, x.shape());
}
using Floats = std::vector<float>;

/// What is written to std::cout while it lives.
class Printed {
 public:
  Printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Printed() { std::cout.rdbuf(before_); }
  std::string taken() { return std::exchange(text_, std::ostringstream()).str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace

TEST_P(Callbacks, Pure) {
  const auto f = [](Array x) { return ct::pure_callback(host_double, ct::shape_dtype(x.shape()), x + 1.0) * 3.0; };
  const Array x = np::arange(3, ct::f32);
  EXPECT_EQ(f(x).to_vector<float>(), (Floats{6, 12, 18}));
  EXPECT_EQ(ct::jit(f)(x).to_vector<float>(), (Floats{6, 12, 18}));
  const auto in_loop = ct::jit(
      [&](Array x) { return lax::scan([&](Array c, Array v) { return std::pair{f(c + v), c}; }, number(0.0f), x); });
  const auto [last, before] = in_loop(x);
  EXPECT_EQ(last.item<float>(), 306.0f);
  EXPECT_EQ(before.to_vector<float>(), (Floats{0, 6, 48}));
  EXPECT_EQ(ct::jit([&](Array x) { return lax::map(f, x); })(x).to_vector<float>(), (Floats{6, 12, 18}));
}

TEST_P(Callbacks, PureRunsWhereItIsRead) {
  int calls = 0;
  const auto f = ct::jit([&](Array x) {
    const auto call = [&](Array v) {
      ++calls;
      return v;
    };
    const Array unread = ct::pure_callback(call, ct::shape_dtype({}), x);
    return x + ct::pure_callback(call, ct::shape_dtype({}), x * 2.0);
  });
  EXPECT_EQ(f(number(1.0f)).item<float>(), 3.0f);
  EXPECT_EQ(calls, 1);
}

TEST_P(Callbacks, PureOfNothing) {
  const auto f = ct::jit(
      [](Array x) { return x + ct::pure_callback([] { return np::array({1.0f, 2.0f}); }, ct::shape_dtype({2})); });
  EXPECT_EQ(f(np::ones({2})).to_vector<float>(), (Floats{2, 3}));
}

TEST_P(Callbacks, Trees) {
  struct Point {
    Array x, y;
  };
  const Point like{ct::shape_dtype({2}), ct::shape_dtype({}, ct::i32)};
  const auto f = ct::jit([&](std::vector<Array> v) {
    const Point p =
        ct::pure_callback([](const std::vector<Array>& in,
                             double scale) { return Point{np::stack({in[0], in[1]}) * scale, np::array(7, ct::i32)}; },
                          like, v, 10.0);
    return std::pair{p.x, p.y};
  });
  const auto [x, y] = f(std::vector<Array>{number(1.0f), number(2.0f)});
  EXPECT_EQ(x.to_vector<float>(), (Floats{10, 20}));
  EXPECT_EQ(y.item<int>(), 7);
}

TEST_P(Callbacks, VmapMethods) {
  std::vector<std::string> shapes;
  const auto run = [&](const std::string& method) {
    shapes.clear();
    const auto f = [&](Array x, Array y) {
      return ct::pure_callback(
          [&](Array a, Array b) {
            shapes.push_back(ct::describe(a.shape()) + ct::describe(b.shape()));
            return a + b;
          },
          ct::shape_dtype({}), {.vmap_method = method}, x, y);
    };
    const Array out = ct::jit(ct::vmap(f, {.in_axes = {0, ct::none}}))(np::arange(3, ct::f32), number(1.0f));
    EXPECT_EQ(out.to_vector<float>(), (Floats{1, 2, 3})) << method;
    return shapes;
  };
  using Shapes = std::vector<std::string>;
  EXPECT_EQ(run("sequential"), (Shapes{"()()", "()()", "()()"}));
  EXPECT_EQ(run("sequential_unrolled"), (Shapes{"()()", "()()", "()()"}));
  EXPECT_EQ(run("expand_dims"), Shapes{"(3,)(1,)"});
  EXPECT_EQ(run("broadcast_all"), Shapes{"(3,)(3,)"});
  EXPECT_EQ(run("legacy_vectorized"), Shapes{"(3,)()"});
}

TEST_P(Callbacks, ComplexNumbers) {
  const Array z = np::array({1.0f, 2.0f}) + np::array({3.0f, 4.0f}) * std::complex<float>(0, 1);
  const auto f = [](Array z) {
    return ct::pure_callback([](Array v) { return np::conj(v) * 2.0; }, ct::shape_dtype({2}, ct::c64), z);
  };
  const std::vector<std::complex<float>> want{{2, -6}, {4, -8}};
  EXPECT_EQ(f(z).to_vector<std::complex<float>>(), want);
  EXPECT_EQ(ct::jit(f)(z).to_vector<std::complex<float>>(), want);
}

TEST_P(Callbacks, ArraysThatAreKept) {
  std::vector<Array> kept;
  const auto f = ct::jit([&](Array x) {
    ct::debug::callback([&](Array v) { kept.push_back(v); }, x * 2.0);
    return x;
  });
  for (int i = 0; i < 3; ++i) f(np::arange(4, ct::f32) + static_cast<float>(i));
  EXPECT_EQ(kept[0].to_vector<float>(), (Floats{0, 2, 4, 6}));
  EXPECT_EQ(kept[2].to_vector<float>(), (Floats{4, 6, 8, 10}));
}

TEST_P(Callbacks, Exceptions) {
  Log log;
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const auto f = ct::jit([&](Array xs) {
    return lax::scan(
               [&](Array c, Array x) {
                 ct::debug::callback(
                     [&](Array v) {
                       log.add("", v);
                       if (v.item<float>() == 2.0f) throw Mine("two");
                     },
                     x);
                 return std::pair{c + x, ct::none};
               },
               number(0.0f), xs)
        .first;
  });
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(f(np::arange(5, ct::f32)), Mine);
    EXPECT_EQ(log.taken(), "0 1 2 ");  // nothing after it
  }
  EXPECT_EQ(f(np::arange(2, ct::f32)).item<float>(), 1.0f);  // the device works on
  EXPECT_EQ(log.taken(), "0 1 ");
  const auto in_while = ct::jit([&](Array x) {
    return lax::while_loop([](Array c) { return c < 100.0f; },
                           [](Array c) {
                             return ct::pure_callback(
                                 [](Array v) -> Array {
                                   if (v.item<float>() > 5.0f) throw Mine("five");
                                   return v * 2.0;
                                 },
                                 ct::shape_dtype({}), c);
                           },
                           x);
  });
  EXPECT_THROW(in_while(number(1.0f)), Mine);
}

TEST_P(Callbacks, CallsOfCotanInside) {
  Log log;
  const auto g = ct::jit([&](Array x) {
    log.note("g", x);
    return np::sum(np::sin(x) * np::sin(x) + np::cos(x) * np::cos(x));
  });
  const auto f = ct::jit([&](Array x) {
    return ct::pure_callback([&](Array v) { return g(v) + ct::grad([&](Array w) { return np::sum(w * w); })(v)[1]; },
                             ct::shape_dtype({}), x);
  });
  EXPECT_NEAR(f(np::arange(3, ct::f32)).item<float>(), 5.0f, 1e-5f);
  EXPECT_EQ(log.taken(), "g0,1,2 ");
  // By another thread, while this one waits for it.
  const auto waits = ct::jit([&](Array x) {
    return ct::pure_callback(
        [&](Array v) {
          Array out;
          std::thread([&] { out = g(v); }).join();
          return out;
        },
        ct::shape_dtype({}), x);
  });
  EXPECT_NEAR(waits(np::arange(3, ct::f32)).item<float>(), 3.0f, 1e-5f);
}

TEST_P(Callbacks, ManyThreads) {
  std::atomic<int> calls = 0;
  const auto f = ct::jit([&](Array n) {
    return lax::fori_loop(
        0, n,
        [&](Array i, Array c) {
          ct::debug::callback([&](Array) { ++calls; }, i);
          return c + 1.0;
        },
        number(0.0f));
  });
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { EXPECT_EQ(f(Array(5)).item<float>(), 5.0f); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(calls, 20);
}

TEST_P(Callbacks, Print) {
  Printed out;
  const auto f = ct::jit([](Array x, Array n) {
    ct::debug::print("x = {}, {{n}} is {n} of {0}, pi {pi:.2f} {}", x, "text", ct::debug::arg("n", n),
                     ct::debug::arg("pi", 3.14159));
    ct::debug::print("first {:>6.2f}|{:03d}", x[0], n);
    return x;
  });
  f(np::array({1.0f, 2.5f}), np::array(7, ct::i32));
  ct::effects_barrier();
  EXPECT_EQ(out.taken(), "x = [1.  2.5], {n} is 7 of [1.  2.5], pi 3.14 text\nfirst   1.00|007\n");
  ct::debug::print("eager {}", true);
  EXPECT_EQ(out.taken(), "eager true\n");
}

TEST_P(Callbacks, JitDisabled) {
  Log log;
  const auto f = ct::jit([&](Array n) {
    log.add("now", n);  // there are values
    const Array m = lax::while_loop([](Array c) { return c < 10; }, [](Array c) { return c * 2; }, n);
    const auto [last, ys] = lax::scan(
        [&](Array c, Array x) {
          log.add("x", x);
          return std::pair{c + x, c};
        },
        number(0.0f), np::arange(3, ct::f32), {.reverse = true});
    return lax::cond(m > 10, [&](Array v) { return v + ys[0]; }, [](Array v) { return -v; }, last);
  });
  {
    const auto off = ct::disable_jit();
    EXPECT_EQ(f(Array(3)).item<float>(), 6.0f);
    EXPECT_EQ(log.taken(), "now3 x2 x1 x0 ");
    const auto on = ct::disable_jit(false);
    EXPECT_THROW(f(Array(3)), ct::ConcretizationError);
  }
  EXPECT_THROW(f(Array(3)), ct::ConcretizationError);
}

TEST_P(Callbacks, CompileTimeEval) {
  const Array table = np::array({1.0f, 2.0f});
  const auto f = ct::jit([&](Array x) {
    float total;
    {
      const auto now = ct::ensure_compile_time_eval();
      total = np::sum(table * 2.0).item<float>();
      EXPECT_THROW((void)(x * 2.0), ct::Error);
    }
    return x * total;
  });
  EXPECT_EQ(f(number(2.0f)).item<float>(), 12.0f);
}
