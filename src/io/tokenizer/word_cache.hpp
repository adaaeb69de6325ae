// Words that were made into tokens before: most of a text is few words.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/models.hpp"

namespace cotan::io {

class WordCache {
 public:
  /// The tokens of a word; make(out) makes them where they are not there.
  template <class Make>
  std::span<const PieceToken> tokens(std::string_view word, Make&& make) {
    if (word.size() > longest) {
      made_.clear();
      make(made_);
      return made_;
    }
    const std::size_t hash = std::hash<std::string_view>{}(word);
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].size > 0; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[at];
      if (s.hash == hash && std::string_view(words_).substr(s.word, s.size) == word)
        return std::span(tokens_).subspan(s.first, s.count);
    }
    made_.clear();
    make(made_);
    if (used_ == slots_.size() / 2 || words_.size() + word.size() > UINT32_MAX / 2) {
      forget();
      at = hash & (slots_.size() - 1);
    }
    slots_[at] = {hash, static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(word.size()),
                  static_cast<std::uint32_t>(tokens_.size()), static_cast<std::uint32_t>(made_.size())};
    ++used_;
    words_ += word;
    tokens_.insert(tokens_.end(), made_.begin(), made_.end());
    return made_;
  }

 private:
  static constexpr std::size_t longest = 256, slot_count = 1 << 16;
  struct Slot {
    std::size_t hash = 0;
    std::uint32_t word = 0, size = 0, first = 0, count = 0;  ///< size 0: free
  };
  void forget() {
    slots_.assign(slots_.size(), {});
    words_.clear();
    tokens_.clear();
    used_ = 0;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(slot_count);
  std::string words_;
  std::vector<PieceToken> tokens_, made_;
  std::size_t used_ = 0;
};

/// Caches of one model, each used by one thread at a time.
class WordCaches {
 public:
  /// One of them, for as long as this lives.
  class Lease {
   public:
    explicit Lease(WordCaches& all) : all_(all), cache_(all.take()) {}
    ~Lease() { all_.give_back(std::move(cache_)); }
    Lease(const Lease&) = delete;
    WordCache& operator*() const { return *cache_; }

   private:
    WordCaches& all_;
    std::unique_ptr<WordCache> cache_;
  };

 private:
  std::unique_ptr<WordCache> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<WordCache>();
    auto out = std::move(free_.back());
    free_.pop_back();
    return out;
  }
  void give_back(std::unique_ptr<WordCache> cache) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(cache));
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> free_;
};

}  // namespace cotan::io
