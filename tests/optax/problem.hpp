// The problem of the trajectories, as in tools/golden/optax_trajectories.py, and what is known of an optimizer's run.
#pragma once
#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/optax.hpp>
#include <map>
#include <set>

namespace problem {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace optax = cotan::optax;
using ct::Array;

struct Params {
  Array bias, conv, weight;
};

/// Numbers f(0), f(1), … in leaves of these shapes.
template <class F>
Params numbers(F f, ct::DType dtype) {
  std::int64_t at = 0;
  const auto leaf = [&](const ct::Shape& shape) {
    std::int64_t n = 1;
    for (auto d : shape) n *= d;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(f(static_cast<double>(at++)));
    return Array::from_host(values, shape).astype(dtype);
  };
  return {leaf({3}), leaf({2, 2, 3}), leaf({4, 3})};
}
inline Params start(ct::DType dtype) {
  return numbers([](double i) { return std::cos(0.7 * i); }, dtype);
}
inline Array loss(const Params& p) {
  const ct::DType dtype = p.bias.dtype();
  const Params target = numbers([](double i) { return std::sin(1.3 * i + 0.5); }, dtype);
  const Params weight = numbers([](double i) { return 1 + 0.5 * std::cos(2.0 * i); }, dtype);
  const Params each =
      ct::tree::map([](const Array& x, const Array& t,
                       const Array& c) { return np::sum(0.5 * c * np::square(x - t) + 0.1 * np::cos(3 * x) + 0.1); },
                    p, target, weight);
  const Array total = np::sum(p.bias) + np::sum(p.conv) + np::sum(p.weight);
  return each.bias + each.conv + each.weight + 0.01 * total * total;
}

/// What a run needs beside an optimizer.
struct Run {
  optax::GradientTransformation optimizer;
  bool value = false;     ///< Extra::value
  bool line = false;      ///< value, grad and value_fn
  bool grad_fn = false;   ///< Extra::grad_fn
  bool examples = false;  ///< gradients with a first axis of examples
  std::set<int> nan_steps = {};
  bool looks_ahead = false;
  bool f64_only = false;  ///< rounding to f32 grows by itself, or changes which way a search goes
  /// What optax computes of the count of steps alone is f32, also in f64, and so are its schedules; or the last bits
  /// decide where a search ends.
  bool six_digits = false;
};
using Table = std::map<std::string, Run>;
Table optimizers();
Table parts();
Table contributed();

inline bool only_weight(const std::string& path, const Array&) { return path == ".weight"; }

}  // namespace problem
