// Graphs: interning of nodes, ranges, constants, substitution.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/typed.hpp"
#include "expr/expr.hpp"
#include "expr/walk.hpp"

namespace cotan::expr {

namespace {

thread_local Graph* current = nullptr;

std::size_t hash_of(const Node& n) {
  std::size_t seed = static_cast<std::size_t>(n.op) * 31 + static_cast<std::size_t>(n.dtype);
  const auto mix = [&](std::size_t v) { seed ^= v + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2); };
  mix(static_cast<std::size_t>(n.bits));
  mix(reinterpret_cast<std::size_t>(n.function));
  for (Expr e : n.operands) mix(e->id);
  for (auto c : n.coefficients) mix(static_cast<std::size_t>(c));
  return seed;
}
bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.bits == b.bits && a.function == b.function &&
         a.operands == b.operands && a.coefficients == b.coefficients;
}

}  // namespace

Graph::Graph() = default;
Graph::~Graph() = default;

Expr Graph::intern(Node node) {
  const std::size_t hash = hash_of(node);
  for (auto [at, end] = index_.equal_range(hash); at != end; ++at)
    if (same(*at->second, node)) return Expr(at->second);
  node.id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  index_.emplace(hash, &nodes_.back());
  return Expr(&nodes_.back());
}

Graph& current_graph() {
  internal_check(current != nullptr, "an expression was built outside a GraphScope");
  return *current;
}
GraphScope::GraphScope(Graph& graph) : saved_(std::exchange(current, &graph)) {}
GraphScope::~GraphScope() { current = saved_; }

// Constants -----------------------------------------------------------------------------------------

Expr constant_bits(DType dtype, std::uint64_t bits) {
  Node n{.op = Op::constant, .dtype = dtype, .id = 0, .bits = static_cast<std::int64_t>(bits)};
  if (!is_floating(dtype)) {
    dispatch(dtype, [&]<class T>() {
      if constexpr (std::is_integral_v<T>) n.bits = static_cast<std::int64_t>(static_cast<T>(bits));
    });
    n.range = dtype == DType::u64 && n.bits < 0
                  ? Range{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}
                  : Range{n.bits, n.bits};
  }
  return current_graph().intern(std::move(n));
}
Expr constant(DType dtype, double value) {
  std::uint64_t bits = 0;
  dispatch(dtype, [&]<class T>() {
    const T v = convert<T>(value);
    std::memcpy(&bits, &v, sizeof v);
  });
  return constant_bits(dtype, bits);
}
Expr integer(std::int64_t value) { return constant_bits(DType::i64, static_cast<std::uint64_t>(value)); }
Expr boolean(bool value) { return constant_bits(DType::bool_, value); }
Expr like(Expr a, double value) { return constant(a->dtype, value); }
Expr like_bits(Expr a, std::uint64_t bits) { return constant_bits(a->dtype, bits); }

std::optional<std::int64_t> as_integer(Expr e) {
  if (e->op != Op::constant || is_floating(e->dtype)) return std::nullopt;
  return e->bits;
}
std::optional<double> as_real(Expr e) {
  if (e->op != Op::constant || !is_floating(e->dtype)) return std::nullopt;
  return dispatch_floating(e->dtype, "constant", [&]<class T>() {
    T v;
    std::memcpy(static_cast<void*>(&v), &e->bits, sizeof v);
    return static_cast<double>(static_cast<Compute<T>>(v));
  });
}

// Walks ---------------------------------------------------------------------------------------------

namespace {

/// Those of the thread that no walk uses now.
std::vector<std::unique_ptr<Visited::Marks>>& idle_marks() {
  thread_local std::vector<std::unique_ptr<Visited::Marks>> marks;
  return marks;
}

}  // namespace

Visited::Visited() {
  auto& idle = idle_marks();
  if (idle.empty()) {
    marks_ = std::make_unique<Marks>();
  } else {
    marks_ = std::move(idle.back());
    idle.pop_back();
  }
  if (++marks_->walk == 0) *marks_ = {.walk = 1, .last_walk = {}};  // all numbers were used
}
Visited::~Visited() { idle_marks().push_back(std::move(marks_)); }

bool depends_on(Expr e, Expr variable) {
  if (e->id < variable->id) return false;
  std::vector<Expr> stack{e};
  Visited seen;
  while (!stack.empty()) {
    const Expr at = stack.back();
    stack.pop_back();
    if (at == variable) return true;
    if (at->id < variable->id || !seen.insert(at)) continue;
    stack.insert(stack.end(), at->operands.begin(), at->operands.end());
  }
  return false;
}

Expr offset_of(std::span<const std::int64_t> shape, std::span<const Expr> index) {
  Expr offset = integer(0);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    offset = offset + index[i] * integer(stride);
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return offset;
}
std::vector<Expr> index_at(std::span<const std::int64_t> shape, Expr offset) {
  std::vector<Expr> index(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t size = std::max<std::int64_t>(shape[i], 1);
    const Expr from_here = floor_div(offset, stride);
    index[i] = size == 1 ? integer(0) : i == 0 ? from_here : floor_mod(from_here, size);
    stride *= size;
  }
  return index;
}

std::optional<Affine> affine_in(Expr e, Expr variable) {
  if (e == variable) return Affine{1, integer(0)};
  if (e->op == Op::linear) {
    for (std::size_t k = 0; k < e->operands.size(); ++k)
      if (e->operands[k] == variable) {
        const Expr rest = e - variable * integer(e->coefficients[k]);
        if (depends_on(rest, variable)) return std::nullopt;
        return Affine{e->coefficients[k], rest};
      }
  }
  if (depends_on(e, variable)) return std::nullopt;
  return Affine{0, e};
}

Expr substitute(Expr e, Substitution& map) {
  if (const auto at = map.find(e.get()); at != map.end()) return at->second;
  if (e->operands.empty()) return e;
  std::vector<Expr> x;
  bool changed = false;
  for (Expr operand : e->operands) {
    x.push_back(substitute(operand, map));
    changed |= !(x.back() == operand);
  }
  Expr out = e;
  if (changed) {
    switch (e->op) {
      case Op::load:
        out = load(e->bits, e->dtype, x[0], x.size() > 1 ? x[1] : Expr());
        break;
      case Op::linear:
        out = integer(e->bits);
        for (std::size_t k = 0; k < x.size(); ++k) out = out + x[k] * integer(e->coefficients[k]);
        break;
      case Op::mul:
        out = x[0] * x[1];
        break;
      case Op::floor_div:
        out = floor_div(x[0], *as_integer(x[1]));
        break;
      case Op::floor_mod:
        out = floor_mod(x[0], *as_integer(x[1]));
        break;
      case Op::eq:
        out = eq(x[0], x[1]);
        break;
      case Op::ne:
        out = ne(x[0], x[1]);
        break;
      case Op::lt:
        out = lt(x[0], x[1]);
        break;
      case Op::le:
        out = le(x[0], x[1]);
        break;
      case Op::min:
        out = min(x[0], x[1]);
        break;
      case Op::max:
        out = max(x[0], x[1]);
        break;
      case Op::bit_and:
        out = x[0] & x[1];
        break;
      case Op::bit_or:
        out = x[0] | x[1];
        break;
      case Op::select:
        out = select(x[0], x[1], x[2]);
        break;
      case Op::cast:
        out = cast(x[0], e->dtype);
        break;
      default: {  // nothing to simplify
        Node copy = *e.get();
        copy.operands = std::move(x);
        out = current_graph().intern(std::move(copy));
      }
    }
  }
  map.emplace(e.get(), out);
  return out;
}

}  // namespace cotan::expr
