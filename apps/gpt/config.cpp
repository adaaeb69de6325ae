#include "config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gpt {

namespace {

const std::map<std::string, Config>& named() {
  static const std::map<std::string, Config> all = {
      {"tiny", {.n_positions = 64, .n_embd = 64, .n_layer = 2, .n_head = 4}},
      {"mini", {.n_positions = 128, .n_embd = 128, .n_layer = 4, .n_head = 4}},
      {"distilgpt2", {.n_layer = 6}},
      {"gpt2", {}},
      {"gpt2-medium", {.n_embd = 1024, .n_layer = 24, .n_head = 16}},
      {"gpt2-large", {.n_embd = 1280, .n_layer = 36, .n_head = 20}},
      {"gpt2-xl", {.n_embd = 1600, .n_layer = 48, .n_head = 25}},
  };
  return all;
}

}  // namespace

std::int64_t Config::parameters() const {
  const std::int64_t block = 12 * n_embd * n_embd + 13 * n_embd;
  return (vocab_size + n_positions) * n_embd + n_layer * block + 2 * n_embd;
}

std::string Config::describe() const {
  const double millions = static_cast<double>(parameters()) / 1e6;
  return fmt::format("{} layers of width {}, {} heads, {} tokens of context, vocabulary {}: {:.{}f} M parameters",
                     n_layer, n_embd, n_head, n_positions, vocab_size, millions, millions < 10 ? 2 : 0);
}

void Config::check() const {
  for (const auto& [name, value] : {std::pair{"vocab_size", vocab_size},
                                    {"n_positions", n_positions},
                                    {"n_embd", n_embd},
                                    {"n_layer", n_layer},
                                    {"n_head", n_head}})
    if (value < 1 || value > 100'000'000)
      throw std::runtime_error(fmt::format("{} is {}; it must be between 1 and 100000000.", name, value));
  if (n_embd % n_head != 0)
    throw std::runtime_error(fmt::format(
        "the width {} is not a multiple of the {} heads; choose another --width or --heads.", n_embd, n_head));
  if (!(dropout >= 0 && dropout < 1))
    throw std::runtime_error(fmt::format("dropout is {}; it must be at least 0 and below 1.", dropout));
}

Config named_config(const std::string& name) {
  if (const auto it = named().find(name); it != named().end()) return it->second;
  throw std::runtime_error(fmt::format("there is no size '{}'; there are {}.", name, fmt::join(config_names(), ", ")));
}
const std::vector<std::string>& config_names() {
  static const std::vector<std::string> names = {"tiny",        "mini",       "distilgpt2", "gpt2",
                                                 "gpt2-medium", "gpt2-large", "gpt2-xl"};
  return names;
}

Config config_from_json(const std::string& text, const std::string& file) {
  Config out;
  try {
    const auto json = nlohmann::json::parse(text);
    const auto read = [&](const char* key, auto& value) {
      if (json.contains(key) && !json[key].is_null()) json[key].get_to(value);
    };
    read("vocab_size", out.vocab_size);
    read("n_ctx", out.n_positions);
    read("n_positions", out.n_positions);
    read("n_embd", out.n_embd);
    read("n_layer", out.n_layer);
    read("n_head", out.n_head);
    read("layer_norm_epsilon", out.layer_norm_epsilon);
    read("resid_pdrop", out.dropout);
    read("lora_rank", out.lora_rank);
    read("lora_alpha", out.lora_alpha);
    const std::string type = json.value("model_type", "gpt2");
    if (type != "gpt2") throw std::runtime_error(fmt::format("the model is a '{}'; this program knows gpt2.", type));
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
  }
  out.check();
  return out;
}

std::string to_json(const Config& c) {
  nlohmann::ordered_json json = {{"model_type", "gpt2"},
                                 {"architectures", {"GPT2LMHeadModel"}},
                                 {"vocab_size", c.vocab_size},
                                 {"n_positions", c.n_positions},
                                 {"n_embd", c.n_embd},
                                 {"n_layer", c.n_layer},
                                 {"n_head", c.n_head},
                                 {"layer_norm_epsilon", c.layer_norm_epsilon},
                                 {"activation_function", "gelu_new"},
                                 {"resid_pdrop", c.dropout},
                                 {"embd_pdrop", c.dropout},
                                 {"attn_pdrop", c.dropout}};
  if (c.lora_rank > 0) {
    json["lora_rank"] = c.lora_rank;
    json["lora_alpha"] = c.lora_alpha;
  }
  return json.dump(2) + "\n";
}

}  // namespace gpt
