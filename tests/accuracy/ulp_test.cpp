// Accuracy of the array functions: what users call, on the reference device.
#include "ulp.hpp"

#include <cotan/cotan.hpp>

#include "ops/scalar_math.hpp"

namespace {

namespace scalar_math = cotan::scalar_math;
using ulp::Implementation, ulp::VectorFunction, ulp::Sampler;

// No function needs a looser bound than these on any range.
template <class T>
constexpr double bound = sizeof(T) == 8 ? 2 : 1;

/// One operation at a time, or compiled for this CPU.
enum class How { eager, compiled };

template <class T, How how>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>&) {
    const auto g = [f](cotan::Array a) { return f(a); };
    const cotan::Array a = cotan::Array::from_host(x);
    return (how == How::compiled ? cotan::jit(g)(a) : g(a)).template to_vector<T>();
  };
}
template <class T, How how>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&, const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>& y) {
    const auto g = [f](cotan::Array a, cotan::Array b) { return f(a, b); };
    const cotan::Array a = cotan::Array::from_host(x), b = cotan::Array::from_host(y);
    return (how == How::compiled ? cotan::jit(g)(a, b) : g(a, b)).template to_vector<T>();
  };
}

template <class T, How how = How::eager>
Implementation<T> array_functions() {
  namespace np = cotan::numpy;
  namespace lax = cotan::lax;
  return {
      {"exp", on_arrays<T, how>(np::exp)},
      {"exp2", on_arrays<T, how>(np::exp2)},
      {"expm1", on_arrays<T, how>(np::expm1)},
      {"log", on_arrays<T, how>(np::log)},
      {"log2", on_arrays<T, how>(np::log2)},
      {"log10", on_arrays<T, how>(np::log10)},
      {"log1p", on_arrays<T, how>(np::log1p)},
      {"sqrt", on_arrays<T, how>(np::sqrt)},
      {"rsqrt", on_arrays<T, how>(lax::rsqrt)},
      {"cbrt", on_arrays<T, how>(np::cbrt)},
      {"sin", on_arrays<T, how>(np::sin)},
      {"cos", on_arrays<T, how>(np::cos)},
      {"tan", on_arrays<T, how>(np::tan)},
      {"asin", on_arrays<T, how>(np::arcsin)},
      {"acos", on_arrays<T, how>(np::arccos)},
      {"atan", on_arrays<T, how>(np::arctan)},
      {"sinh", on_arrays<T, how>(np::sinh)},
      {"cosh", on_arrays<T, how>(np::cosh)},
      {"tanh", on_arrays<T, how>(np::tanh)},
      {"asinh", on_arrays<T, how>(np::arcsinh)},
      {"acosh", on_arrays<T, how>(np::arccosh)},
      {"atanh", on_arrays<T, how>(np::arctanh)},
      {"logistic", on_arrays<T, how>(lax::logistic)},
      {"erf", on_arrays<T, how>(lax::erf)},
      {"erfc", on_arrays<T, how>(lax::erfc)},
      {"erf_inv", on_arrays<T, how>(lax::erf_inv)},
      {"lgamma", on_arrays<T, how>(lax::lgamma)},
      {"digamma", on_arrays<T, how>(lax::digamma)},
      {"atan2", on_arrays<T, how>(np::arctan2)},
      {"pow", on_arrays<T, how>(np::power)},
      {"hypot", on_arrays<T, how>(np::hypot)},
  };
}

TEST(Ulp, F64) { ulp::measure<double>("cotan::numpy", array_functions<double>(), bound<double>); }
TEST(Ulp, F32) { ulp::measure<float>("cotan::numpy", array_functions<float>(), bound<float>); }
// Vectorised inside compiled programs.
TEST(Ulp, CompiledF64) { ulp::measure<double>("jit", array_functions<double, How::compiled>(), 4); }
TEST(Ulp, CompiledF32) { ulp::measure<float>("jit", array_functions<float, How::compiled>(), 4); }

// Values from jax.lax on CPU (jax_enable_x64) where C has no such function.
template <class T>
void special_values() {
  namespace s = cotan::scalar_math;
  const T i = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  struct Special {
    const char* name;
    T (*function)(T);
    T x, expected;
  };
  // clang-format off
  const Special table[] = {
      {"rsqrt", s::rsqrt, 0, i}, {"rsqrt", s::rsqrt, T(-0.), -i},
      {"rsqrt", s::rsqrt, -1, nan}, {"rsqrt", s::rsqrt, i, 0},
      {"logistic", s::logistic, -i, 0}, {"logistic", s::logistic, i, 1},
      {"erf_inv", s::erf_inv, 1, i}, {"erf_inv", s::erf_inv, -1, -i},
      {"erf_inv", s::erf_inv, 2, nan}, {"erf_inv", s::erf_inv, i, nan},
      {"erf_inv", s::erf_inv, T(-0.), T(-0.)},
      {"lgamma", s::lgamma, 0, i}, {"lgamma", s::lgamma, -1, i}, {"lgamma", s::lgamma, -i, i},
      {"lgamma", s::lgamma, i, i}, {"lgamma", s::lgamma, 1, 0}, {"lgamma", s::lgamma, 2, 0},
      {"digamma", s::digamma, 0, nan}, {"digamma", s::digamma, T(-0.), nan},
      {"digamma", s::digamma, -1, nan}, {"digamma", s::digamma, -i, nan},
      {"digamma", s::digamma, i, i}, {"digamma", s::digamma, nan, nan},
  };
  // clang-format on
  for (const Special& c : table) {
    const T r = c.function(c.x);
    const bool same =
        std::isnan(c.expected) ? std::isnan(r) : r == c.expected && std::signbit(r) == std::signbit(c.expected);
    EXPECT_TRUE(same) << c.name << "(" << c.x << ") = " << r << ", expected " << c.expected;
  }
}
TEST(Ulp, SpecialValuesF64) { special_values<double>(); }
TEST(Ulp, SpecialValuesF32) { special_values<float>(); }

// nextafter steps the bit pattern by one, in T and not in a wider type.
template <class T>
void neighbours() {
  using Bits = typename Sampler<T>::Bits;
  using Limits = std::numeric_limits<T>;
  Sampler<T> sampler(1);
  for (int n = 0; n < 10000; ++n) {
    const T x = std::abs(sampler.any_bits());
    if (!std::isfinite(x) || x == 0) continue;
    const Bits bits = std::bit_cast<Bits>(x);
    EXPECT_EQ(scalar_math::nextafter(x, Limits::infinity()), std::bit_cast<T>(static_cast<Bits>(bits + 1)));
    EXPECT_EQ(scalar_math::nextafter(x, T(0)), std::bit_cast<T>(static_cast<Bits>(bits - 1)));
    EXPECT_EQ(scalar_math::nextafter(-x, T(0)), -std::bit_cast<T>(static_cast<Bits>(bits - 1)));
  }
  EXPECT_EQ(scalar_math::nextafter(T(0), T(-1)), -Limits::denorm_min());
  EXPECT_EQ(scalar_math::nextafter(T(3), T(3)), T(3));
  EXPECT_TRUE(std::isnan(scalar_math::nextafter(T(3), Limits::quiet_NaN())));
}
TEST(Ulp, NextafterF64) { neighbours<double>(); }
TEST(Ulp, NextafterF32) { neighbours<float>(); }

}  // namespace
