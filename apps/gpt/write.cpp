// cotan-gpt generate: text on the terminal, as it comes.
#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "commands.hpp"
#include "load.hpp"

namespace gpt {

namespace {

/// Prints what tokens add to a text, whole characters only: a token may be half of one.
class Stream {
 public:
  Stream(const cotan::Tokenizer& tokenizer, bool shown) : tokenizer_(tokenizer), shown_(shown) {}
  void add(const std::vector<std::int32_t>& tokens) {
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    if (shown_) print(false);
  }
  void finish() {
    if (shown_) print(true);
  }

 private:
  void print(bool last) {
    std::string text = tokenizer_.decode(tokens_);
    constexpr std::string_view unknown = "\xEF\xBF\xBD";
    while (!last && text.ends_with(unknown)) text.resize(text.size() - unknown.size());
    if (text.size() > printed_) std::cout << text.substr(printed_) << std::flush;
    printed_ = std::max(printed_, text.size());
  }
  const cotan::Tokenizer& tokenizer_;
  const bool shown_;
  std::vector<std::int32_t> tokens_;
  std::size_t printed_ = 0;
};

void check(const Sampling& s) {
  if (s.tokens < 1 || s.samples < 1) throw UsageError("--tokens or --samples is below 1; both must be at least 1.");
  if (!(s.temperature >= 0)) throw UsageError("--temperature is negative; 0 takes the most likely token.");
  if (!(s.top_p > 0 && s.top_p <= 1))
    throw UsageError("--top-p is not a probability; it must be above 0 and at most 1.");
  if (s.top_k < 0) throw UsageError("--top-k is negative; 0 takes all tokens.");
}

}  // namespace

void run_generate(const GenerateOptions& o) {
  check(o.sampling);
  const Loaded loaded = load_model(model_folder(o.model));
  if (!loaded.tokenizer) throw std::runtime_error(o.model + " has no tokenizer.json; put the one of the model there.");
  if (!o.device.empty()) cotan::default_device(o.device == "cpu" ? "native" : o.device);
  Gpt net(loaded.config);
  put_weights(net, loaded.weights, o.model);
  net.training = false;
  const std::int32_t end = end_token(*loaded.tokenizer);
  std::vector<std::int32_t> prompt = loaded.tokenizer->encode_ids(o.prompt);
  if (prompt.empty()) prompt.push_back(std::max(end, 0));  // a text begins where another one has ended
  const bool streams = o.stream && o.sampling.samples == 1;
  if (streams) std::cout << o.prompt << std::flush;
  Stream stream(*loaded.tokenizer, streams);
  const auto began = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> first;
  std::size_t after_first = 0;
  const auto texts = generate(net, prompt, o.sampling, end, [&](const auto& fresh) {
    if (first)
      for (const auto& f : fresh) after_first += f.size();
    else
      first = std::chrono::steady_clock::now();
    stream.add(fresh[0]);
    return true;
  });
  stream.finish();
  if (streams) std::cout << "\n";
  for (std::size_t i = 0; i < texts.size() && !streams; ++i) {
    if (texts.size() > 1) std::cout << fmt::format("--- {} ---\n", i + 1);
    std::cout << o.prompt << loaded.tokenizer->decode(texts[i]) << "\n";
  }
  const auto now = std::chrono::steady_clock::now();
  const auto seconds = [](auto a, auto b) { return std::chrono::duration<double>(b - a).count(); };
  if (first && after_first > 0)
    std::cerr << fmt::format("{:.0f} tokens/s after {:.1f} s of compiling and reading\n",
                             static_cast<double>(after_first) / seconds(*first, now), seconds(began, *first));
  const std::int64_t room = loaded.config.n_positions - static_cast<std::int64_t>(prompt.size());
  if (room < o.sampling.tokens)
    std::cerr << fmt::format("note: the model sees {} tokens; it stopped after {}.\n", loaded.config.n_positions, room);
}

}  // namespace gpt
