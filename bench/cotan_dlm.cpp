// cotan's side of the state-space models: smoothing, fits of any length, maximum likelihood, many series at once.
#include <cotan/dlm.hpp>

#include "cotan_case.hpp"

namespace bench {
namespace {

namespace dlm = ct::dlm;
using ct::Array;

const std::vector<double> nile_flow{
    1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994, 1020, 960,  1180,
    799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,  874, 694,  940,  833,
    701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,  1120, 1100, 832, 764,  821,  768,
    845,  864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984, 897,  822,  1010,
    771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,  848,  890,  744,  749, 838,  1050, 918,
    986,  797,  923,  975,  815,  1020, 906,  901,  1170, 912,  746,  919,  718,  714, 740};

/// The Nile, or a random walk with noise of its size.
Array series(const Parameters& p) {
  if (p["n"] == 100) return Array::from_host(nile_flow);
  const auto steps = uniform<double>(static_cast<std::size_t>(p["n"]), 1),
             noise = uniform<double>(static_cast<std::size_t>(p["n"]), 2);
  std::vector<double> y;
  double level = 1000;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    level += 40 * steps[t];
    y.push_back(level + 200 * noise[t]);
  }
  return Array::from_host(y);
}
const dlm::Model trend{{dlm::Trend{1}}};
dlm::StateSpace trend_space(const Array& y) {
  dlm::Model model = trend;
  model.x0 = np::array({1000.0, 0.0}, ct::f64);
  model.C0 = 250000.0 * np::eye(2, {}, 0, ct::f64);
  dlm::Parameters p;
  for (const auto& [name, value] : {std::pair{"obs", 120.0}, {"level", 40.0}, {"slope", 1.0}})
    p[name] = np::full({}, value, ct::f64);
  return dlm::state_space(model, p, y);
}
std::pair<Array, Array> smoothed(const dlm::StateSpace& s, const Array& y) {
  const dlm::Smoothed r = dlm::smooth(s, y);
  return {r.x, r.C};
}

/// On the CPU one step after the other in f64, which is what is fastest there; on a GPU all steps at once in f32.
Case fit_as_the_device_likes(const Parameters& p) {
  const bool gpu = ct::default_device() == "webgpu";
  const auto fit = [=](const dlm::StateSpace& s, const Array& y) {
    const dlm::Fit f = dlm::fit(s, y, {.algorithm = gpu ? dlm::Algorithm::associative : dlm::Algorithm::sequential});
    return std::tuple{f.lik, f.x, f.xstd, f.yhat, f.ystd, f.resid2};
  };
  const std::string device = ct::default_device().name();
  ct::default_device("native");  // models are built in f64
  const auto moved = [&](const Array& a) {
    if (!a.defined()) return a;
    return ct::device_put(gpu && ct::is_floating(a.dtype()) ? a.astype(ct::f32) : a, device);
  };
  const Array y = series(p);
  const dlm::StateSpace space = ct::tree::map(moved, trend_space(y));
  const Array there = moved(y);
  ct::default_device(device);
  return jitted(fit, space, there);
}

/// Everything from the series to the estimate, compilation included.
Case maximum_likelihood(const Parameters& p, bool standard_errors) {
  const Array y = series(p);
  const auto run = [=] {
    ct::clear_caches();
    return dlm::estimate(trend, y, {.standard_errors = standard_errors}).value.item<double>();
  };
  return {.call = [=] { benchmark::DoNotOptimize(run()); }, .check = [=] { return std::vector<double>{run()}; }};
}

const Register all[] = {
    {"cotan", "dlm_smooth", [](const Parameters& p) { return jitted(smoothed, trend_space(series(p)), series(p)); }},
    {"cotan", "dlm_fit",
     [](const Parameters& p) {
       return jitted([](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y); }, trend_space(series(p)),
                     series(p));
     }},
    {"cotan", "dlm_fit_best", fit_as_the_device_likes},
    {"cotan", "dlm_batch",
     [](const Parameters& p) {
       const Array y = 1000.0 + 200.0 * random_array({p["series"], p["n"]}, 3, true);
       return jitted(ct::vmap(smoothed, {.in_axes = {ct::none, 0}}), trend_space(y[0]), y);
     }},
    {"cotan", "dlm_mle_again",
     [](const Parameters& p) {
       return jitted([](const Array& y) { return dlm::estimate(trend, y, {.standard_errors = false}).value; },
                     series(p));
     }},
    {"cotan", "dlm_mle", [](const Parameters& p) { return maximum_likelihood(p, false); }},
    {"cotan", "dlm_mle_errors", [](const Parameters& p) { return maximum_likelihood(p, true); }},
};

}  // namespace
}  // namespace bench
