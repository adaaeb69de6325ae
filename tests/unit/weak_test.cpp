// C++ numbers take the width of what they meet, with all their bits: outside programs, inside them, through arithmetic,
// loops and derivatives. Every value here is compared with doubles in C++, to the last bit where nothing else rounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

Array three() { return np::full({1}, 3.0, f64); }
double only(const Array& a) { return a.reshape({1})[0].item<double>(); }
void expect_f64(const Array& a, double want, double relative = 4e-16) {
  EXPECT_EQ(a.dtype(), f64);
  EXPECT_NEAR(only(a), want, std::abs(want) * relative);
}

}  // namespace

TEST(TrialsWeak, Arithmetic) {
  const Array rate = 0.1;
  expect_f64(three() * -rate, -0.3);
  expect_f64(three() * (rate * 2.0), 0.6);
  expect_f64(three() * np::exp(rate), 3 * std::exp(0.1));
  expect_f64(three() * np::power(0.999, np::array(7)), 3 * std::pow(0.999, 7));
  EXPECT_EQ((rate * 2.0).dtype(), f32);
  EXPECT_TRUE((rate * 2.0).weak_type());
  EXPECT_EQ((np::full({1}, 3.0) * -rate).dtype(), f32);
  EXPECT_EQ(only(np::nextafter(1.0, 2.0)), std::nextafter(1.f, 2.f));
}

TEST(TrialsWeak, ArgumentsOfJit) {
  expect_f64(jit([](Array x, Array t) { return x * t; })(three(), 0.1), 0.3);
  expect_f64(jit([](Array x, Array t) { return x * -t; })(three(), 0.1), -0.3);
  expect_f64(jit([](Array x, Array t) { return x / (1.0 - np::power(0.999, t)); })(three(), 1.0), 3 / (1 - 0.999));
  expect_f64(jit([](Array x, Array t) { return x * np::power(0.999, t); })(three(), np::array(7)),
             3 * std::pow(0.999, 7));
  expect_f64(jit([](Array x, Array t) { return jit([](Array y, Array s) { return y * np::sin(s); })(x, t * 2.0); })(
                 three(), 0.1),
             3 * std::sin(0.2));
  // A program is traced once for all values, and each comes whole.
  int traced = 0;
  const auto f = jit([&](Array x, Array t) { return ++traced, x * t; });
  for (const double t : {0.1, 0.2, 0.7}) expect_f64(f(three(), t), 3 * t);
  EXPECT_LE(traced, 2);
}

// Rules of the user's see numbers as they are, wherever the call is traced.
TEST(TrialsWeak, ArgumentsOfCustomRules) {
  const auto by_vjp = custom_vjp([](Array x, Array t) { return x * t; },
                                 [](Array x, Array t) { return std::pair{x * t, std::pair{x, t}}; },
                                 [](const std::pair<Array, Array>& kept, Array ct) {
                                   return std::tuple{ct * kept.second, np::sum(ct * kept.first)};
                                 });
  const auto by_jvp = custom_jvp([](Array x, Array t) { return x * t; },
                                 [](const std::tuple<Array, Array>& at, const std::tuple<Array, Array>& by) {
                                   const auto& [x, t] = at;
                                   const auto& [dx, dt] = by;
                                   return std::pair{x * t, dx * t + x * dt};
                                 });
  const auto check = [](const auto& f) {
    const auto of_x = [&](Array x) { return f(x, 0.1); };
    const auto summed = [&](Array x) { return np::sum(f(x, 0.1)); };
    expect_f64(of_x(three()), 0.3);
    expect_f64(jit(of_x)(three()), 0.3);
    expect_f64(vmap(of_x)(three()), 0.3);
    expect_f64(jit([&](Array x, Array t) { return f(x, t); })(three(), 0.1), 0.3);
    expect_f64(grad(summed)(three()), 0.1);
    expect_f64(jit(grad(summed))(three()), 0.1);
    expect_f64(grad(jit(summed))(three()), 0.1);
    expect_f64(vmap(grad(of_x))(three()), 0.1);
    EXPECT_EQ(jit(of_x)(np::full({1}, 3.0)).dtype(), f32);
  };
  check(by_vjp);
  check(by_jvp);
}
TEST(TrialsWeak, ArgumentsOfCallsWithOtherRules) {
  const auto lanes = custom_batching::sequential_vmap([](Array x, Array t) { return x * t; });
  expect_f64(jit([&](Array x) { return lanes(x, 0.1); })(three()), 0.3);
  expect_f64(jit([&](Array x) { return vmap([&](Array y) { return lanes(y, 0.1); })(x); })(three()), 0.3);
  const auto linear = [](Array x) {
    return custom_derivatives::linear_call([](Array t, Array v) { return v * t; },
                                           [](Array t, Array ct) { return ct * t; }, Array(0.1), x);
  };
  expect_f64(linear(three()), 0.3);
  expect_f64(jit(linear)(three()), 0.3);
  expect_f64(grad([&](Array x) { return np::sum(linear(x)); })(three()), 0.1);
}
TEST(TrialsWeak, GuessesOfRoots) {
  const auto root = [](Array a) {
    return lax::custom_root([&](Array y) { return y * y - a; }, 1.0,
                            [](const auto& f, Array y) {
                              return lax::fori_loop(0, 8, [&](Array, Array z) { return z - f(z) / (2.0 * z); }, y);
                            },
                            [](const auto& g, Array y) { return y / g(np::ones_like(y)); });
  };
  expect_f64(root(np::full({}, 2.0, f64)), std::sqrt(2.0));
  expect_f64(jit(root)(np::full({}, 2.0, f64)), std::sqrt(2.0));
  expect_f64(grad(root)(np::full({}, 2.0, f64)), 0.5 / std::sqrt(2.0));
  EXPECT_EQ(root(np::full({}, 2.0)).dtype(), f32);
}

TEST(TrialsWeak, NarrowWhereNothingIsWide) {
  const auto f = jit([](Array x, Array t) { return x * t; });
  EXPECT_EQ(f(np::full({1}, 3.0), 0.1).dtype(), f32);
  EXPECT_EQ(only(f(np::full({1}, 3.0), 0.1)), 3.f * 0.1f);
  const auto both =
      jit([](Array x, Array y, Array t) { return std::pair{x * t, y * t}; })(three(), np::full({1}, 3.0), 0.1);
  expect_f64(both.first, 0.3);
  EXPECT_EQ(both.second.dtype(), f32);
  EXPECT_EQ(only(both.second), 3.f * 0.1f);
  const Array alone = jit([](Array x, Array t) { return std::pair{x * t, t * 2}; })(three(), 0.1).second;
  EXPECT_EQ(alone.dtype(), f32);
  // f64 comes in only where the user has it.
  const std::string program = make_jaxpr([](Array x, Array t) { return x * -t; })(np::full({1}, 3.0), 0.1).str();
  EXPECT_EQ(program.find("f64"), std::string::npos) << program;
}

TEST(TrialsWeak, Derivatives) {
  const Array x = three();
  const auto f = [&](Array s) { return x * np::sin(s); };
  const auto [y, ty] = jvp(f, std::tuple{Array(0.1)}, std::tuple{Array(1.0)});
  expect_f64(y, 3 * std::sin(0.1));
  expect_f64(ty, 3 * std::cos(0.1));
  const auto [value, slope] = value_and_grad([&](Array s, Array w) { return np::sum(w * np::sin(s)); })(Array(0.1), x);
  expect_f64(value, 3 * std::sin(0.1));
  EXPECT_NEAR(slope.item<double>(), 3 * std::cos(0.1), 2e-7);  // of a weak argument: f32
  expect_f64(jit(grad<1>([](Array s, Array w) { return np::sum(w * np::sin(s)); }))(Array(0.1), x), std::sin(0.1));
  expect_f64(grad<1>(checkpoint([](Array s, Array w) { return np::sum(w * np::sin(s)); }))(Array(0.1), x),
             std::sin(0.1));
}

TEST(TrialsWeak, Loops) {
  using Carry = std::pair<Array, Array>;
  const double product = 3 * 0.1 * (0.1 + 0.1) * (0.1 + 0.1 + 0.1);
  const auto step = [](const Carry& c) { return Carry{c.first * c.second, c.second + 0.1}; };
  const auto run = [&](Array x) {
    return lax::scan([&](Carry c, Array) { return std::pair{step(c), c.second}; }, Carry{x, 0.1}, np::zeros({3}));
  };
  expect_f64(run(three()).first.first, product, 8e-16);
  EXPECT_EQ(run(three()).first.second.dtype(), f32);
  EXPECT_TRUE(run(three()).first.second.weak_type());
  expect_f64(jit(run)(three()).first.first, product, 8e-16);
  expect_f64(lax::while_loop([](Carry c) { return c.second < 0.35; }, step, Carry{three(), 0.1}).first, product, 8e-16);
  expect_f64(lax::fori_loop(0, 3, [&](Array, Carry c) { return step(c); }, Carry{three(), 0.1}).first, product, 8e-16);
  const auto captured = jit([](Array x, Array s) {
    return lax::scan([&](Array c, Array) { return std::pair{c * s, none}; }, x, np::zeros({2})).first;
  });
  expect_f64(captured(three(), 0.1), 3 * 0.1 * 0.1, 8e-16);
}

TEST(TrialsWeak, Branches) {
  const auto times = [](Array x, Array s) { return x * s; };
  const auto plus = [](Array x, Array s) { return x + s; };
  for (const bool which : {true, false}) {
    const double want = which ? 0.3 : 3.1;
    expect_f64(lax::cond(Array(which), times, plus, three(), Array(0.1)), want);
    expect_f64(
        jit([&](Array p, Array x, Array s) { return lax::cond(p, times, plus, x, s); })(np::array(which), three(), 0.1),
        want);
  }
}

TEST(TrialsWeak, LongChains) {
  const auto f = jit([](Array x, Array t) {
    for (int i = 0; i < 3000; ++i) t = t * 0.999;
    return x * t;
  });
  double t = 0.1;
  for (int i = 0; i < 3000; ++i) t *= 0.999;
  expect_f64(f(three(), 0.1), 3 * t, 1e-12);
}

TEST(TrialsWeak, SecondDerivativesOfHypot) {
  // d2 hypot / dx2 = y^2 / h^3: the quotient rule's difference would be 0 here.
  const auto second = [](double x, double y, DType dtype) {
    const auto f = [&](Array a) { return np::hypot(a, np::full({}, y, dtype)); };
    return grad(grad(f))(np::full({}, x, dtype)).item<double>();
  };
  for (const DType dtype : {f32, f64})
    for (const auto& [x, y] : {std::pair{1e4, 1.0}, {1e4, 1e-3}, {3.0, 4.0}, {-1e6, 2.0}}) {
      const double h = std::hypot(x, y), want = y * y / (h * h * h);
      EXPECT_NEAR(second(x, y, dtype), want, want * (dtype == f32 ? 1e-6 : 1e-14)) << x << " " << y;
    }
}
