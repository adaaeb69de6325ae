// A user's own structs as pytrees, outside the source tree: a small network trained by gradient descent.
#include <cotan/cotan.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ct = cotan;
namespace np = cotan::numpy;

struct Linear {
  ct::Array w, b;
  ct::Array operator()(const ct::Array& x) const { return np::matmul(x, w) + b; }
};
enum class Activation { relu, tanh };
struct Options {
  Activation activation = Activation::tanh;
  double rate = 0.1;
  std::string name = "net";
};
struct Net {
  std::vector<Linear> layers;
  std::map<std::string, ct::Array> scales;
  std::optional<ct::Array> shift;
  Options options;
};
struct Batch {
  ct::Array x, y;
};

namespace {

void require(bool ok, const char* what) {
  if (ok) return;
  std::cerr << "structs.cpp: not true: " << what << "\n";
  std::exit(1);
}

ct::Array predict(const Net& net, ct::Array x) {
  for (std::size_t i = 0; i + 1 < net.layers.size(); ++i) {
    x = net.layers[i](x);
    x = net.options.activation == Activation::tanh ? np::tanh(x) : np::maximum(x, 0.0);
  }
  x = net.layers.back()(x) * net.scales.at("out");
  return net.shift ? x + *net.shift : x;
}
ct::Array loss(const Net& net, const Batch& batch) { return np::mean(np::square(predict(net, batch.x) - batch.y)); }
Net step(const Net& net, const Batch& batch) {
  const Net g = ct::grad(loss)(net, batch);
  return ct::tree::map([&](const ct::Array& p, const ct::Array& dp) { return p - net.options.rate * dp; }, net, g);
}

}  // namespace

int main() {
  const ct::Array keys = ct::random::split(ct::random::key(1), 3);
  Net net{{{0.5 * ct::random::normal(keys[0], {1, 16}), np::zeros({16})},
           {0.5 * ct::random::normal(keys[1], {16, 1}), np::zeros({1})}},
          {{"out", np::ones({})}},
          np::zeros({}),
          {}};
  const ct::Array x = np::linspace(-2.0, 2.0, 32).reshape({32, 1});
  const Batch batch{x, np::sin(x)};

  require(ct::tree::paths(net)[2] == ".layers[1].w", "paths name fields");
  const float before = loss(net, batch).item<float>();
  const auto update = ct::jit(step);
  for (int i = 0; i < 200; ++i) net = update(net, batch);
  const float after = loss(net, batch).item<float>();
  require(after < 0.1f * before, "training reduces the loss tenfold");
  require(net.options.name == "net" && net.shift.has_value(), "static fields and optionals come back");

  // Without the optional it is another program.
  net.shift.reset();
  net.options.activation = Activation::relu;
  net = update(net, batch);
  require(!net.shift.has_value(), "an absent optional stays absent");

  // One network, many inputs; many networks, one input.
  const ct::Array ys = ct::vmap([&](const ct::Array& xi) { return predict(net, xi); })(x);
  require(np::allclose(ys, predict(net, x), 1e-5, 1e-5).item<bool>(), "vmap over inputs is the batched prediction");
  const std::vector<Net> two{net, step(net, batch)};
  const Net both =
      ct::tree::map([](const ct::Array& a, const ct::Array& b) { return np::stack({a, b}); }, two[0], two[1]);
  const ct::Array losses = ct::vmap(loss, {.in_axes = {0, ct::none}})(both, batch);
  require(losses.shape() == ct::Shape{2}, "vmap over networks gives one loss each");
  require(losses[1].item<float>() < losses[0].item<float>(), "a step helps");
  std::cout << "loss " << before << " -> " << after << "\n";
}
