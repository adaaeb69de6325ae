// Texts as files of tokens: what is learned from, and what is held out.
#pragma once
#include <cotan/io.hpp>
#include <filesystem>
#include <optional>

#include "model.hpp"

namespace gpt {

struct TextOptions {
  std::int64_t context, batch;
  double held_out;  ///< the last share of the texts
  std::uint64_t seed, first_batch;
  bool quiet;
};

class Texts {
 public:
  /// Writes the tokens into `folder`, and reads batches from there.
  Texts(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer, const std::filesystem::path& folder,
        const TextOptions& options);
  std::size_t tokens() const { return tokens_; }
  std::size_t held_out_tokens() const { return held_out_ ? held_out_->size() : 0; }
  /// The next batch: tokens and what follows each. It depends on the seed and its number alone.
  cotan::TokenBatch next() { return batches_->next(); }
  /// The mean loss over what was held out (at most some 64 sequences of it).
  double held_out_loss(Gpt& net) const;

 private:
  TextOptions options_;
  std::size_t tokens_ = 0;
  std::optional<cotan::TokenBatches> batches_;
  std::optional<cotan::TokenFile> held_out_;
};

/// The tokens of files, each text ended by the token that ends one.
std::vector<std::int32_t> read_tokens(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer);
/// A vocabulary of byte pairs.
cotan::Tokenizer learn_vocabulary(const std::vector<std::string>& files, std::int64_t size, bool quiet);

}  // namespace gpt
