// Models from folders: of a training run, of a checkpoint, or of Hugging Face's library.
#pragma once
#include <cotan/io.hpp>
#include <filesystem>

#include "model.hpp"
#include "run_folder.hpp"

namespace gpt {

struct Loaded {
  Config config;
  NamedTensors weights;
  std::optional<cotan::Tokenizer> tokenizer;
  std::vector<std::string> left_out;  ///< names in the file that the model has no place for
};

/// A run's folder stands for its last checkpoint.
std::filesystem::path model_folder(const std::filesystem::path& path);
Loaded load_model(const std::filesystem::path& folder);
/// Puts weights into a network; names that it lacks or that lack raise. Matrices of LoRA may lack: they begin anew.
void put_weights(const Gpt& net, const NamedTensors& weights, const std::string& from);
/// The token that ends a text, or -1.
std::int32_t end_token(const cotan::Tokenizer& tokenizer);

}  // namespace gpt
