// Goldens of tools/golden/tokenizers_files.py, and the texts that they are about.
#pragma once
#include <zlib.h>

#include <cotan/io.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/files.hpp"

namespace test {

/// Host data only: a test must leave as many buffers as it found.
class TokenizerGoldens {
 public:
  static const TokenizerGoldens& get() {
    static const TokenizerGoldens out;
    return out;
  }
  /// 1 MB in documents.
  const std::vector<std::string>& documents() const { return documents_; }
  std::string whole() const {
    std::string out;
    for (const std::string& d : documents_) out += d;
    return out;
  }
  const std::string& text(const std::string& name) const { return texts_.at(name); }
  const std::vector<std::uint32_t>& numbers(const std::string& name) const { return numbers_.at(name); }
  /// The names of what is "group/name/json".
  std::vector<std::string> names(const std::string& group) const {
    std::vector<std::string> out;
    for (const auto& [name, text] : texts_)
      if (name.starts_with(group) && name.ends_with("/json") && name.size() > group.size() + 5)
        out.push_back(name.substr(group.size(), name.size() - group.size() - 5));
    return out;
  }

 private:
  TokenizerGoldens() {
    const cotan::NamedArrays file = cotan::load_npz(golden_file("tokenizers.npz"));
    for (const auto& [name, array] : file)
      if (array.dtype() == cotan::u8) {
        const auto bytes = array.to_vector<std::uint8_t>();
        texts_[name] = std::string(bytes.begin(), bytes.end());
      } else if (array.dtype() == cotan::u32) {
        numbers_[name] = array.to_vector<std::uint32_t>();
      }
    const auto ends = file.at("fragment_ends").to_vector<std::int32_t>();
    const std::string& all = texts_.at("fragments");
    std::uint64_t state = 18;
    documents_.resize(numbers_.at("gpt2/documents").size() / 8);
    for (std::string& text : documents_)
      while (text.size() < 1'000'000 / documents_.size()) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::size_t i = (state >> 33) % ends.size();
        const std::int32_t begin = i == 0 ? 0 : ends[i - 1];
        text.append(all, static_cast<std::size_t>(begin), static_cast<std::size_t>(ends[i] - begin));
      }
  }
  std::vector<std::string> documents_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::uint32_t>> numbers_;
};

inline std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}
inline std::uint32_t checksum(const std::vector<std::int32_t>& numbers) {
  return checksum({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int32_t)});
}
inline std::uint32_t checksum(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all.append(i > 0 ? 1 : 0, '\0').append(texts[i]);
  return checksum(all);
}

}  // namespace test
