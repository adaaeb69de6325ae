// Damaged copies of valid files, for fuzzers of readers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// One to four changes: bytes, numbers, pieces cut out, doubled or taken from the other files, words of the format put
/// in.
class Mutations {
 public:
  Mutations(std::vector<std::string> files, std::vector<std::string> words)
      : files_(std::move(files)), words_(std::move(words)) {}

  std::string file(std::uint64_t seed) const {
    std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 1);
    std::string out = files_[seed % files_.size()];
    for (std::uint64_t changes = random() % 4; changes-- < 4;) change(out, random);
    return out;
  }

 private:
  void change(std::string& text, std::mt19937_64& random) const {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1)); };
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, below(random() % 4 == 0 ? text.size() : 12));
    switch (random() % 8) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), length));
        break;
      case 4: {
        const std::string& other = files_[below(files_.size())];
        text.replace(at, length, other.substr(below(other.size() + 1), below(40)));
        break;
      }
      case 5:
        text.insert(at, words_[below(words_.size())]);
        break;
      case 6:
        text.replace(at, length, words_[below(words_.size())]);
        break;
      default: {  // a number, where there is one
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == text.npos) break;
        const std::size_t end = text.find_first_not_of("0123456789", digit);
        static constexpr const char* numbers[] = {
            "0", "1", "-1", "4294967296", "9223372036854775807", "18446744073709551615", "1e9", "3", "65535"};
        text.replace(digit, end == text.npos ? text.npos : end - digit, numbers[below(std::size(numbers))]);
      }
    }
  }

  std::vector<std::string> files_, words_;
};

}  // namespace test
