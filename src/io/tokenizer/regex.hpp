// Regular expressions, as far as tokenizers use them: Oniguruma's syntax without captures, references and lookbehind.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/text.hpp"
#include "io/tokenizer/unicode.hpp"

namespace cotan::io {

/// A set of characters.
class CharacterSet {
 public:
  struct Item {
    enum class Kind : std::uint8_t { range, categories, space, word } kind;
    bool negated;
    char32_t first = 0, last = 0;  ///< of a range
    Categories categories = 0;
  };
  bool negated = false, ignores_case = false;
  std::vector<Item> items;

  bool has(char32_t c) const { return c < 0x80 ? ascii_[c] : find(c); }
  /// To be called when the items are complete.
  void finish();

 private:
  bool find(char32_t c) const;
  std::bitset<128> ascii_;
};

/// A compiled pattern. Matching tries alternatives in order and goes back where it must, a bounded number of times.
class Regex {
 public:
  /// Raises IoError("{where}…") that names what is not understood.
  Regex(std::string_view pattern, const std::string& where);
  /// All matches from left to right, which do not overlap.
  std::vector<Span> find_all(std::string_view text) const;

  static constexpr std::size_t npos = std::string_view::npos;

  /// One step of the program that a pattern becomes.
  struct Instruction {
    enum class Op : std::uint8_t {
      character,   ///< one of set `a`
      repeat,      ///< `least` to `most` of set `a`, then on; with fewer where that fails
      split,       ///< on here, where that fails at `a`; `first` says which bytes can begin here
      jump,        ///< to `a`
      look,        ///< on at `a`, where what follows here, up to its `match`, is there (or is not: `negated`)
      line_begin,  ///< ^
      line_end,    ///< $
      match
    } op;
    bool negated = false, lazy = false, possessive = false;
    std::int32_t a = 0, first = -1;
    std::uint32_t least = 0, most = 0;
  };

 private:
  /// Where to go on when a way has failed: at `pc`, from `at` or, of a repetition, from fewer characters down to
  /// `least`.
  struct Choice {
    std::size_t pc, at, least;
  };
  struct State {
    std::vector<Choice> choices;
    std::size_t steps = 0;
  };
  std::size_t run(std::string_view text, std::size_t at, std::size_t pc, State& state) const;
  std::string pattern_;
  std::vector<Instruction> program_;
  std::vector<CharacterSet> sets_;
  std::vector<std::bitset<256>> first_bytes_;
};

}  // namespace cotan::io
