// cotan-gpt demo: a small model learns sentences about numbers, letter by letter, and is asked to go on.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "commands.hpp"
#include "corpus.hpp"
#include "load.hpp"

namespace gpt {

void run_demo(const DemoOptions& o) {
  namespace fs = std::filesystem;
  fs::create_directories(o.out);
  const std::string text = (fs::path(o.out) / "numbers.txt").string();
  write_text(text, number_sentences(400'000, 1));
  std::cout << "A model that has never seen a number learns from sentences such as these:\n";
  const std::string some = read_text(text).substr(0, 130);
  std::cout << some.substr(0, some.rfind('\n') + 1) << std::flush;
  TrainOptions train;
  train.files = {text};
  train.out = o.out;
  train.size = "mini";
  train.context = 64;
  train.vocabulary = 320;
  train.batch = 16;
  train.steps = o.steps;
  train.warmup = 50;
  train.lr = 2e-3;
  train.min_lr = 1e-4;
  train.device = o.device;
  train.eval_every = train.save_every = std::max<std::int64_t>(o.steps / 4, 1);
  run_train(train);
  const Loaded loaded = load_model(model_folder(o.out));
  Gpt net(loaded.config);
  put_weights(net, loaded.weights, o.out);
  net.training = false;
  Sampling sampling;
  sampling.tokens = 60;
  sampling.samples = 32;
  sampling.temperature = 0.7;
  const auto texts = generate(net, loaded.tokenizer->encode_ids("\n"), sampling, end_token(*loaded.tokenizer));
  Truth truth;
  std::cout << "It says:\n";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string said = loaded.tokenizer->decode(texts[i]);
    const std::string whole = said.substr(0, said.rfind('\n') + 1);  // the last sentence may be cut off
    const Truth t = check_sentences(whole);
    truth.sentences += t.sentences;
    truth.grammatical += t.grammatical;
    truth.true_ones += t.true_ones;
    if (i < 3) std::cout << whole;
  }
  std::cout << fmt::format("Of {} sentences {} are grammatical, and {} are true.\nThe curve of the loss: {}\n",
                           truth.sentences, truth.grammatical, truth.true_ones,
                           (fs::path(o.out) / "loss.svg").string());
}

}  // namespace gpt
