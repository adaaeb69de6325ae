// Sizes of a GPT-2: config.json as Hugging Face writes it, and named sizes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gpt {

struct Config {
  std::int64_t vocab_size = 50257;
  std::int64_t n_positions = 1024;  ///< tokens that it can see
  std::int64_t n_embd = 768;
  std::int64_t n_layer = 12;
  std::int64_t n_head = 12;
  double dropout = 0.0;
  double layer_norm_epsilon = 1e-5;
  std::int64_t lora_rank = 0;  ///< 0: none
  double lora_alpha = 16;

  std::int64_t parameters() const;
  std::string describe() const;
  /// Raises where sizes do not fit together.
  void check() const;
};

/// "gpt2", "distilgpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "mini", "tiny"; raises with the list for others.
Config named_config(const std::string& name);
const std::vector<std::string>& config_names();

Config config_from_json(const std::string& text, const std::string& file);
std::string to_json(const Config& config);

}  // namespace gpt
