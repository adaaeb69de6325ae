#include "io/tokenizer/pre_tokenizers.hpp"

#include <functional>
#include <optional>

#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/pattern.hpp"
#include "io/tokenizer/unicode.hpp"

namespace cotan::io {

namespace {

using Finder = std::function<std::vector<Span>(std::string_view)>;

/// Cuts where something matches.
class Cut : public PreTokenizer {
 public:
  Cut(Finder find, Behavior behavior, bool inverted = false)
      : find_(std::move(find)), behavior_(behavior), inverted_(inverted) {}
  void apply(Pieces& pieces) const override {
    std::vector<Span> out;
    for (const Span& s : pieces.spans) {
      const std::size_t first = out.size();
      const std::string_view part = pieces.text.part(s);
      cut(part.size(), find_(part), behavior_, inverted_, out);
      for (std::size_t i = first; i < out.size(); ++i) {
        out[i].begin += s.begin;
        out[i].end += s.begin;
      }
    }
    pieces.spans = std::move(out);
  }

 private:
  Finder find_;
  Behavior behavior_;
  bool inverted_;
};

template <class Condition>
Finder characters(Condition condition) {
  return [=](std::string_view text) { return characters_that(text, condition); };
}

/// Writes every piece anew: `rewrite` puts the bytes of one into the new text.
template <class F>
void rewrite(Pieces& pieces, F&& rewrite_one) {
  Rewriter out(pieces.text);
  for (Span& s : pieces.spans) {
    const std::size_t begin = out.size();
    rewrite_one(s, out);
    s = {begin, out.size()};
  }
  pieces.text = out.finish();
}

class CutToBytes : public PreTokenizer {
 public:
  explicit CutToBytes(const Part& part) : adds_blank_(part.flag("add_prefix_space")) {
    if (!part.flag("use_regex", true)) return;
    const auto regex = std::make_shared<Regex>(gpt2_pattern, part.where);
    words_.emplace([regex](std::string_view text) { return regex->find_all(text); }, Behavior::isolated);
  }
  void apply(Pieces& pieces) const override {
    if (adds_blank_)
      rewrite(pieces, [&](const Span& s, Rewriter& out) {
        if (pieces.text.bytes()[s.begin] != ' ') out.put(" ", s.begin);
        out.copy(s);
      });
    if (words_) words_->apply(pieces);
    rewrite(pieces, [&](const Span& s, Rewriter& out) { put_byte_level(pieces.text, s, out); });
  }

 private:
  bool adds_blank_;
  std::optional<Cut> words_;
};

class CutAtBlanks : public PreTokenizer {
 public:
  explicit CutAtBlanks(const Part& part)
      : mark_(part.text("replacement")), scheme_(prepend_scheme_of(part)), cuts_(part.flag("split", true)) {
    if (mark_.empty()) raise<IoError>("{}: the replacement is empty; the file is damaged.", part.where);
  }
  void apply(Pieces& pieces) const override {
    rewrite(pieces, [&](const Span& s, Rewriter& out) {
      const std::string_view part = pieces.text.part(s);
      const bool first = s.begin == 0 && pieces.text.at_start();
      const bool wants = scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && first);
      if (wants && part[0] != ' ' && !part.starts_with(mark_)) out.put(mark_, s.begin);
      std::size_t at = s.begin;
      for (std::size_t blank; (blank = part.find(' ', at - s.begin)) != part.npos; at = s.begin + blank + 1) {
        out.copy({at, s.begin + blank});
        out.put(mark_, s.begin + blank);
      }
      out.copy({at, s.end});
    });
    if (cuts_) Cut([&](std::string_view text) { return marks(text); }, Behavior::merged_with_next).apply(pieces);
  }

 private:
  std::vector<Span> marks(std::string_view text) const {
    std::vector<Span> out;
    for (std::size_t at = 0; (at = text.find(mark_, at)) != text.npos; at += mark_.size())
      out.push_back({at, at + mark_.size()});
    return out;
  }
  std::string mark_;
  PrependScheme scheme_;
  bool cuts_;
};

class CutInSequence : public PreTokenizer {
 public:
  explicit CutInSequence(std::vector<PreTokenizerPtr> all) : all_(std::move(all)) {}
  void apply(Pieces& pieces) const override {
    for (const PreTokenizerPtr& one : all_)
      if (one) one->apply(pieces);
  }

 private:
  std::vector<PreTokenizerPtr> all_;
};

std::vector<PreTokenizerPtr> two(PreTokenizerPtr first, PreTokenizerPtr second) {
  std::vector<PreTokenizerPtr> out;
  out.push_back(std::move(first));
  out.push_back(std::move(second));
  return out;
}

}  // namespace

PrependScheme prepend_scheme_of(const Part& part) {
  // Older files have a flag, which newer ones keep beside it.
  const bool adds = part.flag("add_prefix_space", true);
  const std::string scheme = part.text("prepend_scheme", adds ? "always" : "never");
  if (scheme == "always") return PrependScheme::always;
  if (scheme == "first") return PrependScheme::first;
  if (scheme == "never") return PrependScheme::never;
  raise<IoError>("{}: the prepend_scheme '{}' is unknown; the file is damaged.", part.where, scheme);
}

PreTokenizerPtr make_pre_tokenizer(const Part& part) {
  if (part.json.is_null()) return nullptr;
  const std::string type = part.type();
  if (type == "ByteLevel") return std::make_unique<CutToBytes>(part);
  if (type == "Metaspace") return std::make_unique<CutAtBlanks>(part);
  if (type == "Split") {
    const auto pattern = std::make_shared<Pattern>(part.at("pattern"));
    return std::make_unique<Cut>([pattern](std::string_view text) { return pattern->find_all(text); },
                                 behavior_named(part), part.flag("invert", false));
  }
  if (type == "Digits")
    return std::make_unique<Cut>(characters(is_numeric),
                                 part.flag("individual_digits", false) ? Behavior::isolated : Behavior::contiguous);
  if (type == "Punctuation")
    return std::make_unique<Cut>(characters(is_punctuation),
                                 part.lacks("behavior") ? Behavior::isolated : behavior_named(part));
  if (type == "Whitespace") {
    const auto words = std::make_shared<Regex>(R"(\w+|[^\w\s]+)", part.where);
    return std::make_unique<Cut>([words](std::string_view text) { return words->find_all(text); }, Behavior::removed,
                                 true);
  }
  if (type == "WhitespaceSplit") return std::make_unique<Cut>(characters(is_space), Behavior::removed);
  if (type == "BertPreTokenizer")
    return std::make_unique<CutInSequence>(two(std::make_unique<Cut>(characters(is_space), Behavior::removed),
                                               std::make_unique<Cut>(characters(is_punctuation), Behavior::isolated)));
  if (type == "CharDelimiterSplit") {
    const Pattern pattern(part.text("delimiter"));
    return std::make_unique<Cut>([pattern](std::string_view text) { return pattern.find_all(text); },
                                 Behavior::removed);
  }
  if (type == "Sequence") {
    std::vector<PreTokenizerPtr> all;
    for (const Part& one : part.list("pretokenizers")) all.push_back(make_pre_tokenizer(one));
    return std::make_unique<CutInSequence>(std::move(all));
  }
  raise<IoError>("{}: cotan has no pre-tokenizer '{}'; use another tokenizer.", part.where, type);
}

}  // namespace cotan::io
