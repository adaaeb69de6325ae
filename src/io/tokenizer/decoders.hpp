// From tokens back to text.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/tokenizer/fields.hpp"

namespace cotan::io {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// One step of several: tokens become texts, which are put side by side in the end.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};
using DecoderPtr = std::unique_ptr<const Decoder>;

/// As "decoder" of a file says; null where there is none. Raises IoError where it is of a kind that cotan lacks.
DecoderPtr make_decoder(const Part& part);

}  // namespace cotan::io
