// The conformance cases of control flow: functions with inputs that a formula makes, so that
// tools/golden/control.py makes the same ones and asks JAX for what must come out.
#pragma once
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/nightly.hpp"

namespace control {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
namespace linalg = cotan::linalg;
using ct::Array;
using ct::Arrays;
using ct::Shape;

using Function = std::function<Arrays(const Arrays&)>;

/// One function under test. All inputs are floating and differentiable.
struct Case {
  /// Which transforms it takes: a while_loop has no reverse mode.
  enum class Modes { all, forward };
  /// Whether it runs in both directions, and with every unroll and with checkpoints.
  enum class Variants { one, directions, all };

  std::string name;
  std::vector<Shape> inputs;
  std::function<Arrays(const Arrays&, const lax::ScanOptions&)> function;
  Modes modes = Modes::all;
  Variants variants = Variants::one;
  double slack = 1;         ///< times the tolerance, where the problem amplifies rounding
  bool same_in_f32 = true;  ///< false where other random numbers are drawn
};
inline constexpr auto forward = Case::Modes::forward;
inline constexpr auto all_modes = Case::Modes::all;
inline constexpr auto variants = Case::Variants::all;
inline constexpr auto directions = Case::Variants::directions;
inline constexpr auto one_variant = Case::Variants::one;

std::vector<Case> scan_cases();
std::vector<Case> carry_cases();
std::vector<Case> view_cases();
std::vector<Case> nested_cases();
std::vector<Case> routine_cases();
std::vector<Case> branch_cases();
std::vector<Case> while_cases();
std::vector<Case> map_cases();
std::vector<Case> associative_cases();
std::vector<Case> solver_cases();

/// Element i of input k in lane l: ((37 i + 59 k + 23 l + 11) mod 101 - 50.5) / 40, so within ±1.27 and never
/// zero.
Array formula(const Shape& shape, int k, int lane = 0, ct::DType dtype = ct::f64);
/// formula() of lanes 0, 1, 2, stacked along `axis`.
Array formula_lanes(const Shape& shape, int k, int axis = 0);

/// A positive definite matrix, or stack of them, from any square one.
Array positive(const Array& a);

/// Equal shapes and dtypes; elements of floats within `tolerance` of the leaf's largest magnitude, at least
/// one; integers equal. NaN equals NaN.
testing::AssertionResult close(const Array& got, const Array& want, double tolerance);
testing::AssertionResult close(const Arrays& got, const Arrays& want, double tolerance);

/// Makes a device the default one for the time of a test.
class OnDevice {
 public:
  explicit OnDevice(const std::string& name) : before_(ct::default_device().name()) { ct::default_device(name); }
  ~OnDevice() { ct::default_device(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  std::string before_;
};

inline const std::vector<std::string>& devices() {
  static const std::vector<std::string> names{"reference", "native"};
  return names;
}
/// Also those that have no f64.
inline const std::vector<std::string>& devices_with_f32() {
  static const std::vector<std::string> names{"reference", "native", "webgpu"};
  return names;
}

/// A test that runs on each device.
class OnEachDevice : public testing::TestWithParam<std::string> {
  void SetUp() override { device_ = std::make_unique<OnDevice>(GetParam()); }
  void TearDown() override { device_.reset(); }
  std::unique_ptr<OnDevice> device_;
};
inline std::string device_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace control

#define EXPECT_CLOSE(got, want) EXPECT_TRUE(control::close(got, want, 1e-12))
