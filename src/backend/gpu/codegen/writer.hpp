// Writer: a shader under construction, as a stack of open blocks. An expression is written where its operands are
// known, as far out as that is, and once.
#pragma once
#include <concepts>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/gpu/dialect.hpp"
#include "backend/gpu/elements.hpp"
#include "compiler/program.hpp"

namespace cotan::gpu {

using compiler::BufferId;
using expr::Expr;

inline constexpr expr::Range i32_range{-(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1};

/// What the driver's compiler cannot be trusted with.
struct Caution {
  bool fma = false;    ///< its fma rounds twice: the library's is used
  bool reals = false;  ///< it takes floats for real numbers: x + c - c must be hidden from it
};

/// A piece of a shader's text; numbers are one too.
struct Code : std::string {
  Code(std::string text) : std::string(std::move(text)) {}
  Code(const char* text) : std::string(text) {}
  template <std::integral T>
  Code(T number) : std::string(std::to_string(number)) {}
};

class Writer {
 public:
  Writer(const Dialect& dialect, Caution caution);
  const Dialect& dialect() const { return dialect_; }

  /// Opens `head {`.
  void open(const std::string& head);
  void close();
  void line(const std::string& statement);
  // Lines of the dialect's (dialect.hpp). Without a first value a variable of a type is zero.
  void let(const std::string& name, const Code& value) { line(dialect_.let(name, value)); }
  void variable(const std::string& name, const Code& value) { line(dialect_.variable(name, value) + ";"); }
  void variable_of(const std::string& type, const std::string& name, const Code& value = "") {
    line(dialect_.variable_of(type, name, value) + ";");
  }
  void barrier() { line(dialect_.barrier()); }
  /// Opens a loop over name = begin, begin + step, … as long as name < end.
  void open_loop(const std::string& name, const Code& begin, const Code& end, const Code& step = 1) {
    open(loop_head(name, begin, end, step));
  }
  std::string loop_head(const std::string& name, const Code& begin, const Code& end, const Code& step = 1) const;
  int depth() const { return static_cast<int>(levels_.size()) - 1; }
  std::string new_name(const char* prefix) { return prefix + std::to_string(names_++); }

  /// From here on, until the open block is closed, `variable` is the i32 called `name`.
  void bind(Expr variable, const std::string& name);
  /// As `bind`, for a number.
  void bind(Expr variable, std::int64_t value);
  /// How to read an element that lies at an offset: an expression of the element's type.
  std::function<std::string(const expr::Node& load, const std::string& offset)> load;

  /// Until the open block is closed, `e` is what is called `name`, whatever memory does.
  void set_known(Expr e, const std::string& name);
  bool knows(Expr e) const { return known_.contains(e.get()); }
  /// Told of every load before it is written; may say what it is called.
  std::function<void(Expr load)> before_load;
  /// A name or a literal that is the value of `e`.
  std::string value(Expr e);
  /// Nothing that was read before is what it was: called where memory may have changed.
  void forget_loads();
  /// Loads are not moved out of the block that is open now.
  void keep_loads_here() { load_level_ = depth(); }
  int load_level() const { return load_level_; }
  void set_load_level(int level) { load_level_ = level; }

  /// Names of the library (math_library.hpp) that what is written calls.
  const std::set<std::string, std::less<>>& library() const { return library_; }
  std::string call(std::string_view function, const std::string& arguments);
  /// A constant that compilers cannot see through.
  std::string opaque(std::uint32_t bits, DType dtype);

  /// All of it; only the outermost block is open.
  std::string finish();

 private:
  struct Level {
    std::string head, text;
    std::vector<const expr::Node*> known;  ///< forgotten with the block
  };
  struct Known {
    std::string name;
    int level;
    bool loads;  ///< it depends on memory
  };
  Known emit(Expr e);
  Known emit_load(Expr e);
  Known define(Expr e, const std::string& text, int level, bool loads);
  /// A variable that is `first`, or where `when` holds `other`, and is called e from here on.
  Known define_unless(Expr e, const std::string& first, const std::string& when, const std::string& other, int level,
                      bool loads);
  Known note(Expr e, const Known& known);
  std::string literal(const expr::Node& node);

  // Operations (operations.cpp). Each gives "" for what is not its subject.
  using Operands = std::vector<std::string>;
  std::string operation(const expr::Node& node, const Operands& x);
  std::string arithmetic(const expr::Node& node, const Operands& x);
  std::string comparison(const expr::Node& node, const Operands& x);
  std::string bitwise(const expr::Node& node, const Operands& x);
  std::string shift(const expr::Node& node, const Operands& x);
  std::string count_of_bits(const expr::Node& node, const Operands& x);
  std::string selection(const expr::Node& node, const Operands& x);
  std::string reinterpreted(const expr::Node& node, const std::string& x);
  std::string reinterpreted_half(DType from, DType to, const std::string& x);
  std::string cast(DType from, DType to, const std::string& x);
  std::string wrapped(DType dtype, const std::string& x);
  std::string linear(const expr::Node& node, const Operands& x);
  std::string indent(int level) const { return std::string(static_cast<std::size_t>(level) * 2, ' '); }

  const Dialect& dialect_;
  const Caution caution_;
  std::vector<Level> levels_;
  std::unordered_map<const expr::Node*, Known> known_;
  std::set<std::string, std::less<>> library_;
  int names_ = 0, load_level_ = 0;
  bool may_wrap_ = false;  ///< an index that is only used where it is in range may overflow elsewhere
};

}  // namespace cotan::gpu
