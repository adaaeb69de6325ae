// Normal forms of Unicode: characters taken apart, marks in order, and in two of the forms put together again.
#include <utf8proc.h>

#include <algorithm>

#include "io/tokenizer/unicode.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

struct Mark {
  utf8proc_int32_t c;
  int order;   ///< of marks; 0 of what marks are on
  int change;  ///< how many characters more there are for it: 1 of what is new, -1 where two became this one
};

/// The one character that is `first` with `second` on it, or 0.
utf8proc_int32_t composed(utf8proc_int32_t first, utf8proc_int32_t second) {
  utf8proc_int32_t both[] = {first, second};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  return utf8proc_normalize_utf32(both, 2, options) == 1 ? both[0] : 0;
}

/// Neither taken apart nor put together with anything.
bool is_inert(utf8proc_int32_t c) {
  const utf8proc_property_t* p = utf8proc_get_property(c);
  const bool hangul = (c >= 0x1100 && c < 0x1200) || (c >= 0xac00 && c < 0xd7a4);
  return !hangul && p->combining_class == 0 && p->decomp_seqindex == UINT16_MAX && p->comb_index == UINT16_MAX;
}

class Segments {
 public:
  Segments(const Text& text, NormalForm form) : text_(text), out_(text) {
    composes_ = form == NormalForm::c || form == NormalForm::kc;
    int options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE;
    if (form == NormalForm::kc || form == NormalForm::kd) options |= UTF8PROC_COMPAT;
    options_ = static_cast<utf8proc_option_t>(options);
  }

  Text run() {
    const std::string_view bytes = text_.bytes();
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t end = at;
      while (end < bytes.size() && is_ascii(bytes[end])) ++end;
      // A mark may follow the last one of them.
      const std::size_t alone = end == bytes.size() || end == at ? end : end - 1;
      if (alone > at) {
        flush();
        out_.copy({at, alone});
        at = alone;
        continue;
      }
      const auto [c, length] = decode(bytes, at);
      const auto code = static_cast<utf8proc_int32_t>(c);
      if (parts_.empty() || c < 0x80) {
        flush();
        segment_ = at;
      }
      if (c < 0x80) {
        parts_.push_back({code, 0, 0});
      } else if (is_inert(code)) {
        flush();
        out_.copy({at, at + length});
      } else {
        take_apart(code);
      }
      at += length;
    }
    flush();
    return out_.finish();
  }

 private:
  void take_apart(utf8proc_int32_t c) {
    utf8proc_int32_t pieces[32];
    int boundary = 0;
    const auto n = utf8proc_decompose_char(c, pieces, std::size(pieces), options_, &boundary);
    for (utf8proc_ssize_t i = 0; i < n && i < static_cast<utf8proc_ssize_t>(std::size(pieces)); ++i)
      parts_.push_back({pieces[i], utf8proc_get_property(pieces[i])->combining_class, i > 0});
  }

  void flush() {
    if (parts_.empty()) return;
    for (auto begin = parts_.begin(); begin != parts_.end();) {
      auto end = std::find_if(begin, parts_.end(), [](const Mark& p) { return p.order == 0; });
      std::stable_sort(begin, end, [](const Mark& a, const Mark& b) { return a.order < b.order; });
      begin = end == parts_.end() ? end : end + 1;
    }
    if (composes_) compose();
    // Characters come from those of the text in their order, even where marks changed places.
    std::size_t at = segment_;
    const auto skip = [&] { at = std::min(at + decode(text_.bytes(), at).length, text_.size() - 1); };
    for (const Mark& p : parts_) {
      const bool is_new = p.change > 0 && at > segment_;
      out_.put(static_cast<char32_t>(p.c), is_new ? last_ : at);
      if (is_new) continue;
      for (int i = 0; i >= p.change && i > -64; --i) {
        last_ = at;
        skip();
      }
    }
    parts_.clear();
  }

  /// A mark goes to the last character before it that is none, unless one in between holds it off.
  void compose() {
    std::size_t kept = 0, starter = SIZE_MAX;
    int last_order = -1;  // of what is kept behind the starter
    for (const Mark& p : parts_) {
      const bool reaches = starter != SIZE_MAX && last_order < p.order;
      const utf8proc_int32_t both = reaches ? composed(parts_[starter].c, p.c) : 0;
      if (both) {
        parts_[starter].c = both;
        parts_[starter].change += p.change - 1;
        continue;
      }
      if (p.order == 0) {
        starter = kept;
        last_order = -1;
      } else {
        last_order = p.order;
      }
      parts_[kept++] = p;
    }
    parts_.resize(kept);
  }

  const Text& text_;
  Rewriter out_;
  std::vector<Mark> parts_;
  std::size_t segment_ = 0, last_ = 0;  ///< where the parts begin; the character that the last one comes from
  bool composes_;
  utf8proc_option_t options_;
};

}  // namespace

Text normal_form(const Text& text, NormalForm form) { return Segments(text, form).run(); }

}  // namespace cotan::io
