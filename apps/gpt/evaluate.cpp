// cotan-gpt eval: the perplexity of texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../support/progress.hpp"
#include "commands.hpp"
#include "load.hpp"
#include "texts.hpp"

namespace gpt {

namespace {

/// Sequences of tokens, and which of them count: with a stride below the context each token is asked for once, with as
/// much before it as there is.
struct Windows {
  std::vector<std::int32_t> words, following;
  std::vector<float> counts;
};

void add_window(Windows& w, const std::vector<std::int32_t>& all, std::size_t start, std::size_t context,
                std::size_t first) {
  for (std::size_t i = 0; i < context; ++i) {
    const std::size_t at = start + i;
    const bool is_there = at + 1 < all.size();
    w.words.push_back(at < all.size() ? all[at] : 0);
    w.following.push_back(is_there ? all[at + 1] : 0);
    w.counts.push_back(is_there && at >= first ? 1 : 0);
  }
}

}  // namespace

void run_eval(const EvalOptions& o) {
  if (o.batch < 1) throw UsageError("--batch is below 1; it must be at least 1.");
  const Loaded loaded = load_model(model_folder(o.model));
  if (!loaded.tokenizer) throw std::runtime_error(o.model + " has no tokenizer.json; put the one of the model there.");
  if (!o.device.empty()) cotan::default_device(o.device == "cpu" ? "native" : o.device);
  Gpt net(loaded.config);
  put_weights(net, loaded.weights, o.model);
  net.training = false;
  const auto all = read_tokens(o.files, *loaded.tokenizer);
  if (all.size() < 2) throw std::runtime_error("the texts have less than two tokens; there is nothing to guess.");
  const auto context = static_cast<std::size_t>(loaded.config.n_positions);
  const std::size_t stride = o.stride > 0 ? std::min(static_cast<std::size_t>(o.stride), context) : context;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at + 1 < all.size(); at += stride) {
    starts.push_back(at);
    if (at + context + 1 >= all.size()) break;
  }
  apps::Progress progress("evaluating", static_cast<int>(starts.size()));
  const torch::no_grad off;
  double loss = 0, count = 0;
  std::size_t first = 0;  // the first token that was not asked for
  for (std::size_t i = 0; i < starts.size(); i += static_cast<std::size_t>(o.batch)) {
    Windows w;
    for (std::size_t k = 0; k < static_cast<std::size_t>(o.batch); ++k) {
      const bool is_there = i + k < starts.size();  // the last batch is filled up
      add_window(w, all, is_there ? starts[i + k] : all.size(), context, first);
      if (is_there) first = starts[i + k] + context;
    }
    const cotan::Shape shape{o.batch, loaded.config.n_positions};
    const Tensor logits = net(torch::from(cotan::Array::from_host(w.words, shape)));
    const Tensor each = nn::functional::cross_entropy(
        torch::view(logits, {-1, loaded.config.vocab_size}),
        torch::from(cotan::Array::from_host(w.following, {o.batch * loaded.config.n_positions})),
        {.reduction = "none"});
    const Tensor counts = torch::from(cotan::Array::from_host(w.counts, {o.batch * loaded.config.n_positions}));
    loss += torch::sum(each * counts).item();
    for (const float c : w.counts) count += c;
    progress.update(static_cast<int>(std::min(i + static_cast<std::size_t>(o.batch), starts.size())),
                    fmt::format("loss {:.4f}", loss / count));
  }
  std::cout << fmt::format("{} tokens, loss {:.5f} nats per token, perplexity {:.5g}\n", count, loss / count,
                           std::exp(loss / count));
}

}  // namespace gpt
