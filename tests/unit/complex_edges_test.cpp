// Elementary functions of complex numbers at zeros of both signs, at the end of the range, at infinities and NaN: what
// NumPy gives, wherever JAX gives the same (tests/golden/complex_edges.npz, by tools/golden/complex_edges.py), and on
// the lower side of branch cuts, where JAX does not look at the sign of the zero.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cotan/cotan.hpp>
#include <map>

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

using C = std::complex<double>;
constexpr double inf = np::inf, pi = np::pi;

#define FUNCTION(name) {#name, [](const Array& x) { return np::name(x); }}
const std::map<std::string, std::function<Array(const Array&)>> functions{
    FUNCTION(exp),     FUNCTION(exp2), FUNCTION(expm1),  FUNCTION(log),  FUNCTION(log2),    FUNCTION(log10),
    FUNCTION(log1p),   FUNCTION(sin),  FUNCTION(cos),    FUNCTION(tan),  FUNCTION(arcsin),  FUNCTION(arccos),
    FUNCTION(arctan),  FUNCTION(sinh), FUNCTION(cosh),   FUNCTION(tanh), FUNCTION(arcsinh), FUNCTION(arccosh),
    FUNCTION(arctanh), FUNCTION(sqrt), FUNCTION(square), FUNCTION(abs)};
#undef FUNCTION

/// A NaN is a NaN, a zero has its sign, and the rest is close relative to the size of the number.
bool same(double got, double want, double size, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == 0 || std::isinf(want)) return got == want && std::signbit(got) == std::signbit(want);
  return std::signbit(got) == std::signbit(want) && std::abs(got - want) <= tolerance * size;
}
void compare(const std::string& what, const Array& at, const Array& got, const Array& want, const Array& agreed,
             double tolerance) {
  const auto points = at.to_vector<C>(), have = got.to_vector<C>(), expected = want.to_vector<C>();
  const auto counts = agreed.to_vector<int>();
  ASSERT_EQ(have.size(), expected.size()) << what;
  const auto finite = [](double v) { return std::isfinite(v) ? std::abs(v) : 0; };
  for (std::size_t i = 0; i < have.size(); ++i) {
    const double size = std::max(finite(expected[i].real()), finite(expected[i].imag()));
    EXPECT_TRUE(!counts[i] || (same(have[i].real(), expected[i].real(), size, tolerance) &&
                               same(have[i].imag(), expected[i].imag(), size, tolerance)))
        << what << " at " << points[i] << ": " << have[i] << ", not " << expected[i];
  }
}
C at(Array (*f)(const ArrayLike&), C z) { return f(np::array(z, c128)).item<C>(); }
/// Both parts are close, and zeros have their signs.
void expect(const C& got, const C& want) {
  const double size = std::isfinite(std::abs(want)) ? std::abs(want) : 1;
  EXPECT_TRUE(same(got.real(), want.real(), size, 1e-14) && same(got.imag(), want.imag(), size, 1e-14))
      << got << ", not " << want;
}

}  // namespace

TEST(TrialsComplexEdges, AsNumPyAndJax) {
  const auto golden = load_npz(std::string(COTAN_SOURCE_DIR) + "/tests/golden/complex_edges.npz");
  for (const auto& [width, tolerance] : {std::pair{"c64", 1e-5}, {"c128", 1e-12}}) {
    const Array points = golden.at(std::string(width) + "/points");
    const Arrays compiled = jit([](const Array& x) {
      Arrays all;
      for (const auto& [name, f] : functions) all.push_back(f(x));
      return all;
    })(points);
    std::size_t k = 0;
    for (const auto& [name, f] : functions) {
      const std::string key = std::string(width) + "/" + name;
      const Array &want = golden.at(key), &agreed = golden.at(key + "/agreed");
      compare(key, points, f(points), want, agreed, tolerance);
      compare(key + " compiled", points, compiled[k++], want, agreed, tolerance);
    }
  }
}

/// Of JAX the sign of the zero does not matter on some of these; NumPy follows it.
TEST(TrialsComplexEdges, LowerSidesOfCuts) {
  const double far = 1.3169578969248166;  // arccosh(2)
  expect(at(np::arcsin, {2, -0.0}), {pi / 2, -far});
  expect(at(np::arccos, {2, -0.0}), {0.0, far});
  expect(at(np::arccosh, {-2, -0.0}), {far, -pi});
  expect(at(np::arccosh, {0.5, -0.0}), {0.0, -pi / 3});
  expect(at(np::arcsinh, {-0.0, 2}), {-far, pi / 2});
  expect(at(np::arctanh, {2, -0.0}), {0.5493061443340548, -pi / 2});
  expect(at(np::arctan, {-0.0, 2}), {-pi / 2, 0.5493061443340548});
  expect(at(np::arctan, {-0.0, 1e200}), {-pi / 2, 1e-200});
  expect(at(np::arctanh, {-inf, -0.0}), {-0.0, -pi / 2});
  // The reciprocal of the root on this side of the cut.
  expect(lax::rsqrt(np::array(C(-4, -0.0), c128)).item<C>(), {0.0, 0.5});
}

/// At the poles of arctan: the distance from them counts, down to the smallest.
TEST(TrialsComplexEdges, NearPoles) {
  expect(at(np::arctan, {1e-5, 1}), {0.7854006633974483, 6.103036322771337});
  expect(at(np::arctan, {1e-200, 1}), {pi / 4, 230.60508288968455});
  expect(at(np::arctanh, {-1, 1e-9}), {-10.708206508753179, pi / 4 + 2.5e-10});
  const C narrow = np::arctan(np::array(C(1e-8, 1.0000001), c64)).item<C>();
  EXPECT_NEAR(narrow.imag(), 8.3160, 1e-3);
  const Array z = np::array({C(1e-9, 1), C(-1e-9, 1)}, c128);
  const auto size = [](const Array& x) { return np::sum(np::square(np::abs(np::arctan(x)))); };
  // In long double; JAX's 1 + z² cancels, and its imaginary parts differ from the seventh digit on.
  const std::vector<C> slopes = grad(size)(z).to_vector<C>();
  expect(slopes[0], {-10708206508.360478, -785398169.00155151});
  expect(slopes[1], {10708206508.360478, -785398169.00155151});
  // Next to a pole, but not beside it: 1 + z² does not cancel.
  const auto slope = [](const Array& x) { return np::arctan(x); };
  const C close(0, 0.99951171875);  // a number of f32
  const C got = grad(slope, {.holomorphic = true})(np::array(close, c64)).item<C>();
  EXPECT_NEAR(got.real() * (1.0 + close * close).real(), 1, 3e-7);
}
