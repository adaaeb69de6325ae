// The last stage of a tokenizer: tokens that belong around a text or between two.
#pragma once
#include <cotan/io/tokenizer.hpp>
#include <memory>
#include <vector>

#include "io/tokenizer/fields.hpp"

namespace cotan::io {

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// `parts` are the texts, one or two; in the end they are put side by side.
  virtual void apply(std::vector<Encoding>& parts, bool add_special_tokens) const = 0;
};
using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

/// As "post_processor" of a file says; null where there is none. Raises IoError where it is of a kind that cotan lacks.
PostProcessorPtr make_post_processor(const Part& part);

/// Adds one encoding to another.
void append(Encoding& to, const Encoding& more);

}  // namespace cotan::io
