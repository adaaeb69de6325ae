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

template <class T>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>&) { return f(cotan::Array::from_host(x)).template to_vector<T>(); };
}
template <class T>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&, const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>& y) {
    return f(cotan::Array::from_host(x), cotan::Array::from_host(y)).template to_vector<T>();
  };
}

template <class T>
Implementation<T> array_functions() {
  namespace np = cotan::numpy;
  namespace lax = cotan::lax;
  return {
      {"exp", on_arrays<T>(np::exp)},          {"exp2", on_arrays<T>(np::exp2)},       {"expm1", on_arrays<T>(np::expm1)},
      {"log", on_arrays<T>(np::log)},          {"log2", on_arrays<T>(np::log2)},       {"log10", on_arrays<T>(np::log10)},
      {"log1p", on_arrays<T>(np::log1p)},      {"sqrt", on_arrays<T>(np::sqrt)},       {"rsqrt", on_arrays<T>(lax::rsqrt)},
      {"cbrt", on_arrays<T>(np::cbrt)},        {"sin", on_arrays<T>(np::sin)},         {"cos", on_arrays<T>(np::cos)},
      {"tan", on_arrays<T>(np::tan)},          {"asin", on_arrays<T>(np::arcsin)},     {"acos", on_arrays<T>(np::arccos)},
      {"atan", on_arrays<T>(np::arctan)},      {"sinh", on_arrays<T>(np::sinh)},       {"cosh", on_arrays<T>(np::cosh)},
      {"tanh", on_arrays<T>(np::tanh)},        {"asinh", on_arrays<T>(np::arcsinh)},   {"acosh", on_arrays<T>(np::arccosh)},
      {"atanh", on_arrays<T>(np::arctanh)},    {"logistic", on_arrays<T>(lax::logistic)}, {"erf", on_arrays<T>(lax::erf)},
      {"erfc", on_arrays<T>(lax::erfc)},       {"erf_inv", on_arrays<T>(lax::erf_inv)}, {"lgamma", on_arrays<T>(lax::lgamma)},
      {"digamma", on_arrays<T>(lax::digamma)}, {"atan2", on_arrays<T>(np::arctan2)},   {"pow", on_arrays<T>(np::power)},
      {"hypot", on_arrays<T>(np::hypot)},
  };
}

TEST(Ulp, F64) { ulp::measure<double>("cotan::numpy", array_functions<double>(), bound<double>); }
TEST(Ulp, F32) { ulp::measure<float>("cotan::numpy", array_functions<float>(), bound<float>); }

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
    const bool same = std::isnan(c.expected) ? std::isnan(r)
                                             : r == c.expected && std::signbit(r) == std::signbit(c.expected);
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
