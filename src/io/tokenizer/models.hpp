// The third stage of a tokenizer: a piece of text becomes tokens of the vocabulary.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/tokenizer/fields.hpp"

namespace cotan::io {

/// A token, and the bytes of the piece that it stands for.
struct PieceToken {
  std::uint32_t id, begin, end;
};

/// Texts by their ids and ids by texts.
class Vocabulary {
 public:
  void add(std::string text, std::uint32_t id);
  std::optional<std::uint32_t> find(std::string_view text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return {};
    return found->second;
  }
  /// Null where there is no such id.
  const std::string* text(std::uint32_t id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return ids_.size(); }
  const auto& ids() const { return ids_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::unordered_map<std::uint32_t, std::string> texts_;
};
/// The vocabulary that a file gives as {"text": id, …}.
Vocabulary read_vocabulary(const Part& part, const char* name = "vocab");
/// The name of a byte in vocabularies that fall back to bytes: "<0x0A>".
const std::string& byte_token(unsigned char byte);

class Model {
 public:
  virtual ~Model() = default;
  /// Adds the tokens of a piece, which is valid UTF-8 and not empty.
  virtual void tokenize(std::string_view piece, std::vector<PieceToken>& out) const = 0;
  /// What the token is as a text: of some models not what its id stands for.
  virtual std::string text_of(const PieceToken& token, std::string_view piece) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Vocabulary vocabulary_;
};
using ModelPtr = std::unique_ptr<const Model>;

/// As "model" of a file says. Raises IoError where it is of a kind that cotan lacks.
ModelPtr make_model(const Part& part);
ModelPtr make_bpe(const Part& part);
ModelPtr make_unigram(const Part& part);

}  // namespace cotan::io
