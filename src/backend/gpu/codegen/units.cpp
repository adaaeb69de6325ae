#include "backend/gpu/codegen/units.hpp"

#include <algorithm>

#include "compiler/definitions.hpp"

namespace cotan::gpu {

namespace {

constexpr int four = 4;

std::int64_t steps_of(const Loop& l) { return l.piece ? l.length : l.extent; }

/// Whether these are the offsets of four neighbours.
bool are_neighbours(const std::vector<Expr>& offsets) {
  if (offsets.size() != four) return false;
  for (int u = 1; u < four; ++u)
    if (expr::as_integer(offsets[static_cast<std::size_t>(u)] - offsets[0]) != u) return false;
  return true;
}

}  // namespace

void bind_loops(ShaderBuilder& s, std::span<const Loop* const> loops, const std::string& number) {
  std::string rest = number;
  for (std::size_t n = loops.size(); n-- > 0;) {
    if (n == 0) {
      s.body.bind(loops[n]->variable, rest);
      break;
    }
    const std::string v = s.body.new_name("v"), q = s.body.new_name("q");
    s.body.let(v, fmt::format("{} % {}", rest, loops[n]->extent));
    s.body.let(q, fmt::format("{} / {}", rest, loops[n]->extent));
    s.body.bind(loops[n]->variable, v);
    rest = q;
  }
}

Units::Units(ShaderBuilder& shader, std::vector<const Loop*> loops, bool in_fours)
    : s_(shader), loops_(std::move(loops)), width_(in_fours ? four : 1) {
  for (const Loop* l : loops_) count_ *= steps_of(*l);
  count_ /= width_;
}

Unit Units::at(const std::string& number, std::string inside) {
  Writer& w = s_.body;
  Unit out{std::vector<expr::Substitution>(static_cast<std::size_t>(width_)), std::move(inside)};
  std::string rest = number;
  for (std::size_t n = loops_.size(); n-- > 0;) {
    const Loop& l = *loops_[n];
    const int width = n + 1 == loops_.size() ? width_ : 1;
    const std::int64_t steps = steps_of(l) / width;
    std::string v = rest;
    if (n > 0) {
      v = w.new_name("k");
      w.let(v, fmt::format("{} % {}", rest, steps));
      const std::string q = w.new_name("k");
      w.let(q, fmt::format("{} / {}", rest, steps));
      rest = q;
    }
    const Expr variable = expr::variable(l.extent / width);
    if (l.piece) {
      const std::string in_piece = std::exchange(v, w.new_name("k"));
      w.let(v, fmt::format("{} * {} + {}", w.value(l.piece), l.length / width, in_piece));
      if (l.extent % l.length != 0) {  // the last piece is shorter
        const std::string exists = w.new_name("inside"), clamped = w.new_name("k");
        w.let(exists, fmt::format("{}{} < {}", out.inside.empty() ? "" : out.inside + " && ", v, l.extent / width));
        w.let(clamped, fmt::format("min({}, {})", v, l.extent / width - 1));
        out.inside = exists;
        v = clamped;
      }
    }
    w.bind(variable, v);
    for (int u = 0; u < width_; ++u)
      out.elements[static_cast<std::size_t>(u)].emplace(
          l.variable.get(), width == 1 ? variable : variable * expr::integer(width) + expr::integer(u));
  }
  return out;
}

Unit Units::at_or_outside(const std::string& number) {
  const std::string inside = s_.body.new_name("inside"), clamped = s_.body.new_name("k");
  s_.body.let(inside, fmt::format("{} < {}", number, count_));
  s_.body.let(clamped, fmt::format("min({}, {})", number, count_ - 1));
  return at(clamped, inside);
}

bool lies_in_fours(const Kernel& kernel, const Loop& loop) {
  if (loop.extent % four || (loop.piece && loop.length % four)) return false;
  const auto in_fours = [&](Expr offset) {
    const auto a = affine_in(offset, loop.variable);
    return a && a->coefficient == 1 && expr::as_integer(expr::floor_mod(a->rest, four)) == 0;
  };
  std::vector<Expr> loads;
  for (const compiler::Pass& pass : kernel.passes) {
    for (const compiler::Reduce& r : pass.reductions) compiler::collect_loads(r.value, loads);
    for (const Store& st : pass.stores) {
      if (in_fours(st.offset)) return true;
      compiler::collect_loads(st.value, loads);
    }
  }
  return std::any_of(loads.begin(), loads.end(),
                     [&](Expr l) { return l->operands.size() == 1 && in_fours(l->operands[0]); });
}

void read_vectors(ShaderBuilder& s, Unit& unit, std::span<const Expr> values) {
  if (unit.elements.size() != four) return;
  Writer& w = s.body;
  std::vector<Expr> loads;
  for (Expr v : values) compiler::collect_loads(v, loads);
  for (Expr l : loads) {
    if (l->operands.size() > 1) continue;
    std::vector<Expr> each, offsets;
    for (expr::Substitution& of : unit.elements) {
      each.push_back(substitute(l, of));
      offsets.push_back(each.back()->operands[0]);
    }
    if (w.knows(each[0]) || !are_neighbours(offsets)) continue;
    const auto quad = s.quad(static_cast<BufferId>(l->bits), offsets[0]);
    if (!quad) continue;
    const std::string name = w.new_name("q"), type = type_name(l->dtype);
    const bool as_it_is = l->dtype == DType::bool_ || type == "u32";
    w.let(name, as_it_is ? *quad : w.dialect().bitcast(w.dialect().vector(type), *quad));
    for (int u = 0; u < four; ++u)
      w.set_known(each[static_cast<std::size_t>(u)],
                  fmt::format(l->dtype == DType::bool_ ? fmt::runtime("({}.{} != 0u)") : fmt::runtime("{}.{}"), name,
                              "xyzw"[u]));
  }
}

ReadyStores::ReadyStores(ShaderBuilder& s, const std::vector<Store>& stores, Unit& unit) : s_(s), inside_(unit.inside) {
  for (const Store& st : stores) {
    Ready r{st.buffer, st.value->dtype, {}, {}, {}};
    for (expr::Substitution& of : unit.elements) r.offsets.push_back(substitute(st.offset, of));
    const bool vector = are_neighbours(r.offsets);
    if (const auto quad = vector ? s.quad(st.buffer, r.offsets[0]) : std::nullopt)
      r.places.push_back(*quad);
    else
      for (Expr offset : r.offsets) r.places.push_back(s.body.value(offset));
    for (expr::Substitution& of : unit.elements) r.values.push_back(s.body.value(substitute(st.value, of)));
    stores_.push_back(std::move(r));
  }
}

void ReadyStores::write(const std::string& guard) const {
  const std::string when = inside_.empty() ? guard : guard.empty() ? inside_ : inside_ + " && " + guard;
  const auto line = [&](const std::string& store) {
    s_.body.line(when.empty() ? store : fmt::format("if ({}) {{ {} }}", when, store));
  };
  for (const Ready& r : stores_) {
    if (r.places.size() == r.values.size()) {
      for (std::size_t u = 0; u < r.values.size(); ++u) line(s_.store(r.buffer, r.dtype, r.places[u], r.values[u]));
      continue;
    }
    const Dialect& d = s_.body.dialect();
    std::vector<std::string> words;
    for (const std::string& v : r.values)
      words.push_back(r.dtype == DType::bool_ ? fmt::format("u32({})", v) : d.bitcast("u32", v));
    line(fmt::format("{} = {};", r.places[0], d.make_vector("u32", fmt::format("{}", fmt::join(words, ", ")))));
  }
}

void ReadyStores::remember() const {
  for (const Ready& r : stores_)
    for (std::size_t u = 0; u < r.values.size(); ++u)
      s_.body.set_known(expr::load(r.buffer, r.dtype, r.offsets[u]), r.values[u]);
}

}  // namespace cotan::gpu
