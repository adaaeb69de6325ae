// Vocabularies made from texts.
#pragma once
#include <cotan/io/tokenizer.hpp>
#include <functional>
#include <string>
#include <vector>

namespace cotan {

/// How train_bpe trains.
struct BpeTraining {
  std::size_t vocab_size = 30'000;               ///< special tokens and the 256 bytes included
  std::size_t min_frequency = 0;                 ///< pairs that are there less often are not merged
  std::vector<std::string> special_tokens = {};  ///< get the first ids: {"<|endoftext|>"}
  bool add_prefix_space = false;                 ///< whether texts are encoded as if a blank were in front
  /// Called as the vocabulary grows, with its size and the one wanted; what it throws ends the training.
  std::function<void(std::size_t size, std::size_t wanted)> progress = {};
};

/// A byte pair encoding of bytes as GPT-2's, trained on texts: the same vocabulary and merges as `BpeTrainer` of the
/// Python package `tokenizers` gives with initial_alphabet=ByteLevel.alphabet(). Ends early where nothing is left to
/// merge.
///
///     ct::train_bpe({text}, {.vocab_size = 8000, .special_tokens = {"<|endoftext|>"}}).save("tokenizer.json");
Tokenizer train_bpe(const std::vector<std::string>& texts, const BpeTraining& options = {},
                    const std::source_location& where = COTAN_HERE);

}  // namespace cotan
