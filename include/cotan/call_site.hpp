// Where the user's code is: what errors name. Public functions take types that note the line of the call.
#pragma once
#include <cstddef>
#include <string>
#if __has_include(<source_location>)
#include <source_location>
#endif

#ifndef __cpp_lib_source_location
#error \
    "cotan needs C++20 with <source_location>: g++ 12 or newer, or clang 16 or newer (Debian 12's clang is 14); use -std=c++20."
#endif

// The library itself records no lines, so that errors name the user's. Programs whose users see messages but not the
// source define COTAN_NO_LINES.
#if defined(COTAN_BUILDING_LIBRARY) || defined(COTAN_NO_LINES)
#define COTAN_HERE \
  std::source_location {}
#else
#define COTAN_HERE std::source_location::current()
#endif

namespace cotan {

class Array;

namespace detail {

/// The line of a call, as a parameter after any number of arguments. It is a type of its own so that no argument, nor
/// {}, is taken for it.
class CallLine {
 public:
  explicit CallLine(const std::source_location& where) : where_(where) {}
  const std::source_location& where() const { return where_; }

 private:
  std::source_location where_;
};

/// A call of the user's on this thread, while it lasts: its line and, where it has one, an operand. Errors name the
/// innermost call. Temporaries of a statement may end in any order, so the list is linked both ways.
class CallSite {
 public:
  explicit CallSite(const std::source_location& where, const Array* operand = nullptr) {
    if (where.line() != 0) enter(where, operand);
  }
  explicit CallSite(const CallLine& line) : CallSite(line.where()) {}
  /// A call of a function that a transform made at the line `made`.
  CallSite(const CallLine& line, const std::source_location& made) : made_(made) {
    if (line.where().line() != 0 || made.line() != 0) enter(line.where(), nullptr);
  }
  CallSite(const CallSite&) {}  // a copy belongs to no call
  CallSite& operator=(const CallSite&) { return *this; }
  ~CallSite() {
    if (list_) leave();
  }
  const std::source_location& where() const { return where_; }
  const std::source_location& made() const { return made_; }
  const Array* operand() const { return operand_; }
  const CallSite* outer() const { return outer_; }
  /// For evaluators, which go from line to line.
  void move_to(const std::source_location& where) { where_ = where; }

 private:
  void enter(const std::source_location& where, const Array* operand);
  void leave();
  std::source_location where_, made_;
  const Array* operand_ = nullptr;
  CallSite **list_ = nullptr, *outer_ = nullptr, *inner_ = nullptr;
};

/// While it lives, errors say which leaf of a tree is being worked on.
class LeafScope {
 public:
  using Path = std::string (*)(const void* tree, std::size_t leaf);
  LeafScope(const void* tree, Path path, const std::size_t& leaf);
  ~LeafScope();
  LeafScope(const LeafScope&) = delete;
  std::string path() const { return path_(tree_, leaf_); }

 private:
  const void* tree_;
  Path path_;
  const std::size_t& leaf_;
  LeafScope* outer_;
};

/// What errors end with: " At file:line, in the leaf .w, inside the call at file:line (transformed at file:line).", or
/// nothing where no line is known.
std::string call_note();

}  // namespace detail
}  // namespace cotan
