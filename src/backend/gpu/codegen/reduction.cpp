#include "backend/gpu/codegen/reduction.hpp"

#include <algorithm>

namespace cotan::gpu {

using compiler::Reduce;
using expr::ReduceOp;

namespace {

std::string wrap(DType dtype, const std::string& x) {
  const int bits = static_cast<int>(8 * itemsize(dtype));
  if (is_floating(dtype) || bits >= 32) return x;
  if (is_signed_integer(dtype)) return fmt::format("((({}) << {}u) >> {}u)", x, 32 - bits, 32 - bits);
  return fmt::format("(({}) & 0x{:x}u)", x, (1u << bits) - 1);
}

}  // namespace

std::string identity(Writer& w, ReduceOp op, DType dtype) {
  const bool real = is_floating(dtype), sign = is_signed_integer(dtype);
  const int bits = std::min(static_cast<int>(8 * itemsize(dtype)), 32);
  const bool largest = op == ReduceOp::min;
  switch (op) {
    case ReduceOp::product:
      return real ? "1.0f" : sign ? w.dialect().signed_number(1) : "1u";
    case ReduceOp::max:
    case ReduceOp::min:
      if (dtype == DType::bool_) return largest ? "true" : "false";
      if (real) return w.opaque(largest ? 0x7f800000u : 0xff800000u, DType::f32);
      if (!sign) return largest ? fmt::format("{}u", bits == 32 ? 0xffffffffu : (1u << bits) - 1) : "0u";
      if (bits == 32) return largest ? w.dialect().signed_number(0x7fffffff) : "i32(-2147483647 - 1)";
      return fmt::format("i32({})", largest ? (1 << (bits - 1)) - 1 : -(1 << (bits - 1)));
    case ReduceOp::bit_and:
      if (dtype == DType::bool_) return "true";
      return sign ? w.dialect().signed_number(-1) : fmt::format("{}u", bits == 32 ? 0xffffffffu : (1u << bits) - 1);
    default:
      return dtype == DType::bool_ ? "false" : real ? "0.0f" : sign ? w.dialect().signed_number(0) : "0u";
  }
}

std::string combine(Writer& w, ReduceOp op, DType dtype, const std::string& x, const std::string& y) {
  const bool real = is_floating(dtype), logical = dtype == DType::bool_;
  switch (op) {
    case ReduceOp::sum:
      return logical ? x + " | " + y : wrap(dtype, x + " + " + y);
    case ReduceOp::product:
      return logical ? x + " & " + y : wrap(dtype, x + " * " + y);
    case ReduceOp::max:
      if (logical) return x + " | " + y;
      return real ? w.call("cotan_max", x + ", " + y) : fmt::format("max({}, {})", x, y);
    case ReduceOp::min:
      if (logical) return x + " & " + y;
      return real ? w.call("cotan_min", x + ", " + y) : fmt::format("min({}, {})", x, y);
    case ReduceOp::bit_and:
      return x + " & " + y;
    case ReduceOp::bit_xor:
      return logical ? fmt::format("({}) != ({})", x, y) : x + " ^ " + y;
    default:
      return x + " | " + y;
  }
}

std::string is_better(Writer& w, const Reduce& r, const std::string& x, const std::string& p, const std::string& y,
                      const std::string& q) {
  const char* beats = r.op == ReduceOp::max ? ">" : "<";
  if (r.value->dtype == DType::bool_)
    return fmt::format("((u32({}) {} u32({})) || ({} == {} && {} < {}))", x, beats, y, x, y, p, q);
  if (!is_floating(r.value->dtype))
    return fmt::format("(({} {} {}) || ({} == {} && {} < {}))", x, beats, y, x, y, p, q);
  const std::string xn = w.call("cotan_is_nan", x), yn = w.call("cotan_is_nan", y);
  return fmt::format("(({} {} {}) || ({} && !{}) || (({} == {} || ({} && {})) && {} < {}))", x, beats, y, xn, yn, x, y,
                     xn, yn, p, q);
}

std::string Spread::member() const {
  if (rows == 1) return "i32(thread)";
  return teams_are_neighbours ? fmt::format("i32(thread % {}u)", team) : fmt::format("i32(thread / {}u)", rows);
}
std::string Spread::row() const {
  return teams_are_neighbours ? fmt::format("i32(thread / {}u)", team) : fmt::format("i32(thread % {}u)", rows);
}

namespace {

/// Joins one accumulator after the other.
class Joiner {
 public:
  Joiner(ShaderBuilder& s, const Spread& spread, bool again) : s_(s), w_(s.body), spread_(spread), again_(again) {}

  void join(std::span<const Accumulator> all) {
    const std::uint32_t size = s_.subgroup_size;
    const bool by_subgroups = spread_.teams_are_neighbours && size > 1 &&
                              (spread_.team % size == 0 || (size % spread_.team == 0 && spread_.threads() % size == 0));
    if (!by_subgroups) {
      through_memory(all, 1);
      return;
    }
    const std::uint32_t inside = std::min(size, spread_.team);
    for (const Accumulator& a : all) butterfly(a, inside);
    if (spread_.team > inside) through_memory(all, inside);
  }

 private:
  static constexpr std::uint32_t most_read = 16;  ///< of the others' values, by every thread at once

  void take(const Accumulator& a, const std::string& x, const std::string& p) {
    const Reduce& r = *a.reduce;
    if (r.position)
      w_.line(fmt::format("if ({}) {{ {} = {}; {} = {}; }}", is_better(w_, r, x, p, a.value, a.position), a.value, x,
                          a.position, p));
    else
      w_.line(fmt::format("{} = {};", a.value, combine(w_, r.op, r.value->dtype, a.value, x)));
  }

  /// Threads at all distances 1, 2, 4, … exchange what they have: both of a pair compute the same. (A subgroup is taken
  /// to be neighbours by number, as drivers have it for groups along one axis.)
  void butterfly(const Accumulator& a, std::uint32_t count) {
    s_.uses_subgroups = true;
    const bool logical = a.reduce->value->dtype == DType::bool_;
    for (std::uint32_t distance = 1; distance < count; distance *= 2) {
      const std::string x = w_.new_name("x"), p = a.position.empty() ? "" : w_.new_name("x");
      const std::string word = logical ? fmt::format("u32({})", a.value) : a.value;
      w_.let(x, w_.dialect().shuffle_xor(word, distance) + (logical ? " != 0u" : ""));
      if (!p.empty()) w_.let(p, w_.dialect().shuffle_xor(a.position, distance));
      take(a, x, p);
    }
  }

  /// Every `every`-th thread of a team leaves what it has in shared memory, and all threads read that; where it is
  /// much, some of them make a few values of it first.
  void through_memory(std::span<const Accumulator> all, std::uint32_t every) {
    const std::uint32_t left = spread_.team / every, count = left * spread_.rows;
    const std::uint32_t parts = left > most_read && (every == 1 || spread_.rows == 1) ? left / most_read : left;
    // Places of the values of one team are next to each other, or as far apart as the teams are many.
    const std::uint32_t stride = spread_.teams_are_neighbours ? 1 : spread_.rows;
    std::string first = "0u", mine = "thread";
    if (spread_.rows > 1) {
      first = w_.new_name("first");
      w_.let(first, spread_.teams_are_neighbours ? fmt::format("thread / {}u * {}u", spread_.team, left)
                                                 : fmt::format("thread % {}u", spread_.rows));
    }
    if (every > 1) mine = fmt::format("thread / {}u", every);
    std::vector<std::pair<std::string, std::string>> arrays;
    for (const Accumulator& a : all) {
      arrays.emplace_back(shared_array(type_name(a.reduce->value->dtype), count),
                          a.position.empty() ? "" : shared_array("i32", count, "places_"));
      std::string leave = fmt::format("{}[{}] = {};", arrays.back().first, mine, a.value);
      if (!a.position.empty()) leave += fmt::format(" {}[{}] = {};", arrays.back().second, mine, a.position);
      w_.line(every > 1 ? fmt::format("if (thread % {}u == 0u) {{ {} }}", every, leave) : leave);
    }
    w_.barrier();
    if (parts < left) {
      w_.open(fmt::format("if (thread / {}u % {}u < {}u)", stride, spread_.team, parts));
      for (std::size_t k = 0; k < all.size(); ++k) {
        take_all(all[k], arrays[k], "thread", parts * stride, left / parts);
        w_.line(fmt::format("{}[thread] = {};", arrays[k].first, all[k].value));
        if (!all[k].position.empty()) w_.line(fmt::format("{}[thread] = {};", arrays[k].second, all[k].position));
      }
      w_.close();
      w_.barrier();
    }
    for (std::size_t k = 0; k < all.size(); ++k) take_all(all[k], arrays[k], first, stride, parts);
    if (again_) w_.barrier();
  }
  /// Combines `count` values of shared memory, from the first one on.
  void take_all(const Accumulator& a, const std::pair<std::string, std::string>& array, const std::string& first,
                std::uint32_t stride, std::uint32_t count) {
    w_.line(fmt::format("{} = {}[{}];", a.value, array.first, first));
    if (!a.position.empty()) w_.line(fmt::format("{} = {}[{}];", a.position, array.second, first));
    const std::string k = w_.new_name("n");
    w_.open_loop(k, "1u", fmt::format("{}u", count));
    const std::string at = w_.new_name("at");
    w_.let(at, fmt::format("{} + {} * {}u", first, k, stride));
    take(a, fmt::format("{}[{}]", array.first, at), a.position.empty() ? "" : fmt::format("{}[{}]", array.second, at));
    w_.close();
  }
  /// Each reduction has memory of its own, so that nobody need wait until all have read it; in loops they share it.
  std::string shared_array(const std::string& type, std::uint32_t count, const char* prefix = "shared_") {
    const std::string name = again_ ? prefix + type : w_.new_name(prefix) + "_" + type;
    s_.share(name, type, count);
    return name;
  }

  ShaderBuilder& s_;
  Writer& w_;
  const Spread spread_;
  const bool again_;
};

}  // namespace

void join(ShaderBuilder& s, const std::vector<Accumulator>& all, const Spread& spread, bool again) {
  if (spread.team == 1 || all.empty()) return;
  // Many of them, where a group has little memory, take turns as in loops.
  std::int64_t wanted = ShaderBuilder::for_reductions(spread.threads());
  for (const Accumulator& a : all)
    wanted += ShaderBuilder::shared_bytes(spread.threads()) * (a.position.empty() ? 1 : 2);
  if (wanted > s.room()) again = true;
  Joiner joiner(s, spread, again);
  if (!again) return joiner.join(all);
  for (const Accumulator& a : all) joiner.join(std::span(&a, 1));
}

void scan_threads(ShaderBuilder& s, ReduceOp op, DType dtype, std::uint32_t threads, const std::string& own) {
  Writer& w = s.body;
  const std::string type = type_name(dtype);
  s.share("scanned", type, threads);
  const std::uint32_t size = s.subgroup_size > 1 && threads % s.subgroup_size == 0 ? s.subgroup_size : 1;
  const auto take = [&](const std::string& earlier) {
    return fmt::format("combined = {};", combine(w, op, dtype, earlier, "combined"));
  };
  w.variable("combined", own);
  for (std::uint32_t d = 1; d < size; d *= 2) {
    s.uses_subgroups = true;
    w.let(fmt::format("from{}", d), w.dialect().shuffle_up("combined", d));
    w.line(fmt::format("if (thread % {}u >= {}u) {{ {} }}", size, d, take(fmt::format("from{}", d))));
  }
  w.line("scanned[thread] = combined;");
  w.barrier();
  for (std::uint32_t d = size; d < threads; d *= 2) {
    // Every other part of d threads takes what the last thread of the part before has.
    w.line(fmt::format("if ((thread & {}u) != 0u) {{ {} }}", d,
                       take(fmt::format("scanned[thread / {}u * {}u - 1u]", d, d))));
    w.barrier();
    w.line("scanned[thread] = combined;");
    w.barrier();
  }
  w.variable_of(type, "before", identity(w, op, dtype));
  w.line("if (thread > 0u) { before = scanned[thread - 1u]; }");
}

}  // namespace cotan::gpu
