// What the case table does not say about Fourier transforms: long ones, their accuracy, identities, transforms of
// programs that have them, and what is refused.
#include "ops/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace fft = cotan::fft;
using namespace cotan;

namespace {

using C = std::complex<double>;

/// Numbers in [-1, 1).
Array noise(const Shape& shape, std::uint64_t seed = 1, DType dtype = f32) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v(static_cast<std::size_t>(n));
  std::uint64_t state = 12345 + seed;
  for (double& e : v) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    e = static_cast<double>(state >> 40) / (1 << 23) - 1;
  }
  return Array::from_host(v, shape).astype(dtype);
}
Array complex_noise(const Shape& shape, std::uint64_t seed = 1, DType dtype = f32) {
  return lax::complex(noise(shape, seed, dtype), noise(shape, seed + 1, dtype));
}
std::vector<C> values(const Array& a) { return a.to_vector<C>(); }

/// The largest difference over the largest value.
double error(const std::vector<C>& got, const std::vector<C>& want) {
  EXPECT_EQ(got.size(), want.size());
  double difference = 0, largest = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    difference = std::max(difference, std::abs(got[k] - want[k]));
    largest = std::max(largest, std::abs(want[k]));
  }
  return difference / largest;
}
template <class A, class B>
double error(const A& got, const B& want) {
  return error(values(got), values(want));
}

/// Some results of the definition, in double.
std::vector<C> by_definition(const std::vector<C>& x, const std::vector<std::int64_t>& which) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<C> out;
  for (auto k : which) {
    C sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
      sum += x[static_cast<std::size_t>(j)] *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
    out.push_back(sum);
  }
  return out;
}

/// The error of a transform in units of the dtype's epsilon times log2(n), on so many of its results.
double error_per_stage(std::int64_t n, DType dtype, std::int64_t results) {
  const Array x = complex_noise({n}, static_cast<std::uint64_t>(n), dtype);
  const auto y = values(jit([](const Array& z) { return fft::fft(z); })(x));
  std::vector<std::int64_t> which;
  for (std::int64_t k = 0; k < results; ++k) which.push_back(k * n / results);
  std::vector<C> got;
  for (auto k : which) got.push_back(y[static_cast<std::size_t>(k)]);
  const double epsilon = dtype == f32 ? 0x1p-24 : 0x1p-53;
  return error(got, by_definition(values(x), which)) / (epsilon * std::log2(static_cast<double>(n)));
}

const auto forward = [](const Array& z) { return fft::fft(z); };
const auto backward = [](const Array& z) { return fft::ifft(z); };

}  // namespace

TEST(Fft, ErrorsGrowAsTheLogarithm) {
  // The largest of so many results, in units of log2(n) roundings of the largest: the same bound at every length.
  for (const std::int64_t n : {16, 64, 256, 1024, 4096, 65536})
    EXPECT_LT(error_per_stage(n, f32, std::min<std::int64_t>(n, 4096 * 64 / n)), 0.4) << n;
  for (const std::int64_t n : {97, 1000, 4096}) EXPECT_LT(error_per_stage(n, f32, 97), 0.6) << n;
  // Chirps are three transforms of twice the length.
  for (const std::int64_t n : {1009, 10007}) EXPECT_LT(error_per_stage(n, f32, 97), 1.0) << n;
}
TEST(Fft, EveryResultAt4096) { EXPECT_LT(error_per_stage(4096, f32, 4096), 0.4); }
TEST(Fft, DoubleIsDouble) {
  // The definition itself, summed in double, errs more than the transform: its share is the square root of n.
  for (const std::int64_t n : {128, 1000, 1009}) EXPECT_LT(error_per_stage(n, f64, n), 4) << n;
}

TEST(Fft, RoundTripsOfLongArrays) {
  constexpr double bound = 1.2e-6;  // half a rounding per factor 2, there and back, is the largest of a million
  for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{65537}}) {
    const Array x = complex_noise({n});
    EXPECT_LT(error(jit(backward)(jit(forward)(x)), x), bound) << n;
    const auto there_and_back = jit([n](const Array& a) { return fft::irfft(fft::rfft(a), {.n = n}); });
    EXPECT_LT(error(there_and_back(np::real(x)), np::real(x)), bound) << n;
  }
}

TEST(Fft, RealTransformsAreTheirHalf) {
  for (const std::int64_t n : {1, 2, 9, 10, 96, 97, 8192, 16384, 20000}) {
    const Array x = noise({2, n});
    const Array whole = jit(forward)(x), half = jit([](const Array& a) { return fft::rfft(a); })(x);
    const auto cut = [&](const Array& a) { return a(all, range(0, n / 2 + 1)); };
    EXPECT_LT(error(half, cut(whole)), 5e-7) << n;
    EXPECT_LT(error(fft::irfft(half, {.n = n}), x), 5e-7) << n;
  }
}

TEST(Fft, Parseval) {
  for (const std::int64_t n : {12, 97, 1009, 4096}) {
    const Array x = complex_noise({n}, 3, f64), y = fft::fft(x, {.norm = "ortho"});
    const auto energy = [](const Array& z) { return np::sum(np::square(np::abs(z))).item<double>(); };
    EXPECT_NEAR(energy(y) / energy(x), 1, 1e-13) << n;
  }
}

TEST(Fft, IsLinear) {
  const Array x = complex_noise({3, 60}, 1, f64), y = complex_noise({3, 60}, 5, f64);
  EXPECT_LT(error(fft::fft(x + y * 2.5), fft::fft(x) + fft::fft(y) * 2.5), 1e-14);
}

TEST(Fft, ProductsAreConvolutions) {
  const std::int64_t n = 45;
  const Array x = noise({n}, 1, f64), y = noise({n}, 2, f64);
  const Array product = fft::irfft(fft::rfft(x) * fft::rfft(y), {.n = n});
  std::vector<double> want(static_cast<std::size_t>(n), 0);
  const auto a = x.to_vector<double>(), b = y.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) want[(i + j) % want.size()] += a[i] * b[j];
  EXPECT_LT(error(product, Array::from_host(want)), 1e-14);
}

// Transforms of programs ------------------------------------------------------------------------------

TEST(Fft, VmapIsABatchAxis) {
  for (const std::int64_t n : {30, 97, 131, 256}) {
    const Array x = complex_noise({4, n});
    EXPECT_LT(error(jit(vmap(forward))(x), fft::fft(x)), 3e-7) << n;
    EXPECT_LT(error(vmap([](const Array& a) { return fft::rfft(a); })(np::real(x)), fft::rfft(np::real(x))), 3e-7) << n;
  }
}
TEST(Fft, JitIsEager) {
  for (const std::int64_t n : {8, 97, 131, 1000, 4096}) {
    const Array x = complex_noise({n, 3});
    const auto f = [](const Array& z) { return fft::fft(z, {.axis = 0}); };
    EXPECT_LT(error(jit(f)(x), f(x)), 5e-7) << n;
  }
}
TEST(Fft, InsideLoops) {
  // A field that spreads: every step there, a factor, and back.
  const std::int64_t n = 64;
  const Array k = fft::rfftfreq(n, 1, f64), decay = np::exp(-10.0 * k * k), x = noise({n}, 1, f64);
  const auto step = [&](const Array& u, const Array&) {
    const Array next = fft::irfft(fft::rfft(u) * decay);
    return std::pair{next, np::sum(next)};
  };
  const auto loop = [&](const Array& u) { return lax::scan(step, u, np::zeros({5})).first; };
  const Array at_once = fft::irfft(fft::rfft(x) * np::power(decay, 5.0));
  EXPECT_LT(error(jit(loop)(x), at_once), 1e-13);
  const auto energy = [&](const Array& u) { return np::sum(np::square(loop(u))); };
  const Array gradient = jit(grad(energy))(x);
  const Array expected = 2.0 * fft::irfft(fft::rfft(x) * np::power(decay, 10.0));
  EXPECT_LT(error(gradient, expected), 1e-13);
  EXPECT_LT(error(jit(vmap(loop))(np::stack({x, x})), np::stack({at_once, at_once})), 1e-13);
}
TEST(Fft, DerivativesAreTransforms) {
  // One equation forward, one backward: the program of the gradient is as short as that of the function.
  const Array x = noise({48}, 1, f64);
  const auto power = [](const Array& a) { return np::sum(np::square(np::abs(fft::fft(a)))); };
  EXPECT_LT(error(grad(power)(x), 2.0 * 48.0 * x), 1e-14);
  EXPECT_LT(error(hessian(power)(x), 2.0 * 48.0 * np::eye(48, std::nullopt, 0, f64)), 1e-13);
  std::ostringstream text;
  text << make_jaxpr(grad(power))(x);
  const std::string program = text.str();
  std::size_t count = 0;
  for (std::size_t at = program.find("= fft["); at != program.npos; at = program.find("= fft[", at + 1)) ++count;
  EXPECT_EQ(count, 2u) << program;
}
TEST(Fft, ProgramsAreSmall) {
  // Tables of a long transform are a small part of its data, and it is one routine.
  const std::int64_t n = std::int64_t{1} << 20;
  const Array x = np::zeros({n}, c64);
  const Explanation e = explain(jit(forward), x);
  EXPECT_EQ(e.dispatches, 1);
  EXPECT_LT(e.argument_bytes - 8 * n, 512 << 10);
  // Of a length that has none, a stage is a kernel; the last writes both parts side by side.
  const std::int64_t odd = 19683;
  EXPECT_EQ(explain(jit(forward), np::zeros({odd}, c64)).dispatches,
            static_cast<std::int64_t>(ops::fft_plan(odd).stages.size()));
}
TEST(Fft, IsTracedOnce) {
  const auto f = jit(forward);
  f(complex_noise({100}));
  int traces = 0;
  log_compiles([&](const std::string&) { ++traces; });
  f(complex_noise({100}, 2));
  log_compiles({});
  EXPECT_EQ(traces, 0);
}

// Errors ------------------------------------------------------------------------------------------------

TEST(FftErrors, Operands) {
  EXPECT_ERROR(TypeError, fft::rfft(np::zeros({4}, c64)), "[rfft] is of real numbers, and got c64[4]", "use fft");
  EXPECT_ERROR(ShapeError, fft::fft(np::array(1.0)), "[fft] got a scalar", "reshape");
  EXPECT_ERROR(ShapeError, fft::rfft(3.0), "[rfft] got a scalar");
  EXPECT_ERROR(ValueError, fft::fft(Array()), "[fft]");
}
TEST(FftErrors, Axes) {
  EXPECT_ERROR(IndexError, fft::fft(np::zeros({4}), {.axis = 1}), "[fft] axis 1 is out of range");
  EXPECT_ERROR(IndexError, fft::irfft(np::zeros({4}), {.axis = -2}), "[irfft] axis -2 is out of range");
  EXPECT_ERROR(IndexError, fft::fft2(np::zeros({4})), "[fft2] axis -2 is out of range");
  EXPECT_ERROR(ShapeError, fft::rfft2(np::zeros({4, 4}), {.axes = {0}}), "[rfft2] got 1 axes; give two");
  EXPECT_ERROR(ShapeError, fft::fftn(np::zeros({4, 4}), {.s = {2, 2}, .axes = {0}}),
               "[fftn] s has 2 lengths for 1 axes");
  EXPECT_ERROR(ShapeError, fft::fftn(np::zeros({4, 4}), {.s = {2, 2, 2}}), "[fftn] s has 3 lengths for 2 axes");
  EXPECT_ERROR(ShapeError, fft::rfftn(np::zeros({4, 4}), {.axes = std::vector<int>{}}), "[rfftn] got no axes");
}
TEST(FftErrors, LengthsAndNorms) {
  EXPECT_ERROR(ShapeError, fft::fft(np::zeros({4}), {.n = 0}),
               "[fft] cannot transform to length 0; give a length of at least 1");
  EXPECT_ERROR(ShapeError, fft::fft(np::zeros({0}), {.n = 0}), "[fft] cannot transform to length 0");
  EXPECT_ERROR(ValueError, fft::fft(np::zeros({0}), {.norm = "forwards"}), "[fft] norm is 'forwards'");
  EXPECT_ERROR(ShapeError, fft::rfft(np::zeros({0})), "[rfft] cannot transform to length 0");
  EXPECT_ERROR(ShapeError, fft::irfft(np::zeros({1})), "[irfft] cannot transform to length 0");
  EXPECT_ERROR(ShapeError, fft::fftn(np::zeros({4, 4}), {.s = {4, -1}}), "[fftn] cannot transform to length -1");
  EXPECT_ERROR(ValueError, fft::fft(np::zeros({4}), {.norm = "forwards"}),
               "[fft] norm is 'forwards'; it must be 'backward', 'ortho' or 'forward'");
  EXPECT_ERROR(ShapeError, fft::fftfreq(0), "[fftfreq] cannot");
}
