// The unigram model of SentencePiece: of all ways to cut a piece into tokens, the one whose scores have the largest
// sum.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "io/tokenizer/models.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

/// All texts of a vocabulary as a tree of bytes.
class Trie {
 public:
  explicit Trie(const Vocabulary& vocabulary) {
    std::vector<std::pair<std::string_view, std::uint32_t>> sorted(vocabulary.ids().begin(), vocabulary.ids().end());
    std::ranges::sort(sorted);
    nodes_.push_back({});
    build(0, sorted, 0, sorted.size(), 0);
    first_.fill(0);
    for (std::uint32_t i = 0; i < nodes_[0].children; ++i) first_[bytes_[nodes_[0].first + i]] = nodes_[0].first + i;
  }
  /// Calls found(id, length) for each text that `text` begins with, short ones first.
  template <class F>
  void prefixes(std::string_view text, F&& found) const {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (at == 0) {
        at = first_[byte];
      } else {
        const Node& node = nodes_[at];
        const auto* begin = bytes_.data() + node.first;
        const auto* child = std::find(begin, begin + node.children, byte);
        at = child == begin + node.children ? 0 : node.first + static_cast<std::uint32_t>(child - begin);
      }
      if (at == 0) return;
      if (nodes_[at].id >= 0) found(static_cast<std::uint32_t>(nodes_[at].id), i + 1);
    }
  }

 private:
  struct Node {
    std::uint32_t first = 0, children = 0;  ///< children lie side by side
    std::int32_t id = -1;
  };
  using Sorted = std::vector<std::pair<std::string_view, std::uint32_t>>;

  void build(std::uint32_t node, const Sorted& sorted, std::size_t begin, std::size_t end, std::size_t depth) {
    struct Group {
      std::size_t begin, end;
    };
    std::vector<Group> groups;
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    bytes_.resize(nodes_.size());
    for (std::size_t i = begin; i < end;) {
      if (sorted[i].first.size() == depth) {
        nodes_[node].id = static_cast<std::int32_t>(sorted[i++].second);
        continue;
      }
      const char byte = sorted[i].first[depth];
      std::size_t next = i;
      while (next < end && sorted[next].first[depth] == byte) ++next;
      groups.push_back({i, next});
      nodes_.push_back({});
      bytes_.push_back(static_cast<unsigned char>(byte));
      i = next;
    }
    nodes_[node].first = first;
    nodes_[node].children = static_cast<std::uint32_t>(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      build(first + static_cast<std::uint32_t>(g), sorted, groups[g].begin, groups[g].end, depth + 1);
  }

  std::vector<Node> nodes_;
  std::vector<unsigned char> bytes_;  ///< by which a node is reached
  std::array<std::uint32_t, 256> first_;
};

class Unigram : public Model {
 public:
  explicit Unigram(const Part& part, Vocabulary vocabulary, std::vector<double> scores)
      : Model(std::move(vocabulary)),
        trie_(vocabulary_),
        scores_(std::move(scores)),
        falls_back_(part.flag("byte_fallback", false)) {
    if (!part.lacks("unk_id")) unknown_ = part.number("unk_id");
    if (unknown_ && *unknown_ >= scores_.size())
      raise<IoError>("{}: unk_id is {}, and there are {} tokens; the file is damaged.", part.where, *unknown_,
                     scores_.size());
    const double least = scores_.empty() ? 0 : *std::ranges::min_element(scores_);
    unknown_score_ = least - 10;
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& out) const override {
    for (const Span& s : best_cut(piece)) {
      const auto begin = static_cast<std::uint32_t>(s.begin), end = static_cast<std::uint32_t>(s.end);
      const std::string_view text = piece.substr(begin, end - begin);
      if (const auto id = vocabulary_.find(text))
        out.push_back({*id, begin, end});
      else if (!add_bytes(text, begin, end, out))
        out.push_back({unknown(), begin, end});
    }
  }
  std::string text_of(const PieceToken& token, std::string_view piece) const override {
    return token.id == unknown_ ? std::string(piece.substr(token.begin, token.end - token.begin))
                                : Model::text_of(token, piece);
  }

 private:
  struct Span {
    std::size_t begin, end;
  };
  struct Node {  ///< the best way that ends at a byte
    double score = 0;
    std::uint32_t id = 0;
    std::int64_t from = -1;
  };

  std::uint32_t unknown() const {
    if (!unknown_)
      raise<ValueError>(
          "[encode] the text has characters that the vocabulary lacks, and the model has no unk_id; give "
          "it one.");
    return *unknown_;
  }

  std::vector<Span> best_cut(std::string_view piece) const {
    std::vector<Node> nodes(piece.size() + 1);
    const auto offer = [&](std::size_t from, std::size_t to, std::uint32_t id, double score) {
      Node& node = nodes[to];
      if (node.from >= 0 && score <= node.score) return;
      node = {score, id, static_cast<std::int64_t>(from)};
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t length = decode(piece, at).length;
      const double here = nodes[at].score;
      bool character = false;  // whether the next one is a token
      trie_.prefixes(piece.substr(at), [&](std::uint32_t id, std::size_t bytes) {
        offer(at, at + bytes, id, scores_[id] + here);
        character = character || bytes == length;
      });
      if (!character) offer(at, at + length, unknown(), unknown_score_ + here);
      at += length;
    }
    std::vector<Span> out;
    bool joins = false;  // unknown characters side by side are one
    for (std::size_t end = piece.size(); end > 0;) {
      const Node& node = nodes[end];
      const auto begin = static_cast<std::size_t>(node.from);
      const bool is_unknown = unknown_ && node.id == *unknown_;
      if (joins && is_unknown)
        out.back().begin = begin;
      else
        out.push_back({begin, end});
      joins = is_unknown;
      end = begin;
    }
    std::ranges::reverse(out);
    return out;
  }

  bool add_bytes(std::string_view text, std::uint32_t begin, std::uint32_t end, std::vector<PieceToken>& out) const {
    if (!falls_back_) return false;
    const std::size_t first = out.size();
    for (const char b : text) {
      const auto id = vocabulary_.find(byte_token(static_cast<unsigned char>(b)));
      if (!id) {
        out.resize(first);
        return false;
      }
      out.push_back({*id, begin, end});
    }
    return true;
  }

  Trie trie_;
  std::vector<double> scores_;
  std::optional<std::uint32_t> unknown_;
  bool falls_back_;
  double unknown_score_;
};

}  // namespace

namespace {

/// A score as the package reads it from a file: its digits as an integer, which is rounded, divided by a power of ten,
/// which rounds again. Where two ways to cut a piece are equally good the last bit decides.
double rounded_twice(double score) {
  char buffer[64];  // the shortest digits that are this number
  const auto written = std::to_chars(buffer, std::end(buffer), std::abs(score), std::chars_format::scientific);
  const std::string text(buffer, written.ptr);
  const std::size_t e = text.find('e');
  std::uint64_t digits = 0;
  int exponent = std::stoi(text.substr(e + 1));
  for (std::size_t i = 0; i < e; ++i) {
    if (text[i] == '.') continue;
    digits = digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
    if (i > 0) --exponent;
  }
  const double power = std::pow(10.0, std::abs(exponent));
  const auto significand = static_cast<double>(digits);
  return std::copysign(exponent < 0 ? significand / power : significand * power, score);
}

}  // namespace

ModelPtr make_unigram(const Part& part) {
  constexpr std::size_t longest_text = 4096;  // the tree of texts is built by recursion
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const Part& entry : part.list("vocab")) {
    if (!entry.json.is_array() || entry.json.size() != 2 || !entry.json[0].is_string() || !entry.json[1].is_number() ||
        !std::isfinite(entry.json[1].get<double>()))
      raise<IoError>("{}: is no pair of a text and a score; the file is damaged.", entry.where);
    if (entry.json[0].get_ref<const std::string&>().size() > longest_text)
      raise<IoError>("{}: is longer than {} bytes; this is no text of a vocabulary.", entry.where, longest_text);
    vocabulary.add(entry.json[0].get<std::string>(), static_cast<std::uint32_t>(scores.size()));
    scores.push_back(rounded_twice(entry.json[1].get<double>()));
  }
  return std::make_unique<Unigram>(part, std::move(vocabulary), std::move(scores));
}

}  // namespace cotan::io
