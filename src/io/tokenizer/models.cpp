#include "io/tokenizer/models.hpp"

#include <algorithm>
#include <array>

#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

void Vocabulary::add(std::string text, std::uint32_t id) {
  texts_.insert_or_assign(id, text);
  ids_.insert_or_assign(std::move(text), id);
}

Vocabulary read_vocabulary(const Part& part, const char* name) {
  const Json& entries = part.find(name);
  if (!entries.is_object()) raise_wrong_field(part.where, name, "object");
  Vocabulary out;
  for (const auto& [text, id] : entries.items()) out.add(text, id_of(id, part.where + ", " + name));
  return out;
}

const std::string& byte_token(unsigned char byte) {
  static const auto names = [] {
    std::array<std::string, 256> out;
    for (std::size_t b = 0; b < out.size(); ++b) out[b] = fmt::format("<0x{:02X}>", b);
    return out;
  }();
  return names[byte];
}

std::string Model::text_of(const PieceToken& token, std::string_view) const {
  const std::string* text = vocabulary_.text(token.id);
  return text ? *text : "";
}

namespace {

std::uint32_t known(const Vocabulary& vocabulary, const Part& part) {
  const std::string unknown = part.text("unk_token");
  const auto id = vocabulary.find(unknown);
  if (!id) raise<IoError>("{}: the unk_token '{}' is not in the vocabulary; the file is damaged.", part.where, unknown);
  return *id;
}

/// Whole pieces.
class WordLevel : public Model {
 public:
  explicit WordLevel(const Part& part) : Model(read_vocabulary(part)), unknown_(known(vocabulary_, part)) {}
  void tokenize(std::string_view piece, std::vector<PieceToken>& out) const override {
    out.push_back({vocabulary_.find(piece).value_or(unknown_), 0, static_cast<std::uint32_t>(piece.size())});
  }

 private:
  std::uint32_t unknown_;
};

/// The longest token that a piece begins with, again and again; a piece that is not all tokens is unknown.
class WordPiece : public Model {
 public:
  explicit WordPiece(const Part& part)
      : Model(read_vocabulary(part)),
        unknown_(known(vocabulary_, part)),
        prefix_(part.text("continuing_subword_prefix")),
        most_characters_(part.number("max_input_chars_per_word")) {
    for (const auto& [text, id] : vocabulary_.ids()) longest_ = std::max(longest_, text.size());
  }
  void tokenize(std::string_view piece, std::vector<PieceToken>& out) const override {
    const auto size = static_cast<std::uint32_t>(piece.size());
    const std::size_t first = out.size();
    const auto give_up = [&] {
      out.resize(first);
      out.push_back({unknown_, 0, size});
    };
    const auto characters = std::ranges::count_if(piece, [](char c) { return (c & 0xc0) != 0x80; });
    if (characters > most_characters_) return give_up();
    std::string token;
    for (std::uint32_t at = 0; at < size;) {
      std::size_t end = std::min<std::size_t>(size, at + longest_);
      std::optional<std::uint32_t> id;
      for (; end > at; --end) {
        if (end < size && (piece[end] & 0xc0) == 0x80) continue;
        token.assign(at > 0 ? prefix_ : "").append(piece.substr(at, end - at));
        if ((id = vocabulary_.find(token))) break;
      }
      if (!id) return give_up();
      out.push_back({*id, at, static_cast<std::uint32_t>(end)});
      at = static_cast<std::uint32_t>(end);
    }
  }

 private:
  std::uint32_t unknown_;
  std::string prefix_;
  std::uint32_t most_characters_;
  std::size_t longest_ = 0;
};

/// Older files do not name the type.
std::string type_of(const Part& part) {
  if (!part.lacks("type")) return part.type();
  return !part.lacks("merges") ? "BPE" : !part.lacks("unk_id") ? "Unigram" : "WordPiece";
}

}  // namespace

ModelPtr make_model(const Part& part) {
  if (!part.json.is_object()) raise_wrong_field(part.where, "model", "object");
  const std::string type = type_of(part);
  if (type == "BPE") return make_bpe(part);
  if (type == "Unigram") return make_unigram(part);
  if (type == "WordPiece") return std::make_unique<WordPiece>(part);
  if (type == "WordLevel") return std::make_unique<WordLevel>(part);
  raise<IoError>("{}: cotan has no model '{}'; use another tokenizer.", part.where, type);
}

}  // namespace cotan::io
