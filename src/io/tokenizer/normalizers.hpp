// The first stage of a tokenizer: texts become the texts that the vocabulary is about.
#pragma once
#include <memory>

#include "io/tokenizer/fields.hpp"
#include "io/tokenizer/text.hpp"

namespace cotan::io {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Text apply(const Text& text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

/// As "normalizer" of a file says; null where there is none. Raises IoError where it is of a kind that cotan lacks.
NormalizerPtr make_normalizer(const Part& part);
/// The table of a SentencePiece model, in Base64.
NormalizerPtr make_charsmap(const Part& part);

}  // namespace cotan::io
