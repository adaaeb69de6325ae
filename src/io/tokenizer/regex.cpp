#include "io/tokenizer/regex.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "io/tokenizer/regex_parser.hpp"
#include "io/tokenizer/utf8.hpp"

namespace cotan::io {

void CharacterSet::finish() {
  for (char32_t c = 0; c < ascii_.size(); ++c) ascii_[c] = find(c);
}
bool CharacterSet::find(char32_t c) const {
  const auto has_item = [](const Item& i, char32_t one) {
    switch (i.kind) {
      case Item::Kind::range:
        return (one >= i.first && one <= i.last) != i.negated;
      case Item::Kind::categories:
        return ((category(one) & i.categories) != 0) != i.negated;
      case Item::Kind::space:
        return is_space(one) != i.negated;
      case Item::Kind::word:
        return is_word(one) != i.negated;
    }
    return false;
  };
  const auto any = [&](char32_t one) {
    return std::ranges::any_of(items, [&](const Item& i) { return has_item(i, one); });
  };
  if (any(c)) return !negated;
  if (!ignores_case) return negated;
  // The letters that differ from it in case alone; ſ and the Kelvin sign among them.
  const char32_t small = folded(c);
  const auto alike = [&](const Item& i) {
    return i.kind == Item::Kind::range && i.first == i.last && folded(i.first) == small;
  };
  const bool in = any(small) || (small >= 'a' && small <= 'z' && any(small - 32)) || std::ranges::any_of(items, alike);
  return in != negated;
}

namespace {

using Op = Regex::Instruction::Op;
using Kind = PatternNode::Kind;
using Bytes256 = std::bitset<256>;

constexpr std::size_t most_instructions = 20'000;

class Compiler {
 public:
  Compiler(std::vector<Regex::Instruction>& program, std::vector<CharacterSet>& sets, std::vector<Bytes256>& firsts,
           const std::string& where)
      : program_(program), sets_(sets), firsts_(firsts), where_(where) {}

  void add(const PatternNode& node) {
    switch (node.kind) {
      case Kind::set:
        put(Op::character).a = set(node.set);
        break;
      case Kind::sequence:
        for (const PatternNode& child : node.children) add(child);
        break;
      case Kind::alternatives:
        alternatives(node);
        break;
      case Kind::repeat:
        repeat(node);
        break;
      case Kind::look: {
        const std::size_t look = here();
        put(Op::look).negated = node.negated;
        add(node.children[0]);
        put(Op::match);
        program_[look].a = at(here());
        break;
      }
      case Kind::line_begin:
        put(Op::line_begin);
        break;
      case Kind::line_end:
        put(Op::line_end);
        break;
    }
  }

 private:
  std::size_t here() const { return program_.size(); }
  static std::int32_t at(std::size_t n) { return static_cast<std::int32_t>(n); }
  Regex::Instruction& put(Op op) {
    if (program_.size() >= most_instructions)
      raise<IoError>("{}: a pattern takes more than {} steps; use another tokenizer.", where_, most_instructions);
    program_.push_back({op});
    return program_.back();
  }
  std::int32_t set(const CharacterSet& s) {
    sets_.push_back(s);
    return at(sets_.size() - 1);
  }

  void alternatives(const PatternNode& node) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const std::size_t split = here();
      if (!last) put(Op::split).first = first_bytes(node.children[i]);
      add(node.children[i]);
      if (last) break;
      ends.push_back(here());
      put(Op::jump);
      program_[split].a = at(here());
    }
    for (const std::size_t end : ends) program_[end].a = at(here());
  }

  void repeat(const PatternNode& node) {
    const PatternNode& child = node.children[0];
    if (child.kind == Kind::set && !node.lazy) {
      const std::int32_t s = set(child.set);
      Regex::Instruction& i = put(Op::repeat);
      i.a = s;
      i.least = node.least;
      i.most = node.most;
      i.possessive = node.possessive;
      return;
    }
    if (node.possessive || node.lazy)
      raise<IoError>(
          "{}: a pattern repeats a group possessively or lazily, which cotan cannot match; use another "
          "tokenizer.",
          where_);
    Bytes256 bytes;
    if (node.most == unlimited && can_be_empty(child, bytes))
      raise<IoError>("{}: a pattern repeats without end what may be empty; use another tokenizer.", where_);
    for (std::uint32_t i = 0; i < node.least; ++i) add(child);
    if (node.most == unlimited) {
      const std::size_t split = here();
      put(Op::split).first = first_bytes(child);
      add(child);
      put(Op::jump).a = at(split);
      program_[split].a = at(here());
      return;
    }
    std::vector<std::size_t> splits;
    for (std::uint32_t i = node.least; i < node.most; ++i) {
      splits.push_back(here());
      put(Op::split).first = first_bytes(child);
      add(child);
    }
    for (const std::size_t split : splits) program_[split].a = at(here());
  }

  /// Which bytes can begin a match; -1 where it may be empty.
  std::int32_t first_bytes(const PatternNode& node) {
    Bytes256 bytes;
    if (can_be_empty(node, bytes)) return -1;
    firsts_.push_back(bytes);
    return at(firsts_.size() - 1);
  }
  static bool can_be_empty(const PatternNode& node, Bytes256& bytes) {
    switch (node.kind) {
      case Kind::set:
        for (unsigned b = 0; b < 256; ++b) bytes[b] = bytes[b] || b >= 0x80 || node.set.has(b);
        return false;
      case Kind::sequence:
        return std::ranges::all_of(node.children, [&](const PatternNode& c) { return can_be_empty(c, bytes); });
      case Kind::alternatives: {
        bool any = false;
        for (const PatternNode& c : node.children) any = can_be_empty(c, bytes) || any;
        return any;
      }
      case Kind::repeat:
        return can_be_empty(node.children[0], bytes) || node.least == 0;
      default:
        return true;
    }
  }

  std::vector<Regex::Instruction>& program_;
  std::vector<CharacterSet>& sets_;
  std::vector<Bytes256>& firsts_;
  const std::string& where_;
};

constexpr std::size_t most_steps = 50'000'000;  // of one match; a text of a megabyte is within it

}  // namespace

Regex::Regex(std::string_view pattern, const std::string& where) : pattern_(pattern) {
  const PatternNode tree = parse_pattern(pattern, where);
  Compiler(program_, sets_, first_bytes_, where).add(tree);
  program_.push_back({Instruction::Op::match});
}

std::size_t Regex::run(std::string_view text, std::size_t at, std::size_t pc, State& state) const {
  auto& [choices, steps] = state;
  const std::size_t outer = choices.size();  // of the pattern that this is a condition of
  const auto back = [&] {                    // to the last choice
    if (choices.size() == outer) return false;
    Choice& c = choices.back();
    pc = c.pc;
    at = c.at;
    if (at > c.least)
      c.at = before(text, at);
    else
      choices.pop_back();
    return true;
  };
  while (true) {
    if (++steps > most_steps)
      raise<ValueError>("[encode] the pattern '{}' takes too long on this text; encode it in parts.", pattern_);
    const Instruction& i = program_[pc];
    bool fits = true;
    switch (i.op) {
      case Op::match:
        choices.resize(outer);
        return at;
      case Op::jump:
        pc = static_cast<std::size_t>(i.a);
        continue;
      case Op::character: {
        if (at == text.size()) {
          fits = false;
          break;
        }
        const auto [c, length] = decode(text, at);
        fits = sets_[static_cast<std::size_t>(i.a)].has(c);
        at += length;
        break;
      }
      case Op::repeat: {
        const CharacterSet& set = sets_[static_cast<std::size_t>(i.a)];
        std::uint32_t count = 0;
        std::size_t least_at = at;
        for (; count < i.most && at < text.size(); ++count) {
          if (count == i.least) least_at = at;
          const auto [c, length] = decode(text, at);
          if (!set.has(c)) break;
          at += length;
        }
        steps += count / 8;
        if (count == i.least) least_at = at;
        fits = count >= i.least;
        if (fits && !i.possessive && at > least_at) choices.push_back({pc + 1, before(text, at), least_at});
        break;
      }
      case Op::split:
        if (i.first < 0 || (at < text.size() &&
                            first_bytes_[static_cast<std::size_t>(i.first)][static_cast<unsigned char>(text[at])])) {
          choices.push_back({static_cast<std::size_t>(i.a), at, at});
          break;
        }
        pc = static_cast<std::size_t>(i.a);
        continue;
      case Op::look:
        fits = (run(text, at, pc + 1, state) == npos) == i.negated;
        if (fits) {
          pc = static_cast<std::size_t>(i.a);
          continue;
        }
        break;
      case Op::line_begin:
        fits = at == 0 || text[at - 1] == '\n';
        break;
      case Op::line_end:
        fits = at == text.size() || text[at] == '\n';
        break;
    }
    if (fits)
      ++pc;
    else if (!back())
      return npos;
  }
}

std::vector<Span> Regex::find_all(std::string_view text) const {
  std::vector<Span> out;
  State state;
  for (std::size_t at = 0; at < text.size();) {
    state.steps = 0;
    const std::size_t end = run(text, at, 0, state);
    if (end != npos && end > at) {
      out.push_back({at, end});
      at = end;
      continue;
    }
    if (end != npos && (out.empty() || out.back().end != at)) out.push_back({at, at});
    at += decode(text, at).length;
  }
  return out;
}

}  // namespace cotan::io
