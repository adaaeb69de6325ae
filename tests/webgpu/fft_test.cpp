// Fourier transforms on the device: long ones, and how many dispatches they take.
#include <cmath>

#include "webgpu/support.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace fft = cotan::fft;
using namespace cotan;

namespace {

using WebGpuFft = webgpu_tests::OnWebGpu;

const auto forward = [](const Array& z) { return fft::fft(z); };
const auto backward = [](const Array& z) { return fft::ifft(z); };

Array waves(const Shape& shape) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  return np::sin(np::arange(n, f32) * 1.7).reshape(shape) + np::cos(np::arange(n, f32) * 0.3).reshape(shape);
}
double error(const Array& a, const Array& b) { return (np::max(np::abs(a - b)) / np::max(np::abs(b))).item<double>(); }

}  // namespace

TEST_F(WebGpuFft, AStageIsADispatch) {
  for (const auto& [n, dispatches] : {std::pair<std::int64_t, int>{16, 1}, {65536, 4}, {1 << 20, 5}}) {
    const Array x = np::zeros({n}, c64);
    const Explanation e = explain(jit(forward), x);
    EXPECT_EQ(e.dispatches, dispatches) << n;
    EXPECT_EQ(e.submissions, 1) << n;
    EXPECT_EQ(e.routines, 0) << n;
  }
  // What packs and unpacks real numbers is one more, of half as many; it is two where long tables are products.
  EXPECT_LE(explain(jit([](const Array& a) { return fft::rfft(a); }), np::zeros({65536})).dispatches, 5);
  const Array half = np::zeros({32769}, c64);
  EXPECT_LE(explain(jit([](const Array& z) { return fft::irfft(z); }), half).dispatches, 6);
}

TEST_F(WebGpuFft, RoundTrips) {
  for (const Shape& shape : {Shape{65536}, {1000}, {8, 512}, {3, 1009}, {1 << 18}}) {
    const Array x = lax::complex(waves(shape), np::cos(waves(shape)));
    const Array back = jit(backward)(jit(forward)(x));
    EXPECT_LT(error(back, x), 1e-6) << to_string(np::array(shape));
    const std::int64_t n = shape.back();
    const Array real = jit([n](const Array& a) { return fft::irfft(fft::rfft(a), {.n = n}); })(np::real(x));
    EXPECT_LT(error(real, np::real(x)), 1e-6) << to_string(np::array(shape));
  }
}

TEST_F(WebGpuFft, AsTheReference) {
  for (const Shape& shape : {Shape{4096}, {5, 360}, {2, 64, 48}}) {
    const Array x = lax::complex(waves(shape), np::cos(waves(shape)));
    const Array there = jit([](const Array& z) { return fft::fftn(z); })(x);
    default_device("reference");
    const Array here = fft::fftn(device_put(x, "reference"));
    EXPECT_LT(error(device_put(there, "reference"), here), 1e-6);
    default_device("webgpu");
  }
}

TEST_F(WebGpuFft, InsideLoops) {
  for (const std::int64_t n : {16, 256}) {
    const Array k = fft::rfftfreq(n), decay = np::exp(-10.0 * k * k), x = waves({n});
    const auto step = [&](const Array& u, const Array&) {
      const Array next = fft::irfft(fft::rfft(u) * decay);
      return std::pair{next, np::sum(next)};
    };
    const auto loop = [&](const Array& u) { return lax::scan(step, u, np::zeros({6})).first; };
    const Array at_once = fft::irfft(fft::rfft(x) * np::power(decay, 6.0));
    // One shader, which is no longer than that of one step: drivers take seconds over long ones.
    const Explanation e = explain(jit(loop), x);
    EXPECT_EQ(e.dispatches, 1) << n;
    EXPECT_LT(e.wgsl.size(), 250u << 10) << n;
    EXPECT_LT(error(jit(loop)(x), at_once), 2e-6) << n;
    if (n > 16) continue;
    const Array two = np::stack({x, 2.0 * x});
    EXPECT_LT(error(jit(vmap(loop))(two), np::stack({at_once, 2.0 * at_once})), 2e-6) << n;
  }
}
