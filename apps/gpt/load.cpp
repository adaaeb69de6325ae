#include "load.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gpt {

namespace fs = std::filesystem;

fs::path model_folder(const fs::path& path) {
  if (!fs::exists(path))
    throw std::runtime_error(fmt::format("{} is not there; name the folder of a run or of a model.", path.string()));
  if (fs::is_directory(path) && !fs::exists(path / "model.safetensors") &&
      !fs::exists(path / "model.safetensors.index.json")) {
    if (const auto last = last_checkpoint(path)) return *last;
    throw std::runtime_error(
        fmt::format("{} has neither model.safetensors nor checkpoints of cotan-gpt (step-…); name a folder that has.",
                    path.string()));
  }
  return fs::is_directory(path) ? path : path.parent_path();
}

namespace {

/// Names as GPT2Model has them; those of GPT2LMHeadModel begin with "transformer.".
std::string plain_name(std::string name) {
  constexpr std::string_view prefix = "transformer.";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}
/// Masks that older files hold, and the head, which is the embedding.
bool is_no_weight(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") || name == "lm_head.weight";
}

}  // namespace

Loaded load_model(const fs::path& folder) {
  Loaded out;
  const fs::path config = folder / "config.json";
  out.config = config_from_json(read_text(config), config.string());
  const cotan::Safetensors file(folder.string());
  for (const std::string& name : file.names()) {
    if (is_no_weight(plain_name(name)))
      out.left_out.push_back(name);
    else
      out.weights[plain_name(name)] = file[name].astype(cotan::f32);
  }
  if (fs::exists(folder / "tokenizer.json"))
    out.tokenizer = cotan::Tokenizer::from_file((folder / "tokenizer.json").string());
  return out;
}

void put_weights(const Gpt& net, const NamedTensors& weights, const std::string& from) {
  const torch::no_grad off;
  std::vector<std::string> lacking;
  NamedTensors left = weights;
  for (const auto& [name, parameter] : nn::named_parameters(net)) {
    const auto it = left.find(name);
    if (it == left.end()) {
      if (name.find("lora_") == name.npos) lacking.push_back(name);
      continue;
    }
    if (it->second.shape() != parameter.sizes())
      throw std::runtime_error(fmt::format("{}: {} has shape {}, but config.json asks for {}.", from, name,
                                           cotan::describe(it->second.shape()), cotan::describe(parameter.sizes())));
    parameter.copy_(torch::from(it->second));
    left.erase(it);
  }
  if (!lacking.empty())
    throw std::runtime_error(fmt::format("{} lacks {}{}.", from, lacking[0],
                                         lacking.size() > 1 ? fmt::format(" and {} more", lacking.size() - 1) : ""));
  if (!left.empty())
    throw std::runtime_error(fmt::format("{} has {}, which this model has no place for.", from, left.begin()->first));
  torch::mark_step();
}

std::int32_t end_token(const cotan::Tokenizer& tokenizer) {
  return tokenizer.token_to_id("<|endoftext|>").value_or(-1);
}

}  // namespace gpt
