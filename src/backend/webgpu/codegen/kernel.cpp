#include "backend/webgpu/codegen/kernel.hpp"

#include <algorithm>

#include "compiler/definitions.hpp"
#include "core/error.hpp"

namespace cotan::webgpu {

using compiler::Loop;
using compiler::Pass;
using compiler::Reduce;
using compiler::Store;
using expr::Op;
using expr::ReduceOp;

namespace {

std::int64_t count(const Kernel& kernel, bool reduced) {
  std::int64_t n = 1;
  for (const Loop& l : kernel.loops)
    if (l.reduced == reduced) n *= l.piece ? l.length : l.extent;
  return n;
}

std::string identity(Writer& w, ReduceOp op, DType dtype) {
  const bool real = is_floating(dtype), sign = is_signed_integer(dtype);
  const int bits = std::min(static_cast<int>(8 * itemsize(dtype)), 32);
  const bool largest = op == ReduceOp::min || op == ReduceOp::argmin;
  switch (op) {
    case ReduceOp::product:
      return real ? "1.0f" : sign ? "1i" : "1u";
    case ReduceOp::max:
    case ReduceOp::min:
    case ReduceOp::argmax:
    case ReduceOp::argmin:
      if (dtype == DType::bool_) return largest ? "true" : "false";
      if (real) return w.opaque(largest ? 0x7f800000u : 0xff800000u, DType::f32);
      if (!sign) return largest ? fmt::format("{}u", bits == 32 ? 0xffffffffu : (1u << bits) - 1) : "0u";
      if (bits == 32) return largest ? "2147483647i" : "i32(-2147483647 - 1)";
      return fmt::format("i32({})", largest ? (1 << (bits - 1)) - 1 : -(1 << (bits - 1)));
    case ReduceOp::bit_and:
      if (dtype == DType::bool_) return "true";
      return sign ? "-1i" : fmt::format("{}u", bits == 32 ? 0xffffffffu : (1u << bits) - 1);
    default:
      return dtype == DType::bool_ ? "false" : real ? "0.0f" : sign ? "0i" : "0u";
  }
}

std::string wrap(DType dtype, const std::string& x) {
  const int bits = static_cast<int>(8 * itemsize(dtype));
  if (is_floating(dtype) || bits >= 32) return x;
  if (is_signed_integer(dtype)) return fmt::format("((({}) << {}u) >> {}u)", x, 32 - bits, 32 - bits);
  return fmt::format("(({}) & 0x{:x}u)", x, (1u << bits) - 1);
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
    default:
      return x + " | " + y;
  }
}

/// Whether (x, p) comes before (y, q) in a search for the largest or smallest: NaN wins, then the first.
std::string is_better(Writer& w, const Reduce& r, const std::string& x, const std::string& p, const std::string& y,
                      const std::string& q) {
  const char* beats = r.op == ReduceOp::argmax ? ">" : "<";
  if (r.value->dtype == DType::bool_)
    return fmt::format("((u32({}) {} u32({})) || ({} == {} && {} < {}))", x, beats, y, x, y, p, q);
  if (!is_floating(r.value->dtype)) return fmt::format("(({} {} {}) || ({} == {} && {} < {}))", x, beats, y, x, y, p, q);
  const std::string xn = w.call("cotan_is_nan", x), yn = w.call("cotan_is_nan", y);
  return fmt::format("(({} {} {}) || ({} && !{}) || (({} == {} || ({} && {})) && {} < {}))", x, beats, y, xn, yn, x, y, xn,
                     yn, p, q);
}

/// Writes the passes of a kernel whose kept loops are bound already.
class PassWriter {
 public:
  /// `in_registers`: a thread's share of a row is written out, so that what it reads and computes is there for all passes.
  /// `guard`: what must hold for a thread to store anything.
  PassWriter(ShaderBuilder& shader, const Kernel& kernel, std::uint32_t team, bool in_registers = false, std::string guard = {})
      : s_(shader), w_(shader.body), kernel_(kernel), team_(team), guard_(std::move(guard)) {
    for (const Loop& l : kernel.loops)
      if (l.reduced) reduced_.push_back(&l);
    if (in_registers)
      for (std::int64_t first = 0; first < count(kernel, true); first += team) shares_.push_back(share(first));
  }

  void write() {
    for (const Pass& pass : kernel_.passes) {
      if (reduced_.empty() && pass.reductions.empty())
        write_stores(pass.stores);
      else
        reduce(pass);
      if (pass.rows.empty()) continue;
      if (team_ > 1) w_.open("if (thread == 0u)");
      write_stores(pass.rows);
      if (team_ > 1) w_.close();
    }
    s_.forget_values();
    w_.forget_loads();
  }

 private:
  struct Accumulator {
    const Reduce* reduce;
    std::string value, position;
  };

  void write_stores(const std::vector<Store>& stores) {
    // All values before the first store: stores may overwrite what is read.
    std::vector<std::pair<std::string, std::string>> known;
    for (const Store& s : stores) known.emplace_back(w_.value(s.offset), w_.value(s.value));
    for (std::size_t k = 0; k < stores.size(); ++k) {
      const std::string store = s_.store(stores[k].buffer, stores[k].value->dtype, known[k].first, known[k].second);
      w_.line(guard_.empty() ? store : fmt::format("if ({}) {{ {} }}", guard_, store));
    }
  }

  void reduce(const Pass& pass) {
    std::vector<Accumulator> all;
    for (const Reduce& r : pass.reductions) {
      Accumulator a{&r, w_.new_name("r"), ""};
      w_.line(fmt::format("var {}: {} = {};", a.value, wgsl_type(r.value->dtype), identity(w_, r.op, r.value->dtype)));
      if (r.position) {
        a.position = w_.new_name("p");
        w_.line(fmt::format("var {}: i32 = 2147483647;", a.position));
      }
      all.push_back(std::move(a));
    }
    if (shares_.empty()) {
      std::vector<expr::Substitution> several;
      const int opened = team_ > 1 ? open_shared_loop(several, pass.stores.empty()) : open_loops(several, pass.stores.empty());
      if (several.empty()) several.emplace_back();
      for (expr::Substitution& of : several) reduce_at(pass, all, of);
      for (int k = 0; k < opened; ++k) w_.close();
      w_.forget_loads();
    } else {
      for (expr::Substitution& of : shares_) reduce_at(pass, all, of);
    }
    if (team_ > 1)
      for (const Accumulator& a : all) join(a);
    for (const Accumulator& a : all) s_.set_value(a.reduce->result, a.reduce->position ? a.position : a.value);
    if (!shares_.empty()) return;
    // What reads them reads variables: nothing of it is known from before.
    w_.forget_loads();
    w_.keep_loads_here();
  }
  void reduce_at(const Pass& pass, const std::vector<Accumulator>& all, expr::Substitution& of) {
    for (const Accumulator& a : all) {
      Reduce r = *a.reduce;
      r.value = substitute(r.value, of);
      if (r.position) r.position = substitute(r.position, of);
      accumulate(a, r);
    }
    std::vector<Store> stores = pass.stores;
    for (Store& st : stores) {
      st.offset = substitute(st.offset, of);
      st.value = substitute(st.value, of);
    }
    write_stores(stores);
  }
  /// `count` elements of the innermost loop per turn, `stride` apart: so many reads are on the way at once.
  void bind_several(const Loop& l, const std::string& first, std::int64_t stride, std::vector<expr::Substitution>& several) {
    for (int u = 0; u < at_once; ++u) {
      const std::string name = w_.new_name("k");
      w_.line(fmt::format("let {} = {} + {};", name, first, u * stride));
      const Expr variable = expr::variable(l.extent);
      w_.bind(variable, name);
      several.push_back({{l.variable.get(), variable}});
    }
  }
  /// The reduced loops at the element that a thread takes after `first` others.
  expr::Substitution share(std::int64_t first) {
    expr::Substitution out;
    std::string rest = w_.new_name("k");
    w_.line(fmt::format("let {} = i32(thread) + {};", rest, first));
    for (std::size_t n = reduced_.size(); n-- > 0;) {
      std::string v = rest;
      if (n > 0) {
        v = w_.new_name("k");
        w_.line(fmt::format("let {} = {} % {};", v, rest, reduced_[n]->extent));
        const std::string q = w_.new_name("k");
        w_.line(fmt::format("let {} = {} / {};", q, rest, reduced_[n]->extent));
        rest = q;
      }
      const Expr variable = expr::variable(reduced_[n]->extent);
      w_.bind(variable, v);
      out.emplace(reduced_[n]->variable.get(), variable);
    }
    return out;
  }

  int open_loops(std::vector<expr::Substitution>& several, bool may_take_several) {
    for (const Loop* l : reduced_) {
      const std::string i = w_.new_name("k");
      std::string begin = "0", end = std::to_string(l->extent);
      if (l->piece) {
        begin = w_.new_name("first");
        w_.line(fmt::format("let {} = {} * {};", begin, w_.value(l->piece), l->length));
        end = fmt::format("min({}, {} + {})", l->extent, begin, l->length);
      }
      const std::int64_t steps = l->piece ? l->length : l->extent;
      const bool whole = !l->piece || l->extent % l->length == 0;
      if (may_take_several && l == reduced_.back() && whole && steps % at_once == 0 && steps >= 4 * at_once) {
        w_.open(fmt::format("for (var {} = {}; {} < {}; {} += {})", i, begin, i, end, i, at_once));
        bind_several(*l, i, 1, several);
        continue;
      }
      w_.open(fmt::format("for (var {} = {}; {} < {}; {}++)", i, begin, i, end, i));
      w_.bind(l->variable, i);
    }
    return static_cast<int>(reduced_.size());
  }
  /// One loop over all reduced elements, every thread of the team taking its share.
  int open_shared_loop(std::vector<expr::Substitution>& several, bool may_take_several) {
    const std::string i = w_.new_name("k");
    if (may_take_several && reduced_.size() == 1) {
      const Loop& l = *reduced_[0];
      const std::int64_t steps = l.piece ? l.length : l.extent;
      const bool whole = !l.piece || l.extent % l.length == 0;
      if (whole && steps % (std::int64_t{at_once} * team_) == 0) {
        std::string first = i;
        w_.open(fmt::format("for (var {} = i32(thread); {} < {}; {} += {})", i, i, steps, i, at_once * static_cast<std::int64_t>(team_)));
        if (l.piece) {
          first = w_.new_name("k");
          w_.line(fmt::format("let {} = {} * {} + {};", first, w_.value(l.piece), l.length, i));
        }
        bind_several(l, first, team_, several);
        return 1;
      }
    }
    w_.open(fmt::format("for (var {} = i32(thread); {} < {}; {} += {})", i, i, count(kernel_, true), i, team_));
    std::string rest = i;
    int opened = 1;
    for (std::size_t n = reduced_.size(); n-- > 0;) {
      const Loop& l = *reduced_[n];
      const std::int64_t extent = l.piece ? l.length : l.extent;
      std::string v = rest;
      if (n > 0) {
        v = w_.new_name("k");
        w_.line(fmt::format("let {} = {} % {};", v, rest, extent));
        const std::string q = w_.new_name("k");
        w_.line(fmt::format("let {} = {} / {};", q, rest, extent));
        rest = q;
      }
      if (l.piece) {
        const std::string inside = w_.new_name("k");
        w_.line(fmt::format("let {} = {} * {} + {};", inside, w_.value(l.piece), l.length, v));
        w_.open(fmt::format("if ({} < {})", inside, l.extent));
        ++opened;
        v = inside;
      }
      w_.bind(l.variable, v);
    }
    return opened;
  }

  void accumulate(const Accumulator& a, const Reduce& r) {
    if (r.position) {
      const std::string x = w_.value(r.value), p = w_.value(r.position);
      w_.line(fmt::format("if ({}) {{ {} = {}; {} = {}; }}", is_better(w_, r, x, p, a.value, a.position), a.value, x,
                          a.position, p));
      return;
    }
    if (r.op == ReduceOp::sum && r.value->op == Op::mul && is_floating(r.value->dtype)) {
      const std::string x = w_.value(r.value->operands[0]), y = w_.value(r.value->operands[1]);
      w_.line(fmt::format("{} = fma({}, {}, {});", a.value, x, y, a.value));
      return;
    }
    const std::string x = w_.value(r.value);
    w_.line(fmt::format("{} = {};", a.value, combine(w_, r.op, r.value->dtype, a.value, x)));
  }

  /// The results of all threads of the team, always combined in the same order; then every thread knows it.
  void join(const Accumulator& a) {
    const Reduce& r = *a.reduce;
    const std::string shared = shared_array(wgsl_type(r.value->dtype));
    const std::string places = r.position ? shared_array("i32", "places_") : "";
    w_.line(fmt::format("{}[thread] = {};", shared, a.value));
    if (r.position) w_.line(fmt::format("{}[thread] = {};", places, a.position));
    w_.line("workgroupBarrier();");
    const std::string n = w_.new_name("n");
    w_.open(fmt::format("for (var {} = {}u; {} > 0u; {} /= 2u)", n, team_ / 2, n, n));
    w_.open(fmt::format("if (thread < {})", n));
    const std::string x = shared + "[thread]", y = fmt::format("{}[thread + {}]", shared, n);
    if (r.position) {
      const std::string p = places + "[thread]", q = fmt::format("{}[thread + {}]", places, n);
      w_.line(fmt::format("if ({}) {{ {} = {}; {} = {}; }}", is_better(w_, r, y, q, x, p), x, y, p, q));
    } else {
      w_.line(fmt::format("{} = {};", x, combine(w_, r.op, r.value->dtype, x, y)));
    }
    w_.close();
    w_.line("workgroupBarrier();");
    w_.close();
    w_.line(fmt::format("{} = {}[0];", a.value, shared));
    if (r.position) w_.line(fmt::format("{} = {}[0];", a.position, places));
    w_.line("workgroupBarrier();");
  }
  std::string shared_array(const std::string& type, const std::string& prefix = "shared_") {
    const std::string name = prefix + type;
    const std::string declaration = fmt::format("var<workgroup> {}: array<{}, {}>;\n", name, type, team_);
    if (s_.declarations.find(declaration) == std::string::npos) s_.declarations += declaration;
    return name;
  }

  ShaderBuilder& s_;
  Writer& w_;
  const Kernel& kernel_;
  static constexpr int at_once = 4;
  const std::uint32_t team_;
  const std::string guard_;
  std::vector<const Loop*> reduced_;
  std::vector<expr::Substitution> shares_;
};

/// Several elements of a kernel without reductions: everything is read before anything is written.
void write_elements(ShaderBuilder& s, const Kernel& kernel, std::int64_t elements, std::uint32_t team, int per_thread) {
  Writer& w = s.body;
  struct Ready {
    const Store* store;
    std::string offset, value, inside;
  };
  std::vector<Ready> ready;
  const bool whole = elements % (std::int64_t{team} * per_thread) == 0;
  for (int u = 0; u < per_thread; ++u) {
    std::string number = w.new_name("n"), inside;
    w.line(fmt::format("let {} = number + {};", number, u * static_cast<std::int64_t>(team)));
    if (!whole) {
      inside = w.new_name("inside");
      w.line(fmt::format("let {} = {} < {};", inside, number, elements));
      const std::string clamped = w.new_name("n");
      w.line(fmt::format("let {} = min({}, {});", clamped, number, elements - 1));
      number = clamped;
    }
    expr::Substitution of;
    std::string rest = number;
    for (std::size_t n = kernel.loops.size(); n-- > 0;) {
      const Loop& l = kernel.loops[n];
      std::string v = rest;
      if (n > 0) {
        v = w.new_name("v");
        w.line(fmt::format("let {} = {} % {};", v, rest, l.extent));
        const std::string q = w.new_name("q");
        w.line(fmt::format("let {} = {} / {};", q, rest, l.extent));
        rest = q;
      }
      const Expr variable = expr::variable(l.extent);
      w.bind(variable, v);
      of.emplace(l.variable.get(), variable);
    }
    for (const Store& st : kernel.passes[0].stores)
      ready.push_back({&st, w.value(substitute(st.offset, of)), w.value(substitute(st.value, of)), inside});
  }
  for (const Ready& r : ready) {
    const std::string store = s.store(r.store->buffer, r.store->value->dtype, r.offset, r.value);
    w.line(r.inside.empty() ? store : fmt::format("if ({}) {{ {} }}", r.inside, store));
  }
}

/// Binds the kept loops to parts of one running number.
void bind_kept(ShaderBuilder& s, const Kernel& kernel, const std::string& number) {
  std::vector<const Loop*> kept;
  for (const Loop& l : kernel.loops)
    if (!l.reduced) kept.push_back(&l);
  std::string rest = number;
  for (std::size_t n = kept.size(); n-- > 0;) {
    if (n == 0) {
      s.body.bind(kept[n]->variable, rest);
      break;
    }
    const std::string v = s.body.new_name("v"), q = s.body.new_name("q");
    s.body.line(fmt::format("let {} = {} % {};", v, rest, kept[n]->extent));
    s.body.line(fmt::format("let {} = {} / {};", q, rest, kept[n]->extent));
    s.body.bind(kept[n]->variable, v);
    rest = q;
  }
}

/// Whether threads that are neighbours should take neighbours of the reduced loops, and not of the kept ones: by the
/// memory that most loads walk along.
bool reduces_along_rows(const Kernel& kernel) {
  const Loop *last_kept = nullptr, *last_reduced = nullptr;
  for (const Loop& l : kernel.loops) (l.reduced ? last_reduced : last_kept) = &l;
  if (!last_kept) return true;
  int votes = 0;
  for (const Pass& pass : kernel.passes) {
    std::vector<Expr> loads;
    for (const Reduce& r : pass.reductions) compiler::collect_loads(r.value, loads);
    for (const Store& st : pass.stores) compiler::collect_loads(st.value, loads);
    for (Expr l : loads) {
      const auto stride = [&](const Loop* loop) {
        const auto a = affine_in(l->operands[0], loop->variable);
        return a ? std::abs(a->coefficient) : std::int64_t{1} << 40;
      };
      const std::int64_t k = stride(last_kept), r = stride(last_reduced);
      if (r == 1 && k != 1) votes += k == 0 ? 1 : 2;
      if (k == 1 && r != 1) votes -= r == 0 ? 1 : 2;
    }
  }
  return votes > 0;
}

}  // namespace

std::int64_t kept_count(const Kernel& kernel) { return count(kernel, false); }
std::int64_t reduced_count(const Kernel& kernel) { return count(kernel, true); }

Shader kernel_shader(Program& program, const Kernel& kernel, const Surroundings& around,
                     const Capabilities& device) {
  constexpr std::int64_t short_row = 32, many_rows = 1 << 15, middle_row = 256;
  const std::int64_t rows = kept_count(kernel), row = reduced_count(kernel);
  const bool reduces = std::any_of(kernel.loops.begin(), kernel.loops.end(), [](const Loop& l) { return l.reduced; }) ||
                       !kernel.passes[0].reductions.empty();
  const expr::GraphScope scope(program.graph);
  ShaderBuilder s(program, kernel.name, device);
  const bool together = reduces && row > short_row && !(rows >= many_rows && row <= middle_row) &&
                        (rows < 1024 || reduces_along_rows(kernel));
  Writer& w = s.body;
  if (together) {
    std::uint32_t team = std::min(device.workgroup_threads, row <= 256 ? 64u : 256u);
    // A row whose share of a thread fits into registers is read once, whatever the passes.
    constexpr std::int64_t most_shares = 8;
    const bool cut = std::any_of(kernel.loops.begin(), kernel.loops.end(), [](const Loop& l) { return bool(l.piece); });
    while (team > 32 && row % team != 0) team /= 2;
    const bool in_registers = !cut && row % team == 0 && row / team <= most_shares;
    if (!in_registers) team = std::min(device.workgroup_threads, row <= 256 ? 64u : 256u);
    s.enter(around, team);
    w.line("let number = i32(group.y * groups.x + group.x);");
    w.line(fmt::format("if (number >= {}) {{ return; }}", rows));
    bind_kept(s, kernel, "number");
    w.keep_loads_here();
    PassWriter(s, kernel, team, in_registers).write();
    return s.finish(team, grid(rows, device.groups));
  }
  const std::uint32_t team = std::min(device.workgroup_threads, rows <= 4096 ? 64u : 256u);
  s.enter(around, team);
  // Enough reads on the way at once to keep the memory busy.
  constexpr std::int64_t many_elements = 1 << 18;
  if (constexpr int per_thread = 4; !reduces && rows >= many_elements && kernel.passes.size() == 1 && kernel.passes[0].rows.empty()) {
    w.line(fmt::format("let number = i32((group.y * groups.x + group.x) * {}u + thread);", team * per_thread));
    if (rows % (team * per_thread) || (rows / (team * per_thread)) > device.groups)
      w.line(fmt::format("if (number >= {}) {{ return; }}", rows));
    w.keep_loads_here();
    write_elements(s, kernel, rows, team, per_thread);
    return s.finish(team, grid((rows + team * per_thread - 1) / (team * per_thread), device.groups));
  }
  w.line(fmt::format("let number = i32((group.y * groups.x + group.x) * {}u + thread);", team));
  w.line(fmt::format("if (number >= {}) {{ return; }}", rows));
  bind_kept(s, kernel, "number");
  w.keep_loads_here();
  PassWriter(s, kernel, 1).write();
  return s.finish(team, grid((rows + team - 1) / team, device.groups));
}

void write_kernel(ShaderBuilder& s, const Kernel& kernel, const Team& team) {
  const std::int64_t rows = kept_count(kernel), row = reduced_count(kernel);
  if (rows == 0) return;
  Writer& w = s.body;
  const int outer = w.load_level();
  const std::string i = w.new_name("at");
  if (team.threads > 1 && rows * 8 <= team.threads && row >= 64) {  // few long rows: all threads work on each
    w.open(fmt::format("for (var {} = 0; {} < {}; {}++)", i, i, rows, i));
    bind_kept(s, kernel, i);
    w.keep_loads_here();
    PassWriter(s, kernel, team.threads).write();
  } else {
    std::string guard;
    if (team.threads == 1)
      w.open(fmt::format("for (var {} = 0; {} < {}; {}++)", i, i, rows, i));
    else if (rows <= team.threads) {
      // All threads compute and some store: without a branch, compilers can mix this with what is before and after.
      guard = rows < team.threads ? fmt::format("thread < {}u", rows) : "";
      w.open("");
      w.line(guard.empty() ? fmt::format("let {} = i32(thread);", i) : fmt::format("let {} = min(i32(thread), {});", i, rows - 1));
    } else
      w.open(fmt::format("for (var {} = i32(thread); {} < {}; {} += {})", i, i, rows, i, team.threads));
    bind_kept(s, kernel, i);
    w.keep_loads_here();
    PassWriter(s, kernel, 1, false, guard).write();
  }
  w.close();
  w.set_load_level(outer);
}

}  // namespace cotan::webgpu
