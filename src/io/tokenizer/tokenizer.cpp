// The stages of a tokenizer, one after the other.
#include <algorithm>
#include <atomic>
#include <cotan/io/tokenizer.hpp>
#include <future>
#include <map>
#include <thread>

#include "core/error.hpp"
#include "io/file.hpp"
#include "io/tokenizer/added_tokens.hpp"
#include "io/tokenizer/decoders.hpp"
#include "io/tokenizer/models.hpp"
#include "io/tokenizer/normalizers.hpp"
#include "io/tokenizer/post_processors.hpp"
#include "io/tokenizer/pre_tokenizers.hpp"
#include "io/tokenizer/utf8.hpp"
#include "io/tokenizer/word_cache.hpp"

namespace cotan {

namespace {

std::vector<io::AddedToken> read_added_tokens(const io::Part& file) {
  std::vector<io::AddedToken> out;
  if (file.lacks("added_tokens")) return out;
  for (const io::Part& t : file.list("added_tokens"))
    out.push_back({t.text("content"), t.number("id"), t.flag("single_word"), t.flag("lstrip"), t.flag("rstrip"),
                   t.flag("normalized"), t.flag("special")});
  return out;
}

}  // namespace

struct Tokenizer::Parts {
  /// All that a file describes but tokens that are added.
  struct Stages {
    std::string json;
    io::NormalizerPtr normalizer;
    io::PreTokenizerPtr pre_tokenizer;
    io::ModelPtr model;
    io::PostProcessorPtr post_processor;
    io::DecoderPtr decoder;
    mutable io::WordCaches caches;
  };

  std::shared_ptr<const Stages> stages;
  io::AddedTokens added;

  /// Calls added(token, text, span) and piece(tokens, text, span) for what a text consists of, in order.
  template <class Added, class Piece>
  void run(std::string_view given, bool tracked, Added&& on_added, Piece&& on_piece) const {
    const io::WordCaches::Lease cache(stages->caches);
    const io::Text whole(given, tracked);
    for (const io::Section& outer : added.divide(whole.bytes(), false)) {
      if (outer.token) {
        on_added(*outer.token, whole, outer.span);
        continue;
      }
      io::Text text = whole.slice(outer.span);
      if (stages->normalizer) text = stages->normalizer->apply(text);
      for (const io::Section& inner : added.divide(text.bytes(), true)) {
        if (inner.token) {
          on_added(*inner.token, text, inner.span);
          continue;
        }
        io::Pieces pieces{text.slice(inner.span), {{0, inner.span.end - inner.span.begin}}};
        if (stages->pre_tokenizer) stages->pre_tokenizer->apply(pieces);
        for (const io::Span& s : pieces.spans) {
          if (s.empty()) continue;
          const std::string_view piece = pieces.text.part(s);
          on_piece((*cache).tokens(piece, [&](auto& out) { stages->model->tokenize(piece, out); }), pieces.text, s);
        }
      }
    }
  }

  Encoding encode(std::string_view given, std::int32_t type) const {
    Encoding out;
    const auto add = [&](std::uint32_t id, std::string token, const io::Span& from) {
      out.ids.push_back(static_cast<std::int32_t>(id));
      out.tokens.push_back(std::move(token));
      out.offsets.emplace_back(from.begin, from.end);
    };
    run(
        given, true,
        [&](const io::AddedToken& token, const io::Text& text, const io::Span& s) {
          add(token.id, std::string(text.part(s)), text.origin(s));
        },
        [&](std::span<const io::PieceToken> tokens, const io::Text& text, const io::Span& s) {
          for (const io::PieceToken& t : tokens)
            add(t.id, stages->model->text_of(t, text.part(s)), text.origin({s.begin + t.begin, s.begin + t.end}));
        });
    out.type_ids.assign(out.ids.size(), type);
    out.special_tokens_mask.assign(out.ids.size(), false);
    return out;
  }

  Encoding encode(std::vector<Encoding> parts, bool add_special_tokens) const {
    if (stages->post_processor) stages->post_processor->apply(parts, add_special_tokens);
    Encoding out = std::move(parts.at(0));
    for (std::size_t i = 1; i < parts.size(); ++i) io::append(out, parts[i]);
    return out;
  }

  std::optional<std::uint32_t> id_of(std::string_view token) const {
    if (const io::AddedToken* t = added.find(token)) return t->id;
    return stages->model->vocabulary().find(token);
  }
  const std::string* token_of(std::int32_t id) const {
    if (id < 0) return nullptr;
    const auto known = static_cast<std::uint32_t>(id);
    if (const io::AddedToken* t = added.find(known)) return &t->content;
    return stages->model->vocabulary().text(known);
  }
};

Tokenizer Tokenizer::from_text(std::string_view text, const std::string& where) {
  const io::Json json = io::parse_json(text, where);
  const io::Part file{json, where};
  for (const char* name : {"truncation", "padding"})
    if (!file.lacks(name))
      raise<IoError>("{}: {} of texts is switched on; cut and fill them yourself, and set it to null.", where, name);
  auto stages = std::make_shared<Parts::Stages>();
  stages->json = text;
  stages->normalizer = make_normalizer(file.at("normalizer"));
  stages->pre_tokenizer = make_pre_tokenizer(file.at("pre_tokenizer"));
  stages->model = make_model(file.at("model"));
  stages->post_processor = make_post_processor(file.at("post_processor"));
  stages->decoder = make_decoder(file.at("decoder"));
  auto parts = std::make_shared<Parts>();
  parts->added = io::AddedTokens(read_added_tokens(file), stages->normalizer.get());
  parts->stages = std::move(stages);
  return Tokenizer(std::move(parts));
}
Tokenizer Tokenizer::from_file(const FilePath& path, const std::source_location& where) {
  const detail::CallSite site(where);
  io::InputFile file(path.str(), "Tokenizer");
  const io::Bytes bytes = file.read_all();
  return from_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.where());
}
Tokenizer Tokenizer::from_json(std::string_view json, const std::source_location& where) {
  const detail::CallSite site(where);
  return from_text(json, "[Tokenizer] the text");
}

Encoding Tokenizer::encode(std::string_view text, bool add_special_tokens, const std::source_location& where) const {
  const detail::CallSite site(where);
  return parts_->encode({parts_->encode(text, 0)}, add_special_tokens);
}
Encoding Tokenizer::encode_pair(std::string_view text, std::string_view second, bool add_special_tokens,
                                const std::source_location& where) const {
  const detail::CallSite site(where);
  return parts_->encode({parts_->encode(text, 0), parts_->encode(second, 1)}, add_special_tokens);
}
std::vector<std::int32_t> Tokenizer::encode_ids(std::string_view text, bool add_special_tokens,
                                                const std::source_location& where) const {
  const detail::CallSite site(where);
  Encoding out;
  out.ids.reserve(text.size() / 3);
  parts_->run(
      text, false,
      [&](const io::AddedToken& token, const io::Text&, const io::Span&) {
        out.ids.push_back(static_cast<std::int32_t>(token.id));
      },
      [&](std::span<const io::PieceToken> tokens, const io::Text&, const io::Span&) {
        for (const io::PieceToken& t : tokens) out.ids.push_back(static_cast<std::int32_t>(t.id));
      });
  return parts_->encode({std::move(out)}, add_special_tokens).ids;
}
std::vector<std::vector<std::int32_t>> Tokenizer::encode_batch(const std::vector<std::string>& texts,
                                                               bool add_special_tokens,
                                                               const std::source_location& where) const {
  const detail::CallSite site(where);
  std::vector<std::vector<std::int32_t>> out(texts.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < texts.size();) out[i] = encode_ids(texts[i], add_special_tokens, {});
  };
  constexpr std::size_t worth_a_thread = 16;
  std::vector<std::future<void>> others;
  const std::size_t most = std::min<std::size_t>(std::thread::hardware_concurrency(), texts.size() / worth_a_thread);
  for (std::size_t i = 1; i < most; ++i) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens,
                              const std::source_location& where) const {
  const detail::CallSite site(where);
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const std::string* token = parts_->token_of(id);
    if (!token) raise<IndexError>("[decode] there is no token {}; ids run from 0 to {}.", id, vocab_size() - 1);
    const io::AddedToken* added = parts_->added.find(*token);
    if (!(skip_special_tokens && added && added->special)) tokens.push_back(*token);
  }
  if (!parts_->stages->decoder) return fmt::format("{}", fmt::join(tokens, " "));
  parts_->stages->decoder->apply(tokens);
  return fmt::format("{}", fmt::join(tokens, ""));
}
std::vector<std::string> Tokenizer::decode_batch(const std::vector<std::vector<std::int32_t>>& ids,
                                                 bool skip_special_tokens, const std::source_location& where) const {
  const detail::CallSite site(where);
  std::vector<std::string> out;
  for (const auto& one : ids) out.push_back(decode(one, skip_special_tokens, {}));
  return out;
}

std::size_t Tokenizer::vocab_size(bool with_added_tokens) const {
  const io::Vocabulary& vocabulary = parts_->stages->model->vocabulary();
  std::size_t out = vocabulary.size();
  if (!with_added_tokens) return out;
  for (const auto& [content, token] : parts_->added.all())
    if (!vocabulary.find(content)) ++out;
  return out;
}
std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto id = parts_->id_of(token);
  if (!id) return {};
  return static_cast<std::int32_t>(*id);
}
std::optional<std::string> Tokenizer::id_to_token(std::int32_t id) const {
  const std::string* token = parts_->token_of(id);
  if (!token) return {};
  return *token;
}

std::size_t Tokenizer::add(const std::vector<std::string>& contents, bool special) {
  std::vector<io::AddedToken> tokens;
  auto next = static_cast<std::uint32_t>(vocab_size(false));
  for (const auto& [content, token] : parts_->added.all()) {
    tokens.push_back(token);
    next = std::max(next, token.id + 1);
  }
  std::size_t added = 0;
  for (const std::string& content : contents) {
    if (content.empty() || io::valid_until(content) != content.size())
      raise<ValueError>("[add_tokens] a token is empty or no UTF-8; give it as a text.");
    const auto same = [&](const io::AddedToken& t) { return t.content == content && t.special == special; };
    if (std::ranges::any_of(tokens, same)) continue;
    const auto known = parts_->id_of(content);
    io::AddedToken token{content, known ? *known : next++};
    token.special = special;
    token.normalized = !special;
    tokens.push_back(std::move(token));
    ++added;
  }
  auto parts = std::make_shared<Parts>();
  parts->stages = parts_->stages;
  parts->added = io::AddedTokens(tokens, parts->stages->normalizer.get());
  parts_ = std::move(parts);
  return added;
}
std::size_t Tokenizer::add_special_tokens(const std::vector<std::string>& tokens, const std::source_location& where) {
  const detail::CallSite site(where);
  return add(tokens, true);
}
std::size_t Tokenizer::add_tokens(const std::vector<std::string>& tokens, const std::source_location& where) {
  const detail::CallSite site(where);
  return add(tokens, false);
}

std::string Tokenizer::to_json() const {
  io::Json json = io::parse_json(parts_->stages->json, "[Tokenizer]");
  std::map<std::uint32_t, io::Json> added;
  for (const auto& [content, t] : parts_->added.all())
    added[t.id] = {{"id", t.id},          {"content", content}, {"single_word", t.single_word},
                   {"lstrip", t.lstrip},  {"rstrip", t.rstrip}, {"normalized", t.normalized},
                   {"special", t.special}};
  json["added_tokens"] = io::Json::array();
  for (auto& [id, token] : added) json["added_tokens"].push_back(std::move(token));
  return json.dump(2);
}
void Tokenizer::save(const FilePath& path, const std::source_location& where) const {
  const detail::CallSite site(where);
  io::OutputFile file(path.str(), "Tokenizer::save");
  const std::string json = to_json();
  file.write(std::as_bytes(std::span(json)));
  file.commit();
}

}  // namespace cotan
