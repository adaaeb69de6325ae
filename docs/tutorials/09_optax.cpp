// Tutorial 9: optimizers. A classifier is trained by a chain of transformations, in one program, and what optax can do
// beside it: schedules, parts of a tree, many learning rates at once, numbers that change between steps.
#include <cassert>
#include <cotan/cotan.hpp>
#include <cotan/optax.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace nn = cotan::nn;
namespace optax = cotan::optax;
using ct::Array;

struct Layer {
  Array w, b;
};
struct Model {
  Layer hidden, head;
};

Model first_model(const Array& key) {
  const Array keys = ct::random::split(key);
  const auto draw = nn::initializers::he_normal();
  return {{draw(keys[0], {2, 32}), np::zeros({32})}, {draw(keys[1], {32, 3}), np::zeros({3})}};
}
Array logits(const Model& m, const Array& x) {
  return np::matmul(nn::gelu(np::matmul(x, m.hidden.w) + m.hidden.b), m.head.w) + m.head.b;
}
Array loss(const Model& m, const Array& x, const Array& labels) {
  return np::mean(optax::softmax_cross_entropy_with_integer_labels(logits(m, x), labels));
}

int main() {
  // Points in three rings, which no straight line tells apart.
  const Array x = ct::random::uniform(ct::random::key(0), {512, 2}, ct::f32, -1.5, 1.5);
  const Array labels = np::digitize(np::sqrt(np::sum(np::square(x), 1)), np::array({0.7, 1.2}));
  const Model start = first_model(ct::random::key(1));

  // An optimizer turns gradients into updates. This one is a chain, and its learning rate a function of the step.
  const auto rate = optax::warmup_cosine_decay_schedule(
      {.init_value = 0, .peak_value = 0.02, .warmup_steps = 20, .decay_steps = 300});
  const auto optimizer =
      optax::chain(optax::clip_by_global_norm(1.0), optax::adamw({.learning_rate = rate, .weight_decay = 1e-3}));

  // Model and state are pytrees. The whole training is one program: a scan over its steps.
  using Training = std::pair<Model, optax::State>;
  const auto step = [&](const Training& t) {
    const auto& [model, state] = t;
    const auto [value, grads] = ct::value_and_grad(loss)(model, x, labels);
    const auto [updates, next] = optimizer.update(grads, state, model);
    return std::pair{Training{optax::apply_updates(model, updates), next}, value};
  };
  const auto train = ct::jit(
      [&](const Model& m) { return ct::lax::scan(step, Training{m, optimizer.init(m)}, ct::lax::length(300)); });
  const auto [trained, losses] = train(start);
  std::cout << "loss " << losses[0] << " to " << losses[-1] << "\n";
  const Array right = np::mean((np::argmax(logits(trained.first, x), 1) == labels).astype(ct::f32));
  std::cout << "right: " << right << "\n";
  assert(right.item<float>() > 0.95f);

  // What a state remembers has names.
  const Model mean = optax::tree_utils::tree_get(trained.second, "mu", start);
  std::cout << "norm of the mean gradient: " << optax::tree_utils::tree_norm(mean) << "\n";

  // Only the head, the rest stays: labels by path.
  const auto head_only =
      optax::partition({{"train", optax::sgd({.learning_rate = 0.1, .momentum = 0.9})}, {"stay", optax::set_to_zero()}},
                       optax::Labels({{"", "stay"}, {".head", "train"}}));
  const auto grads = ct::grad(loss)(start, x, labels);
  const auto updates = head_only.update(grads, head_only.init(start), start).first;
  assert(np::all(updates.hidden.w == 0).item<bool>() && np::any(updates.head.w != 0).item<bool>());

  // Many learning rates at once: the rate is an Array, and vmap maps over it.
  const auto after = [&](const Array& rate) {
    const auto sgd = optax::sgd({.learning_rate = rate});
    Model m = start;
    auto state = sgd.init(m);
    for (int i = 0; i < 10; ++i) {
      const auto [steps, next] = sgd.update(ct::grad(loss)(m, x, labels), state, m);
      m = optax::apply_updates(m, steps);
      state = next;
    }
    return loss(m, x, labels);
  };
  const Array rates = np::array({0.01f, 0.1f, 1.0f}), found = ct::jit(ct::vmap(after))(rates);
  std::cout << "after ten steps at rates " << rates << ": " << found << "\n";
  assert(found[1].item<float>() < found[0].item<float>());

  // Numbers that change between calls of one compiled program are in the state.
  const auto adjustable = optax::inject_hyperparams(optax::adam, optax::AdamOptions{.learning_rate = 0.01});
  const auto update =
      ct::jit([&](const Model& g, const optax::State& s, const Model& m) { return adjustable.update(g, s, m); });
  auto state = adjustable.init(start);
  const Array usual = update(grads, state, start).first.head.b;
  state = optax::tree_utils::tree_set(state, {{"learning_rate", np::full({}, 0.02)}});
  assert(np::allclose(update(grads, state, start).first.head.b, 2 * usual).item<bool>());

  // Gradients that are not finite: no step, and the state says how often.
  const auto careful = optax::apply_if_finite(optimizer, 5);
  const auto broken = ct::tree::map([](const Array& g) { return g / 0.0 - g / 0.0; }, grads);
  const auto [none, noted] = careful.update(broken, careful.init(start), start);
  assert(optax::tree_utils::tree_norm(none).item<float>() == 0 && noted["total_notfinite"].item<int>() == 1);

  // A step with its optimizer is one program with few kernels. With donation the state stays where it is.
  const auto once = ct::jit([&](const Training& t) { return step(t).first; }, {.donate = {0}});
  const ct::Explanation plan = ct::explain(once, Training{start, optimizer.init(start)});
  std::cout << plan.kernels << " kernels, " << plan.routines << " routines, " << plan.donated_bytes << " bytes stay\n";
}
