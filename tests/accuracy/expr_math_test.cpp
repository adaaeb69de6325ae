// Accuracy of the elementary functions as expressions (expr/math.hpp), which back ends compile. Bound: 4 ulp.
// The worst error in ulps seen in a denser search (every 31st f32, a million f64), and the number of
// operations:
//             f32  f64  f32  f64 |           f32  f64  f32  f64 |           f32  f64  f32  f64
//   exp       1.5  1.4   18   24 | tan       3.1  2.6   25   31 | rsqrt     1.5  1.5    2    2
//   exp2      1.2  1.1   17   23 | asin      1.9  2.1   18   25 | cbrt      0.9  0.7   41   50
//   expm1     1.5  1.9   21   26 | acos      1.1  1.2   23   30 | erf       1.4  1.1   27   85
//   log       0.9  0.8   30   37 | atan      1.3  1.5   20   31 | erfc      3.3  3.4   62   87
//   log2      1.0  1.0   31   38 | sinh      1.5  1.8   29   34 | erf_inv   3.1  2.2   51   76
//   log10     1.0  0.9   32   39 | cosh      2.0  1.5   25   30 | atan2     1.5  1.4   31   42
//   log1p     1.5  1.4   34   41 | tanh      2.5  2.6   21   26 | hypot     1.0  1.0   21   21
//   logistic  3.0  2.6   20   26 | asinh     1.8  1.7   45   52 | fmod      0.0  0.0   17   17
//   sin       1.5  1.4   25   31 | acosh     1.9  1.7   43   50 | pow       1.3  1.3  109  121
//   cos       1.5  1.5   25   31 | atanh     2.1  2.0   39   46 |
// lgamma 2.6 (f32) and 2.3 (f64), digamma 2.2 and 3.4 in this test; angles beyond 2^17 (f32) and 2^40 (f64) as others.
#include <cotan/cotan.hpp>

#include "expr/math.hpp"
#include "ops/ops.hpp"
#include "ops/scalar_math.hpp"
#include "support/expr_interpreter.hpp"
#include "ulp.hpp"

namespace {

namespace expr = cotan::expr;
namespace math = cotan::expr::math;
using cotan::DType;
using expr::Expr;
using expr_test::Interpreter;
using ulp::Sampler;

template <class T>
constexpr DType dtype = cotan::dtype_of<T>();

/// The operand with that number.
template <class T>
Expr operand(int k) {
  return expr::load(k, dtype<T>, expr::integer(0));
}

template <class T>
ulp::VectorFunction<T> interpreted(Expr (*f)(Expr)) {
  return [f](const std::vector<T>& x, const std::vector<T>&) {
    expr::Graph graph;
    const expr::GraphScope scope(graph);
    Interpreter program(f(operand<T>(0)));
    std::vector<T> y;
    for (T v : x) y.push_back(program.run<T>(v));
    return y;
  };
}
template <class T>
ulp::VectorFunction<T> interpreted(Expr (*f)(Expr, Expr)) {
  return [f](const std::vector<T>& x, const std::vector<T>& y) {
    expr::Graph graph;
    const expr::GraphScope scope(graph);
    Interpreter program(f(operand<T>(0), operand<T>(1)));
    std::vector<T> z;
    for (std::size_t i = 0; i < x.size(); ++i) z.push_back(program.run<T>(x[i], y[i]));
    return z;
  };
}

#define COTAN_FUNCTION(name) {#name, interpreted<T>(math::name)}
template <class T>
ulp::Implementation<T> expressions() {
  return {COTAN_FUNCTION(exp),   COTAN_FUNCTION(exp2),    COTAN_FUNCTION(expm1),  COTAN_FUNCTION(log),
          COTAN_FUNCTION(log2),  COTAN_FUNCTION(log10),   COTAN_FUNCTION(log1p),  {"sqrt", interpreted<T>(expr::sqrt)},
          COTAN_FUNCTION(rsqrt), COTAN_FUNCTION(cbrt),    COTAN_FUNCTION(sin),    COTAN_FUNCTION(cos),
          COTAN_FUNCTION(tan),   COTAN_FUNCTION(asin),    COTAN_FUNCTION(acos),   COTAN_FUNCTION(atan),
          COTAN_FUNCTION(sinh),  COTAN_FUNCTION(cosh),    COTAN_FUNCTION(tanh),   COTAN_FUNCTION(asinh),
          COTAN_FUNCTION(acosh), COTAN_FUNCTION(atanh),   COTAN_FUNCTION(erf),    COTAN_FUNCTION(erfc),
          COTAN_FUNCTION(atan2), COTAN_FUNCTION(erf_inv), COTAN_FUNCTION(pow),    COTAN_FUNCTION(logistic),
          COTAN_FUNCTION(hypot), COTAN_FUNCTION(lgamma),  COTAN_FUNCTION(digamma)};
}
#undef COTAN_FUNCTION

TEST(ExprMath, UlpF64) { ulp::measure<double>("expr::math", expressions<double>(), 4); }
TEST(ExprMath, UlpF32) { ulp::measure<float>("expr::math", expressions<float>(), 4); }

/// The same bits, or both NaN.
template <class T>
bool same(T a, T b) {
  return Interpreter::to_bits(a) == Interpreter::to_bits(b) || (a != a && b != b);
}
template <class T>
std::vector<T> samples(double low, double high) {
  Sampler<T> sampler(2);
  std::vector<T> x = Sampler<T>::specials();
  for (int i = 0; i < 10000; ++i) {
    x.push_back(sampler.any_bits());
    x.push_back(sampler.uniform(low, high));
    x.push_back(sampler.log_uniform(-30, 12));
    x.push_back(sampler.near(i % 2 ? 1 : -1));
  }
  return x;
}

// Where sums of multiples of pi/2 are hardest to take off, and where the reduction hands over to the library.
template <class T>
void reduction_limits() {
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  Sampler<T> sampler(3);
  const double limit = sizeof(T) == 4 ? 17 : 40;
  for (auto [f, exact] : {std::pair{&math::sin, &cotan::scalar_math::sin<T>},
                          {&math::cos, &cotan::scalar_math::cos<T>},
                          {&math::tan, &cotan::scalar_math::tan<T>}}) {
    Interpreter program(f(operand<T>(0)));
    for (int i = 0; i < 20000; ++i) {
      const double quarter = std::floor(std::exp2(sampler.uniform(0, limit + 1))) * 1.5707963267948966;
      for (T x : {static_cast<T>(quarter), sampler.log_uniform(limit - 2, limit + 2)}) {
        const T value = program.template run<T>(x), expected = exact(x);
        ASSERT_NEAR(value, expected, 4 * std::numeric_limits<T>::epsilon() * std::abs(expected)) << x;
      }
    }
  }
}
TEST(ExprMath, TrigonometricReductionF64) { reduction_limits<double>(); }
TEST(ExprMath, TrigonometricReductionF32) { reduction_limits<float>(); }

template <class T>
void integer_powers() {
  ulp::Real exact, work, base;
  double worst = 0;
  for (int n : {-1024, -100, -17, -8, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 31, 64, 100, 1000, 5001}) {
    expr::Graph graph;
    const expr::GraphScope scope(graph);
    Interpreter program(math::integer_pow(operand<T>(0), n));
    Sampler<T> sampler(1);
    std::vector<T> x = Sampler<T>::specials();
    for (int i = 0; i < 1000; ++i) {
      x.push_back(sampler.uniform(-4, 4));
      x.push_back(sampler.near(1));
      if (n) x.push_back(sampler.log_uniform(-150.0 / std::abs(n), 128.0 / std::abs(n)));
    }
    for (T v : x) {
      mpfr_set_d(base.v, v, MPFR_RNDN);
      mpfr_pow_si(exact.v, base.v, n, MPFR_RNDN);
      const double error = ulp::ulp_error(program.run<T>(v), exact.v, work.v);
      ASSERT_LE(error, 4) << v << " ^ " << n << " = " << program.run<T>(v);
      worst = std::max(worst, error);
    }
  }
  std::printf("integer_pow %s %.4f\n", sizeof(T) == 4 ? "f32" : "f64", worst);
}
TEST(ExprMath, IntegerPowF64) { integer_powers<double>(); }
TEST(ExprMath, IntegerPowF32) { integer_powers<float>(); }

TEST(ExprMath, IntegerPowOfIntegersWraps) {
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  for (int n = 0; n < 70; ++n) {
    Interpreter program(math::integer_pow(operand<std::int32_t>(0), n));
    std::uint32_t expected = 1;
    for (int k = 0; k < n; ++k) expected *= 7u;
    EXPECT_EQ(program.run<std::uint32_t>(std::int32_t{7}), expected) << n;
  }
}

template <class T>
void remainders() {
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  Interpreter program(math::fmod(operand<T>(0), operand<T>(1)));
  Sampler<T> sampler(1);
  const auto check = [&](T x, T y) {
    EXPECT_TRUE(same(program.run<T>(x, y), std::fmod(x, y))) << x << " mod " << y << " = " << program.run<T>(x, y);
  };
  for (T x : Sampler<T>::specials())
    for (T y : Sampler<T>::specials()) check(x, y);
  for (int i = 0; i < 20000; ++i) {
    check(sampler.any_bits(), sampler.any_bits());
    check(sampler.log_uniform(-20, 20), sampler.log_uniform(-20, 20));
    const T y = sampler.uniform(0, 1);
    check(std::trunc(sampler.uniform(0, 1000)) * y, y);  // the quotient may be rounded up to an integer
  }
}
TEST(ExprMath, FmodF64) { remainders<double>(); }
TEST(ExprMath, FmodF32) { remainders<float>(); }

template <class T>
void neighbours() {
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  Interpreter program(math::nextafter(operand<T>(0), operand<T>(1)));
  Sampler<T> sampler(1);
  const auto check = [&](T x, T y) {
    EXPECT_TRUE(same(program.run<T>(x, y), std::nextafter(x, y))) << x << " to " << y;
  };
  for (T x : Sampler<T>::specials())
    for (T y : Sampler<T>::specials()) check(x, y);
  for (int i = 0; i < 10000; ++i) check(sampler.any_bits(), sampler.any_bits());
}
TEST(ExprMath, NextafterF64) { neighbours<double>(); }
TEST(ExprMath, NextafterF32) { neighbours<float>(); }

/// A primitive's reference evaluation.
template <class T>
std::vector<T> reference(const cotan::Primitive& p, const std::vector<std::vector<T>>& operands) {
  cotan::Arrays x;
  for (const auto& v : operands) x.push_back(cotan::Array::from_host(v));
  return p.eval(p, x, {})[0].template to_vector<T>();
}

template <class T>
void half_neighbours() {
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  Interpreter program(math::nextafter(operand<T>(0), operand<T>(1)));
  std::vector<T> x, y;
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    for (unsigned other : {0u, 0x8000u, 0x7c00u, 0xff80u, 0x7fffu, bits, bits * 40503u + 1}) {
      x.push_back(Interpreter::from_bits<T>(bits));
      y.push_back(Interpreter::from_bits<T>(other & 0xffffu));
    }
  const std::vector<T> expected = reference<T>(cotan::ops::nextafter_p, {x, y});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T z = program.run<T>(x[i], y[i]);
    const bool both_nan = std::isnan(float(z)) && std::isnan(float(expected[i]));
    ASSERT_TRUE(z.bits == expected[i].bits || both_nan) << float(x[i]) << " to " << float(y[i]);
  }
}
TEST(ExprMath, NextafterF16) { half_neighbours<cotan::float16>(); }
TEST(ExprMath, NextafterBf16) { half_neighbours<cotan::bfloat16>(); }

// Samples are defined by these functions to the last bit.
template <class T>
void sampler_functions() {
  using namespace cotan::ops;
  for (const auto& [primitive, f] : {std::pair{&sampler_log_p, &math::sampler_log},
                                     {&sampler_log1p_p, &math::sampler_log1p},
                                     {&sampler_erf_inv_p, &math::sampler_erf_inv}}) {
    const std::vector<T> x = samples<T>(-1, 1), y = interpreted<T>(f)(x, x), expected = reference<T>(*primitive, {x});
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(same(y[i], expected[i]))
          << primitive->name << "(" << x[i] << ") = " << y[i] << ", not " << expected[i];
  }
}
TEST(ExprMath, SamplerF64) { sampler_functions<double>(); }
TEST(ExprMath, SamplerF32) { sampler_functions<float>(); }

// The known answers of Random123's kat_vectors, threefry2x32 with 20 rounds.
TEST(ExprMath, Threefry) {
  using Word = std::uint32_t;
  struct Case {
    Word counter0, counter1, key0, key1, first, second;
  };
  expr::Graph graph;
  const expr::GraphScope scope(graph);
  const auto [a, b] = math::threefry2x32(operand<Word>(0), operand<Word>(1), operand<Word>(2), operand<Word>(3));
  Interpreter first(a), second(b);
  for (const Case& c : {Case{0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
                        Case{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
                        Case{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xc4923a9c, 0x483df7a0}}) {
    EXPECT_EQ(first.run<Word>(c.key0, c.key1, c.counter0, c.counter1), c.first);
    EXPECT_EQ(second.run<Word>(c.key0, c.key1, c.counter0, c.counter1), c.second);
  }
}

}  // namespace
