// Tokenizers in the format of Hugging Face's `tokenizers`: text to numbers and back.
#pragma once
#include <cotan/call_site.hpp>
#include <cotan/io/path.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotan {

/// A text as tokens.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::string> tokens;  ///< as the vocabulary has them
  /// The bytes of the text that each token stands for, begin and end; (0, 0) of tokens that were put in.
  std::vector<std::pair<std::size_t, std::size_t>> offsets;
  std::vector<std::int32_t> type_ids;     ///< 0, and of the second text of a pair what the template says
  std::vector<bool> special_tokens_mask;  ///< whether a token was put in, such as <s>
};

/// What tokenizer.json describes: byte pair encodings of bytes, as GPT-2's and Llama 3's, and of characters with a
/// fallback to bytes, as Llama 2's; unigram models of SentencePiece, as T5's; word pieces, as BERT's. Gives the same
/// tokens as the Python package `tokenizers`. Texts are UTF-8; other bytes count as U+FFFD, as Python's
/// errors="replace" has it. A copy is the same tokenizer; threads may use one together.
///
///     const auto tokenizer = ct::Tokenizer::from_file("gpt2/tokenizer.json");
///     std::vector<std::int32_t> ids = tokenizer.encode_ids("Hello, world");
///     std::string text = tokenizer.decode(ids);
class Tokenizer {
 public:
  /// Reads a tokenizer.json; what cotan cannot do as the file says raises IoError.
  static Tokenizer from_file(const FilePath& path, const std::source_location& where = COTAN_HERE);
  /// The same of the contents of such a file.
  static Tokenizer from_json(std::string_view json, const std::source_location& where = COTAN_HERE);

  /// The tokens of a text, with those that the model wants around it.
  Encoding encode(std::string_view text, bool add_special_tokens = true,
                  const std::source_location& where = COTAN_HERE) const;
  /// Two texts as one, such as a question and its context.
  Encoding encode_pair(std::string_view text, std::string_view second, bool add_special_tokens = true,
                       const std::source_location& where = COTAN_HERE) const;
  /// The ids alone, which is faster.
  std::vector<std::int32_t> encode_ids(std::string_view text, bool add_special_tokens = true,
                                       const std::source_location& where = COTAN_HERE) const;
  /// The ids of many texts, on several threads.
  std::vector<std::vector<std::int32_t>> encode_batch(const std::vector<std::string>& texts,
                                                      bool add_special_tokens = true,
                                                      const std::source_location& where = COTAN_HERE) const;

  /// The text of tokens; an id that is none raises IndexError. Bytes that are no UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = true,
                     const std::source_location& where = COTAN_HERE) const;
  /// The texts of many.
  std::vector<std::string> decode_batch(const std::vector<std::vector<std::int32_t>>& ids,
                                        bool skip_special_tokens = true,
                                        const std::source_location& where = COTAN_HERE) const;

  /// How many tokens there are, with those that were added or without.
  std::size_t vocab_size(bool with_added_tokens = true) const;
  /// The id of a token, or nothing.
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// The token of an id, or nothing.
  std::optional<std::string> id_to_token(std::int32_t id) const;

  /// Adds tokens that are never divided and are left out when decoding, and gives back how many are new to it. Those
  /// that the vocabulary lacks get the ids behind it.
  std::size_t add_special_tokens(const std::vector<std::string>& tokens,
                                 const std::source_location& where = COTAN_HERE);
  /// Adds tokens that are never divided.
  std::size_t add_tokens(const std::vector<std::string>& tokens, const std::source_location& where = COTAN_HERE);

  /// The tokenizer as the contents of a tokenizer.json.
  std::string to_json() const;
  /// Writes a tokenizer.json, whole or not at all.
  void save(const FilePath& path, const std::source_location& where = COTAN_HERE) const;

 private:
  struct Parts;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  static Tokenizer from_text(std::string_view json, const std::string& where);
  std::size_t add(const std::vector<std::string>& tokens, bool special);
  std::shared_ptr<const Parts> parts_;
};

}  // namespace cotan
