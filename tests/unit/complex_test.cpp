// What the case table does not say about complex numbers: literals, printing, elements of the host, what derivatives
// are of, programs, and what is refused.
#include <gtest/gtest.h>

#include <complex>
#include <sstream>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

using C = std::complex<double>;
using C32 = std::complex<float>;

std::string printed(const Array& a) {
  std::ostringstream out;
  out << a;
  return out.str();
}
Array sample(DType dtype = c128) { return np::array({C(1, 2), C(-3, 0.5), C(0, -1)}, dtype); }
std::vector<C> values(const Array& a) { return a.to_vector<C>(); }

}  // namespace

TEST(Complex, ScalarsAreWeak) {
  const Array z = np::array({1.0, 2.0}, c128) * C(0, 1);
  EXPECT_EQ(z.aval().str(), "c128[2]");
  EXPECT_EQ(values(z), (std::vector<C>{C(0, 1), C(0, 2)}));
  EXPECT_EQ((np::ones({2}, f32) * C(0, 1)).dtype(), c64);
  EXPECT_EQ((np::ones({2}, f64) * C32(0, 1)).dtype(), c128);
  EXPECT_EQ((np::ones({2}, c64) * 0.1).dtype(), c64);
  // With every bit of the number that was written.
  EXPECT_EQ(values(np::ones({1}, f64) * C(0.1, 0.2)), (std::vector<C>{C(0.1, 0.2)}));
  EXPECT_EQ(values(jit([](const Array& x) { return x * C(0.1, 0.2); })(np::ones({1}, f64))),
            (std::vector<C>{C(0.1, 0.2)}));
  EXPECT_EQ(values(Array(0.1) + np::zeros({1}, c128)), (std::vector<C>{C(0.1, 0)}));
}

TEST(Complex, LiteralsAndElements) {
  const Array a = np::array({C(1, 2), C(3, -4)});
  EXPECT_EQ(a.aval().str(), "c64[2]");
  EXPECT_EQ(a[1].item<C32>(), C32(3, -4));
  EXPECT_EQ(a.nbytes(), 16u);
  EXPECT_EQ(np::array({{1.0, C(0, 1)}}, c128).aval().str(), "c128[1,2]");
  const std::vector<C> host{C(1, -1), C(0.5, 0)};
  EXPECT_EQ(Array::from_host(host).dtype(), c128);
  EXPECT_EQ(values(Array::from_host(host)), host);
  EXPECT_EQ(np::array({1.0, 2.0}).to_vector<C>(), (std::vector<C>{1, 2}));
  EXPECT_TRUE(bool(np::array(C(0, 1))));
  EXPECT_ERROR(TypeError, a[0].item<float>(), "[item] c64[] has complex elements", "np::real");
  EXPECT_ERROR(TypeError, a.to_vector<int>(), "[to_vector] c64[2] has complex elements");
}

TEST(Complex, PrintsAsNumPy) {
  EXPECT_EQ(printed(np::array({C(1, 2), C(-3.5, -0.25)})), "[ 1. +2.j   -3.5-0.25j]");
  EXPECT_EQ(printed(np::array({C(0, 1), C(0, 2)})), "[0.+1.j 0.+2.j]");
  EXPECT_EQ(printed(np::array({C(np::nan, np::inf), C(0, 1), C(100, -200)})), "[ nan +infj   0.  +1.j 100.-200.j]");
  EXPECT_EQ(printed(np::array(C(1, 2))), "(1+2j)");
  EXPECT_EQ(printed(np::array(C(-0.5, -1e-10), c128)), "(-0.5-1e-10j)");
  EXPECT_EQ(printed(np::array({C(1, 2), C(-3.5, -0.25), C(1e10, 1)})),
            "[ 1.0e+00+2.j   -3.5e+00-0.25j  1.0e+10+1.j  ]");
}

TEST(Complex, GradientsAsInJax) {
  const Array z = np::array(C(3, 4), c128);
  EXPECT_EQ(grad([](const Array& x) { return np::square(np::abs(x)); })(z).item<C>(), C(6, -8));
  EXPECT_EQ(grad([](const Array& x) { return np::real(x * x); })(z).item<C>(), C(6, 8));
  EXPECT_EQ(grad([](const Array& x) { return np::abs(x); })(np::array(C(0, 0))).item<C>(), C(0, 0));
  EXPECT_EQ(grad([](const Array& x) { return x * x * x; }, {.holomorphic = true})(np::array(C(1, 2), c128)).item<C>(),
            C(-9, 12));
  const auto [value, gradient] = value_and_grad([](const Array& x) { return np::exp(x); }, {.holomorphic = true})(z);
  EXPECT_EQ(value.item<C>(), gradient.item<C>());
  // Of a real argument the gradient is real.
  EXPECT_EQ(grad([](const Array& x) { return np::square(np::abs(x * C(1, 1))); })(np::array(2.0)).dtype(), f32);
  EXPECT_EQ(jacfwd([](const Array& x) { return x * x; }, {.holomorphic = true})(sample()).shape(), (Shape{3, 3}));
  EXPECT_EQ(values(np::diagonal(jacrev([](const Array& x) { return x * x; }, {.holomorphic = true})(sample()))),
            values(2.0 * sample()));
}

TEST(Complex, DerivativesThatAreRefused) {
  const auto square = [](const Array& x) { return np::sum(x * x); };
  EXPECT_ERROR(TypeError, grad(square)(sample()), "[grad] value is c128[], and a gradient is of a real number",
               ".holomorphic = true");
  EXPECT_ERROR(TypeError, grad(square, {.holomorphic = true})(np::ones({2})), "[grad]",
               "is f32[2], and holomorphic differentiation is with respect to complex inputs");
  EXPECT_ERROR(TypeError, grad([](const Array& x) { return np::sum(np::abs(x)); }, {.holomorphic = true})(sample()),
               "[grad] value is f64[], and a holomorphic function returns complex numbers");
  EXPECT_ERROR(TypeError, jacfwd(square)(sample()), "[jacfwd]", "only of holomorphic functions");
}

TEST(Complex, WhatIsNotDefined) {
  EXPECT_ERROR(TypeError, np::floor(sample()), "[floor] is not defined for complex numbers, and got c128[3]",
               "np::real");
  EXPECT_ERROR(TypeError, np::remainder(sample(), 2.0), "[rem] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::argmax(sample()), "[argmax] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, lax::erf(sample()), "[erf] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::clip(sample(), 0.0, 1.0), "[clip] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::zeros({2}).at(0).set(C(0, 1)), "would lose its imaginary part");
  EXPECT_ERROR(TypeError, lax::complex(np::ones({2}, i32), np::ones({2}, i32)), "[complex] parts are", "f32 or f64");
  EXPECT_ERROR(TypeError, np::isposinf(sample()), "[isposinf] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::quantile(sample(), 0.5), "[quantile] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::i0(sample()), "[i0] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, np::interp(sample(), np::ones({3}), sample()), "[interp] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, lax::igamma(sample(), sample()), "[igamma] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, scipy::special::multigammaln(sample(), 2), "is not defined for complex numbers");
  EXPECT_ERROR(TypeError, scipy::stats::norm::pdf(sample()), "is not defined for complex numbers");
  EXPECT_ERROR(TypeError, lax::cummax(sample()), "[cummax] is not defined for complex numbers");
  EXPECT_ERROR(TypeError, lax::real(np::ones({2})), "[real] needs complex operands, got f32[2]");
}

TEST(Complex, ProgramsHaveComplexTypes) {
  const auto f = [](const Array& x) { return np::sum(x * C(0, 2)); };
  std::ostringstream text;
  text << make_jaxpr(f)(sample(c64));
  EXPECT_NE(text.str().find("b:c64[3] = mul a (0+2j):c64[]"), std::string::npos) << text.str();
  const Explanation e = explain(jit(f), sample());
  EXPECT_NE(e.text().find("complex parts"), std::string::npos) << e.text();
}

TEST(Complex, LoopsOverMixedState) {
  struct State {
    Array z, count;
  };
  const auto step = [](const State& s, const Array& x) {
    const Array z = s.z * C(0, 1) + x;
    return std::pair{State{z, s.count + 1}, std::pair{np::abs(z), z}};
  };
  const auto run = [&](const Array& xs) { return lax::scan(step, State{np::array(C(0, 0), c128), np::array(0)}, xs); };
  const auto [last, ys] = jit(run)(sample());
  C z = 0;
  std::vector<C> expected;
  for (const C& x : values(sample())) expected.push_back(z = z * C(0, 1) + x);
  EXPECT_EQ(last.z.item<C>(), z);
  EXPECT_EQ(last.count.item<int>(), 3);
  EXPECT_EQ(values(ys.second), expected);
  const auto loss = [&](const Array& xs) { return np::sum(np::square(run(xs).second.first)); };
  const Array gradient = jit(grad(loss))(sample());
  EXPECT_EQ(gradient.aval().str(), "c128[3]");
  // vmap over lanes of which only some are complex.
  const Array two = np::stack({sample(), 2.0 * sample()});
  const Array batched = jit(vmap([&](const Array& xs) { return run(xs).first.z; }))(two);
  EXPECT_EQ(values(batched), (std::vector<C>{z, 2.0 * z}));
  const Array checkpointed = jit(grad([&](const Array& xs) { return checkpoint(loss)(xs); }))(sample());
  EXPECT_EQ(values(checkpointed), values(gradient));
}

TEST(Complex, CustomRules) {
  const auto f = custom_vjp([](const Array& x) { return x * x; }, [](const Array& x) { return std::pair{x * x, x}; },
                            [](const Array& x, const Array& ct) { return std::tuple{ct * 2.0 * x}; });
  const auto loss = [&](const Array& x) { return np::sum(np::real(f(x))); };
  EXPECT_EQ(values(jit(grad(loss))(sample())), values(2.0 * sample()));
}

TEST(Complex, InterpolatedValues) {
  const Array x = np::array({0.5, -1.0, 3.0}, f64), xp = np::array({0.0, 1.0}, f64),
              fp = np::array({C(0, 1), C(2, 3)}, c128);
  EXPECT_EQ(values(np::interp(x, xp, fp)), (std::vector<C>{C(1, 2), C(0, 1), C(2, 3)}));
  EXPECT_EQ(values(np::interp(x, xp, fp, {.left = C(0, 5), .right = 1.0})), (std::vector<C>{C(1, 2), C(0, 5), 1}));
  // One of real values with a complex one outside is complex.
  EXPECT_EQ(values(np::interp(x, xp, np::real(fp), {.left = C(0, 5)})), (std::vector<C>{1, C(0, 5), 2}));
  EXPECT_EQ(np::interp(0.5, np::array({0.0, 1.0}), np::array({C(0, 1), C(2, 3)})).dtype(), c64);
}

TEST(Complex, AnyLooksAtBothParts) {  // JAX's at real parts alone
  EXPECT_EQ(np::any(np::array({{C(0, 0), C(0, 1)}, {C(0, 0), C(1, 1)}}), 0).to_vector<int>(), (std::vector<int>{0, 1}));
}

TEST(Complex, DtypesByKind) {
  EXPECT_TRUE(np::issubdtype(c64, np::complexfloating));
  EXPECT_TRUE(np::issubdtype(c64, np::inexact));
  EXPECT_FALSE(np::issubdtype(c64, np::floating));
  EXPECT_FALSE(np::issubdtype(f32, np::complexfloating));
  EXPECT_TRUE(np::isdtype(c128, "complex floating"));
  EXPECT_FALSE(np::isdtype(c128, "real floating"));
  EXPECT_EQ(np::finfo(c64).dtype, f32);
  EXPECT_EQ(np::finfo(c128).eps, np::finfo(f64).eps);
  for (const auto& [from, to, holds] : {std::tuple{f32, c64, true},
                                        {f64, c64, false},
                                        {f64, c128, true},
                                        {i32, c64, false},
                                        {c64, c128, true},
                                        {c64, f64, false}})
    EXPECT_EQ(np::can_cast(from, to), holds) << name(from) << name(to);
  EXPECT_TRUE(np::can_cast(c128, c64, "same_kind"));
  EXPECT_FALSE(np::can_cast(c64, f32, "same_kind"));
}

TEST(Complex, BarriersAndPlatforms) {
  const auto f = [](const Array& x) { return lax::optimization_barrier(x * C(0, 1)); };
  EXPECT_EQ(values(jit(f)(sample())), values(f(sample())));
  const auto same = [](const Array& x) { return x; };
  const auto twice = [](const Array& x) { return 2.0 * x; };
  const auto chosen = [&](const Array& x) { return lax::platform_dependent({{"nowhere", twice}}, same, x); };
  EXPECT_EQ(values(jit(chosen)(sample())), values(sample()));
}
