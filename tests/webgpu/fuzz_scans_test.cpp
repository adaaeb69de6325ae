// Random scans with gradients, against the reference device. COTAN_NIGHTLY=1 draws many more; COTAN_FUZZ_SEED=n runs
// one, as a failure names it.
#include "webgpu/fuzz_scans.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "support/in_children.hpp"
#include "support/nightly.hpp"

namespace fuzz_scans {

namespace {

struct OnDevice {
  explicit OnDevice(const char* name) { ct::default_device(name); }
  ~OnDevice() { ct::default_device("native"); }
};

using Values = std::vector<std::vector<double>>;

Values evaluate(const Scan& scan, const Values& inputs, const char* device, ct::DType dtype) {
  const OnDevice on(device);
  const std::vector<Shape> shapes = scan.input_shapes();
  Arrays in;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (dtype == ct::f64)
      in.push_back(Array::from_host(inputs[k], shapes[k]));
    else
      in.push_back(Array::from_host(std::vector<float>(inputs[k].begin(), inputs[k].end()), shapes[k]));
  }
  const auto call = [&](const Arrays& x) { return scan(x); };
  Values out;
  for (const Array& a : ct::jit(call)(in)) out.push_back(a.to_vector<double>());
  return out;
}

}  // namespace

std::string difference(const Scan& scan, std::uint64_t seed) {
  Draw draw(seed);
  Values inputs;
  for (const Shape& s : scan.input_shapes()) {
    inputs.push_back(draw.array(s).to_vector<double>());
    for (double& v : inputs.back()) v = static_cast<float>(v);  // the same number for all
  }
  try {
    // How far f32 is from f64 on the reference device says how much roundings can do.
    const Values want = evaluate(scan, inputs, "reference", ct::f64),
                 rounded = evaluate(scan, inputs, "reference", ct::f32);
    const Values got = evaluate(scan, inputs, "webgpu", ct::f32);
    for (std::size_t r = 0; r < want.size(); ++r) {
      double largest = 0, motion = 0;
      for (std::size_t k = 0; k < want[r].size(); ++k) {
        if (!std::isfinite(want[r][k]) || !std::isfinite(rounded[r][k])) return {};  // nothing to compare with
        largest = std::max(largest, std::abs(want[r][k]));
        motion = std::max(motion, std::abs(want[r][k] - rounded[r][k]));
      }
      constexpr double relative = 1e-4, roundings = 30;
      const double tolerance = std::max(relative * largest, roundings * motion) + 1e-7;
      for (std::size_t k = 0; k < want[r].size(); ++k)
        if (!(std::abs(got[r][k] - want[r][k]) <= tolerance))
          return "result " + std::to_string(r) + ", element " + std::to_string(k) + " is " + std::to_string(got[r][k]) +
                 " instead of " + std::to_string(want[r][k]) + "; tolerance " + std::to_string(tolerance) + "\n";
    }
  } catch (const std::exception& error) {
    return std::string("raised: ") + error.what() + "\n";
  }
  return {};
}

namespace {

struct Kind {
  const char* name;
  std::uint64_t programs;  ///< per run; a nightly run draws many more
  Options options;
};

std::string check(const Kind& kind, std::uint64_t seed) {
  Draw draw(seed);
  const Scan scan = random_scan(draw, kind.options);
  const std::string fault = difference(scan, seed);
  if (fault.empty()) return {};
  const Scan small = shrink(scan, [&](const Scan& s) { return !difference(s, seed).empty(); });
  return fault + scan.str() + "made small: " + difference(small, seed) + small.str();
}

class WebGpuFuzzScans : public testing::TestWithParam<Kind> {};
/// In child processes: a crash is a finding too.
TEST_P(WebGpuFuzzScans, GiveWhatTheReferenceGives) {
  const Kind kind = GetParam();
  if (const char* seed = std::getenv("COTAN_FUZZ_SEED")) {
    const std::uint64_t n = std::strtoull(seed, nullptr, 10);
    Draw draw(n);
    std::fputs(random_scan(draw, kind.options).str().c_str(), stderr);  // before it can crash or hang
    EXPECT_EQ(check(kind, n), "");
    return;
  }
  const std::uint64_t programs = kind.programs * (is_nightly() ? 50 : 1);
  for (const Finding& f : in_children(programs, [&](std::uint64_t seed) { return check(kind, seed); }))
    ADD_FAILURE() << f.fault << "replay: COTAN_FUZZ_SEED=" << f.seed;
}
/// Software drivers compile a program for a second: few of them in an ordinary run.
const std::vector<Kind> kinds{
    {"SeveralDispatches", 16, {.most_elements = 8192, .most_nodes = 6, .large_product = true}},
    {"OneDispatch", 6, {.most_elements = 1024, .most_nodes = 4}},
};
INSTANTIATE_TEST_SUITE_P(Scans, WebGpuFuzzScans, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fuzz_scans
