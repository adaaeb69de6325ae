#include "io/tokenizer/added_tokens.hpp"

#include <algorithm>

#include "io/tokenizer/unicode.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

void AddedTokens::Group::add(std::string pattern, const AddedToken& token) {
  if (pattern.empty() || tokens.contains(pattern)) return;
  patterns.push_back(std::make_unique<std::string>(std::move(pattern)));
  const std::string& p = *patterns.back();
  tokens.emplace(p, &token);
  auto& of_byte = lengths[static_cast<unsigned char>(p[0])];
  if (std::ranges::find(of_byte, p.size()) != of_byte.end()) return;
  of_byte.push_back(p.size());
  std::ranges::sort(of_byte, std::greater());
}
const AddedToken* AddedTokens::Group::match(std::string_view text, std::size_t at, std::size_t& length) const {
  for (const std::size_t size : lengths[static_cast<unsigned char>(text[at])]) {
    if (size > text.size() - at) continue;
    const auto found = tokens.find(text.substr(at, size));
    if (found == tokens.end()) continue;
    length = size;
    return found->second;
  }
  return nullptr;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, const Normalizer* normalizer) {
  for (const AddedToken& t : tokens) by_content_.insert_or_assign(t.content, t);
  for (const auto& [content, token] : by_content_) by_id_[token.id] = &token;
  for (const bool special : {true, false})
    for (const AddedToken& given : tokens) {
      const AddedToken& t = by_content_.at(given.content);
      if (t.special != special) continue;
      if (!t.normalized)
        plain_.add(t.content, t);
      else
        normalized_.add(normalizer ? std::string(normalizer->apply(Text(t.content, false)).bytes()) : t.content, t);
    }
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(content);
  return found == by_content_.end() ? nullptr : &found->second;
}
const AddedToken* AddedTokens::find(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<Section> AddedTokens::divide(std::string_view text, bool normalized) const {
  const Group& group = normalized ? normalized_ : plain_;
  std::vector<Section> out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size() && !group.tokens.empty();) {
    std::size_t length = 0;
    const AddedToken* token = group.match(text, at, length);
    if (!token) {
      ++at;
      continue;
    }
    Span s{at, at + length};
    at = s.end;
    if (token->single_word) {
      const bool within = (s.begin > 0 && is_word(decode(text, before(text, s.begin)).c)) ||
                          (s.end < text.size() && is_word(decode(text, s.end).c));
      if (within) continue;
    }
    while (token->lstrip && s.begin > done && is_space(decode(text, before(text, s.begin)).c))
      s.begin = before(text, s.begin);
    while (token->rstrip && s.end < text.size() && is_space(decode(text, s.end).c)) s.end += decode(text, s.end).length;
    if (s.begin < done) continue;  // blanks that were taken already
    if (s.begin > done) out.push_back({nullptr, {done, s.begin}});
    out.push_back({token, s});
    done = s.end;
    at = std::max(at, done);
  }
  if (done < text.size()) out.push_back({nullptr, {done, text.size()}});
  return out;
}

}  // namespace cotan::io
