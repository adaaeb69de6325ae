// Damaged tokenizer.json files: tokenizers that work, or an Error; nothing else.
#include "io/files.hpp"
#include "io/mutations.hpp"
#include "io/tokenizer_texts.hpp"
#include "support/in_children.hpp"
#include "support/nightly.hpp"

using namespace cotan;

namespace {

/// Small files of every kind.
const char* const bytes_file = R"json({"added_tokens":[
{"id":0,"content":"<unk>","single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":true},
{"id":9,"content":"ab","single_word":true,"lstrip":false,"rstrip":false,"normalized":true,"special":false}],
"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},
{"type":"Replace","pattern":{"Regex":" {2,}|a+(?!b)"},"content":" "},{"type":"Prepend","prepend":"_"}]},
"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},
"post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},
"decoder":{"type":"Sequence","decoders":[{"type":"ByteLevel"},{"type":"Strip","content":" ","start":1,"stop":1}]},
"model":{"type":"BPE","dropout":null,"unk_token":"<unk>","continuing_subword_prefix":null,"end_of_word_suffix":"</w>",
"fuse_unk":true,"byte_fallback":true,"ignore_merges":false,
"vocab":{"<unk>":0,"a":1,"b":2,"ab":3,"ab</w>":4,"Ġ":5,"b</w>":6,"<0x0A>":7},"merges":["a b",["a","b</w>"]]}})json";

const char* const unigram_file = R"json({"normalizer":{"type":"BertNormalizer","clean_text":true,
"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[
{"type":"Split","pattern":{"Regex":"(?i:'s)|[^\\s\\p{L}]?\\p{L}+|\\p{N}{1,3}"},"behavior":"MergedWithNext","invert":false},
{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true}]},
"post_processor":{"type":"TemplateProcessing",
"single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],
"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}},
"decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,
"vocab":[["<unk>",0.0],["<s>",0.0],["▁",-2.5],["a",-3.25],["▁a",-1e1],["ab",-4.0]]}})json";

std::vector<std::string> small_files() {
  // The normalizer of the golden of that name, with a small model.
  const std::string& all = test::TokenizerGoldens::get().text("charsmap/json");
  const std::size_t begin = all.find("\"normalizer\""), end = all.find("\"pre_tokenizer\"");
  const std::string charsmap = "{" + all.substr(begin, end - begin) +
                               R"json("model":{"type":"WordPiece","unk_token":"a","continuing_subword_prefix":"##",
"max_input_chars_per_word":9,"vocab":{"a":0,"##b":1}}})json";
  return {bytes_file, unigram_file, charsmap};
}

}  // namespace

TEST(TokenizerFuzz, DamagedFilesAreRefusedOrWork) {
  const test::Mutations mutations(small_files(), {"null",
                                                  "true",
                                                  "\"\"",
                                                  "{}",
                                                  "[]",
                                                  "\"type\":",
                                                  "\"Sequence\"",
                                                  "\"ByteLevel\"",
                                                  "\"NFKD\"",
                                                  "\"StripAccents\"",
                                                  "\"Fuse\"",
                                                  "\"ByteFallback\"",
                                                  "\"Regex\":",
                                                  "\"String\":",
                                                  "(?:",
                                                  ")*",
                                                  "{2,9}",
                                                  "+",
                                                  "|",
                                                  "\\\\p{Lu}",
                                                  "[^",
                                                  "\xff",
                                                  "\\ud800",
                                                  "\"a\":1,",
                                                  "é"});
  constexpr std::uint64_t executions_of_seed = 1000;
  const std::string text = "ab  a's <unk> ab\nB\xcc\x81 ﬁ½\xff 中12 Å 😀👍🏽abab_ab";
  const auto findings = in_children(is_nightly() ? 1100 : 4, [&](std::uint64_t seed) -> std::string {
    std::size_t good = 0;
    for (std::uint64_t k = 0; k < executions_of_seed; ++k) {
      const std::string which = "execution " + std::to_string(k) + ": ";
      try {
        const Tokenizer t = Tokenizer::from_json(mutations.file(seed * executions_of_seed + k));
        ++good;
        const Encoding e = t.encode(text);
        if (t.encode_ids(text) != e.ids) return which + "two ways to encode differ";
        for (const auto& [begin, end] : e.offsets)
          if (begin > end || end > text.size()) return which + "an offset is outside of the text";
        bool known = true;  // templates may name what the vocabulary lacks
        for (std::size_t i = 0; i < e.ids.size(); ++i) {
          known = known && t.id_to_token(e.ids[i]);
          if (!e.special_tokens_mask[i] && !t.id_to_token(e.ids[i])) return which + "a token is none";
        }
        if (known) t.decode(e.ids);
        t.encode_pair(text, "a");
      } catch (const Error& e) {
        if (!std::string_view(e.what()).starts_with("[Tokenizer]") &&
            !std::string_view(e.what()).starts_with("[encode]"))
          return which + e.what();
      } catch (const std::exception& e) {
        return which + "another exception: " + e.what();
      }
    }
    return good > 0 && good < executions_of_seed ? "" : std::to_string(good) + " files are good";
  });
  for (const Finding& f : findings) ADD_FAILURE() << "seed " << f.seed << ": " << f.fault;
}
