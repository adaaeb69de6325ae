// Random draws that are the same on every platform: raw engine output, no std distributions.
#pragma once
#include <cotan/cotan.hpp>
#include <random>
#include <vector>

namespace compose {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;
using ct::Shape;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// 0 … n - 1.
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool one_in(int n) { return below(n) == 0; }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  /// f64, uniform in ±1.2 but at least 0.05 from zero, so that kinks at zero are rarely met.
  Array array(const Shape& shape) {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = uniform(0.05, 1.2);
      values.push_back(one_in(2) ? -v : v);
    }
    return Array::from_host(values, shape);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace compose
