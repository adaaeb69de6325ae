#include "io/tokenizer/normalizers.hpp"

#include <functional>

#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/pattern.hpp"
#include "io/tokenizer/unicode.hpp"

namespace cotan::io {

namespace {

using NormalizingRule = std::function<Text(const Text&)>;

class NormalizeByRule : public Normalizer {
 public:
  explicit NormalizeByRule(NormalizingRule rule) : rule_(std::move(rule)) {}
  Text apply(const Text& text) const override { return rule_(text); }

 private:
  NormalizingRule rule_;
};

class NormalizeInSequence : public Normalizer {
 public:
  explicit NormalizeInSequence(std::vector<NormalizerPtr> all) : all_(std::move(all)) {}
  Text apply(const Text& text) const override {
    Text out = text;
    for (const NormalizerPtr& one : all_)
      if (one) out = one->apply(out);
    return out;
  }

 private:
  std::vector<NormalizerPtr> all_;
};

/// Each character as it is, left out, or others in its place.
template <class F>
Text by_character(const Text& text, F&& change) {
  Rewriter out(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = decode(text.bytes(), at);
    change(c, at, Span{at, at + length}, out);
    at += length;
  }
  return out.finish();
}
Text without(const Text& text, Categories removed) {
  return by_character(text, [&](char32_t c, std::size_t, const Span& s, Rewriter& out) {
    if (!(category(c) & removed)) out.copy(s);
  });
}

Text replaced(const Text& text, const Pattern& pattern, const std::string& content) {
  Rewriter out(text);
  std::size_t at = 0;
  for (const Span& m : pattern.find_all(text.bytes())) {
    out.copy({at, m.begin});
    out.put(content, m.empty() ? m.begin : m.end - 1);
    at = m.end;
  }
  out.copy({at, text.size()});
  return out.finish();
}

Text stripped(const Text& text, bool left, bool right) {
  Span s{0, text.size()};
  const std::string_view bytes = text.bytes();
  while (left && !s.empty() && is_space(decode(bytes, s.begin).c)) s.begin += decode(bytes, s.begin).length;
  while (right && !s.empty() && is_space(decode(bytes, before(bytes, s.end)).c)) s.end = before(bytes, s.end);
  Rewriter out(text);
  out.copy(s);
  return out.finish();
}

bool is_chinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> blocks[] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                                      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                                      {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  for (const auto& [first, last] : blocks)
    if (c >= first && c <= last) return true;
  return false;
}

/// As BERT prepares texts.
NormalizingRule bert(const Part& part) {
  const bool clean = part.flag("clean_text", true), chinese = part.flag("handle_chinese_chars", true);
  const bool small = part.flag("lowercase", true), strip = part.flag("strip_accents", small);
  const Categories others = *categories_by_name("C"), marks = *categories_by_name("Mn");
  return [=](const Text& text) {
    Text out = by_character(text, [&](char32_t c, std::size_t at, const Span& s, Rewriter& rewriter) {
      const bool blank = c == '\t' || c == '\n' || c == '\r';
      if (clean && (c == 0 || c == replacement_character || (!blank && (category(c) & others)))) return;
      if (clean && is_space(c)) return rewriter.put(" ", at);
      const bool apart = chinese && is_chinese(c);
      if (apart) rewriter.put(" ", at);
      rewriter.copy(s);
      if (apart) rewriter.put(" ", at);
    });
    if (strip) out = without(normal_form(out, NormalForm::d), marks);
    return small ? lower_case(out) : out;
  };
}

NormalizingRule normalizing_rule(const Part& part) {
  const std::string type = part.type();
  for (const auto& [name, form] :
       {std::pair{"NFC", NormalForm::c}, {"NFD", NormalForm::d}, {"NFKC", NormalForm::kc}, {"NFKD", NormalForm::kd}})
    if (type == name) return [form = form](const Text& text) { return normal_form(text, form); };
  if (type == "Lowercase") return lower_case;
  if (type == "StripAccents")
    return [marks = *categories_by_name("M")](const Text& text) { return without(text, marks); };
  if (type == "Strip")
    return [left = part.flag("strip_left"), right = part.flag("strip_right")](const Text& text) {
      return stripped(text, left, right);
    };
  if (type == "Prepend")
    return [prefix = part.text("prepend")](const Text& text) { return with_prefix(text, {0, text.size()}, prefix); };
  if (type == "Replace")
    return [pattern = Pattern(part.at("pattern")), content = part.text("content")](const Text& text) {
      return replaced(text, pattern, content);
    };
  if (type == "ByteLevel")
    return [](const Text& text) {
      Rewriter out(text);
      put_byte_level(text, {0, text.size()}, out);
      return out.finish();
    };
  if (type == "BertNormalizer") return bert(part);
  raise<IoError>("{}: cotan has no normalizer '{}'; use another tokenizer.", part.where, type);
}

}  // namespace

NormalizerPtr make_normalizer(const Part& part) {
  if (part.json.is_null()) return nullptr;
  const std::string type = part.type();
  if (type == "Precompiled") return make_charsmap(part);
  if (type != "Sequence") return std::make_unique<NormalizeByRule>(normalizing_rule(part));
  std::vector<NormalizerPtr> all;
  for (const Part& one : part.list("normalizers")) all.push_back(make_normalizer(one));
  return std::make_unique<NormalizeInSequence>(std::move(all));
}

}  // namespace cotan::io
