// An example: fits a small neural network to noisy data by gradient descent and writes a picture of it.
#include <cotan/cotan.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/progress.hpp"
#include "support/svg_plot.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;

namespace {

struct Layer {
  ct::Array w, b;
};
struct Model {
  std::vector<Layer> layers;
};
/// Adam's state: running means of the gradient and of its square, shaped like the model.
struct Adam {
  Model mean, square;
  ct::Array step;
};
struct State {
  Model model;
  Adam adam;
};

Model init(ct::Array key, const std::vector<std::int64_t>& sizes) {
  Model model;
  const ct::Array keys = ct::random::split(key, static_cast<std::int64_t>(sizes.size()) - 1);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    model.layers.push_back(
        {ct::random::normal(keys[i], {sizes[i], sizes[i + 1]}) * std::sqrt(2.0 / static_cast<double>(sizes[i])),
         np::zeros({sizes[i + 1]})});
  return model;
}

ct::Array predict(const Model& model, ct::Array x) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    x = np::matmul(x, model.layers[i].w) + model.layers[i].b;
    if (i + 1 < model.layers.size()) x = np::tanh(x);
  }
  return x;
}

ct::Array loss(const Model& model, const ct::Array& x, const ct::Array& y) {
  return np::mean(np::square(predict(model, x) - y));
}

/// One step of Adam: {new state, loss}.
std::pair<State, ct::Array> train_step(const State& s, const ct::Array& x, const ct::Array& y) {
  constexpr double decay1 = 0.9, decay2 = 0.999;
  const ct::Array rate = 0.03 * np::exp(s.adam.step / -300.0);
  auto [value, grads] = ct::value_and_grad(loss)(s.model, x, y);
  State next;
  next.adam.step = s.adam.step + 1.0;
  next.adam.mean =
      ct::tree::map([&](const auto& m, const auto& g) { return decay1 * m + (1 - decay1) * g; }, s.adam.mean, grads);
  next.adam.square = ct::tree::map([&](const auto& v, const auto& g) { return decay2 * v + (1 - decay2) * g * g; },
                                   s.adam.square, grads);
  const ct::Array scale1 = 1.0 - np::power(decay1, next.adam.step), scale2 = 1.0 - np::power(decay2, next.adam.step);
  next.model = ct::tree::map([&](const auto& p, const auto& m,
                                 const auto& v) { return p - rate * (m / scale1) / (np::sqrt(v / scale2) + 1e-8); },
                             s.model, next.adam.mean, next.adam.square);
  return {next, value};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path out = argc > 1 ? argv[1] : "out/demo.svg";
  if (out == "-h" || out == "--help") {
    std::cout << "usage: demo [picture.svg]\nFits a small network to noisy data and writes a picture "
                 "(out/demo.svg by default).\n";
    return 0;
  }
  // Noisy samples of a curve.
  const auto curve = [](const ct::Array& t) { return np::sin(3.0 * t) + 0.5 * np::sin(7.0 * t) * t; };
  const ct::Array key = ct::random::key(7);
  const ct::Array x = ct::random::uniform(ct::random::fold_in(key, 0), {160, 1}, ct::f32, -1.5, 1.5);
  const ct::Array y = curve(x) + 0.12 * ct::random::normal(ct::random::fold_in(key, 1), {160, 1});

  const Model start = init(ct::random::fold_in(key, 2), {1, 24, 24, 1});
  const auto zeros = [](const ct::Array& a) { return np::zeros_like(a); };
  State state{start, {ct::tree::map(zeros, start), ct::tree::map(zeros, start), np::zeros({})}};

  const auto step = ct::jit(train_step, {.name = "train_step"});
  constexpr int steps = 1200;
  apps::Progress progress("fitting", steps);
  std::vector<double> at, losses;
  for (int i = 1; i <= steps; ++i) {
    ct::Array value;
    std::tie(state, value) = step(state, x, y);
    at.push_back(i);
    losses.push_back(value.item<double>());
    progress.update(i, fmt::format("loss {:.4f}", losses.back()));
  }

  const ct::Array grid = np::linspace(-1.5, 1.5, 241).reshape({241, 1});
  const auto numbers = [](const ct::Array& a) { return a.to_vector<double>(); };
  const apps::Panel fit{"Fit after gradient descent",
                        "x",
                        "y",
                        {{"data", "#7f8c9b", numbers(x), numbers(y), true},
                         {"truth", "#2a9d5c", numbers(grid), numbers(curve(grid)), false},
                         {"network", "#d1495b", numbers(grid), numbers(predict(state.model, grid)), false}}};
  const apps::Panel training{"Training", "step", "mean squared error", {{"loss", "#30638e", at, losses, false}}, true};
  if (out.has_parent_path()) std::filesystem::create_directories(out.parent_path());
  std::ofstream file(out);
  file << apps::svg_plot({fit, training});
  file.close();
  if (!file) throw ct::IoError("[demo] cannot write " + out.string() + "; give another path.");
  fmt::print("loss {:.4f} -> {:.4f} in {} steps; picture: {}\n", losses.front(), losses.back(), steps, out.string());
} catch (const std::exception& e) {
  std::cerr << "demo: " << e.what() << "\n";
  return 1;
}
