#include "io/tokenizer/regex_parser.hpp"

#include "core/error.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

namespace {

using Kind = PatternNode::Kind;
using Item = CharacterSet::Item;

class Parser {
 public:
  Parser(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {
    if (valid_until(pattern) != pattern.size()) bad("it is no UTF-8");
  }

  PatternNode parse() {
    PatternNode out = alternatives(0);
    if (at_ < pattern_.size()) bad("a ')' closes nothing");
    return out;
  }

 private:
  [[noreturn]] void bad(std::string_view what) const {
    raise<IoError>("{}: the pattern '{}' is not one that cotan can match: {} (character {}); use another tokenizer.",
                   where_, pattern_, what, at_);
  }
  bool more() const { return at_ < pattern_.size(); }
  bool accept(std::string_view text) {
    if (!pattern_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t next() {
    if (!more()) bad("it ends too early");
    const auto [c, length] = decode(pattern_, at_);
    at_ += length;
    return c;
  }

  PatternNode alternatives(int depth) {
    if (depth > 50) bad("groups lie more than 50 deep in each other");
    PatternNode out{Kind::alternatives};
    do out.children.push_back(sequence(depth));
    while (accept("|"));
    if (out.children.size() > 1) return out;
    PatternNode only = std::move(out.children[0]);
    return only;
  }
  PatternNode sequence(int depth) {
    PatternNode out{Kind::sequence};
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      PatternNode atom = one(depth);
      while (repeat(atom)) continue;
      out.children.push_back(std::move(atom));
    }
    return out;
  }

  /// Puts what the quantifier here says around `atom`.
  bool repeat(PatternNode& atom) {
    PatternNode out{Kind::repeat};
    const std::size_t begin = at_;
    if (accept("*")) {
      out.most = unlimited;
    } else if (accept("+")) {
      out.least = 1;
      out.most = unlimited;
    } else if (accept("?")) {
      out.most = 1;
    } else if (!accept("{") || !interval(out)) {
      at_ = begin;
      return false;
    }
    const bool is_interval = pattern_[begin] == '{';
    if (atom.kind == Kind::look || atom.kind == Kind::line_begin || atom.kind == Kind::line_end)
      bad("what is repeated has no width");
    if (accept("?")) {
      if (is_interval) bad("'?' behind an interval");
      out.lazy = true;
    } else if (!is_interval) {
      out.possessive = accept("+");
    }
    out.children.push_back(std::move(atom));
    atom = std::move(out);
    return true;
  }
  /// "2}", "2,}", "2,3}", ",3}"; anything else is no interval, and its brace is a character.
  bool interval(PatternNode& out) {
    const auto number = [&](std::uint32_t& n) {
      bool any = false;
      for (n = 0; more() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_, any = true) {
        n = n * 10 + static_cast<std::uint32_t>(pattern_[at_] - '0');
        if (n > 1000) bad("an interval beyond 1000");
      }
      return any;
    };
    const bool has_least = number(out.least);
    out.most = out.least;
    bool has_most = has_least;
    if (accept(",") && !(has_most = number(out.most))) {
      if (!has_least) return false;
      out.most = unlimited;
      has_most = true;
    }
    if (!has_most || !accept("}")) return false;
    if (out.least > out.most) bad("an interval that ends before it begins");
    return true;
  }

  PatternNode one(int depth) {
    if (accept("(")) return group(depth);
    if (accept("[")) return set_node(brackets());
    if (accept("^")) return {Kind::line_begin};
    if (accept("$")) return {Kind::line_end};
    CharacterSet set;
    if (accept(".")) {
      set.negated = true;
      set.items.push_back({Item::Kind::range, false, '\n', '\n'});
    } else if (accept("\\")) {
      set.items.push_back(escape());
    } else {
      const char32_t c = next();
      if (c == '*' || c == '+' || c == '?') bad("there is nothing to repeat");
      set.items.push_back({Item::Kind::range, false, c, c});
    }
    return set_node(std::move(set));
  }
  PatternNode set_node(CharacterSet set) {
    PatternNode out{Kind::set};
    set.ignores_case = ignores_case_;
    set.finish();
    out.set = std::move(set);
    return out;
  }
  PatternNode group(int depth) {
    const bool outside = ignores_case_;
    PatternNode look{Kind::look};
    bool is_look = false;
    if (accept("?=") || accept("?!")) {
      is_look = true;
      look.negated = pattern_[at_ - 1] == '!';
    } else if (accept("?i:")) {
      ignores_case_ = true;
    } else if (accept("?-i:")) {
      ignores_case_ = false;
    } else if (!accept("?:") && pattern_.substr(at_).starts_with('?')) {
      bad("a group of an unknown kind");
    }
    PatternNode out = alternatives(depth + 1);
    ignores_case_ = outside;
    if (!accept(")")) bad("a ')' is missing");
    if (!is_look) return out;
    look.children.push_back(std::move(out));
    return look;
  }

  CharacterSet brackets() {
    CharacterSet set;
    set.negated = accept("^");
    for (bool first = true; first || !accept("]"); first = false) {
      if (pattern_.substr(at_).starts_with("&&")) bad("an intersection of sets");
      if (pattern_.substr(at_).starts_with("[")) bad("a set in a set");
      Item item{Item::Kind::range, false};
      if (accept("\\")) {
        item = escape();
      } else {
        item.first = item.last = next();
      }
      const bool is_character = item.kind == Item::Kind::range && !item.negated && item.first == item.last;
      const std::string_view rest = pattern_.substr(at_);
      if (is_character && rest.starts_with("-") && rest.size() > 1 && rest[1] != ']') {
        at_ += 1;
        Item last{Item::Kind::range, false};
        if (accept("\\"))
          last = escape();
        else
          last.first = last.last = next();
        if (last.kind != Item::Kind::range || last.negated || last.first != last.last || last.last < item.first)
          bad("a range that ends before it begins");
        item.last = last.last;
      }
      set.items.push_back(item);
    }
    return set;
  }

  Item escape() {
    const auto character = [](char32_t c) { return Item{Item::Kind::range, false, c, c}; };
    const char32_t c = next();
    switch (c) {
      case 'n':
        return character('\n');
      case 'r':
        return character('\r');
      case 't':
        return character('\t');
      case 'f':
        return character('\f');
      case 'v':
        return character('\v');
      case 's':
      case 'S':
        return {Item::Kind::space, c == 'S'};
      case 'w':
      case 'W':
        return {Item::Kind::word, c == 'W'};
      case 'd':
      case 'D':
        return {Item::Kind::categories, c == 'D', 0, 0, *categories_by_name("Nd")};
      case 'p':
      case 'P':
        return property(c == 'P');
      case 'x':
        return character(accept("{") ? hex(1, 6, "}") : hex(2, 2, ""));
      case 'u':
        return character(hex(4, 4, ""));
      default:
        break;
    }
    if (c >= 0x80 || is_word(c)) bad("an escape that is not known");
    return character(c);
  }
  char32_t hex(std::size_t least, std::size_t most, std::string_view close) {
    char32_t out = 0;
    std::size_t digits = 0;
    for (; more() && digits < most; ++digits, ++at_) {
      const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(pattern_[at_] | 0x20));
      if (digit == std::string_view::npos) break;
      out = out << 4 | static_cast<char32_t>(digit);
    }
    if (digits < least || out > 0x10ffff || (!close.empty() && !accept(close))) bad("a code that is no character");
    return out;
  }
  Item property(bool negated) {
    if (!accept("{")) bad("a property without braces");
    if (accept("^")) negated = !negated;
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) bad("a property that does not end");
    std::string_view name = pattern_.substr(at_, end - at_);
    for (const auto& [full, abbreviated] : {std::pair{"Letter", "L"},
                                            {"Mark", "M"},
                                            {"Number", "N"},
                                            {"Punctuation", "P"},
                                            {"Symbol", "S"},
                                            {"Separator", "Z"},
                                            {"Other", "C"}})
      if (name == full) name = abbreviated;
    const auto categories = categories_by_name(name);
    if (!categories) bad("a property that is no general category");
    at_ = end + 1;
    return {Item::Kind::categories, negated, 0, 0, *categories};
  }

  std::string_view pattern_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool ignores_case_ = false;
};

}  // namespace

PatternNode parse_pattern(std::string_view pattern, const std::string& where) { return Parser(pattern, where).parse(); }

}  // namespace cotan::io
