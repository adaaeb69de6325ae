// How optimizers are used: in one program with donation, mapped over rates, changed between steps; and what goes wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "optax/problem.hpp"
#include "support/expect_error.hpp"

namespace problem {

namespace {

struct Net {
  std::vector<Array> wide, narrow, biases;
};
Net net(std::int64_t size) {
  Net out;
  for (int i = 0; i < 50; ++i) {
    out.wide.push_back(np::full({size, 4}, 0.01 * i, ct::f32));
    out.narrow.push_back(np::full({size, 3}, 0.02 * i, ct::f32));
    out.biases.push_back(np::full({size}, 0.03 * i, ct::f32));
  }
  return out;
}
Params moved(const optax::GradientTransformation& opt, int steps, const Params& first) {
  Params params = first;
  auto state = opt.init(params);
  for (int i = 0; i < steps; ++i) {
    const auto [updates, next] = opt.update(ct::grad(loss)(params), state, params);
    params = optax::apply_updates(params, updates);
    state = next;
  }
  return params;
}

}  // namespace

// The contract: a step of training with its optimizer is one program, whose state stays where it is.
TEST(OptaxUsage, OneProgramWithFewKernels) {
  const auto opt = optax::chain(optax::adamw({.learning_rate = 1e-3}));
  using Training = std::pair<Net, optax::State>;
  const auto step = ct::jit(
      [opt](const Training& t, const Net& grads) {
        const auto [updates, next] = opt.update(grads, t.second, t.first);
        return Training{optax::apply_updates(t.first, updates), next};
      },
      {.donate = {0}});
  const Net params = net(8), grads = ct::tree::map([](const Array& a) { return 0.5 * a + 1.0; }, params);
  const Training training{params, opt.init(params)};
  const ct::Explanation plan = ct::explain(step, training, grads);
  // 150 leaves of 3 shapes with three results each; a kernel has 96 results at most.
  EXPECT_LE(plan.kernels, 3 * 5 + 1) << plan.steps.substr(0, 1000);
  EXPECT_EQ(plan.routines, 0);
  const auto bytes = ct::tree::reduce([](std::int64_t n, const Array& a) { return n + std::int64_t(a.nbytes()); },
                                      training, std::int64_t{0});
  EXPECT_EQ(plan.donated_bytes, bytes);
}

TEST(OptaxUsage, MappedOverLearningRates) {
  const Params first = start(ct::f64);
  const Array rates = Array::from_host(std::vector<double>{0.01, 0.05, 0.2});
  const auto run = [&](const Array& rate) {
    return moved(optax::adamw({.learning_rate = rate, .weight_decay = 0.1 * rate}), 5, first);
  };
  const Params all = ct::jit(ct::vmap(run))(rates);
  for (int i = 0; i < 3; ++i) {
    const double rate = rates[i].item<double>();
    const Params one = moved(optax::adamw({.learning_rate = rate, .weight_decay = 0.1 * rate}), 5, first);
    EXPECT_TRUE(np::allclose(all.weight[i], one.weight, 1e-12, 1e-14).item<bool>());
  }
  // And differentiated: what a longer step would have done.
  const Array slope = ct::grad([&](const Array& rate) { return loss(run(rate)); })(rates[1]);
  const double h = 1e-6;
  const double difference = (loss(run(rates[1] + h)).item<double>() - loss(run(rates[1] - h)).item<double>()) / (2 * h);
  EXPECT_NEAR(slope.item<double>(), difference, 1e-5 * std::abs(difference));
}

TEST(OptaxUsage, HyperparametersInTheState) {
  const auto opt = optax::inject_hyperparams(optax::sgd, optax::SgdOptions{.learning_rate = 0.1, .momentum = 0.9});
  const Params params = start(ct::f64), grads = ct::grad(loss)(params);
  auto state = opt.init(params);
  EXPECT_DOUBLE_EQ(optax::tree_utils::tree_get(state, "learning_rate").item<double>(), 0.1);
  EXPECT_EQ(optax::tree_utils::tree_get(state, "momentum").dtype(), ct::f64);
  int traced = 0;
  const auto step = ct::jit([&](const Params& g, const optax::State& s, const Params& p) {
    ++traced;
    return opt.update(g, s, p);
  });
  const auto first = step(grads, state, params).first;
  state = optax::tree_utils::tree_set(state, {{"learning_rate", np::full({}, 0.2, ct::f64)}});
  const auto second = step(grads, state, params).first;
  EXPECT_EQ(traced, 1);
  EXPECT_TRUE(np::allclose(2.0 * first.weight, second.weight, 1e-14).item<bool>());
  EXPECT_ERROR(ValueError, optax::tree_utils::tree_set(state, {{"rate", np::ones({})}}), "no single Array rate");
  EXPECT_ERROR(ShapeError, optax::tree_utils::tree_set(state, {{"learning_rate", np::ones({2})}}), "[tree_set]");
  EXPECT_ERROR(ValueError, optax::tree_utils::tree_get(state, "mu"), "0 fields called mu");
}

TEST(OptaxUsage, StatesAreTrees) {
  const auto opt = optax::chain(optax::clip(1.0), optax::adam({.learning_rate = 0.1}));
  const Params params = start(ct::f32);
  const auto state = opt.update(ct::grad(loss)(params), opt.init(params), params).second;
  // A file and back, by paths.
  std::map<std::string, Array> arrays;
  ct::tree::map_with_path([&](const std::string& path, const Array& a) { return arrays[path] = a; }, state);
  const auto file = std::filesystem::temp_directory_path() / "cotan_optax_state.npz";
  ct::save_npz(file, arrays);
  const auto loaded = ct::load_npz(file);
  std::filesystem::remove(file);
  const auto again =
      ct::tree::map_with_path([&](const std::string& path, const Array&) { return loaded.at(path); }, opt.init(params));
  EXPECT_EQ(ct::tree::structure(again), ct::tree::structure(state));
  const Params mean = optax::tree_utils::tree_get<Params>(again, "mu", params);
  EXPECT_EQ(mean.conv.shape(), params.conv.shape());
  EXPECT_EQ(optax::tree_utils::tree_get(again, "count").item<int>(), 1);
  // Halved moments, and nothing else.
  const auto halved = optax::tree_utils::tree_map_params(state, [](const Array& a) { return 0.5 * a; });
  EXPECT_TRUE(np::allclose(2.0 * optax::tree_utils::tree_get<Params>(halved, "nu", params).weight,
                           optax::tree_utils::tree_get<Params>(state, "nu", params).weight)
                  .item<bool>());
  EXPECT_EQ(optax::tree_utils::tree_get(halved, "count").item<int>(), 1);
}

TEST(OptaxUsage, LbfgsReusesWhatTheLineSearchKnows) {
  const auto opt = optax::lbfgs();
  const auto value_and_grad = optax::value_and_grad_from_state(loss);
  using Search = std::pair<Params, optax::State>;
  const Params first = start(ct::f64);
  const auto search = ct::jit([&](const Params& p) {
    return ct::lax::scan(
               [&](const Search& at) {
                 const auto [params, state] = at;
                 const auto [value, grads] = value_and_grad(params, state);
                 const auto [updates, next] =
                     opt.update(grads, state, params, {.value = value, .grad = grads, .value_fn = loss});
                 return std::pair{Search{optax::apply_updates(params, updates), next}, value};
               },
               Search{p, opt.init(p)}, ct::lax::length(25))
        .first.first;
  });
  const Params grads = ct::grad(loss)(search(first));
  EXPECT_LT(optax::tree_utils::tree_norm(grads).item<double>(), 1e-6);
}

TEST(OptaxUsage, GradientsThatAreNotFinite) {
  const auto opt = optax::apply_if_finite(optax::sgd({.learning_rate = 0.1}), 2);
  const Array x = np::ones({3}), bad = np::full({3}, np::nan, ct::f32);
  auto state = opt.init(x);
  for (int i = 0; i < 3; ++i) {
    const auto [updates, next] = opt.update(bad, state, x);
    EXPECT_EQ(std::isnan(updates[0].item<float>()), i == 2) << i;  // after two in a row they are taken
    state = next;
  }
  EXPECT_EQ(state["total_notfinite"].item<int>(), 3);
  EXPECT_FALSE(state["last_finite"].item<bool>());
}

TEST(OptaxUsage, Measures) {
  const auto norm = [](const ct::Arrays& g) { return ct::Arrays{np::sqrt(np::sum(np::square(g[0])))}; };
  const auto opt =
      optax::chain(optax::snapshot("norm", norm), optax::monitor({{"mean", optax::measure_with_ema(norm, 0.5)}}),
                   optax::sgd({.learning_rate = 0.1}));
  const Array x = np::ones({4});
  auto state = opt.init(x);
  for (double size : {2.0, 4.0}) state = opt.update(size * x, state, x).second;
  EXPECT_FLOAT_EQ(state.parts[0]["norm"].item<float>(), 8);
  // 0.5 (0.5 4) + 0.5 8, by 1 - 0.25.
  EXPECT_FLOAT_EQ(state.parts[1].part("measurements")["mean"].item<float>(), 5.0f / 0.75f);
}

TEST(OptaxUsage, WhatIsWrong) {
  const Params params = start(ct::f32), grads = params;
  const auto adam = optax::adam({.learning_rate = 0.1});
  const auto state = adam.init(params);
  EXPECT_ERROR(ValueError,
               optax::adamw({.learning_rate = 0.1}).update(grads, optax::adamw({.learning_rate = 0.1}).init(params)),
               "needs the parameters");
  EXPECT_ERROR(TreeError, adam.update(std::vector<Array>{grads.bias}, state, params), "the trees differ");
  EXPECT_ERROR(TreeError, adam.update(std::vector<Array>{grads.bias}, state), "leaves meet");
  EXPECT_ERROR(TreeError, adam.update(grads, optax::sgd({.learning_rate = 0.1}).init(params)), "the state is that of");
  EXPECT_ERROR(TreeError, adam.update(grads, optax::State{}), "make it by init");
  EXPECT_ERROR(TypeError, adam.init(np::arange(3)), "parameters are floats");
  EXPECT_ERROR(ShapeError, adam.update(np::ones({2}), adam.init(np::ones({3})), np::ones({3})), "one shape");
  EXPECT_ERROR(ValueError, optax::masked(adam, optax::Mask({".head"})).init(params), "no leaf is at .head");
  EXPECT_ERROR(
      ValueError,
      optax::partition({{"a", adam}}, optax::Labels(std::map<std::string, std::string>{{".bias", "a"}})).init(params),
      "has no label");
  EXPECT_ERROR(ValueError, optax::named_chain({{"a", adam}, {"a", adam}}), "names must differ");
  EXPECT_ERROR(ValueError, optax::MultiSteps(adam, 0), "[MultiSteps]");
  EXPECT_ERROR(ValueError, optax::polyak_sgd().update(grads, optax::polyak_sgd().init(params), params),
               "needs the loss");
  EXPECT_ERROR(ValueError, optax::lbfgs().update(grads, optax::lbfgs().init(params), params, {.value = loss(params)}),
               "value_fn");
  EXPECT_ERROR(ValueError, optax::cosine_decay_schedule({0.1, 0}), "[cosine_decay_schedule]");
  EXPECT_ERROR(ValueError, optax::contrib::reduce_on_plateau({.factor = 2}), "[reduce_on_plateau]");
  EXPECT_ERROR(TreeError, optax::apply_updates(params, std::vector<Array>{}), "[apply_updates]");
}

}  // namespace problem
