// Byte pair encoding: characters, of which the two that were merged first in training become one, again and again.
#include <algorithm>
#include <array>
#include <queue>
#include <span>

#include "io/tokenizer/merges.hpp"
#include "io/tokenizer/models.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

struct Symbol {
  std::uint32_t id, length;
  std::int32_t before = -1, next = -1;  ///< -1 at the ends
};
using Symbols = std::span<Symbol>;

class Bpe : public Model {
 public:
  explicit Bpe(const Part& part)
      : Model(read_vocabulary(part)),
        merges_(part.find("merges").size()),
        crossings_(part.find("merges").size()),
        prefix_(part.text("continuing_subword_prefix", "")),
        suffix_(part.text("end_of_word_suffix", "")),
        fuses_unknown_(part.flag("fuse_unk", false)),
        whole_words_(part.flag("ignore_merges", false)) {
    if (!part.lacks("dropout") && part.find("dropout") != 0.0)
      raise<IoError>("{}: dropout makes encodings random; set it to null.", part.where);
    if (!part.lacks("unk_token")) unknown_ = part.text("unk_token");
    if (unknown_) unknown_id_ = vocabulary_.find(*unknown_);
    if (part.flag("byte_fallback", false)) read_bytes();
    common_.fill(-1);
    for (char32_t c = 0; c < common_.size(); ++c)
      if (const auto id = vocabulary_.find(utf8(c))) common_[c] = static_cast<std::int32_t>(*id);
    read_merges(part);
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& out) const override {
    if (whole_words_)
      if (const auto id = vocabulary_.find(piece)) {
        out.push_back({*id, 0, static_cast<std::uint32_t>(piece.size())});
        return;
      }
    std::vector<Symbol> symbols = characters(piece);
    for (std::size_t begin = 0, end = 0; begin < symbols.size(); begin = end) {
      for (end = begin + 1; end < symbols.size() && may_cross(symbols[end - 1].id, symbols[end].id); ++end) continue;
      merge(std::span(symbols).subspan(begin, end - begin));
    }
    std::uint32_t at = 0;
    for (const Symbol& s : symbols) {
      if (s.length == 0) continue;
      out.push_back({s.id, at, at + s.length});
      at += s.length;
    }
  }

 private:
  static constexpr std::size_t most_scanned = 48;
  struct Joined {
    std::uint32_t left, right, id;
  };

  void read_bytes() {
    std::array<std::int32_t, 256> bytes;
    for (unsigned b = 0; b < 256; ++b) {
      const auto id = vocabulary_.find(byte_token(static_cast<unsigned char>(b)));
      bytes[b] = id ? static_cast<std::int32_t>(*id) : -1;
    }
    bytes_ = bytes;
  }
  /// "a b" or ["a", "b"]; the second loses the prefix that tokens within words have.
  void read_merges(const Part& part) {
    std::vector<Joined> joined;
    for (const Part& merge : part.list("merges")) {
      std::string left, right;
      if (merge.json.is_array() && merge.json.size() == 2) {
        left = string_of(merge.json[0], merge.where);
        right = string_of(merge.json[1], merge.where);
      } else {
        const std::string both = string_of(merge.json, merge.where);
        const auto blank = both.find(' ');
        if (blank == both.npos || both.find(' ', blank + 1) != both.npos)
          raise<IoError>("{}: '{}' is not two tokens; the file is damaged.", merge.where, both);
        left = both.substr(0, blank);
        right = both.substr(blank + 1);
      }
      const auto first = vocabulary_.find(left), second = vocabulary_.find(right);
      const std::string_view rest = right;
      if (right.size() < prefix_.size())
        raise<IoError>("{}: '{}' lacks its prefix; the file is damaged.", merge.where, right);
      const auto id = vocabulary_.find(left + std::string(rest.substr(prefix_.size())));
      if (!first || !second || !id)
        raise<IoError>("{}: '{}' and '{}', or both together, are not in the vocabulary; the file is damaged.",
                       merge.where, left, right);
      merges_.add(*first, *second, {static_cast<std::uint32_t>(joined.size()), *id});
      joined.push_back({*first, *second, *id});
    }
    find_crossings(joined);
  }

  std::optional<std::uint32_t> id_of_character(std::string_view c, bool first, bool last) const {
    if (c.size() <= 2 && (first || prefix_.empty()) && (!last || suffix_.empty())) {
      const std::int32_t id = common_[decode(c, 0).c];
      if (id < 0) return {};
      return static_cast<std::uint32_t>(id);
    }
    std::string text(first ? "" : prefix_);
    text += c;
    if (last) text += suffix_;
    return vocabulary_.find(text);
  }

  std::vector<Symbol> characters(std::string_view piece) const {
    std::vector<Symbol> out;
    out.reserve(piece.size());
    const auto add = [&](std::uint32_t id, std::size_t length) {
      out.push_back({id, static_cast<std::uint32_t>(length)});
    };
    std::size_t unknown = 0;  // bytes that wait to be one unknown token
    const auto flush = [&] {
      if (unknown > 0) add(*unknown_id_, unknown);
      unknown = 0;
    };
    for (std::size_t at = 0; at < piece.size();) {
      const std::string_view c = piece.substr(at, decode(piece, at).length);
      const bool first = at == 0;
      at += c.size();
      if (const auto id = id_of_character(c, first, at == piece.size())) {
        flush();
        add(*id, c.size());
      } else if (!add_bytes(c, first, at == piece.size(), add) && unknown_) {
        if (!unknown_id_)
          raise<ValueError>("[encode] the unknown token '{}' is not in the vocabulary; correct the tokenizer.",
                            *unknown_);
        if (!fuses_unknown_) flush();
        unknown += c.size();
      }
    }
    flush();
    return out;
  }
  /// The bytes of a character that the vocabulary lacks, where it has all of them.
  template <class Add>
  bool add_bytes(std::string_view c, bool first, bool last, Add&& add) const {
    if (!bytes_) return false;
    const std::string text = (first ? "" : prefix_) + std::string(c) + (last ? suffix_ : "");
    const auto id = [&](char b) { return (*bytes_)[static_cast<unsigned char>(b)]; };
    if (!std::ranges::all_of(text, [&](char b) { return id(b) >= 0; })) return false;
    for (const char b : text) add(static_cast<std::uint32_t>(id(b)), 1);
    return true;
  }

  void merge(Symbols symbols) const {
    if (symbols.size() == 1) return;
    const auto count = static_cast<std::int32_t>(symbols.size());
    for (std::int32_t i = 0; i < count; ++i) {
      symbols[static_cast<std::size_t>(i)].before = i - 1;
      symbols[static_cast<std::size_t>(i)].next = i + 1 < count ? i + 1 : -1;
    }
    if (symbols.size() <= most_scanned)
      merge_by_scanning(symbols);
    else
      merge_by_queue(symbols);
  }
  /// Whether any merge takes in the last character of one token and the first of the next: where none does, what is on
  /// one side says nothing about the other, and a text without words falls into small parts.
  bool may_cross(std::uint32_t left, std::uint32_t right) const {
    return !cuts_ || crossings_.find(left, right) != nullptr;
  }
  /// Finds the pairs that merges cross, from the first and last characters of all tokens.
  void find_crossings(const std::vector<Joined>& joined) {
    std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> ends;
    const auto ends_of = [&](std::uint32_t id) {
      const auto found = ends.find(id);
      return found == ends.end() ? std::pair(id, id) : found->second;
    };
    for (const auto& [left, right, id] : joined) {
      const std::pair both{ends_of(left).first, ends_of(right).second};
      const auto [known, is_new] = ends.try_emplace(id, both);
      // Unusual vocabularies: a token of several kinds of ends, or one that is a character, too.
      if ((!is_new && known->second != both) || is_character(id)) return;
    }
    for (const auto& [left, right, id] : joined) crossings_.add(ends_of(left).second, ends_of(right).first, {});
    // A token that became longer after it was used would have other ends than those it was taken for.
    for (const auto& [left, right, id] : joined)
      if (ends_of(id) != std::pair(ends_of(left).first, ends_of(right).second)) return;
    cuts_ = true;
  }
  bool is_character(std::uint32_t id) const {
    const std::string& text = *vocabulary_.text(id);
    if (bytes_ && std::ranges::find(*bytes_, static_cast<std::int32_t>(id)) != bytes_->end()) return true;
    std::string_view rest = text;
    if (!prefix_.empty() && rest.starts_with(prefix_)) rest.remove_prefix(prefix_.size());
    if (!suffix_.empty() && rest.ends_with(suffix_)) rest.remove_suffix(suffix_.size());
    return text.empty() || decode(text, 0).length == text.size() || rest.empty() ||
           decode(rest, 0).length == rest.size();
  }

  /// `left` takes in what follows it.
  static void join(Symbols symbols, std::int32_t left, std::uint32_t id) {
    Symbol& a = symbols[static_cast<std::size_t>(left)];
    Symbol& b = symbols[static_cast<std::size_t>(a.next)];
    a.id = id;
    a.length += b.length;
    b.length = 0;
    a.next = b.next;
    if (a.next >= 0) symbols[static_cast<std::size_t>(a.next)].before = left;
  }
  const Merge* merge_at(Symbols symbols, std::int32_t left) const {
    if (left < 0) return nullptr;
    const Symbol& a = symbols[static_cast<std::size_t>(left)];
    return a.next < 0 ? nullptr : merges_.find(a.id, symbols[static_cast<std::size_t>(a.next)].id);
  }

  /// Short words: each time the first of all pairs that were merged earliest.
  void merge_by_scanning(Symbols symbols) const {
    constexpr Merge none{UINT32_MAX, 0};
    std::array<Merge, most_scanned> possible;
    const auto look = [&](std::int32_t at) {
      if (at < 0) return;
      const Merge* m = merge_at(symbols, at);
      possible[static_cast<std::size_t>(at)] = m ? *m : none;
    };
    const auto count = static_cast<std::int32_t>(symbols.size());
    for (std::int32_t i = 0; i < count; ++i) look(i);
    while (true) {
      std::int32_t best = -1;
      std::uint32_t rank = none.rank;
      for (std::int32_t i = 0; i < count; ++i)
        if (const std::uint32_t r = possible[static_cast<std::size_t>(i)].rank; r < rank) {
          rank = r;
          best = i;
        }
      if (best < 0) return;
      const std::int32_t joined = symbols[static_cast<std::size_t>(best)].next;
      join(symbols, best, possible[static_cast<std::size_t>(best)].id);
      possible[static_cast<std::size_t>(joined)] = none;
      look(best);
      look(symbols[static_cast<std::size_t>(best)].before);
    }
  }

  /// Long ones: the same order from a queue, where pairs that are no more stay until their turn.
  void merge_by_queue(Symbols symbols) const {
    struct Entry {
      std::uint32_t rank, id;
      std::int32_t at;
      bool operator<(const Entry& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
    };
    std::priority_queue<Entry> queue;
    const auto look = [&](std::int32_t at) {
      if (const Merge* m = merge_at(symbols, at)) queue.push({m->rank, m->id, at});
    };
    for (std::size_t i = 0; i < symbols.size(); ++i) look(static_cast<std::int32_t>(i));
    while (!queue.empty()) {
      const Entry top = queue.top();
      queue.pop();
      if (symbols[static_cast<std::size_t>(top.at)].length == 0) continue;
      const Merge* m = merge_at(symbols, top.at);
      if (!m || m->id != top.id) continue;
      join(symbols, top.at, top.id);
      look(symbols[static_cast<std::size_t>(top.at)].before);
      look(top.at);
    }
  }

  Merges merges_, crossings_;
  bool cuts_ = false;  ///< whether crossings_ says where no merge reaches across
  std::string prefix_, suffix_;
  bool fuses_unknown_, whole_words_;
  std::optional<std::string> unknown_;
  std::optional<std::uint32_t> unknown_id_;
  std::optional<std::array<std::int32_t, 256>> bytes_;  ///< where characters fall back to them; -1 where one is missing
  std::array<std::int32_t, 0x800> common_;              ///< ids of the characters of one and two bytes
};

}  // namespace

ModelPtr make_bpe(const Part& part) { return std::make_unique<Bpe>(part); }

}  // namespace cotan::io
