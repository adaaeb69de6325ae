// Tokenizers against the PyPI package: ids, tokens, offsets and texts of 1 MB, for models of six kinds; and their
// stages alone.
#include <algorithm>

#include "io/json.hpp"
#include "io/tokenizer/normalizers.hpp"
#include "io/tokenizer/pre_tokenizers.hpp"
#include "io/tokenizer/utf8.hpp"
#include "io/tokenizer_texts.hpp"

using namespace cotan;
using test::checksum;
using test::TokenizerGoldens;

namespace {

class Tokenizers : public testing::TestWithParam<const char*> {};

std::vector<std::int32_t> one_list(const std::vector<std::pair<std::size_t, std::size_t>>& offsets) {
  std::vector<std::int32_t> out;
  for (const auto& [begin, end] : offsets) {
    out.push_back(static_cast<std::int32_t>(begin));
    out.push_back(static_cast<std::int32_t>(end));
  }
  return out;
}
/// The first 50 characters of what Python has of a text.
std::string beginning(const std::string& text) {
  const std::string valid = io::valid_utf8(text);
  std::size_t at = 0;
  for (int i = 0; i < 50 && at < valid.size(); ++i) at += io::decode(valid, at).length;
  return valid.substr(0, at);
}

}  // namespace

TEST_P(Tokenizers, GiveWhatThePackageGives) {
  const TokenizerGoldens& goldens = TokenizerGoldens::get();
  const std::string name = GetParam();
  const Tokenizer t = Tokenizer::from_json(goldens.text(name + "/json"));
  const auto& want = goldens.numbers(name + "/documents");
  constexpr const char* what[] = {
      "number of tokens",           "ids",  "tokens", "offsets", "decoded", "decoded with special tokens",
      "ids without special tokens", "pairs"};
  const auto& documents = goldens.documents();
  int wrong = 0;
  for (std::size_t i = 0; i < documents.size() && wrong < 5; ++i) {
    const Encoding e = t.encode(documents[i]);
    const std::string& other = documents[(i + documents.size() - 1) % documents.size()];
    const Encoding pair = t.encode_pair(beginning(documents[i]), beginning(other));
    std::vector<std::int32_t> ids_and_types = pair.ids;
    ids_and_types.insert(ids_and_types.end(), pair.type_ids.begin(), pair.type_ids.end());
    const std::uint32_t got[] = {static_cast<std::uint32_t>(e.ids.size()),
                                 checksum(e.ids),
                                 checksum(e.tokens),
                                 checksum(one_list(e.offsets)),
                                 checksum(t.decode(e.ids)),
                                 checksum(t.decode(e.ids, false)),
                                 checksum(t.encode_ids(documents[i], false)),
                                 checksum(ids_and_types)};
    for (std::size_t k = 0; k < std::size(got); ++k)
      if (got[k] != want[i * std::size(got) + k]) {
        ADD_FAILURE() << "document " << i << ": " << what[k];
        ++wrong;
      }
    EXPECT_EQ(e.ids, t.encode_ids(documents[i]));
  }
  const std::vector<std::int32_t> whole = t.encode_ids(goldens.whole());
  EXPECT_EQ(whole.size(), goldens.numbers(name + "/whole")[0]);
  EXPECT_EQ(checksum(whole), goldens.numbers(name + "/whole")[1]);
}
INSTANTIATE_TEST_SUITE_P(Golden, Tokenizers, testing::Values("gpt2", "llama3", "unigram", "charsmap", "llama2", "bert"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TokenizerStages, NormalizersGiveWhatThePackageGives) {
  const TokenizerGoldens& goldens = TokenizerGoldens::get();
  const auto names = goldens.names("normalizer/");
  EXPECT_EQ(names.size(), 8u);
  for (const std::string& name : names) {
    const io::Json json = io::parse_json(goldens.text("normalizer/" + name + "/json"), "[test]");
    const auto normalizer = io::make_normalizer({json, "[test]"});
    const auto& want = goldens.numbers("normalizer/" + name);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(checksum(normalizer->apply(io::Text(goldens.documents()[i], i % 2 == 0)).bytes()), want[i])
          << name << " of document " << i;
  }
}
TEST(TokenizerStages, PreTokenizersGiveWhatThePackageGives) {
  const TokenizerGoldens& goldens = TokenizerGoldens::get();
  const auto names = goldens.names("pre_tokenizer/");
  EXPECT_EQ(names.size(), 16u);
  for (const std::string& name : names) {
    const io::Json json = io::parse_json(goldens.text("pre_tokenizer/" + name + "/json"), "[test]");
    const auto pre_tokenizer = io::make_pre_tokenizer({json, "[test]"});
    const auto& want = goldens.numbers("pre_tokenizer/" + name);
    for (std::size_t i = 0; i < want.size(); ++i) {
      io::Pieces pieces{io::Text(goldens.documents()[i], i % 2 == 0), {}};
      pieces.spans = {{0, pieces.text.size()}};
      pre_tokenizer->apply(pieces);
      std::vector<std::string> texts;
      for (const io::Span& s : pieces.spans) texts.emplace_back(pieces.text.part(s));
      ASSERT_EQ(checksum(texts), want[i]) << name << " of document " << i;
    }
  }
}
