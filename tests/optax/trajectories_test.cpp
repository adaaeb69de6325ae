// 50 steps of every optimizer against real optax (tests/golden/optax.npz). The whole loop is one program: a scan.
#include <gtest/gtest.h>

#include "optax/problem.hpp"

namespace problem {

namespace {

constexpr int all_steps = 50;
constexpr int kept_steps[] = {1, 2, 5, 10, 25, 50};

/// Numbers and dtypes alone: an array that outlives a test would count as a leak.
struct Golden {
  ct::DType dtype;
  std::vector<double> values;
};
const std::map<std::string, Golden>& golden() {
  static const std::map<std::string, Golden> all = [] {
    std::map<std::string, Golden> out;
    for (const auto& [name, array] : ct::load_npz(COTAN_SOURCE_DIR "/tests/golden/optax.npz"))
      out[name] = {array.dtype(), array.to_vector<double>()};
    return out;
  }();
  return all;
}
Table table() {
  Table out = optimizers();
  out.merge(parts());
  out.merge(contributed());
  return out;
}

template <class P>
auto fast(const P& p) {
  if constexpr (std::is_same_v<P, Params>)
    return p;
  else
    return p.fast;
}

/// The parameters after each step, stacked.
template <class P>
Params trajectory(const Run& run, const P& first) {
  Params unit = fast(first);
  std::vector<double> factors;
  for (int i = 1; i <= all_steps; ++i) factors.push_back(run.nan_steps.contains(i) ? NAN : 1.0);
  const Array factor = Array::from_host(factors).astype(unit.bias.dtype());
  const auto all = ct::jit([&](const P& params, const Array& factor) {
    const auto step = [&](const std::pair<P, optax::State>& at, const Array& factor) {
      const auto& [params, state] = at;
      auto [value, grads] = ct::value_and_grad(loss)(fast(params));
      grads = ct::tree::map([&](const Array& g) { return g * factor; }, grads);
      optax::Extra<P> extra;
      if (run.value || run.line) extra.value = value;
      if constexpr (std::is_same_v<P, Params>) {
        if (run.line) {
          extra.grad = grads;
          extra.value_fn = loss;
        }
        if (run.grad_fn) extra.grad_fn = [](const Params& p, int) { return ct::grad(loss)(p); };
        if (run.examples)
          grads = ct::tree::map([](const Array& g) { return np::stack({g, 0.5 * g, -0.25 * g}); }, grads);
      }
      const auto updated = run.optimizer.update(grads, state, params, extra);
      const P next = optax::apply_updates(params, updated.first);
      return std::pair{std::pair{next, updated.second}, fast(next)};
    };
    return ct::lax::scan(step, std::pair{params, run.optimizer.init(params)}, factor).second;
  });
  return all(first, factor);
}

class Trajectories : public testing::TestWithParam<std::string> {};

void compare(const std::string& name, ct::DType dtype) {
  const Run run = table().at(name);
  if (dtype == ct::f32 && run.f64_only) return;
  const double tolerance = dtype == ct::f32 ? 1e-4 : run.six_digits ? 1e-6 : 1e-9;
  const Params first = start(dtype);
  const Params got =
      run.looks_ahead ? trajectory(run, optax::LookaheadParams<Params>::init_synced(first)) : trajectory(run, first);
  const std::pair<const char*, Array> leaves[] = {{"bias", got.bias}, {"conv", got.conv}, {"weight", got.weight}};
  for (const auto& [leaf, array] : leaves) {
    const Golden& want = golden().at(name + "/" + std::string(ct::name(dtype)) + "/" + leaf);
    EXPECT_EQ(array.dtype(), want.dtype);
    for (std::size_t k = 0; k < std::size(kept_steps); ++k) {
      const auto a = array[kept_steps[k] - 1].to_vector<double>();
      const auto first = want.values.begin() + static_cast<std::ptrdiff_t>(k * a.size());
      const std::vector<double> b(first, first + static_cast<std::ptrdiff_t>(a.size()));
      double largest = 0, off = 0;
      for (std::size_t i = 0; i < b.size(); ++i) {
        ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << leaf << " step " << kept_steps[k];
        largest = std::max(largest, std::abs(b[i]));
        off = std::max(off, std::abs(a[i] - b[i]));
      }
      EXPECT_LE(off, tolerance * largest) << leaf << " of " << name << " after " << kept_steps[k] << " steps";
    }
  }
}

}  // namespace

TEST_P(Trajectories, F64) { compare(GetParam(), ct::f64); }
TEST_P(Trajectories, F32) { compare(GetParam(), ct::f32); }

INSTANTIATE_TEST_SUITE_P(Optax, Trajectories, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, run] : table()) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& info) { return info.param; });

TEST(Trajectories, AllThatAreKnownRun) {
  std::set<std::string> wanted;
  for (const auto& [key, array] : golden())
    if (!key.starts_with("schedule/")) wanted.insert(key.substr(0, key.find('/')));
  const Table known = table();
  for (const std::string& name : wanted) EXPECT_TRUE(known.contains(name)) << name;
  EXPECT_EQ(wanted.size(), known.size());
}

TEST(Schedules, AsInOptax) {
  using namespace optax;
  const std::map<std::int64_t, double> pieces{{10, 0.5}, {20, 2.0}, {30, 0.1}};
  const std::map<std::string, Schedule> schedules{
      {"constant", constant_schedule(0.3)},
      {"linear", linear_schedule({1.0, 0.1, 20, 5})},
      {"polynomial", polynomial_schedule({1.0, 0.1, 2.5, 30, 3})},
      {"exponential", exponential_decay({.init_value = 1.0, .transition_steps = 7, .decay_rate = 0.8})},
      {"exponential_options", exponential_decay({1.0, 7, 0.8, 4, true, 0.4})},
      {"exponential_up",
       exponential_decay({.init_value = 0.1, .transition_steps = 7, .decay_rate = 1.3, .end_value = 0.4})},
      {"cosine_decay", cosine_decay_schedule({0.5, 40, 0.1, 1.5})},
      {"piecewise_constant", piecewise_constant_schedule(1.0, pieces)},
      {"piecewise_linear", piecewise_interpolate_schedule("linear", 1.0, pieces)},
      {"piecewise_cosine", piecewise_interpolate_schedule("cosine", 1.0, pieces)},
      {"linear_onecycle", linear_onecycle_schedule({.transition_steps = 50, .peak_value = 0.7})},
      {"cosine_onecycle", cosine_onecycle_schedule({.transition_steps = 50, .peak_value = 0.7, .pct_start = 0.2})},
      {"warmup_constant", warmup_constant_schedule(0.1, 1.0, 15)},
      {"warmup_cosine_decay", warmup_cosine_decay_schedule({0.1, 1.0, 10, 50, 0.05, 1.2})},
      {"warmup_exponential_decay", warmup_exponential_decay_schedule({.init_value = 0.1,
                                                                      .peak_value = 1.0,
                                                                      .warmup_steps = 10,
                                                                      .transition_steps = 5,
                                                                      .decay_rate = 0.9,
                                                                      .end_value = 0.3})},
      {"sgdr", sgdr_schedule({{0.0, 1.0, 5, 20, 0.1}, {0.1, 0.5, 5, 30, 0.01}})},
      {"join", join_schedules({constant_schedule(0.2), linear_schedule({1.0, 0.0, 10})}, {8})}};
  for (const auto& [name, schedule] : schedules) {
    const std::vector<double>& want = golden().at("schedule/" + name).values;
    const auto wide = schedule(np::arange(60, ct::f64)).to_vector<double>();
    const auto narrow =
        ct::jit([&schedule = schedule](const Array& n) { return schedule(n); })(np::arange(60)).to_vector<double>();
    ASSERT_EQ(wide.size(), want.size()) << name;
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(wide[i], want[i], 1e-12) << name << " at step " << i;
      EXPECT_NEAR(narrow[i], want[i], 1e-5) << name << " at step " << i << " in f32";
    }
  }
}

}  // namespace problem
