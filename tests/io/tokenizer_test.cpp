// Tokenizers: what users do with them, and files that cannot be used. Agreement with the package:
// tokenizer_golden_test.cpp.
#include <thread>

#include "io/files.hpp"
#include "io/tokenizer/regex.hpp"
#include "io/tokenizer/utf8.hpp"
#include "io/tokenizer_texts.hpp"
#include "support/expect_error.hpp"

using namespace cotan;
using test::TokenizerGoldens;
using Ids = std::vector<std::int32_t>;

namespace {

Tokenizer gpt2() { return Tokenizer::from_json(TokenizerGoldens::get().text("gpt2/json")); }

/// A tokenizer with this model and these stages.
std::string file(const std::string& model, const std::string& stages = "") {
  return "{" + stages + R"("model":)" + model + "}";
}
const std::string words = R"({"type":"WordLevel","vocab":{"[UNK]":0,"a":1,"b":2},"unk_token":"[UNK]"})";
std::string bpe(const std::string& merges, const std::string& more = "") {
  return R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"aba":3,"<unk>":4},"merges":)" + merges + more + "}";
}
Ids ids_of(const std::string& json, const std::string& text) { return Tokenizer::from_json(json).encode_ids(text); }

std::vector<std::string> pieces(const char* pattern, std::string_view text) {
  std::vector<std::string> out;
  for (const io::Span& s : io::Regex(pattern, "[test]").find_all(text))
    out.emplace_back(text.substr(s.begin, s.end - s.begin));
  return out;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST(Tokenizer, EncodesAndDecodes) {
  const Tokenizer t = gpt2();
  const std::string text = "Hello, wörld 😀!\n\n  x";
  const Encoding e = t.encode(text);
  EXPECT_EQ(t.decode(e.ids), text);
  EXPECT_EQ(e.ids.size(), e.tokens.size());
  EXPECT_EQ(e.ids.size(), e.offsets.size());
  for (std::size_t i = 0; i < e.ids.size(); ++i) {
    EXPECT_EQ(t.id_to_token(e.ids[i]), e.tokens[i]);
    EXPECT_EQ(t.token_to_id(e.tokens[i]), e.ids[i]);
  }
  EXPECT_EQ(t.encode_ids(text), e.ids);
  EXPECT_TRUE(t.encode("").ids.empty());
  EXPECT_EQ(t.decode({}), "");
  EXPECT_EQ(t.vocab_size(), 4000u);
  EXPECT_EQ(t.token_to_id("no such token"), std::nullopt);
  EXPECT_EQ(t.id_to_token(4000), std::nullopt);
  EXPECT_EQ(t.id_to_token(-1), std::nullopt);
  const auto batch = t.encode_batch({text, "", "a"});
  EXPECT_EQ(batch, (std::vector<Ids>{e.ids, {}, t.encode_ids("a")}));
  EXPECT_EQ(t.decode_batch(batch), (Texts{text, "", "a"}));
}
TEST(Tokenizer, BytesThatAreNoUtf8CountAsReplacementCharacters) {
  const Tokenizer t = gpt2();
  EXPECT_EQ(t.encode_ids("a\xff\xe2\x82z"), t.encode_ids("a\xef\xbf\xbd\xef\xbf\xbdz"));
  const Encoding e = t.encode("\xf0\x9f\x98z");
  EXPECT_EQ(e.offsets.back(), (std::pair<std::size_t, std::size_t>(3, 4)));
  // As Python's errors="replace" and browsers count them.
  const auto count = [](std::string_view bytes) { return io::valid_utf8(bytes).size() / 3; };
  EXPECT_EQ(count("\xed\xa0\x80"), 3u);
  EXPECT_EQ(count("\xf0\x9f\x98"), 1u);
  EXPECT_EQ(count("\xf4\x90\x80\x80"), 4u);
  EXPECT_EQ(count("\xc0\xaf"), 2u);
  EXPECT_EQ(count("\xe2\x82\xe2\x82"), 2u);
  EXPECT_EQ(count("\xe0\x80\x80"), 3u);
}
TEST(Tokenizer, SpecialTokens) {
  Tokenizer t = gpt2();
  const Tokenizer before = t;
  const std::int32_t end = *t.token_to_id("<|endoftext|>");
  EXPECT_EQ(t.encode_ids("a<|endoftext|>"), (Ids{t.encode_ids("a")[0], end}));
  EXPECT_EQ(t.add_special_tokens({"<|user|>", "<|endoftext|>"}), 1u);
  EXPECT_EQ(t.add_tokens({"w€rld"}), 1u);
  EXPECT_EQ(t.vocab_size(), 4002u);
  EXPECT_EQ(t.vocab_size(false), 4000u);
  EXPECT_EQ(t.token_to_id("<|user|>"), 4000);
  EXPECT_EQ(t.encode_ids("<|user|>w€rld"), (Ids{4000, 4001}));
  EXPECT_EQ(t.decode(Ids{4000, 4001}), "w€rld");
  EXPECT_EQ(t.decode(Ids{4000, 4001}, false), "<|user|>w€rld");
  EXPECT_EQ(before.vocab_size(), 4000u) << "a copy changed with it";
  // And in a file.
  const test::Folder folder;
  t.save(folder.path("tokenizer.json"));
  const Tokenizer read = Tokenizer::from_file(folder.path("tokenizer.json"));
  EXPECT_EQ(read.encode_ids("<|user|>w€rld!"), t.encode_ids("<|user|>w€rld!"));
  EXPECT_EQ(read.vocab_size(), 4002u);
}
TEST(Tokenizer, TemplatesAndPairs) {
  const Tokenizer t = Tokenizer::from_json(TokenizerGoldens::get().text("bert/json"));
  const Encoding e = t.encode_pair("the", "of");
  EXPECT_EQ(e.tokens.front(), "[CLS]");
  EXPECT_EQ(e.tokens.back(), "[SEP]");
  EXPECT_TRUE(e.special_tokens_mask.front());
  EXPECT_FALSE(e.special_tokens_mask[1]);
  EXPECT_EQ(e.type_ids.front(), 0);
  EXPECT_EQ(e.type_ids.back(), 1);
  EXPECT_EQ(t.encode("the", false).tokens.size() + 2, t.encode("the").tokens.size());
}
TEST(Tokenizer, ThreadsUseOneTogether) {
  const Tokenizer t = gpt2();
  const auto& documents = TokenizerGoldens::get().documents();
  std::vector<Ids> want(8), got(8);
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = t.encode_ids(documents[i]);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) threads.emplace_back([&, i] { got[i] = t.encode_ids(documents[i]); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, want);
  const auto batch = t.encode_batch(documents);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(batch[i], want[i]);
  EXPECT_EQ(batch.back(), t.encode_ids(documents.back()));
}
TEST(Tokenizer, MergesInTheOrderOfTheFile) {
  EXPECT_EQ(ids_of(file(bpe(R"(["a b","ab a"])")), "ababa"), (Ids{2, 3}));
  EXPECT_EQ(ids_of(file(bpe(R"([["a","b"]])")), "aab"), (Ids{0, 2}));
  EXPECT_EQ(ids_of(file(bpe("[]", R"(,"ignore_merges":true)")), "aba"), (Ids{3}));
  EXPECT_EQ(ids_of(file(bpe("[]")), "axb"), (Ids{0, 1})) << "without an unknown token, what is unknown is left out";
  EXPECT_EQ(ids_of(file(bpe("[]", R"(,"unk_token":"<unk>")")), "xyb"), (Ids{4, 4, 1}));
  EXPECT_EQ(ids_of(file(bpe("[]", R"(,"unk_token":"<unk>","fuse_unk":true)")), "xyb"), (Ids{4, 1}));
  // A long word goes another way to the same tokens.
  std::string many;
  for (int i = 0; i < 200; ++i) many += "ab";
  EXPECT_EQ(ids_of(file(bpe(R"(["a b","ab a"])")), many).size(), 200u);
}

TEST(TokenizerRegex, Patterns) {
  EXPECT_EQ(pieces(R"(\s+(?!\S)|\s+)", "a   b "), (Texts{"  ", " ", " "}));
  EXPECT_EQ(pieces(R"((?i:'s|'LL)|x)", "'S 'ſ 'll X"), (Texts{"'S", "'ſ", "'ll"}));
  EXPECT_EQ(pieces(R"(\p{N}{1,3})", "12345 ٣"), (Texts{"123", "45", "٣"}));
  EXPECT_EQ(pieces(R"([^\r\n\p{L}]?\p{L}+)", "a,bé\n1x"), (Texts{"a", ",bé", "1x"}));
  EXPECT_EQ(pieces("(?:ab)+c", "ababc abab"), (Texts{"ababc"}));
  EXPECT_EQ(pieces("(a|ab)(c|bcd)", "abcd"), (Texts{"abcd"}));
  EXPECT_EQ(pieces("a++b|a", "aab aa"), (Texts{"aab", "a", "a"}));
  EXPECT_EQ(pieces("(?:a{2}){2}", "aaaaa"), (Texts{"aaaa"}));
  EXPECT_EQ(pieces("^a|b$", "ab\nab"), (Texts{"a", "b", "a", "b"}));
  EXPECT_EQ(pieces(R"([\x{4e00}-\u9fa5\-\]]+)", "a中-]b"), (Texts{"中-]"}));
  EXPECT_EQ(pieces(R"([^\S\n]+)", "a \t\nb"), (Texts{" \t"}));
  EXPECT_EQ(pieces(R"(\P{L}|\p{^Lu}\w)", "A1ab"), (Texts{"1", "ab"}));
  EXPECT_EQ(pieces("a{,2}b", "aaab"), (Texts{"aab"}));
  EXPECT_EQ(pieces("a{x", "a{x"), (Texts{"a{x"}));
}
TEST(TokenizerErrors, Patterns) {
  const auto compile = [](const char* pattern) { return io::Regex(pattern, "[test] 'f'"); };
  for (const char* pattern :
       {"(", ")", "[a", "a**b(", "*a", "(?<=a)b", "(?P<n>a)", "[a&&b]", "[[:alpha:]]", R"(\b)", R"(\p{Han})", R"(\1)",
        "a{3,2}", "a{9999}", "[b-a]", "\\", R"(\x{110000})", R"(\p{L)", "(?=a)*"})
    EXPECT_ERROR(IoError, compile(pattern), "[test] 'f': the pattern '", "is not one that cotan can match");
  EXPECT_ERROR(IoError, compile("(?:a*)*"), "repeats without end what may be empty");
  EXPECT_ERROR(IoError, compile("(?:(?:(?:a{900}b){900}c){900}d)*"), "more than 20000 steps");
  EXPECT_ERROR(IoError, compile(std::string(1000, '(').c_str()), "more than 50 deep");
  // Time that grows with 2^n is not spent.
  const io::Regex slow("(?:a|aa|aaa)+b", "[test]");
  EXPECT_ERROR(ValueError, slow.find_all(std::string(60, 'a')), "[encode] the pattern", "takes too long on this text");
}
TEST(TokenizerErrors, Files) {
  const test::Folder folder;
  EXPECT_ERROR(IoError, Tokenizer::from_file(folder.path("no.json")), "[Tokenizer] '", "no.json': no such file");
  EXPECT_ERROR(IoError, Tokenizer::from_file(folder.write("t.json", "{")), "t.json': is no JSON");
  const auto read = [](const std::string& json) { return Tokenizer::from_json(json); };
  EXPECT_EQ(read(file(words)).encode_ids("a"), (Ids{1}));
  EXPECT_ERROR(IoError, read("[]"), "[Tokenizer] the text: is no object");
  EXPECT_ERROR(IoError, read("{}"), "the field 'model' is missing");
  EXPECT_ERROR(IoError, read(std::string(1000, '[')), "more than 64 deep");
  EXPECT_ERROR(IoError, read(file(R"({"type":"Magic"})")), "cotan has no model 'Magic'");
  EXPECT_ERROR(IoError, read(file(words, R"("normalizer":{"type":"X"},)")),
               "the text, normalizer: cotan has no normalizer 'X'");
  EXPECT_ERROR(IoError, read(file(words, R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{}]},)")),
               "normalizer, normalizers 1: the field 'type' is missing or no text");
  EXPECT_ERROR(IoError, read(file(words, R"("pre_tokenizer":{"type":"X"},)")), "cotan has no pre-tokenizer 'X'");
  EXPECT_ERROR(IoError, read(file(words, R"("decoder":{"type":"CTC"},)")), "cotan has no decoder 'CTC'");
  EXPECT_ERROR(IoError, read(file(words, R"("post_processor":{"type":"X"},)")), "cotan has no post-processor 'X'");
  EXPECT_ERROR(IoError, read(file(words, R"("truncation":{},)")), "truncation of texts is switched on");
  EXPECT_ERROR(IoError, read(file(words, R"("added_tokens":[{"id":0}],)")),
               "added_tokens 0: the field 'content' is missing");
  EXPECT_ERROR(IoError, read(file(words, R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"},)")),
               "the table is cut off");
  EXPECT_ERROR(IoError, read(file(words, R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"A*"},)")),
               "not in Base64");
  EXPECT_ERROR(IoError,
               read(file(words, R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},)")),
               "pre_tokenizer, pattern: the pattern '('");
  EXPECT_ERROR(IoError,
               read(file(words, R"("pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"No"},)")),
               "the behavior 'No' is unknown");
  EXPECT_ERROR(IoError, read(file(R"({"type":"WordLevel","vocab":{"a":-1},"unk_token":"a"})")), "an id is no number");
  EXPECT_ERROR(IoError, read(file(R"({"type":"WordLevel","vocab":{"a":1},"unk_token":"b"})")),
               "the unk_token 'b' is not in the vocabulary");
  EXPECT_ERROR(IoError, read(file(bpe(R"(["a c"])"))),
               "merges 0: 'a' and 'c', or both together, are not in the vocabulary");
  EXPECT_ERROR(IoError, read(file(bpe(R"(["ab"])"))), "merges 0: 'ab' is not two tokens");
  EXPECT_ERROR(IoError, read(file(bpe("[]", R"(,"dropout":0.5)"))), "dropout makes encodings random");
  EXPECT_ERROR(IoError, read(file(R"({"type":"Unigram","vocab":[["a"]]})")),
               "vocab 0: is no pair of a text and a score");
  EXPECT_ERROR(IoError, read(file(R"({"type":"Unigram","vocab":[["a",0.0]],"unk_id":1})")),
               "unk_id is 1, and there are 1 tokens");
}
TEST(TokenizerErrors, Use) {
  Tokenizer t = gpt2();
  EXPECT_ERROR(IndexError, t.decode(Ids{4000}), "[decode] there is no token 4000; ids run from 0 to 3999.",
               " At " __FILE__);
  EXPECT_ERROR(ValueError, t.add_tokens({""}), "[add_tokens] a token is empty or no UTF-8");
  EXPECT_ERROR(ValueError, ids_of(file(bpe("[]", R"(,"unk_token":"none")")), "x"),
               "the unknown token 'none' is not in the vocabulary");
  EXPECT_ERROR(ValueError, ids_of(file(R"({"type":"Unigram","vocab":[["a",0.0]]})"), "b"), "the model has no unk_id");
}
