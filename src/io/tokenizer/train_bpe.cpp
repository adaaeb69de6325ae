// Training byte pair encodings: the pair of tokens that is there most often becomes a token, again and again.
#include <algorithm>
#include <cotan/io/train_bpe.hpp>
#include <map>
#include <queue>
#include <unordered_map>

#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/fields.hpp"
#include "io/tokenizer/pre_tokenizers.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan {

namespace {

using TokenPair = std::pair<std::uint32_t, std::uint32_t>;
struct PairHash {
  std::size_t operator()(const TokenPair& p) const {
    return (std::uint64_t{p.first} << 32 | p.second) * 0x9e3779b97f4a7c15u >> 8;
  }
};

struct Word {
  std::vector<std::uint32_t> tokens;
  std::int64_t count;
};

/// A pair that waits for its turn, with the words that it was seen in when it was put here.
struct Candidate {
  TokenPair pair;
  std::int64_t count;
  std::vector<std::uint32_t> words;
  /// Of two that are there equally often, the one of earlier tokens is merged first.
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class BpeTrainer {
 public:
  explicit BpeTrainer(const BpeTraining& options) : options_(options) {
    for (const std::string& special : options.special_tokens) add_token(special);
    std::vector<std::string> alphabet(io::byte_characters().begin(), io::byte_characters().end());
    std::ranges::sort(alphabet, {}, [](const std::string& c) { return io::decode(c, 0).c; });
    for (const std::string& c : alphabet) add_token(c);
  }

  void count(const std::string& text, const io::PreTokenizer& pre_tokenizer) {
    io::Pieces pieces{io::Text(text, false), {}};
    if (text.empty()) return;
    pieces.spans = {{0, pieces.text.size()}};
    pre_tokenizer.apply(pieces);
    for (const io::Span& s : pieces.spans) ++counts_[std::string(pieces.text.part(s))];
  }

  void train() {
    for (const auto& [text, count] : counts_) {
      Word word{{}, count};
      for (std::size_t at = 0; at < text.size();) {
        const std::string_view c = std::string_view(text).substr(at, io::decode(text, at).length);
        word.tokens.push_back(ids_.at(std::string(c)));
        at += c.size();
      }
      words_.push_back(std::move(word));
    }
    for (std::uint32_t w = 0; w < words_.size(); ++w)
      for (std::size_t i = 0; i + 1 < words_[w].tokens.size(); ++i)
        change({words_[w].tokens[i], words_[w].tokens[i + 1]}, 1, w);
    offer_new_pairs();
    while (texts_.size() < options_.vocab_size && !queue_.empty()) {
      Candidate top = queue_.top();
      queue_.pop();
      if (const std::int64_t now = pair_counts_.at(top.pair); now != top.count) {
        top.count = now;
        queue_.push(std::move(top));
        continue;
      }
      if (top.count < 1 || top.count < static_cast<std::int64_t>(options_.min_frequency)) break;
      const std::uint32_t id = add_token(texts_[top.pair.first] + texts_[top.pair.second]);
      merges_.push_back(top.pair);
      for (const std::uint32_t w : top.words) merge(w, top.pair, id);
      offer_new_pairs();
      if (options_.progress) options_.progress(texts_.size(), options_.vocab_size);
    }
  }

  io::Json model() const {
    io::Json vocabulary = io::Json::object(), merges = io::Json::array();
    for (std::uint32_t id = 0; id < texts_.size(); ++id) vocabulary[texts_[id]] = id;
    // A pair that was merged twice keeps its last place.
    std::map<TokenPair, std::size_t> last;
    for (std::size_t rank = 0; rank < merges_.size(); ++rank) last[merges_[rank]] = rank;
    for (std::size_t rank = 0; rank < merges_.size(); ++rank)
      if (const auto& [left, right] = merges_[rank]; last[merges_[rank]] == rank)
        merges.push_back({texts_[left], texts_[right]});
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(merges)}};
  }
  std::uint32_t id(const std::string& token) const { return ids_.at(token); }

 private:
  std::uint32_t add_token(const std::string& text) {
    const auto [known, is_new] = ids_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return known->second;
  }

  void change(const TokenPair& pair, std::int64_t by, std::uint32_t word) {
    pair_counts_[pair] += by * words_[word].count;
    if (by < 0) return;
    std::vector<std::uint32_t>& where = new_pairs_[pair];
    if (where.empty() || where.back() != word) where.push_back(word);
  }
  void offer_new_pairs() {
    for (auto& [pair, words] : new_pairs_)
      if (const std::int64_t count = pair_counts_.at(pair); count > 0) queue_.push({pair, count, std::move(words)});
    new_pairs_.clear();
  }
  void merge(std::uint32_t w, const TokenPair& pair, std::uint32_t id) {
    std::vector<std::uint32_t>& tokens = words_[w].tokens;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i, ++kept) {
      if (i + 1 == tokens.size() || tokens[i] != pair.first || tokens[i + 1] != pair.second) {
        tokens[kept] = tokens[i];
        continue;
      }
      if (kept > 0) {
        change({tokens[kept - 1], pair.first}, -1, w);
        change({tokens[kept - 1], id}, 1, w);
      }
      ++i;
      if (i + 1 < tokens.size()) {
        change({pair.second, tokens[i + 1]}, -1, w);
        change({id, tokens[i + 1]}, 1, w);
      }
      tokens[kept] = id;
    }
    tokens.resize(kept);
  }

  const BpeTraining& options_;
  std::map<std::string, std::int64_t> counts_;
  std::vector<Word> words_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<TokenPair, std::int64_t, PairHash> pair_counts_;
  std::unordered_map<TokenPair, std::vector<std::uint32_t>, PairHash> new_pairs_;  ///< since the last merge
  std::priority_queue<Candidate> queue_;
  std::vector<TokenPair> merges_;
};

}  // namespace

Tokenizer train_bpe(const std::vector<std::string>& texts, const BpeTraining& options,
                    const std::source_location& where) {
  const detail::CallSite site(where);
  for (const std::string& special : options.special_tokens)
    if (special.empty() || io::valid_until(special) != special.size())
      raise<ValueError>("[train_bpe] a special token is empty or no UTF-8; give it as a text.");
  if (const std::size_t least = 256 + options.special_tokens.size(); options.vocab_size < least)
    raise<ValueError>("[train_bpe] vocab_size is {}, and bytes and special tokens are {}; ask for more.",
                      options.vocab_size, least);
  const io::Json stage = {{"type", "ByteLevel"},
                          {"add_prefix_space", options.add_prefix_space},
                          {"trim_offsets", true},
                          {"use_regex", true}};
  BpeTrainer trainer(options);
  const auto pre_tokenizer = io::make_pre_tokenizer({stage, "[train_bpe]"});
  for (const std::string& text : texts) trainer.count(text, *pre_tokenizer);
  trainer.train();
  io::Json added = io::Json::array();
  for (const std::string& special : options.special_tokens)
    added.push_back({{"id", trainer.id(special)},
                     {"content", special},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  const io::Json file = {{"version", "1.0"},        {"truncation", nullptr}, {"padding", nullptr},
                         {"added_tokens", added},   {"normalizer", nullptr}, {"pre_tokenizer", stage},
                         {"post_processor", stage}, {"decoder", stage},      {"model", trainer.model()}};
  return Tokenizer::from_json(file.dump(), {});
}

}  // namespace cotan
