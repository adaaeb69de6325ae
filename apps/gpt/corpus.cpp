#include "corpus.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

namespace gpt {

namespace {

constexpr std::array<const char*, 21> words = {"zero",     "one",      "two",      "three",   "four",    "five",
                                               "six",      "seven",    "eight",    "nine",    "ten",     "eleven",
                                               "twelve",   "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
                                               "eighteen", "nineteen", "twenty"};

std::optional<int> number(const std::string& word) {
  const auto it = std::find(words.begin(), words.end(), word);
  return it == words.end() ? std::nullopt : std::optional(static_cast<int>(it - words.begin()));
}

std::string sentence(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  const int a = below(11), b = below(11);
  const auto word = [](int n) { return std::string(words[static_cast<std::size_t>(n)]); };
  switch (below(4)) {
    case 0:
      return word(a) + " plus " + word(b) + " is " + word(a + b) + ".";
    case 1:
      return word(std::max(a, b)) + " minus " + word(std::min(a, b)) + " is " + word(std::max(a, b) - std::min(a, b)) +
             ".";
    case 2:
      return word(a) + " is " + (a < b ? "less than " : a > b ? "more than " : "the same as ") + word(b) + ".";
    default:
      return "after " + word(a) + " comes " + word(a + 1) + ".";
  }
}

/// Whether the words are a sentence of this kind, and whether it is true.
std::pair<bool, bool> judge(const std::vector<std::string>& w) {
  const auto n = [&](std::size_t i) { return number(w[i]); };
  if (w.size() == 5 && n(0) && n(2) && n(4) && w[3] == "is" && (w[1] == "plus" || w[1] == "minus"))
    return {true, (w[1] == "plus" ? *n(0) + *n(2) : *n(0) - *n(2)) == *n(4)};
  if (w.size() == 4 && w[0] == "after" && n(1) && w[2] == "comes" && n(3)) return {true, *n(1) + 1 == *n(3)};
  if (w.size() == 5 && n(0) && w[1] == "is" && n(4) && (w[2] == "less" || w[2] == "more") && w[3] == "than")
    return {true, w[2] == "less" ? *n(0) < *n(4) : *n(0) > *n(4)};
  if (w.size() == 6 && n(0) && w[1] == "is" && w[2] == "the" && w[3] == "same" && w[4] == "as" && n(5))
    return {true, *n(0) == *n(5)};
  return {false, false};
}

}  // namespace

std::string number_sentences(std::size_t characters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out;
  while (out.size() < characters) out += sentence(random) + "\n";
  return out;
}

Truth check_sentences(const std::string& text) {
  Truth out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.back() != '.') continue;
    line.pop_back();
    std::istringstream in(line);
    std::vector<std::string> parts;
    for (std::string word; in >> word;) parts.push_back(word);
    const auto [grammatical, is_true] = judge(parts);
    ++out.sentences;
    out.grammatical += grammatical;
    out.true_ones += is_true;
  }
  return out;
}

}  // namespace gpt
