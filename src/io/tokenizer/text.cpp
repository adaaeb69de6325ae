#include "io/tokenizer/text.hpp"

#include "core/error.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

Text::Text(std::string_view given, bool tracked) : tracked_(tracked) {
  if (given.size() > UINT32_MAX / 4)
    raise<ValueError>("[encode] a text of {} bytes is too long; encode it in parts.", given.size());
  bytes_.reserve(given.size());
  if (tracked) from_.reserve(given.size());
  for (std::size_t at = 0; at < given.size();) {
    const std::size_t good = at + valid_until(given.substr(at));
    add_valid(given, at, good);
    if (good == given.size()) break;
    at = good + sequence_at(given, good).length;
    append(bytes_, replacement_character);
    if (tracked) from_.resize(bytes_.size(), {static_cast<std::uint32_t>(good), static_cast<std::uint32_t>(at)});
  }
}

void Text::add_valid(std::string_view given, std::size_t begin, std::size_t end) {
  bytes_.append(given.substr(begin, end - begin));
  if (!tracked_) return;
  while (begin < end) {
    const std::size_t next = begin + decode(given, begin).length;
    from_.resize(from_.size() + (next - begin), {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(next)});
    begin = next;
  }
}

Text Text::slice(const Span& s) const {
  Text out;
  out.bytes_ = part(s);
  out.tracked_ = tracked_;
  out.at_start_ = at_start_ && s.begin == 0;
  if (tracked_)
    out.from_.assign(from_.begin() + static_cast<std::ptrdiff_t>(s.begin),
                     from_.begin() + static_cast<std::ptrdiff_t>(s.end));
  return out;
}

Rewriter::Rewriter(const Text& text) : text_(text) {
  out_.tracked_ = text.tracked_;
  out_.bytes_.reserve(text.size() + text.size() / 8);
}
void Rewriter::begin_at(std::size_t at) {
  if (out_.bytes_.empty()) out_.at_start_ = text_.at_start_ && at < decode(text_.bytes_, 0).length;
}
void Rewriter::copy(const Span& s) {
  if (s.empty()) return;
  begin_at(s.begin);
  out_.bytes_.append(text_.part(s));
  if (text_.tracked_)
    out_.from_.insert(out_.from_.end(), text_.from_.begin() + static_cast<std::ptrdiff_t>(s.begin),
                      text_.from_.begin() + static_cast<std::ptrdiff_t>(s.end));
}
void Rewriter::put(std::string_view bytes, std::size_t like) {
  if (bytes.empty()) return;
  begin_at(like);
  out_.bytes_.append(bytes);
  if (text_.tracked_) out_.from_.resize(out_.bytes_.size(), text_.from_[like]);
}
void Rewriter::put(char32_t c, std::size_t like) {
  begin_at(like);
  append(out_.bytes_, c);
  if (text_.tracked_) out_.from_.resize(out_.bytes_.size(), text_.from_[like]);
}

}  // namespace cotan::io
