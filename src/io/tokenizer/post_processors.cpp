#include "io/tokenizer/post_processors.hpp"

#include <algorithm>
#include <map>

#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/unicode.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

void append(Encoding& to, const Encoding& more) {
  const auto add = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
  add(to.ids, more.ids);
  add(to.tokens, more.tokens);
  add(to.offsets, more.offsets);
  add(to.type_ids, more.type_ids);
  add(to.special_tokens_mask, more.special_tokens_mask);
}

namespace {

/// Blanks at the ends of tokens are no part of what they stand for.
void trim_offsets(Encoding& encoding, bool adds_blank) {
  const auto is_blank = [](char32_t c) { return c == 0x120 || is_space(c); };  // Ġ
  for (std::size_t i = 0; i < encoding.offsets.size(); ++i) {
    const std::string& token = encoding.tokens[i];
    auto& [begin, end] = encoding.offsets[i];
    std::size_t leading = 0, trailing = 0, at = 0;
    for (; at < token.size() && is_blank(decode(token, at).c); at += decode(token, at).length) ++leading;
    for (at = token.size(); at > 0 && is_blank(decode(token, before(token, at)).c); at = before(token, at)) ++trailing;
    if (leading == 1 && adds_blank && (i == 0 || begin == 0)) leading = 0;  // the one that was put there
    begin = std::min(begin + leading, end);
    if (trailing > 0 && end >= trailing) end = std::max(end - trailing, begin);
  }
}

class TrimBlanks : public PostProcessor {
 public:
  explicit TrimBlanks(const Part& part)
      : trims_(part.flag("trim_offsets", true)), adds_blank_(part.flag("add_prefix_space", true)) {}
  void apply(std::vector<Encoding>& parts, bool) const override {
    if (!trims_) return;
    for (Encoding& e : parts) trim_offsets(e, adds_blank_);
  }

 private:
  bool trims_, adds_blank_;
};

/// A template: texts and tokens in an order, each with its type.
class Template : public PostProcessor {
 public:
  struct Piece {
    int text = -1;  ///< 0 or 1; -1 of tokens
    Encoding tokens{};
    std::int32_t type = 0;
  };
  Template(std::vector<Piece> single, std::vector<Piece> pair) : single_(std::move(single)), pair_(std::move(pair)) {}

  void apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    Encoding out;
    for (const Piece& piece : parts.size() == 2 ? pair_ : single_) {
      if (piece.text < 0 && !add_special_tokens) continue;
      Encoding e = piece.text < 0 ? piece.tokens : parts.at(static_cast<std::size_t>(piece.text));
      e.type_ids.assign(e.ids.size(), piece.type);
      append(out, e);
    }
    parts = {std::move(out)};
  }

 private:
  std::vector<Piece> single_, pair_;
};

Template::Piece tokens_piece(const std::vector<std::uint32_t>& ids, const std::vector<std::string>& texts,
                             std::int32_t type) {
  Template::Piece out;
  out.type = type;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.tokens.ids.push_back(static_cast<std::int32_t>(ids[i]));
    out.tokens.tokens.push_back(texts[i]);
    out.tokens.offsets.emplace_back(0, 0);
    out.tokens.special_tokens_mask.push_back(true);
  }
  return out;
}

std::vector<Template::Piece> read_template(const Part& part, const char* name) {
  std::vector<Template::Piece> out;
  const Part tokens = part.at("special_tokens");
  const int texts = std::string_view(name) == "pair" ? 2 : 1;
  for (const Part& piece : part.list(name)) {
    if (!piece.lacks("Sequence")) {
      const Part sequence = piece.at("Sequence");
      const std::string id = sequence.text("id");
      if (id != "A" && !(id == "B" && texts == 2))
        raise<IoError>("{}: the text '{}' is unknown; the file is damaged.", piece.where, id);
      Template::Piece text;
      text.text = id == "A" ? 0 : 1;
      text.type = static_cast<std::int32_t>(sequence.number("type_id"));
      out.push_back(std::move(text));
      continue;
    }
    const Part special = piece.at("SpecialToken");
    const std::string id = special.text("id");
    const Part token = tokens.at(id.c_str());
    std::vector<std::uint32_t> ids;
    std::vector<std::string> contents;
    for (const Part& i : token.list("ids")) ids.push_back(id_of(i.json, i.where));
    for (const Part& t : token.list("tokens")) contents.push_back(string_of(t.json, t.where));
    if (ids.size() != contents.size())
      raise<IoError>("{}: {} ids have {} texts; the file is damaged.", token.where, ids.size(), contents.size());
    out.push_back(tokens_piece(ids, contents, static_cast<std::int32_t>(special.number("type_id"))));
  }
  return out;
}

/// BERT's and RoBERTa's: first token, text, separator, and what follows the second text.
std::unique_ptr<Template> around(const Part& part, bool two_separators, std::int32_t type_of_second) {
  const auto token = [&](const char* name, int count, std::int32_t type) {
    const Part pair = part.at(name);
    if (!pair.json.is_array() || pair.json.size() != 2) raise_wrong_field(part.where, name, "pair of a text and an id");
    const std::vector ids(static_cast<std::size_t>(count), id_of(pair.json[1], pair.where));
    const std::vector texts(static_cast<std::size_t>(count), string_of(pair.json[0], pair.where));
    return tokens_piece(ids, texts, type);
  };
  Template::Piece a, b;
  a.text = 0;
  b.text = 1;
  b.type = type_of_second;
  return std::make_unique<Template>(
      std::vector{token("cls", 1, 0), a, token("sep", 1, 0)},
      std::vector{token("cls", 1, 0), a, token("sep", two_separators ? 2 : 1, 0), b, token("sep", 1, type_of_second)});
}

class ProcessInSequence : public PostProcessor {
 public:
  explicit ProcessInSequence(std::vector<PostProcessorPtr> all) : all_(std::move(all)) {}
  void apply(std::vector<Encoding>& parts, bool add_special_tokens) const override {
    for (const PostProcessorPtr& one : all_)
      if (one) one->apply(parts, add_special_tokens);
  }

 private:
  std::vector<PostProcessorPtr> all_;
};

/// Trims, then puts tokens around.
PostProcessorPtr roberta(const Part& part) {
  std::vector<PostProcessorPtr> all;
  if (part.flag("trim_offsets", true)) all.push_back(std::make_unique<TrimBlanks>(part));
  all.push_back(around(part, true, 0));
  return std::make_unique<ProcessInSequence>(std::move(all));
}

}  // namespace

PostProcessorPtr make_post_processor(const Part& part) {
  if (part.json.is_null()) return nullptr;
  const std::string type = part.type();
  if (type == "ByteLevel") return std::make_unique<TrimBlanks>(part);
  if (type == "TemplateProcessing")
    return std::make_unique<Template>(read_template(part, "single"), read_template(part, "pair"));
  if (type == "BertProcessing") return around(part, false, 1);
  if (type == "RobertaProcessing") return roberta(part);
  if (type == "Sequence") {
    std::vector<PostProcessorPtr> all;
    for (const Part& one : part.list("processors")) all.push_back(make_post_processor(one));
    return std::make_unique<ProcessInSequence>(std::move(all));
  }
  raise<IoError>("{}: cotan has no post-processor '{}'; use another tokenizer.", part.where, type);
}

}  // namespace cotan::io
