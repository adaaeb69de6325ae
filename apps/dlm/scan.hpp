// Text to rows of fields: separators, quotes, comments, line ends.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

struct Record {
  std::size_t line = 0;  ///< where it begins in the file, from 1
  std::vector<std::string> fields;
};

class Scanner {
 public:
  /// `name` stands for the file in messages; no comments where `comment` is 0.
  Scanner(std::string_view text, std::string_view name, char separator, char comment)
      : text_(text), name_(name), separator_(separator), comment_(comment) {}

  /// The next row that is neither blank nor a comment; false at the end. Throws CsvError for quotes that do
  /// not match.
  bool next(Record& record);
  void skip_line();

 private:
  bool is_padding(char c) const { return (c == ' ' || c == '\t') && c != separator_; }
  bool at_line_end() const { return pos_ >= text_.size() || text_[pos_] == '\n' || text_[pos_] == '\r'; }
  bool blank_line() const;
  bool take_separator();
  void end_line();
  std::string field();
  std::string quoted_field();

  std::string_view text_, name_;
  char separator_, comment_;
  std::size_t pos_ = 0, line_ = 1;
};

/// The separator of a first line such as "sep=;", by which spreadsheets tell it; 0 where there is none.
char declared_separator(std::string_view text);

/// Tab, semicolon, bar or comma, whichever fits the first rows.
char find_separator(std::string_view text, char decimal, char comment);

/// "','", "'\t'", for messages.
std::string shown_separator(char separator);

}  // namespace apps
