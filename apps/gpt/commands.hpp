// The commands of cotan-gpt, and what can be asked of each.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generate.hpp"

namespace gpt {

/// The command line makes no sense; the message says what does.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TrainOptions {
  std::vector<std::string> files;  ///< texts
  std::string out = "gpt-run";     ///< where checkpoints go
  std::string size = "mini";       ///< a named size, unless `from` or a checkpoint says it
  std::optional<std::int64_t> layers, width, heads, context;
  std::string from;                ///< a folder with weights to start from
  std::string tokenizer;           ///< a tokenizer.json; by default one is trained on the texts
  std::int64_t vocabulary = 2048;  ///< of a tokenizer that is trained
  std::int64_t steps = 1000, batch = 8, accumulate = 1, warmup = 100;
  double lr = 6e-4, min_lr = 6e-5, weight_decay = 0.1, clip = 1.0, dropout = 0.0;
  std::uint64_t seed = 0;
  std::string device, amp;
  bool checkpoint = false;
  std::int64_t lora = 0;
  std::int64_t save_every = 200, keep = 2, eval_every = 200;
  double held_out = 0.05;  ///< the last part of the texts, which is not trained on
  bool fresh = false;      ///< begins anew where there are checkpoints
  bool quiet = false;
};
struct GenerateOptions {
  std::string model, prompt, device;
  Sampling sampling;
  bool stream = true;
};
struct EvalOptions {
  std::string model, device;
  std::vector<std::string> files;
  std::int64_t batch = 4, stride = 0;
};
struct TokenizeOptions {
  std::string tokenizer;
  std::vector<std::string> files;
  bool ids = false, count = false;
  std::string train_to;  ///< trains a tokenizer on the files, and writes it here
  std::int64_t vocabulary = 2048;
};
struct InspectOptions {
  std::string path;
  bool statistics = false;
};
struct DemoOptions {
  std::string out = "out/gpt-demo", device;
  std::int64_t steps = 600;
};

void run_train(const TrainOptions& options);
void run_generate(const GenerateOptions& options);
void run_eval(const EvalOptions& options);
void run_tokenize(const TokenizeOptions& options);
void run_inspect(const InspectOptions& options);
void run_demo(const DemoOptions& options);

}  // namespace gpt
