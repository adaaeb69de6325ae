// Series, models and golden data of the dlm tests.
#pragma once
#include <gtest/gtest.h>

#include <cotan/dlm.hpp>
#include <cotan/io.hpp>
#include <cstdlib>
#include <filesystem>

#include "support/nightly.hpp"

namespace dlm_tests {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace dlm = cotan::dlm;
using ct::Array;
using dlm::Algorithm;

inline constexpr Algorithm algorithms[] = {Algorithm::sequential, Algorithm::associative, Algorithm::square_root};
inline const char* name_of(Algorithm a) {
  return a == Algorithm::sequential ? "sequential" : a == Algorithm::associative ? "associative" : "square_root";
}

/// Where a test runs: on the CPU in f64, or on the GPU in f32.
struct Place {
  const char* device;
  ct::DType dtype;
  bool exact() const { return dtype == ct::f64; }
  /// In that dtype, on that device.
  Array put(const Array& a) const {
    return a.defined() ? ct::device_put(ct::is_floating(a.dtype()) ? a.astype(dtype) : a, device) : a;
  }
  dlm::StateSpace put(const dlm::StateSpace& s) const {
    return ct::tree::map([&](const Array& a) { return put(a); }, s);
  }
  /// Back where there is f64.
  static Array back(const Array& a) {
    return ct::is_floating(a.dtype()) ? ct::device_put(a, "native").astype(ct::f64) : ct::device_put(a, "native");
  }
};
/// On software drivers, which take seconds to compile a program, larger models go through one algorithm alone; all of
/// them on the CPU, and on a GPU with COTAN_NIGHTLY=1.
inline std::vector<Algorithm> algorithms_at(const Place& place, const dlm::StateSpace& model) {
  if (place.exact() || is_nightly() || model.x0.size() <= 2) return {std::begin(algorithms), std::end(algorithms)};
  return {Algorithm::sequential};
}
class AtPlace : public ::testing::TestWithParam<Place> {
 protected:
  const Place& place() const { return GetParam(); }
};
inline std::string name_of(const ::testing::TestParamInfo<Place>& info) { return info.param.device; }
inline constexpr Place places[] = {{"native", ct::f64}, {"webgpu", ct::f32}};

/// tests/golden/dlm.npz, written by tools/golden/dlm.py; on another machine below the folder that we are in.
inline Array golden(const std::string& name) {
  const std::filesystem::path built = COTAN_SOURCE_DIR, root = std::filesystem::exists(built) ? built : ".";
  const auto all = ct::load_npz(root / "tests" / "golden" / "dlm.npz");
  const auto at = all.find(name);
  if (at == all.end()) throw std::runtime_error("dlm.npz has no " + name + "; run tools/golden/dlm.py");
  return at->second;
}

/// The largest difference, in units of the largest expected value.
inline double error_of(const Array& ours, const Array& theirs) {
  const Array same = np::reshape(Place::back(ours), theirs.shape()).astype(ct::f64);
  return (np::max(np::abs(same - theirs)) / np::maximum(np::max(np::abs(theirs)), 1e-300)).item<double>();
}

/// Level, slope and a wave, with noise that a formula makes.
inline Array wavy_series(std::int64_t n) {
  const Array t = np::arange(n, ct::f64);
  return 10.0 + 0.05 * t + 2.0 * np::sin(0.55 * t) + np::sin(t * t) + 0.5 * np::cos(7.1 * t);
}
inline Array with_gaps(const Array& y, std::initializer_list<int> gaps) {
  Array out = y;
  for (int g : gaps) out = out.at(g).set(NAN);
  return out;
}
/// With the first state that the DLM toolbox assumes.
inline dlm::Model toolbox(dlm::Model model) {
  model.first = dlm::FirstState::toolbox;
  return model;
}
inline dlm::Parameters numbers(std::initializer_list<std::pair<const char*, double>> list) {
  dlm::Parameters out;
  for (const auto& [name, value] : list) out[name] = np::full({}, value, ct::f64);
  return out;
}

}  // namespace dlm_tests
