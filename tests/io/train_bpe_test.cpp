// Training of byte pair encodings: what the PyPI package learns from the same texts.
#include "io/json.hpp"
#include "io/tokenizer/utf8.hpp"
#include "io/tokenizer_texts.hpp"
#include "support/expect_error.hpp"

using namespace cotan;
using test::TokenizerGoldens;

TEST(TrainBpe, LearnsWhatThePackageLearns) {
  const TokenizerGoldens& goldens = TokenizerGoldens::get();
  std::size_t last = 0, calls = 0;
  const Tokenizer t = train_bpe(
      goldens.documents(),
      {.vocab_size = 4000, .special_tokens = {"<|endoftext|>"}, .progress = [&](std::size_t size, std::size_t wanted) {
         EXPECT_GE(size, last);
         EXPECT_EQ(wanted, 4000u);
         last = size;
         ++calls;
       }});
  EXPECT_EQ(last, 4000u);
  EXPECT_GE(calls, 3700u);
  const io::Json got = io::parse_json(t.to_json(), "[test]")["model"];
  const io::Json want = io::parse_json(goldens.text("gpt2/json"), "[test]")["model"];
  EXPECT_EQ(got["vocab"], want["vocab"]);
  EXPECT_EQ(got["merges"].size(), want["merges"].size());
  EXPECT_EQ(got["merges"], want["merges"]);
  EXPECT_EQ(test::checksum(t.encode_ids(goldens.whole())), goldens.numbers("gpt2/whole")[1]);
}
TEST(TrainBpe, EndsWhereNothingIsLeft) {
  const Tokenizer t = train_bpe({"aaaa aaaa", ""}, {.vocab_size = 1000});
  EXPECT_EQ(t.vocab_size(), 256u + 3);  // aa, aaaa, Ġaaaa
  EXPECT_EQ(t.encode(" aaaa").tokens, (std::vector<std::string>{"Ġaaaa"}));
  EXPECT_EQ(train_bpe({"ab ab ac"}, {.vocab_size = 1000, .min_frequency = 2}).vocab_size(), 257u);
}
TEST(TrainBpeErrors, Options) {
  EXPECT_ERROR(ValueError, train_bpe({"a"}, {.vocab_size = 256, .special_tokens = {"x"}}),
               "[train_bpe] vocab_size is 256, and bytes and special tokens are 257; ask for more.");
  EXPECT_ERROR(ValueError, train_bpe({"a"}, {.special_tokens = {""}}), "[train_bpe] a special token is empty");
  struct Stop {};
  EXPECT_THROW(train_bpe({"aaaa"}, {.progress = [](auto...) { throw Stop(); }}), Stop);
}
