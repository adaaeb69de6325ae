// Tutorial 8: a training loop. A small transformer learns a language whose entropy is known: scanned layers, an
// optimizer, random keys, donated memory, files.
#include <unistd.h>

#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <filesystem>
#include <iostream>
#include <map>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

constexpr std::int64_t letters = 8, context = 16, width = 32, heads = 2, batch = 32;
constexpr double learning_rate = 3e-3, dropout = 0.05;

// Parameters are plain structs. All layers are one Layer whose arrays have a first axis: what scan runs over.
struct Layer {
  Array norm1, qkv, out, norm2, up, down;
};
struct Params {
  Array embedding, positions;
  Layer layers;
  Array norm, head;
};
// Everything that a step changes is in one tree, the random key too. What is saved and loaded is this tree, so that
// training that was interrupted goes on as if nothing had been.
struct Training {
  Params params, mean, square;  // Adam's moments have the structure of the parameters
  Array step, key;
};

Params first_params(const Array& key, std::int64_t layers) {
  std::int64_t used = 0;  // every array has a key of its own: equal keys would give equal numbers
  const auto normal = [&](const ct::Shape& shape, double scale) {
    return scale * ct::random::normal(ct::random::fold_in(key, used++), shape);
  };
  const double in = 1 / std::sqrt(double(width)), out = in / std::sqrt(2.0 * double(layers));
  return {
      normal({letters, width}, 1),
      normal({context, width}, 1),
      {np::ones({layers, width}), normal({layers, width, 3 * width}, in), normal({layers, width, width}, out),
       np::ones({layers, width}), normal({layers, width, 4 * width}, in), normal({layers, 4 * width, width}, out / 2)},
      np::ones({width}),
      normal({width, letters}, in)};
}

Array normalized(const Array& x, const Array& scale) {
  return scale * x / np::sqrt(np::mean(np::square(x), -1, true) + 1e-6);
}
Array dropped(const Array& x, const Array& key, double share) {
  if (share == 0) return x;  // a C++ number: decided when the function is traced, and not in the program
  return np::where(ct::random::bernoulli(key, 1 - share, x.shape()), x / (1 - share), 0.0);
}

Array layer(const Array& x, const Layer& p, const Array& key, double share) {
  const Array keys = ct::random::split(key);
  const std::int64_t rows = x.shape()[0], steps = x.shape()[1];
  const Array qkv = np::reshape(np::matmul(normalized(x, p.norm1), p.qkv), {rows, steps, 3, heads, width / heads});
  const auto part = [&](int k) { return qkv(ct::all, ct::all, k); };
  const Array seen = ct::nn::dot_product_attention(part(0), part(1), part(2), {.is_causal = true});
  const Array a = x + dropped(np::matmul(np::reshape(seen, x.shape()), p.out), keys[0], share);
  const Array hidden = np::maximum(np::matmul(normalized(a, p.norm2), p.up), 0.0);
  return a + dropped(np::matmul(hidden, p.down), keys[1], share);
}

struct How {
  double dropout = 0;
  bool checkpoint = true;
};

Array logits(const Params& p, const Array& text, const Array& key, How how) {
  const Array x = p.embedding[text] + p.positions(ct::range(0, text.shape()[1]));
  const auto plain = [=](const Array& x, const Layer& l, const Array& k) { return layer(x, l, k, how.dropout); };
  // A checkpointed layer keeps its input and computes the rest again on the way back.
  const auto again = ct::checkpoint(plain);
  const auto one = [&](const Array& x, const std::pair<Layer, Array>& in) {
    const auto& [l, k] = in;
    return std::pair{how.checkpoint ? again(x, l, k) : plain(x, l, k), ct::none};
  };
  // The layers' keys are scanned over beside the layers.
  const Array keys = ct::random::split(key, p.layers.norm1.shape()[0]);
  return np::matmul(normalized(lax::scan(one, x, std::pair{p.layers, keys}).first, p.norm), p.head);
}

/// What a letter takes on the average, in nats. The first two of a text cannot be told from anything.
Array loss(const Params& p, const Array& text, const Array& key, How how) {
  const Array given = text(ct::all, ct::range(0, -1)), next = text(ct::all, ct::range(1, ct::none));
  const Array z = logits(p, given, key, how);
  const Array chosen = np::squeeze(np::take_along_axis(z, np::expand_dims(next, -1), -1), -1);
  return np::mean((np::logsumexp(z, -1) - chosen)(ct::all, ct::range(1, ct::none)));
}

/// A step of training as a function of arrays: no hidden state, so the same state and data give the same bits.
std::pair<Training, Array> train(const Training& t, const Array& corpus, How how) {
  // Three new keys of one; none is used twice.
  const Array keys = ct::random::split(t.key, 3);
  const Array text = corpus[ct::random::randint(keys[1], {batch}, 0, corpus.shape()[0])];
  const auto [value, grads] =
      ct::value_and_grad([&](const Params& p) { return loss(p, text, keys[2], how); })(t.params);
  const Array step = t.step + 1, count = step.astype(ct::f32);
  const Array scale = learning_rate * np::sqrt(1.0 - np::power(0.99, count)) / (1.0 - np::power(0.9, count));
  auto [params, mean, square] = ct::tree::map(
      [&](const Array& p, const Array& m, const Array& s, const Array& g) {
        const Array mean = 0.9 * m + 0.1 * g, square = 0.99 * s + 0.01 * g * g;
        return std::tuple{p - scale * mean / (np::sqrt(square) + 1e-8), mean, square};
      },
      t.params, t.mean, t.square, grads);
  return {{params, mean, square, step, keys[0]}, value};
}

Training first_training(std::int64_t layers) {
  const Array keys = ct::random::split(ct::random::key(0));
  const Params p = first_params(keys[0], layers);
  // Two trees of zeros, not one twice: what is donated has one owner.
  const auto zeros = [&] { return ct::tree::map([](const Array& a) { return np::zeros_like(a); }, p); };
  return {p, zeros(), zeros(), np::zeros({}, ct::i32), keys[1]};
}

// A tree as a file: every array by its path, ".params.layers.qkv".
void save(const std::filesystem::path& path, const Training& t) {
  std::map<std::string, Array> arrays;
  ct::tree::map_with_path([&](const std::string& name, const Array& a) { return arrays[name] = a; }, t);
  ct::save_npz(path, arrays);
}
Training load(const std::filesystem::path& path, const Training& like) {
  const auto arrays = ct::load_npz(path);
  return ct::tree::map_with_path([&](const std::string& name, const Array&) { return arrays.at(name); }, like);
}

int main() {
  // The language: a letter is the sum of the two before it, modulo 8; one in ten is any letter. So no model that sees
  // one letter back can do better than ln 8 = 2.08 nats, and none at all better than this:
  const double right = 0.9 + 0.1 / letters, wrong = 0.1 / letters;
  const double entropy = -right * std::log(right) - (letters - 1) * wrong * std::log(wrong);
  const auto write = ct::jit(ct::vmap([](const Array& key) {
    using Two = std::pair<Array, Array>;
    const auto next = [](const Two& last, const Array& key) {
      const Array keys = ct::random::split(key);
      const Array letter =
          np::where(ct::random::bernoulli(keys[0], 0.9), np::remainder(last.first + last.second, letters),
                    ct::random::randint(keys[1], {}, 0, letters));
      return std::pair{Two{last.second, letter}, letter};
    };
    const Array keys = ct::random::split(key, context + 2);
    const Array first = ct::random::randint(keys[0], {2}, 0, letters);
    return lax::scan(next, Two{first[0], first[1]}, keys(ct::range(1, ct::none))).second;
  }));
  const Array corpus = write(ct::random::split(ct::random::key(1), 4096));
  const Array unseen = write(ct::random::split(ct::random::key(2), 512));

  // The step is one program. Its first argument is donated: the new state takes the memory of the old one.
  const auto step = [](bool donate, How how) {
    return ct::jit([how](const Training& t, const Array& corpus) { return train(t, corpus, how); },
                   {.donate = donate ? std::vector{0} : std::vector<int>{}});
  };
  const auto train_step = step(true, {dropout});
  // Evaluation has no dropout, and no use for its key.
  const auto evaluate =
      ct::jit([](const Params& p, const Array& text) { return loss(p, text, ct::random::key(0), {}); });

  constexpr int steps = 600, half = 300;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("cotan_tutorial_8_" + std::to_string(getpid()) + ".npz");
  Training state = first_training(2);
  Array value;
  for (int i = 0; i < steps; ++i) {
    if (i == half) save(file, state);
    std::tie(state, value) = train_step(state, corpus);
    // To print a value is to wait for it. So not at every step.
    if (i % 100 == 0)
      std::cout << "step " << i << "  loss " << value << "  unseen " << evaluate(state.params, unseen) << "\n";
  }
  const double reached = evaluate(state.params, unseen).item<float>();
  std::cout << "unseen text: " << reached << " nats per letter; no model gets below " << entropy << "\n";
  assert(reached < entropy + 0.2 && reached > entropy - 0.05);

  // From the file, the second half again: the same bits, since the key and the moments were saved too.
  Training resumed = load(file, state);
  std::filesystem::remove(file);
  assert(resumed.step.item<int>() == half);
  while (resumed.step.item<int>() < steps) resumed = train_step(resumed, corpus).first;
  assert(np::array_equal(resumed.params.layers.qkv, state.params.layers.qkv));

  // What was donated is gone: to use it is an error, not a wrong number. Keep what you need before the step.
  const Array before = resumed.params.head;
  resumed = train_step(resumed, corpus).first;
  try {
    std::cout << before;
    assert(false);
  } catch (const ct::Error& e) {
    std::cout << e.what() << "\n";
  }

  // What donation saved: of the three trees, parameters and squares stay where they were. The new mean is where the
  // gradients were before it, which need memory anyway.
  const auto copying_step = step(false, {dropout});
  const ct::Explanation once = ct::explain(train_step, state, corpus), twice = ct::explain(copying_step, state, corpus);
  const auto allocations = [&](const auto& f) {
    const auto before = ct::memory_stats().allocations;
    resumed = f(resumed, corpus).first;
    return ct::memory_stats().allocations - before;
  };
  const auto arrays = ct::tree::leaves(state).size();
  const auto copying = allocations(copying_step), donating = allocations(train_step);
  std::cout << "bytes that stay: " << once.donated_bytes << "; at most " << once.peak_bytes << " with donation, "
            << twice.peak_bytes << " without\n"
            << arrays << " arrays: " << donating << " allocations with donation, " << copying << " without\n";
  assert(twice.peak_bytes - once.peak_bytes == once.donated_bytes);
  assert(once.donated_bytes * 10 > once.result_bytes * 6 && copying - donating >= 2 * (arrays - 2) / 3);

  // What checkpoint saved: a deep model keeps the inputs of its layers alone. To explain is to compile; nothing runs.
  const Training deep = first_training(24);
  const ct::Explanation kept = ct::explain(step(true, {dropout, false}), deep, corpus),
                        again = ct::explain(step(true, {dropout, true}), deep, corpus);
  std::cout << "24 layers: temporaries " << kept.temporary_bytes << " bytes, with checkpoints " << again.temporary_bytes
            << "\n";
  assert(again.temporary_bytes * 3 < kept.temporary_bytes);
  // What scan saved: the program is as large for 24 layers as for 2, and compiles as fast.
  std::cout << "kernels: " << once.kernels << " for 2 layers, " << again.kernels << " for 24\n";
  assert(again.routines == once.routines && std::abs(again.kernels - once.kernels) < 5);

  // NaNs come late and from afar. With debug_nans the error names the operation that made the first. It costs time:
  // every result is looked at. Here a softmax that forgot to subtract its maximum, and logits that grew.
  Params large = state.params;
  large.head = 100.0 * large.head;
  const auto careless = ct::jit(ct::grad([&](const Params& p) {
    const Array text = unseen(ct::range(0, 4), ct::range(0, context));
    return np::mean(np::log(np::sum(np::exp(logits(p, text, ct::random::key(0), {})), -1)));
  }));
  assert(np::any(np::isnan(careless(large).head)).item<bool>());
  ct::debug_nans(true);
  try {
    (void)careless(large);
    assert(false);
  } catch (const ct::NanError& e) {
    std::cout << e.what() << "\n";
  }
  ct::debug_nans(false);
}
