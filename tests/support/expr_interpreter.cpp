#include "support/expr_interpreter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "core/typed.hpp"
#include "expr/math.hpp"
#include "ops/scalar_math.hpp"
#include "ops/scalar_ops.hpp"

namespace expr_test {

using namespace cotan;
using expr::Node, expr::Op;

namespace {

[[noreturn]] void unsupported(const Node& node) {
  throw std::logic_error("the interpreter of the tests has no " + std::string(expr::name(node.op)));
}

/// What a back end that compiles the function instead of calling it gets, if there is such an expression.
template <class T>
Interpreter* expanded(const expr::Function& f, const T* x) {
  struct Body {
    std::unique_ptr<expr::Graph> graph;
    std::unique_ptr<Interpreter> program;
  };
  static std::map<std::pair<const expr::Function*, double>, Body> bodies;
  // The order of polygamma is a constant to its expansion.
  const bool constant_first = f.operands == 2;
  auto [at, is_new] = bodies.try_emplace({&f, constant_first ? double(x[0]) : 0.0});
  if (is_new) {
    at->second.graph = std::make_unique<expr::Graph>();
    const expr::GraphScope scope(*at->second.graph);
    constexpr DType dtype = dtype_of<T>();
    std::vector<Expr> operands;
    if (constant_first) operands.push_back(expr::constant(dtype, double(x[0])));
    operands.push_back(expr::load(0, dtype, expr::integer(0)));
    if (const Expr body = expr::math::expansion(f, operands)) at->second.program = std::make_unique<Interpreter>(body);
  }
  return at->second.program.get();
}

/// The run-time library.
template <class T>
T call_function(const expr::Function& f, const T* x) {
  namespace math = expr::math;
  if (Interpreter* program = expanded(f, x)) return program->run<T>(x[f.operands - 1]);
  if (f.name == math::lgamma_function.name) return scalar_math::lgamma(x[0]);
  if (f.name == math::digamma_function.name) return scalar_math::digamma(x[0]);
  if (f.name == math::polygamma_function.name) return scalar_math::polygamma(x[0], x[1]);
  if (&f == &math::sin_function) return scalar_math::sin(x[0]);
  if (&f == &math::cos_function) return scalar_math::cos(x[0]);
  if (&f == &math::tan_function) return scalar_math::tan(x[0]);
  if (&f == &math::log_function) return scalar_math::log(x[0]);
  if (&f == &math::fmod_function) return std::fmod(x[0], x[1]);
  throw std::logic_error("the interpreter of the tests has no function " + std::string(f.name));
}

template <class T>
T floating(const Node& node, const T* x) {
  switch (node.op) {
    case Op::add:
      return x[0] + x[1];
    case Op::sub:
      return x[0] - x[1];
    case Op::mul:
      return x[0] * x[1];
    case Op::div:
      return x[0] / x[1];
    case Op::rem:
      return std::fmod(x[0], x[1]);
    case Op::neg:
      return -x[0];
    case Op::abs:
      return std::fabs(x[0]);
    case Op::min:
      return ops::scalar_ops::minimum(x[0], x[1]);
    case Op::max:
      return ops::scalar_ops::maximum(x[0], x[1]);
    case Op::sqrt:
      return std::sqrt(x[0]);
    case Op::fma:
      return std::fma(x[0], x[1], x[2]);
    case Op::floor:
      return std::floor(x[0]);
    case Op::ceil:
      return std::ceil(x[0]);
    case Op::trunc:
      return std::trunc(x[0]);
    case Op::round:
      return std::nearbyint(x[0]);
    case Op::call:
      return call_function(*node.function, x);
    default:
      unsupported(node);
  }
}

template <class T>
T integer(const Node& node, const T* x) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<(sizeof(U) < 4), unsigned, U>;  // no promotion to a signed type
  const W a = static_cast<U>(x[0]), b = node.operands.size() > 1 ? static_cast<U>(x[1]) : W(0);
  switch (node.op) {
    case Op::add:
      return static_cast<T>(a + b);
    case Op::sub:
      return static_cast<T>(a - b);
    case Op::mul:
      return static_cast<T>(a * b);
    case Op::div:
      return static_cast<T>(x[0] / x[1]);
    case Op::rem:
      return static_cast<T>(x[0] % x[1]);
    case Op::floor_div:
      return static_cast<T>(x[0] / x[1] - (x[0] % x[1] < 0));
    case Op::floor_mod:
      return static_cast<T>((x[0] % x[1] + x[1]) % x[1]);
    case Op::neg:
      return static_cast<T>(W(0) - a);
    case Op::abs:
      return x[0] < 0 ? static_cast<T>(W(0) - a) : x[0];
    case Op::min:
      return std::min(x[0], x[1]);
    case Op::max:
      return std::max(x[0], x[1]);
    case Op::population_count:
      return static_cast<T>(std::popcount(static_cast<U>(x[0])));
    case Op::leading_zeros:
      return static_cast<T>(std::countl_zero(static_cast<U>(x[0])));
    case Op::bit_and:
      return static_cast<T>(a & b);
    case Op::bit_or:
      return static_cast<T>(a | b);
    case Op::bit_xor:
      return static_cast<T>(a ^ b);
    case Op::bit_not:
      return static_cast<T>(~a);
    case Op::shift_left:
      return static_cast<T>(a << b);
    case Op::shift_right:
      return static_cast<T>(a >> b);
    case Op::shift_right_sign:
      return static_cast<T>(static_cast<std::make_signed_t<T>>(x[0]) >> b);
    default:
      unsupported(node);
  }
}

bool logical(const Node& node, bool a, bool b) {
  switch (node.op) {
    case Op::bit_and:
    case Op::min:
      return a && b;
    case Op::bit_or:
    case Op::max:
      return a || b;
    case Op::bit_xor:
      return a != b;
    case Op::bit_not:
      return !a;
    default:
      unsupported(node);
  }
}

template <class T>
bool compare(const Node& node, T a, T b) {
  switch (node.op) {
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    default:
      unsupported(node);
  }
}
bool is_comparison(Op op) { return op == Op::eq || op == Op::ne || op == Op::lt || op == Op::le; }

template <class T>
T from_bits(std::uint64_t bits) {
  return Interpreter::from_bits<T>(bits);
}
template <class T>
std::uint64_t to_bits(T value) {
  return Interpreter::to_bits(value);
}

std::int64_t linear(const Node& node, std::span<const std::uint64_t> x) {
  std::int64_t sum = node.bits;
  for (std::size_t k = 0; k < x.size(); ++k) sum += node.coefficients[k] * static_cast<std::int64_t>(x[k]);
  return sum;
}

}  // namespace

std::uint64_t evaluate(const Node& node, std::span<const std::uint64_t> x) {
  switch (node.op) {
    case Op::linear:
      return to_bits(linear(node, x));
    case Op::constant:
      return dispatch(node.dtype,
                      [&]<class T>() { return to_bits(from_bits<T>(static_cast<std::uint64_t>(node.bits))); });
    case Op::bitcast:
      return x[0];
    case Op::select:
      return x[0] ? x[1] : x[2];
    case Op::cast:
      return dispatch(node.operands[0]->dtype, [&]<class From>() {
        return dispatch(node.dtype, [&]<class To>() { return to_bits(convert<To>(from_bits<From>(x[0]))); });
      });
    case Op::patch:
      if (!x[0]) return x[1];
      return dispatch_floating(node.dtype, "patch", [&]<class T>() -> std::uint64_t {
        if constexpr (std::is_floating_point_v<T>) {
          T operands[2] = {from_bits<T>(x[2]), x.size() > 3 ? from_bits<T>(x[3]) : T(0)};
          return to_bits(call_function(*node.function, operands));
        } else {
          unsupported(node);
        }
      });
    default:
      break;
  }
  return dispatch(node.operands[0]->dtype, [&]<class T>() -> std::uint64_t {
    T operands[3] = {};
    for (std::size_t k = 0; k < x.size(); ++k) operands[k] = from_bits<T>(x[k]);
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      unsupported(node);  // halves are only moved, reinterpreted and cast
    } else {
      if (is_comparison(node.op)) return to_bits(compare(node, operands[0], operands[1]));
      if constexpr (std::is_same_v<T, bool>)
        return to_bits(logical(node, operands[0], operands[1]));
      else if constexpr (std::is_floating_point_v<T>)
        return to_bits(floating(node, operands));
      else
        return to_bits(integer(node, operands));
    }
  });
}

Interpreter::Interpreter(Expr result) {
  std::unordered_map<const Node*, std::size_t> position;
  const auto visit = [&](auto&& self, Expr e) -> std::size_t {
    if (const auto at = position.find(e.get()); at != position.end()) return at->second;
    Step step{e, {}};
    if (e->op != Op::load)
      for (Expr operand : e->operands) step.operands.push_back(self(self, operand));
    steps_.push_back(std::move(step));
    return position[e.get()] = steps_.size() - 1;
  };
  visit(visit, result);
  values_.resize(steps_.size());
}

int Interpreter::size() const {
  return static_cast<int>(std::count_if(steps_.begin(), steps_.end(), [](const Step& s) {
    return s.node->op != Op::load && s.node->op != Op::constant && s.node->op != Op::bitcast;
  }));
}

std::uint64_t Interpreter::run_bits(std::initializer_list<std::uint64_t> inputs) {
  std::vector<std::uint64_t> x;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Node& node = *steps_[k].node.get();
    x.clear();
    for (std::size_t operand : steps_[k].operands) x.push_back(values_[operand]);
    values_[k] = node.op == Op::load ? std::data(inputs)[node.bits] : evaluate(node, x);
  }
  return values_.back();
}

}  // namespace expr_test
