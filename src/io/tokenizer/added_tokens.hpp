// Tokens that stand in a text as they are: special ones, and others that a user adds to a vocabulary.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/tokenizer/models.hpp"
#include "io/tokenizer/normalizers.hpp"
#include "io/tokenizer/text.hpp"

namespace cotan::io {

struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

/// A part of a text: a token, or what lies between two of them.
struct Section {
  const AddedToken* token;  ///< null of a text
  Span span;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Of several with the same content, the last counts.
  AddedTokens(const std::vector<AddedToken>& tokens, const Normalizer* normalizer);
  const AddedToken* find(std::string_view content) const;
  const AddedToken* find(std::uint32_t id) const;
  const std::map<std::string, AddedToken, std::less<>>& all() const { return by_content_; }

  /// Where a text has tokens: those that are looked for before it is normalized, or those for after it.
  std::vector<Section> divide(std::string_view text, bool normalized) const;

 private:
  /// What is looked for, by the first byte: of several, the longest is taken.
  struct Group {
    std::array<std::vector<std::size_t>, 256> lengths;  ///< long ones first
    std::unordered_map<std::string_view, const AddedToken*> tokens;
    std::vector<std::unique_ptr<std::string>> patterns;
    void add(std::string pattern, const AddedToken& token);
    const AddedToken* match(std::string_view text, std::size_t at, std::size_t& length) const;
  };
  std::map<std::string, AddedToken, std::less<>> by_content_;
  std::unordered_map<std::uint32_t, const AddedToken*> by_id_;
  Group plain_, normalized_;
};

}  // namespace cotan::io
