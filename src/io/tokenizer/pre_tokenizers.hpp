// The second stage of a tokenizer: a text is cut into pieces that no token crosses.
#pragma once
#include <memory>
#include <vector>

#include "io/tokenizer/fields.hpp"
#include "io/tokenizer/text.hpp"

namespace cotan::io {

struct Pieces {
  Text text;
  std::vector<Span> spans;  ///< in order; none is empty
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// As "pre_tokenizer" of a file says; null where there is none. Raises IoError where it is of a kind that cotan lacks.
PreTokenizerPtr make_pre_tokenizer(const Part& part);

/// How files say when Metaspace puts a blank in front.
enum class PrependScheme { never, first, always };
PrependScheme prepend_scheme_of(const Part& part);

}  // namespace cotan::io
