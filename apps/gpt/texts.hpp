// Texts as tokens: what is learned from, and what is held out.
#pragma once
#include <cotan/io.hpp>

#include "model.hpp"

namespace gpt {

class Texts {
 public:
  /// The last `held_out` of the tokens are kept apart.
  Texts(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer, std::int64_t context, double held_out,
        std::uint64_t seed);
  std::size_t tokens() const { return split_; }
  std::size_t held_out_tokens() const { return all_.size() - split_; }
  /// The n-th batch: tokens and what follows each, [batch, context]. The same for the same seed.
  std::pair<cotan::Array, cotan::Array> batch(std::int64_t number, std::int64_t size) const;
  /// The mean loss over what was held out (at most 64 sequences of it).
  double held_out_loss(Gpt& net, std::int64_t batch) const;

 private:
  std::pair<cotan::Array, cotan::Array> windows(const std::vector<std::size_t>& starts) const;
  std::vector<std::int32_t> all_;
  std::size_t split_ = 0;
  std::int64_t context_;
  std::uint64_t seed_;
};

/// The tokens of files, each text ended by the token that ends one; says how far it is.
std::vector<std::int32_t> read_tokens(const std::vector<std::string>& files, const cotan::Tokenizer& tokenizer);
/// A vocabulary of byte pairs.
cotan::Tokenizer learn_vocabulary(const std::vector<std::string>& files, std::int64_t size, bool quiet);

}  // namespace gpt
