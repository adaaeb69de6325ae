// Expr: scalar expressions. An element of an array as a function of its indices, and the indices themselves,
// are written in this one language; the compiler fuses and simplifies it, back ends emit it.
//
// Nodes live in a Graph and are hash-consed: equal expressions are the same node, so common subexpressions
// are found by construction. Integer nodes carry the range of their values; builders simplify with it.
#pragma once
#include <cotan/dtype.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cotan::expr {

enum class Op : std::uint8_t {
  constant,  ///< bits
  variable,  ///< a loop index, i64, from 0 to its extent
  load,      ///< an element of a buffer at an offset, where the predicate (if any) holds, else 0
  linear,    ///< bits + sum of coefficients[k] * operands[k]; i64 only
  // Floating or integer; integers wrap. Division of integers truncates, and the divisor must not be 0.
  add,
  sub,
  mul,
  div,
  rem,
  neg,
  abs,
  min,
  max,
  // Floor division and its remainder (never negative) by a positive constant, for indices.
  floor_div,
  floor_mod,
  // Floating.
  sqrt,
  fma,
  floor,
  ceil,
  trunc,
  round,
  // To bool. Comparisons with NaN are false but for ne.
  eq,
  ne,
  lt,
  le,
  // Integers and bool. A shift count must be less than the width.
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  shift_right_sign,
  population_count,
  leading_zeros,
  select,   ///< condition ? a : b
  cast,     ///< by value: floats to integers truncate and saturate, NaN to 0; to bool: not 0
  bitcast,  ///< by bits, between types of one width
  call,     ///< a function of the run-time library on scalars
  patch,    ///< condition ? a call : a value; the condition is rare, so the call is branched around
};

struct Node;
class Graph;

/// A handle to a node; cheap to copy, valid as long as its Graph.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const Node* node) : node_(node) {}
  const Node* operator->() const { return node_; }
  const Node* get() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  /// The same node, which for expressions of one Graph means: the same expression. (== builds a comparison
  /// in no place: use eq().)
  bool operator==(const Expr&) const = default;

 private:
  const Node* node_ = nullptr;
};

/// A function of the run-time library that `call` names: `name` with suffix _f32 or _f64 is its symbol.
struct Function {
  std::string_view name;
  int operands;
};

/// What integer values are known to lie in, ends included.
struct Range {
  std::int64_t lo, hi;
  bool contains(std::int64_t v) const { return lo <= v && v <= hi; }
  bool inside(std::int64_t a, std::int64_t b) const { return a <= lo && hi <= b; }
};

struct Node {
  Op op;
  DType dtype;
  std::uint32_t id;                 ///< operands have smaller ones
  std::int64_t bits = 0;            ///< of a constant or a linear's constant term; variable or buffer number
  std::vector<Expr> operands = {};  ///< load: offset and, where it has one, predicate
  std::vector<std::int64_t> coefficients = {};
  const Function* function = nullptr;
  Range range{};
};

/// Owns nodes. Builders below work on the current Graph of the thread.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Expr intern(Node node);
  std::int64_t new_variable_number() { return variables_++; }
  std::size_t size() const { return nodes_.size(); }

 private:
  std::deque<Node> nodes_;
  std::unordered_multimap<std::size_t, const Node*> index_;
  std::int64_t variables_ = 0;
};
Graph& current_graph();
class GraphScope {
 public:
  explicit GraphScope(Graph& graph);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;

 private:
  Graph* saved_;
};

// Leaves ------------------------------------------------------------------------------------------

Expr constant(DType dtype, double value);
Expr constant_bits(DType dtype, std::uint64_t bits);
Expr integer(std::int64_t value);  ///< i64, for indices
Expr boolean(bool value);
/// A new loop index in [0, extent).
Expr variable(std::int64_t extent);
Expr load(std::int64_t buffer, DType dtype, Expr offset, Expr predicate = {});

std::optional<std::int64_t> as_integer(Expr e);  ///< the value of an integer or bool constant
std::optional<double> as_real(Expr e);           ///< the value of a floating constant
bool depends_on(Expr e, Expr variable);

// Arithmetic. Operands have one dtype; a C++ number takes the dtype of the other operand. ----------

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, double b);
Expr operator-(Expr a, double b);
Expr operator*(Expr a, double b);
Expr operator/(Expr a, double b);
Expr operator+(double a, Expr b);
Expr operator-(double a, Expr b);
Expr operator*(double a, Expr b);
Expr operator/(double a, Expr b);
Expr rem(Expr a, Expr b);
Expr min(Expr a, Expr b);  ///< NaN wins, and -0 is less than +0
Expr max(Expr a, Expr b);
Expr abs(Expr a);
Expr sqrt(Expr a);
Expr fma(Expr a, Expr b, Expr c);
Expr floor(Expr a);
Expr ceil(Expr a);
Expr trunc(Expr a);
Expr round(Expr a);  ///< half to even
Expr floor_div(Expr a, std::int64_t b);
Expr floor_mod(Expr a, std::int64_t b);

Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
inline Expr gt(Expr a, Expr b) { return lt(b, a); }
inline Expr ge(Expr a, Expr b) { return le(b, a); }
/// With the C++ number converted to the dtype of `a`.
Expr like(Expr a, double value);
Expr like_bits(Expr a, std::uint64_t bits);

// Also logical, on bool.
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator~(Expr a);
Expr shift_left(Expr a, Expr b);
Expr shift_right(Expr a, Expr b);       ///< zeros come in
Expr shift_right_sign(Expr a, Expr b);  ///< copies of the top bit come in
Expr shift_left(Expr a, int count);
Expr shift_right(Expr a, int count);
Expr shift_right_sign(Expr a, int count);
Expr population_count(Expr a);
Expr leading_zeros(Expr a);

Expr select(Expr condition, Expr a, Expr b);
Expr cast(Expr a, DType dtype);
Expr bitcast(Expr a, DType dtype);
Expr call(const Function& function, std::vector<Expr> operands);
/// `value`, but function(operands…) where the rare `condition` holds.
Expr patch(Expr condition, Expr value, const Function& function, std::vector<Expr> operands);

/// The offset of `index` in a dense row-major array.
Expr offset_of(std::span<const std::int64_t> shape, std::span<const Expr> index);
/// The index along each axis of the element at a row-major `offset`.
std::vector<Expr> index_at(std::span<const std::int64_t> shape, Expr offset);

/// e = coefficient * variable + rest, where rest does not depend on the variable; nothing if e is no such sum.
struct Affine {
  std::int64_t coefficient;
  Expr rest;
};
std::optional<Affine> affine_in(Expr e, Expr variable);

/// `e` with variables (and whatever else the map holds) replaced.
using Substitution = std::unordered_map<const Node*, Expr>;
Expr substitute(Expr e, Substitution& map);

std::string_view name(Op op);
/// In C's notation, for people; cut off after `limit` characters.
std::string to_string(Expr e, std::size_t limit = 400);

}  // namespace cotan::expr
