// The code of docs/from_pytorch.md, as a program that the test suite runs.
#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <filesystem>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

// [model]
struct Linear {  // nn.Linear: weight [in, out]
  ct::Array w, b;
  ct::Array operator()(const ct::Array& x) const { return np::matmul(x, w) + b; }
};
struct Net {  // nn.Module
  Linear first, second;
};

Linear linear(const ct::Array& key, std::int64_t in, std::int64_t out) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  return {ct::random::uniform(key, {in, out}, ct::f32, -bound, bound), np::zeros({out})};
}

ct::Array dropout(const ct::Array& key, const ct::Array& x, double rate) {  // F.dropout
  return np::where(ct::random::bernoulli(key, 1 - rate, x.shape()), x / (1 - rate), 0.0);
}

/// `key` is there while training: what a module's train() and eval() switch.
ct::Array forward(const Net& net, const ct::Array& x, const std::optional<ct::Array>& key) {
  ct::Array h = np::maximum(net.first(x), 0.0);  // F.relu
  if (key) h = dropout(*key, h, 0.1);
  return net.second(h);
}

ct::Array cross_entropy(const ct::Array& logits, const ct::Array& labels) {  // F.cross_entropy
  const ct::Array chosen = np::take_along_axis(logits, np::expand_dims(labels, -1), -1);
  return np::mean(np::logsumexp(logits, -1) - np::squeeze(chosen, -1));
}
// [/model]

// [step]
struct Adam {  // torch.optim.Adam's state
  Net m, v;
  ct::Array t;
};

std::tuple<Net, Adam, ct::Array> train_step(const Net& net, const Adam& adam, const ct::Array& x, const ct::Array& y,
                                            const ct::Array& key) {
  const auto loss = [&](const Net& n) { return cross_entropy(forward(n, x, key), y); };
  const auto [value, grads] = ct::value_and_grad(loss)(net);  // zero_grad, backward
  const ct::Array t = adam.t + 1.0;
  const ct::Array rate = 1e-2 * np::sqrt(1.0 - np::power(0.999, t)) / (1.0 - np::power(0.9, t));
  const auto update = [&](ct::Array p, ct::Array m, ct::Array v, ct::Array g) {
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    return std::tuple{p - rate * m / (np::sqrt(v) + 1e-8), m, v};
  };
  const auto [next, m, v] = ct::tree::map(update, net, adam.m, adam.v, grads);  // optimizer.step
  return {next, Adam{m, v, t}, value};
}
// [/step]

int main() {
  // Two rings of points.
  const auto keys = ct::random::split(ct::random::key(0), 6);
  const ct::Array angle = ct::random::uniform(keys[0], {400}, ct::f32, 0.0, 2 * np::pi);
  const ct::Array y = (np::arange(400) % 2).astype(ct::i32);
  const ct::Array radius = 1.0 + y.astype(ct::f32) + 0.2 * ct::random::normal(keys[1], {400});
  const ct::Array x = np::stack({radius * np::cos(angle), radius * np::sin(angle)}, 1);
  double first = 0, last = 0;
  // [loop]
  Net net{linear(keys[2], 2, 32), linear(keys[3], 32, 2)};
  const auto zeros = [](ct::Array a) { return np::zeros_like(a); };
  Adam adam{ct::tree::map(zeros, net), ct::tree::map(zeros, net), np::zeros({})};
  const auto step = ct::jit(train_step, {.donate = {0, 1}});  // torch.compile; the old state's memory is used again

  for (int epoch = 0; epoch < 200; ++epoch) {
    ct::Array loss;
    std::tie(net, adam, loss) = step(net, adam, x, y, ct::random::fold_in(keys[4], epoch));
    last = loss.item<double>();  // waits; every so often is enough
    if (epoch == 0) first = last;
  }
  const ct::Array guessed = np::argmax(forward(net, x, std::nullopt), -1);
  const double accuracy = np::mean(guessed == y).item<double>();

  ct::save_npz("net.npz", {{"w1", net.first.w}, {"b1", net.first.b}, {"w2", net.second.w}, {"b2", net.second.b}});
  // [/loop]
  std::filesystem::remove("net.npz");
  std::cout << "loss " << first << " -> " << last << ", " << accuracy * 100 << " % right\n";
  assert(last < 0.2 && accuracy > 0.9);
}
