// Tutorial 7: Fourier transforms and complex numbers. Names, options and norms are those of numpy.fft.
#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace fft = cotan::fft;

int main() {
  // Two waves, of 50 and 120 oscillations per second, sampled 1,000 times a second. Any length will do, primes too.
  const std::int64_t n = 1000;
  const ct::Array time = np::arange(n, ct::f32) / 1000.0;
  const ct::Array signal = np::sin(2 * np::pi * 50 * time) + 0.5 * np::sin(2 * np::pi * 120 * time);
  const ct::Array spectrum = ct::jit([](ct::Array x) { return fft::rfft(x); })(signal);
  const ct::Array frequency = fft::rfftfreq(n, 1e-3), size = np::abs(spectrum);
  std::cout << "loudest at " << frequency[np::argmax(size)] << " Hz\n";
  assert(frequency[np::argmax(size)].item<float>() == 50);

  // Complex numbers multiply, so a filter is a product: keep what is below 80 oscillations per second, and go back.
  const ct::Array low = fft::irfft(spectrum * (frequency < 80.0));
  assert(np::max(np::abs(low - np::sin(2 * np::pi * 50 * time))).item<float>() < 1e-4f);

  // Options: a length to crop or pad to, an axis, a norm; several axes at once.
  const ct::Array image = fft::fft2(np::ones({4, 6}), {.s = {8, 8}, .norm = "ortho"});
  assert(image.shape() == (ct::Shape{8, 8}) && image.dtype() == ct::c64);

  // The derivative of a transform is a transform: this gradient is two of them. So are vmap and loops over it.
  const auto roughness = [](ct::Array x) {
    const ct::Array k = fft::rfftfreq(x.shape(-1));
    return np::sum(np::square(k * np::abs(fft::rfft(x))));
  };
  const ct::Array gradient = ct::jit(ct::grad(roughness))(signal + 0.1);
  assert(gradient.shape() == signal.shape());

  // Heat on a ring, a thousand steps in one compiled loop: every step there, a factor for each frequency, and back.
  const ct::Array decay = np::exp(-0.01 * np::square(fft::rfftfreq(64) * 64.0));
  const auto spread = [&](ct::Array heat) {
    const auto step = [&](ct::Array u, ct::Array) { return std::pair{fft::irfft(fft::rfft(u) * decay), np::sum(u)}; };
    return lax::scan(step, heat, np::zeros({1000}));
  };
  const auto [last, total] = ct::jit(spread)(np::zeros({64}).at(0).set(64.0f));
  assert(np::max(np::abs(last - 1.0)).item<float>() < 1e-3f);  // even everywhere
  assert(std::abs(total[-1].item<float>() - 64) < 1e-2f);      // and none is lost

  // On a CPU a long transform is one routine; on a GPU a stage of up to 16 elements at a time is one kernel.
  const ct::Array x = np::zeros({65536}, ct::c64);
  const ct::Explanation e = ct::explain(ct::jit([](ct::Array z) { return fft::fft(z); }), x);
  std::cout << "65,536 elements: " << e.dispatches << " step\n";
  assert(e.dispatches == 1);
}
