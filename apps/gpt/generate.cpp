#include "generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cotan/cotan.hpp>

#include "bind.hpp"

namespace gpt {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

namespace {

/// What is kept between pieces: keys and values by layer, and the last token of each sample.
struct State {
  std::vector<Array> keys, values;
  Array token;     ///< i32[samples]
  Array position;  ///< of that token, i32
};

/// The next token of each sample, from logits [samples, vocabulary].
Array choose(const Array& logits, const Array& key, const Sampling& s) {
  if (s.temperature == 0) return np::argmax(logits, -1).astype(ct::i32);
  Array scores = logits / s.temperature;
  const double least = -1e30;
  if (s.top_k > 0 && s.top_k < scores.shape(-1)) {
    const Array best = lax::top_k(scores, static_cast<int>(s.top_k)).first;
    scores = np::where(scores < best(ct::ellipsis, ct::range(-1, ct::none)), least, scores);
  }
  if (s.top_p < 1) {
    // The most likely ones up to the one with which they reach top_p.
    const Array sorted = np::sort(scores, -1, true);
    const Array likely = ct::nn::softmax(sorted, -1);
    const Array before = np::cumsum(likely, -1) - likely;
    const Array border = np::min(np::where(before < s.top_p, sorted, 1e30), -1, true);
    scores = np::where(scores < border, least, scores);
  }
  return ct::random::categorical(key, scores, -1).astype(ct::i32);
}

/// Logits of tokens [samples, count] from `first` on, with what the state has; the state then has them too.
Array logits_of(const Gpt& net, State& state, const Array& tokens, const Array& first) {
  const torch::no_grad off;
  Cache cache;
  for (std::size_t i = 0; i < state.keys.size(); ++i) {
    cache.keys.push_back(torch::from(state.keys[i]));
    cache.values.push_back(torch::from(state.values[i]));
  }
  const Array positions = first + np::arange(static_cast<double>(tokens.shape(1)), ct::i32);
  const Array all = np::arange(static_cast<double>(net.config.n_positions), ct::i32);
  const Array visible = all(ct::newaxis, ct::all) <= positions(ct::all, ct::newaxis);
  const Tensor logits = net(torch::from(tokens), {&cache, torch::from(positions), torch::from(visible)});
  const Array out = logits.array();
  for (std::size_t i = 0; i < state.keys.size(); ++i) {
    state.keys[i] = cache.keys[i].array();
    state.values[i] = cache.values[i].array();
  }
  return out;
}

State empty_state(const Config& c, std::int64_t samples) {
  State out;
  for (std::int64_t i = 0; i < c.n_layer; ++i) {
    const ct::Shape shape{samples, c.n_head, c.n_positions, c.n_embd / c.n_head};
    out.keys.push_back(np::zeros(shape));
    out.values.push_back(np::zeros(shape));
  }
  out.token = np::zeros({samples}, ct::i32);
  out.position = np::array(0);
  return out;
}

}  // namespace

std::vector<std::vector<std::int32_t>> generate(
    const Gpt& net, const std::vector<std::int32_t>& prompt, const Sampling& s, std::int32_t end,
    const std::function<bool(const std::vector<std::vector<std::int32_t>>&)>& show) {
  const Config& c = net.config;
  if (prompt.empty()) throw std::runtime_error("the prompt has no tokens; give at least one.");
  if (static_cast<std::int64_t>(prompt.size()) >= c.n_positions)
    throw std::runtime_error(
        fmt::format("the prompt has {} tokens, and the model sees {}; shorten it.", prompt.size(), c.n_positions));
  const std::vector<Array> weights = weights_of(net);

  // The prompt is filled up to a multiple, so that prompts of other lengths need no other program; what stands behind
  // the prompt is seen by nothing and written over.
  const std::int64_t length = static_cast<std::int64_t>(prompt.size());
  const std::int64_t filled = std::min((length + 31) / 32 * 32, c.n_positions);
  std::vector<std::int32_t> padded;
  for (std::int64_t k = 0; k < s.samples; ++k) {
    padded.insert(padded.end(), prompt.begin(), prompt.end());
    padded.resize(static_cast<std::size_t>((k + 1) * filled));
  }
  const auto read = ct::jit(
      [&](const std::vector<Array>& w, State state, const Array& tokens, const Array& count, const Array& key) {
        const Gpt bound = with_weights(net, w);
        const Array logits = logits_of(bound, state, tokens, np::array(0));
        state.token = choose(np::squeeze(np::take(logits, np::reshape(count - 1, {1}), 1), 1), key, s);
        state.position = count;
        return state;
      },
      {.donate = {1}});
  const auto write = ct::jit(
      [&](const std::vector<Array>& w, const State& start, const Array& key) {
        const Gpt bound = with_weights(net, w);
        return lax::scan(
            [&](State state, ct::None) {
              const Array before = state.token;
              const Array logits = logits_of(bound, state, state.token(ct::all, ct::newaxis), state.position);
              state.position = state.position + 1;
              state.token = choose(logits(ct::all, 0), ct::random::fold_in(key, state.position), s);
              return std::pair{state, before};
            },
            start, lax::length(s.piece));
      },
      {.donate = {1}});

  const Array key = ct::random::key(s.seed);
  State state = read(weights, empty_state(c, s.samples), Array::from_host(padded, {s.samples, filled}),
                     Array::from_host(std::vector<std::int32_t>{static_cast<std::int32_t>(length)}).reshape({}), key);
  std::vector<std::vector<std::int32_t>> out(static_cast<std::size_t>(s.samples));
  std::vector<bool> over(out.size());
  const std::int64_t most = std::min(s.tokens, c.n_positions - length);
  for (std::int64_t done = 0; done < most; done += s.piece) {
    auto [next, tokens] = write(weights, state, key);
    state = next;
    const std::vector<std::int32_t> piece = tokens.template to_vector<std::int32_t>();  // [piece, samples]
    std::vector<std::vector<std::int32_t>> fresh(out.size());
    for (std::int64_t t = 0; t < std::min(s.piece, most - done); ++t)
      for (std::size_t k = 0; k < out.size(); ++k) {
        const std::int32_t token = piece[static_cast<std::size_t>(t) * out.size() + k];
        over[k] = over[k] || token == end;
        if (!over[k]) fresh[k].push_back(token);
      }
    for (std::size_t k = 0; k < out.size(); ++k) out[k].insert(out[k].end(), fresh[k].begin(), fresh[k].end());
    if (show && !show(fresh)) break;
    if (std::all_of(over.begin(), over.end(), [](bool b) { return b; })) break;
  }
  return out;
}

}  // namespace gpt
