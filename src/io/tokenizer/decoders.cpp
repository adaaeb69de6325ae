#include "io/tokenizer/decoders.hpp"

#include <functional>

#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/pattern.hpp"
#include "io/tokenizer/pre_tokenizers.hpp"

namespace cotan::io {

namespace {

using DecodedTokens = std::vector<std::string>;

class DecodeByRule : public Decoder {
 public:
  explicit DecodeByRule(std::function<void(DecodedTokens&)> rule) : rule_(std::move(rule)) {}
  void apply(DecodedTokens& tokens) const override { rule_(tokens); }

 private:
  std::function<void(DecodedTokens&)> rule_;
};

std::string joined(const DecodedTokens& tokens) {
  std::string out;
  for (const std::string& t : tokens) out += t;
  return out;
}
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

void byte_level(DecodedTokens& tokens) {
  std::string out;
  for (const std::string& token : tokens) {
    std::string bytes;
    for (std::size_t at = 0; at < token.size();) {
      const auto [c, length] = decode(token, at);
      const auto byte = byte_of(c);
      if (!byte) {  // no text of bytes: added by somebody
        bytes = token;
        break;
      }
      bytes += static_cast<char>(*byte);
      at += length;
    }
    out += bytes;
  }
  tokens = {valid_utf8(out)};
}

/// DecodedTokens that are bytes become characters, as many as are complete side by side.
void byte_fallback(DecodedTokens& tokens) {
  DecodedTokens out;
  std::string bytes;
  const auto flush = [&] {
    if (valid_until(bytes) == bytes.size()) {
      if (!bytes.empty()) out.push_back(bytes);
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) out.push_back(utf8(replacement_character));
    }
    bytes.clear();
  };
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
  };
  for (std::string& t : tokens) {
    if (t.size() == 6 && t.starts_with("<0x") && t[5] == '>' && digit(t[3]) >= 0 && digit(t[4]) >= 0) {
      bytes += static_cast<char>(digit(t[3]) * 16 + digit(t[4]));
      continue;
    }
    flush();
    out.push_back(std::move(t));
  }
  flush();
  tokens = std::move(out);
}

void word_piece_blanks(std::string& text) {
  for (const auto& [from, to] : {std::pair{" .", "."},
                                 {" ?", "?"},
                                 {" !", "!"},
                                 {" ,", ","},
                                 {" ' ", "'"},
                                 {" n't", "n't"},
                                 {" 'm", "'m"},
                                 {" do not", " don't"},
                                 {" 's", "'s"},
                                 {" 've", "'ve"},
                                 {" 're", "'re"}})
    replace_all(text, from, to);
}

std::function<void(DecodedTokens&)> decoding_rule(const Part& part) {
  const std::string type = part.type();
  if (type == "ByteLevel") return byte_level;
  if (type == "ByteFallback") return byte_fallback;
  if (type == "Fuse") return [](DecodedTokens& tokens) { tokens = {joined(tokens)}; };
  if (type == "Metaspace")
    return [mark = part.text("replacement"),
            adds = prepend_scheme_of(part) != PrependScheme::never](DecodedTokens& tokens) {
      for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], mark, i == 0 && adds ? "" : " ");
    };
  if (type == "Replace")
    return [pattern = Pattern(part.at("pattern")), content = part.text("content")](DecodedTokens& tokens) {
      for (std::string& t : tokens) {
        std::string out;
        std::size_t at = 0;
        for (const Span& m : pattern.find_all(t)) {
          out.append(t, at, m.begin - at).append(content);
          at = m.end;
        }
        t = out.append(t, at);
      }
    };
  if (type == "Strip")
    return [content = part.text("content"), start = part.number("start"),
            stop = part.number("stop")](DecodedTokens& tokens) {
      for (std::string& t : tokens) {
        std::string_view rest = t;
        for (std::uint32_t i = 0; i < start && !content.empty() && rest.starts_with(content); ++i)
          rest.remove_prefix(content.size());
        for (std::uint32_t i = 0; i < stop && !content.empty() && rest.ends_with(content); ++i)
          rest.remove_suffix(content.size());
        t = std::string(rest);
      }
    };
  if (type == "WordPiece")
    return [prefix = part.text("prefix"), cleans = part.flag("cleanup", true)](DecodedTokens& tokens) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i > 0 && tokens[i].starts_with(prefix))
          tokens[i].erase(0, prefix.size());
        else if (i > 0)
          tokens[i].insert(0, " ");
        if (cleans) word_piece_blanks(tokens[i]);
      }
    };
  if (type == "BPEDecoder")
    return [suffix = part.text("suffix")](DecodedTokens& tokens) {
      for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    };
  if (type == "Sequence") {
    const auto all = std::make_shared<std::vector<DecoderPtr>>();
    for (const Part& one : part.list("decoders")) all->push_back(make_decoder(one));
    return [all](DecodedTokens& tokens) {
      for (const DecoderPtr& one : *all)
        if (one) one->apply(tokens);
    };
  }
  raise<IoError>("{}: cotan has no decoder '{}'; use another tokenizer.", part.where, type);
}

}  // namespace

DecoderPtr make_decoder(const Part& part) {
  if (part.json.is_null()) return nullptr;
  return std::make_unique<DecodeByRule>(decoding_rule(part));
}

}  // namespace cotan::io
