// Fits against those of the DLM toolbox (shared/golden/dlm), every field, by every algorithm.
#include <gtest/gtest.h>

#include <cotan/dlm.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dlm/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace dlm = cotan::dlm;
using ct::Array;
using nlohmann::json;

const std::filesystem::path folder = std::filesystem::path(COTAN_SOURCE_DIR) / ".." / "shared" / "golden" / "dlm";

json read(const std::string& name) {
  std::ifstream in(folder / name);
  return json::parse(in);
}
void append(const json& j, std::vector<double>& out) {
  if (j.is_array())
    for (const json& e : j) append(e, out);
  else
    out.push_back(j.is_null() ? NAN : j.get<double>());
}
std::vector<double> numbers(const json& j) {
  std::vector<double> out;
  append(j, out);
  return out;
}

struct Case {
  const char* name;
  dlm::Model model;
  std::vector<std::string> w;  ///< names of the process standard deviations
  std::vector<double> phi = {};
};
std::vector<Case> cases() {
  using dlm::AutoRegression, dlm::Harmonics, dlm::Seasonal, dlm::Trend;
  const Trend trend{1};
  return {{"niledemo", {{trend}}, {"level", "slope"}},
          {"order0", {{Trend{0}}}, {"level"}},
          {"level", {{Trend{0}}}, {"level"}},
          {"seasonal", {{trend, Seasonal{12}}}, {"level", "slope"}},
          {"trig", {{trend, Harmonics{12, 2}}}, {"level", "slope"}},
          {"energy",
           {{trend, Harmonics{12, 1, {"season"}}, AutoRegression{1}}},
           {"level", "slope", "season", "season", "ar"},
           {.85}},
          {"ar2", {{trend, AutoRegression{2}}}, {"level", "slope", "ar"}, {.6, -.3}},
          {"gapped", {{trend}}, {"level", "slope"}}};
}

struct Where {
  const char* device;
  ct::DType dtype;
};
class SharedGolden : public ::testing::TestWithParam<std::tuple<int, dlm::Algorithm, Where>> {};

TEST_P(SharedGolden, EveryField) {
  const auto [index, algorithm, where] = GetParam();
  const auto [device, dtype] = where;
  const Case c = cases()[static_cast<std::size_t>(index)];
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "there is no " << folder.lexically_normal()
                 << "; tests/dlm/golden_test.cpp checks such fits without it";
  const json in = read(std::string(c.name) + "-in.json"), out = read(std::string(c.name) + "-out-m.json");
  const Array y = Array::from_host(numbers(in["y"]));
  dlm::Parameters parameters{{"obs", in["s"].get<double>()}};
  const std::vector<double> w = numbers(in["w"]);
  for (std::size_t k = 0; k < c.w.size(); ++k) parameters[c.w[k]] = w[k];
  if (!c.phi.empty()) parameters["phi"] = Array::from_host(c.phi);
  const dlm::StateSpace exact = dlm::state_space(dlm_tests::toolbox(c.model), parameters, y);
  const dlm_tests::Place place{device, dtype};
  const auto here =
      dlm_tests::algorithms_at(std::string_view(device) == "native" ? dlm_tests::places[0] : place, exact);
  if (std::find(here.begin(), here.end(), algorithm) == here.end())
    GTEST_SKIP() << "takes long on a software driver; on a GPU set COTAN_NIGHTLY=1";
  const auto put = [d = dtype, to = device](const Array& a) {
    return a.defined() ? ct::device_put(a.astype(d), to) : a;
  };
  const dlm::Fit there = ct::jit([a = algorithm](const dlm::StateSpace& m, const Array& y) {
    return dlm::fit(m, y, {.algorithm = a});
  })(ct::tree::map(put, exact), put(y));
  EXPECT_EQ(there.x.device().name(), device);
  const dlm::Fit fit =
      ct::tree::map([](const Array& a) { return a.defined() ? ct::device_put(a, "native") : a; }, there);

  const auto n = y.shape()[0], m = exact.x0.shape()[0];
  // Octave has the steps last.
  const auto golden = [&](const char* name, const ct::Shape& shape) {
    const Array a = Array::from_host(numbers(out[name]), shape);
    return a.ndim() < 2 ? a : np::moveaxis(a, -1, 0);
  };
  const auto check = [&](const char* name, const Array& ours, const Array& theirs, double tolerance) {
    ASSERT_EQ(np::reshape(ours, theirs.shape()).shape(), theirs.shape());
    const Array difference = np::abs(np::reshape(ours, theirs.shape()).astype(ct::f64) - theirs);
    EXPECT_EQ(np::sum(np::isnan(np::reshape(ours, theirs.shape()))).item<int>(), np::sum(np::isnan(theirs)).item<int>())
        << name;
    const double error = (np::nanmax(difference) / np::nanmax(np::abs(theirs))).item<double>();
    EXPECT_LE(error, tolerance) << c.name << " " << name;
  };
  if (dtype == ct::f32) {
    const Array error = np::abs(fit.x.astype(ct::f64) - golden("x", {m, n})) /
                        np::reshape(Array::from_host(numbers(out["xstd"])), {n, m});
    EXPECT_LE(np::max(error).item<double>(), 1e-3) << c.name;
    return;
  }
  const double tight = 1e-10, field = 1e-8;
  check("G", exact.G, Array::from_host(numbers(out["G"]), {m, m}), tight);
  check("F", exact.F, Array::from_host(numbers(out["F"]), {m}), tight);
  check("W", exact.W, Array::from_host(numbers(out["W"]), {m, m}), tight);
  check("V", np::broadcast_to(np::sqrt(np::reshape(exact.V, {})), {n}), Array::from_host(numbers(out["V"]), {n}),
        tight);
  check("x0", fit.x0, Array::from_host(numbers(out["x0"]), {m}), field);
  check("C0", fit.C0, Array::from_host(numbers(out["C0"]), {m, m}), field);
  check("x", fit.x, golden("x", {m, n}), tight);
  check("C", fit.C, golden("C", {m, m, n}), field);
  check("xf", fit.xf, golden("xf", {m, n}), field);
  check("Cf", fit.Cf, golden("Cf", {m, m, n}), field);
  check("xstd", fit.xstd, Array::from_host(numbers(out["xstd"]), {n, m}), field);
  for (const auto& [name, ours] : {std::pair{"yhat", fit.yhat},
                                   {"ystd", fit.ystd},
                                   {"resid0", fit.resid0},
                                   {"resid", fit.resid},
                                   {"resid2", fit.resid2},
                                   {"v", fit.v}})
    check(name, ours, Array::from_host(numbers(out[name]), {n}), field);
  // Theirs leaves the observation's variance out where nothing was observed.
  const Array s2 = np::square(parameters.at("obs"));
  check("Cp", np::reshape(fit.Cp, {n}) - np::where(np::isnan(y), s2, 0.0), Array::from_host(numbers(out["Cp"]), {n}),
        field);
  for (const auto& [name, ours] : {std::pair{"lik", fit.lik},
                                   {"ssy", fit.ssy},
                                   {"s2", fit.s2},
                                   {"mse", fit.mse},
                                   {"mape", fit.mape},
                                   {"nobs", fit.nobs}})
    check(name, ours, Array(out[name].get<double>()).astype(ct::f64), field);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<int, dlm::Algorithm, Where>>& info) {
  const auto& [index, algorithm, where] = info.param;
  const char* by[] = {"sequential", "associative", "square_root"};
  return std::string(cases()[static_cast<std::size_t>(index)].name) + "_" + by[static_cast<int>(algorithm)] + "_" +
         where.device + "_" + std::string(ct::name(where.dtype));
}
INSTANTIATE_TEST_SUITE_P(All, SharedGolden,
                         ::testing::Combine(::testing::Range(0, 8),
                                            ::testing::Values(dlm::Algorithm::sequential, dlm::Algorithm::associative,
                                                              dlm::Algorithm::square_root),
                                            ::testing::Values(Where{"native", ct::f64}, Where{"native", ct::f32},
                                                              Where{"webgpu", ct::f32})),
                         name_of);

}  // namespace
