// One pass over the text, a row at a time.
#include "scan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dates.hpp"
#include "text.hpp"

namespace apps {
namespace {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw CsvError("[csv] " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

std::string shown_separator(char separator) { return separator == '\t' ? "'\\t'" : fmt::format("'{}'", separator); }

bool Scanner::next(Record& record) {
  while (pos_ < text_.size() && (blank_line() || (comment_ && text_[pos_] == comment_))) skip_line();
  if (pos_ >= text_.size()) return false;
  record.line = line_;
  record.fields.clear();
  do record.fields.push_back(field());
  while (take_separator());
  end_line();
  return true;
}

bool Scanner::blank_line() const {
  const std::size_t end = text_.find_first_not_of(separator_ == '\t' ? " " : " \t", pos_);
  return end == std::string_view::npos || text_[end] == '\n' || text_[end] == '\r';
}
bool Scanner::take_separator() {
  if (pos_ >= text_.size() || text_[pos_] != separator_) return false;
  ++pos_;
  return true;
}
void Scanner::skip_line() {
  pos_ = std::min(text_.find_first_of("\r\n", pos_), text_.size());
  end_line();
}
void Scanner::end_line() {
  if (pos_ >= text_.size()) return;
  if (text_[pos_] == '\r' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') ++pos_;
  ++pos_;
  ++line_;
}

std::string Scanner::field() {
  while (pos_ < text_.size() && is_padding(text_[pos_])) ++pos_;
  if (pos_ < text_.size() && text_[pos_] == '"') return quoted_field();
  const std::size_t begin = pos_;
  while (!at_line_end() && text_[pos_] != separator_) ++pos_;
  std::size_t end = pos_;
  while (end > begin && is_padding(text_[end - 1])) --end;
  return std::string(text_.substr(begin, end - begin));
}

std::string Scanner::quoted_field() {
  const std::size_t begin = ++pos_, opened = line_;
  std::string out;
  for (;;) {
    const std::size_t stop = text_.find_first_of("\"\r\n", pos_);
    if (stop == std::string_view::npos)
      fail(
          "{}:{}: the quote that opens {} is never closed; add the closing quote, or double it (\"\") if "
          "it belongs to the text.",
          name_, opened, shown(text_.substr(begin)));
    out += text_.substr(pos_, stop - pos_);
    pos_ = stop;
    if (text_[pos_] != '"') {  // a line end inside the field belongs to it
      end_line();
      out += text_.substr(stop, pos_ - stop);
    } else if (pos_ + 1 < text_.size() && text_[pos_ + 1] == '"') {
      out += '"';
      pos_ += 2;
    } else {
      break;
    }
  }
  ++pos_;
  while (pos_ < text_.size() && is_padding(text_[pos_])) ++pos_;
  if (!at_line_end() && text_[pos_] != separator_) {
    const std::size_t end = std::min(text_.find_first_of("\r\n", pos_), text_.size());
    fail(
        "{}:{}: {} follows a closing quote; put the separator {} after it, or double the quote (\"\") if "
        "it belongs to the text.",
        name_, line_, shown(text_.substr(pos_, end - pos_)), shown_separator(separator_));
  }
  return out;
}

char declared_separator(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find_first_of("\r\n"), text.size()));
  const std::size_t quoted = line.starts_with('"') && line.ends_with('"') ? 1 : 0;
  const bool declared = line.size() == 5 + 2 * quoted && lower(line.substr(quoted, 4)) == "sep=";
  return declared ? line[quoted + 4] : 0;
}

/// The candidate that splits the first rows into equally many fields, more than one of them; failing that,
/// the one that splits the first row most. Commas come last: they also occur inside numbers and prose.
char find_separator(std::string_view text, char decimal, char comment) {
  constexpr std::size_t rows_looked_at = 20;
  char best = ',';
  std::size_t best_score = 1;
  for (const char candidate : {'\t', ';', '|', ','}) {
    if (candidate == decimal) continue;
    Scanner scanner(text, "", candidate, comment);
    Record record;
    std::size_t first = 0;
    bool equal = true;
    std::vector<std::size_t> counts;
    try {
      while (counts.size() < rows_looked_at && scanner.next(record)) {
        counts.push_back(record.fields.size());
        first = counts[0];
        equal = equal && counts.back() == first;
      }
    } catch (const CsvError&) {
      equal = false;
    }
    // Lines above a table have other numbers of fields.
    std::size_t most = 0;
    for (const std::size_t c : counts)
      if (c > 1) most = std::max(most, static_cast<std::size_t>(std::count(counts.begin(), counts.end(), c)));
    constexpr std::size_t bonus = std::size_t{1} << 40, small_bonus = std::size_t{1} << 20;
    const std::size_t score = first + (equal && first > 1                              ? bonus
                                       : counts.size() > 3 && 2 * most > counts.size() ? small_bonus
                                                                                       : 0);
    if (score > best_score) best = candidate, best_score = score;
  }
  return best == decimal ? ';' : best;
}

}  // namespace apps
