#include "backend/gpu/codegen/kernel.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "backend/gpu/codegen/reduction.hpp"
#include "backend/gpu/codegen/tiles.hpp"
#include "backend/gpu/codegen/units.hpp"
#include "compiler/definitions.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

using compiler::Pass;
using compiler::Reduce;
using expr::Op;
using expr::ReduceOp;

namespace {

std::int64_t count(const Kernel& kernel, bool reduced) {
  std::int64_t n = 1;
  for (const Loop& l : kernel.loops)
    if (l.reduced == reduced) n *= l.piece ? l.length : l.extent;
  return n;
}
std::vector<const Loop*> loops_of(const Kernel& kernel, bool reduced) {
  std::vector<const Loop*> out;
  for (const Loop& l : kernel.loops)
    if (l.reduced == reduced) out.push_back(&l);
  return out;
}

/// How a kernel is written: who takes what, and how much of it at once.
struct Manner {
  Spread spread = {};
  /// A thread's share of a row is written out, so that what it reads and computes is there for all passes.
  bool in_registers = false;
  bool in_fours = false;
  /// It runs in a loop of the shader.
  bool again = false;
  std::string guard = {};  ///< what must hold for a thread to store anything
};

/// Writes the passes of a kernel whose kept loops are bound already.
class PassWriter {
 public:
  PassWriter(ShaderBuilder& shader, const Kernel& kernel, const Manner& manner)
      : s_(shader),
        w_(shader.body),
        kernel_(kernel),
        manner_(manner),
        team_(manner.spread.team),
        reduced_(loops_of(kernel, true)),
        units_(shader, reduced_, manner.in_fours) {
    if (!manner.in_registers) return;
    for (std::int64_t first = 0; first < units_.count(); first += team_) {
      const std::string number = w_.new_name("k");
      w_.let(number, fmt::format("{} + {}", manner.spread.member(), first));
      shares_.push_back(first + team_ <= units_.count() ? units_.at(number) : units_.at_or_outside(number));
    }
  }

  void write() {
    for (const Pass& pass : kernel_.passes) {
      if (reduced_.empty() && pass.reductions.empty())
        write_stores(pass.stores, std::span(&all_, 1));
      else
        reduce(pass);
      if (!pass.rows.empty())
        write_stores(pass.rows, std::span(&all_, 1), team_ > 1 ? fmt::format("{} == 0", manner_.spread.member()) : "");
    }
    s_.forget_values();
    w_.forget_loads();
  }

 private:
  void write_stores(const std::vector<Store>& stores, std::span<Unit> units, const std::string& guard = {}) {
    // All values before the first store: stores may overwrite what is read.
    std::vector<ReadyStores> ready;
    for (Unit& unit : units) ready.emplace_back(s_, stores, unit);
    for (const ReadyStores& r : ready) {
      r.write(guard.empty() ? manner_.guard : manner_.guard.empty() ? guard : guard + " && " + manner_.guard);
      if (manner_.in_registers && units.data() == shares_.data()) r.remember();
    }
  }

  void reduce(const Pass& pass) {
    std::vector<Accumulator> all;
    for (const Reduce& r : pass.reductions) {
      Accumulator a{&r, w_.new_name("r"), ""};
      w_.variable_of(type_name(r.value->dtype), a.value, identity(w_, r.op, r.value->dtype));
      if (r.position) {
        a.position = w_.new_name("p");
        w_.variable_of("i32", a.position, "2147483647");
      }
      all.push_back(std::move(a));
    }
    std::vector<Expr> wanted;
    for (const Reduce& r : pass.reductions) wanted.push_back(r.value);
    for (const Store& st : pass.stores) wanted.push_back(st.value);
    if (manner_.in_registers)
      take(pass, all, shares_, wanted);
    else if (team_ > 1)
      in_turns(pass, all, wanted);
    else
      one_by_one(pass, all);
    join(s_, all, manner_.spread, manner_.again);
    for (const Accumulator& a : all) s_.set_value(a.reduce->result, a.reduce->position ? a.position : a.value);
    if (manner_.in_registers) return;
    // What reads them reads variables: nothing of it is known from before.
    w_.forget_loads();
    w_.keep_loads_here();
  }
  /// All is read before anything is stored, so that many reads are on the way at once.
  void take(const Pass& pass, const std::vector<Accumulator>& all, std::vector<Unit>& units,
            std::span<const Expr> wanted) {
    for (Unit& unit : units) read_vectors(s_, unit, wanted);
    for (Unit& unit : units)
      for (expr::Substitution& of : unit.elements)
        for (const Accumulator& a : all) {
          Reduce r = *a.reduce;
          r.value = substitute(r.value, of);
          if (r.position) r.position = substitute(r.position, of);
          accumulate(a, r, unit.inside);
        }
    if (!pass.stores.empty()) write_stores(pass.stores, units);
  }

  /// One thread: loops inside each other, several elements of the innermost one per turn.
  void one_by_one(const Pass& pass, const std::vector<Accumulator>& all) {
    constexpr std::int64_t several = 8;
    bool done = false;
    for (const Loop* l : reduced_) {
      const std::string i = w_.new_name("k");
      std::string begin = "0", end = std::to_string(l->extent);
      if (l->piece) {
        begin = w_.new_name("first");
        w_.let(begin, fmt::format("{} * {}", w_.value(l->piece), l->length));
        end = w_.new_name("end");
        w_.let(end, fmt::format("min({}, {} + {})", l->extent, begin, l->length));
      }
      const std::int64_t steps = l->piece ? l->length : l->extent;
      const bool whole = !l->piece || l->extent % l->length == 0;
      if (l == reduced_.back() && pass.stores.empty() && steps >= 2 * several) {
        w_.variable(i, begin);
        w_.open(fmt::format("for (; {} < {} - {}; {} += {})", i, end, several - 1, i, several));
        std::vector<Unit> units;
        for (std::int64_t u = 0; u < several; ++u) {
          const std::string name = w_.new_name("k");
          w_.let(name, fmt::format("{} + {}", i, u));
          const Expr variable = expr::variable(l->extent);
          w_.bind(variable, name);
          units.push_back({{{{l->variable.get(), variable}}}, ""});
        }
        take(pass, all, units, {});
        w_.close();
        w_.forget_loads();
        done = whole && steps % several == 0;
        if (done) break;
        w_.open(fmt::format("for (; {} < {}; {}++)", i, end, i));
      } else {
        w_.open_loop(i, begin, end);
      }
      w_.bind(l->variable, i);
    }
    if (!done) {
      std::vector<Unit> unit = {all_};
      take(pass, all, unit, {});
    }
    for (std::size_t k = done ? 1 : 0; k < reduced_.size(); ++k) w_.close();
    w_.forget_loads();
  }

  /// One loop over all reduced elements, every thread of the team taking its share, several units per turn.
  void in_turns(const Pass& pass, const std::vector<Accumulator>& all, std::span<const Expr> wanted) {
    const std::int64_t n = units_.count();
    const std::int64_t several = pass.stores.empty() && n >= at_once * team_ ? at_once : 1;
    const std::string k = w_.new_name("k");
    w_.variable(k, manner_.spread.member());
    const auto turns = [&](std::int64_t units) {
      const std::int64_t ahead = (units - 1) * team_;
      w_.open(fmt::format("for (; {} < {}; {} += {})", k, n - ahead, k, units * team_));
      std::vector<Unit> taken;
      for (std::int64_t u = 0; u < units; ++u) {
        const std::string number = w_.new_name("k");
        w_.let(number, fmt::format("{} + {}", k, u * team_));
        taken.push_back(units_.at(number));
      }
      take(pass, all, taken, wanted);
      w_.close();
      w_.forget_loads();
    };
    if (several > 1) turns(several);
    if (several == 1 || n % (several * team_) != 0) turns(1);
  }

  void accumulate(const Accumulator& a, const Reduce& r, const std::string& inside) {
    const auto line = [&](const std::string& update) {
      w_.line(inside.empty() ? update : fmt::format("if ({}) {{ {} }}", inside, update));
    };
    if (r.position) {
      const std::string x = w_.value(r.value), p = w_.value(r.position);
      line(fmt::format("if ({}) {{ {} = {}; {} = {}; }}", is_better(w_, r, x, p, a.value, a.position), a.value, x,
                       a.position, p));
      return;
    }
    if (r.op == ReduceOp::sum && r.value->op == Op::mul && is_floating(r.value->dtype)) {
      const std::string x = w_.value(r.value->operands[0]), y = w_.value(r.value->operands[1]);
      line(fmt::format("{} = fma({}, {}, {});", a.value, x, y, a.value));
      return;
    }
    const std::string x = w_.value(r.value);
    line(fmt::format("{} = {};", a.value, combine(w_, r.op, r.value->dtype, a.value, x)));
  }

  ShaderBuilder& s_;
  Writer& w_;
  const Kernel& kernel_;
  const Manner manner_;
  const std::int64_t team_;
  static constexpr std::int64_t at_once = 4;
  std::vector<const Loop*> reduced_;
  Units units_;
  std::vector<Unit> shares_;
  Unit all_{{{}}, ""};  ///< what does not depend on the reduced loops
};

/// Several elements of a kernel without reductions: everything is read before anything is written.
void write_elements(ShaderBuilder& s, const Kernel& kernel, Units& units, std::int64_t team, int per_thread) {
  std::vector<Unit> taken;
  const bool whole = units.count() % (team * per_thread) == 0;
  for (int u = 0; u < per_thread; ++u) {
    const std::string number = s.body.new_name("n");
    s.body.let(number, fmt::format("number + {}", u * team));
    taken.push_back(whole ? units.at(number) : units.at_or_outside(number));
  }
  std::vector<Expr> wanted;
  for (const Store& st : kernel.passes[0].stores) wanted.push_back(st.value);
  for (Unit& unit : taken) read_vectors(s, unit, wanted);
  std::vector<ReadyStores> ready;
  for (Unit& unit : taken) ready.emplace_back(s, kernel.passes[0].stores, unit);
  for (const ReadyStores& r : ready) r.write();
}

/// Whether threads that are neighbours should take neighbours of the reduced loops, and not of the kept ones: by the
/// memory that most loads walk along.
bool reduces_along_rows(const Kernel& kernel) {
  const Loop *last_kept = nullptr, *last_reduced = nullptr;
  for (const Loop& l : kernel.loops) (l.reduced ? last_reduced : last_kept) = &l;
  if (!last_kept) return true;
  if (!last_reduced) return false;
  std::int64_t votes = 0;
  for (const Pass& pass : kernel.passes) {
    std::vector<Expr> loads;
    for (const Reduce& r : pass.reductions) compiler::collect_loads(r.value, loads);
    for (const Store& st : pass.stores) compiler::collect_loads(st.value, loads);
    for (Expr l : loads) {
      const auto stride = [&](const Loop* loop) {
        const auto a = affine_in(l->operands[0], loop->variable);
        return a ? std::abs(a->coefficient) : std::int64_t{1} << 40;
      };
      // What is the same for a whole row, or in all rows, is little beside matrices.
      const std::int64_t k = stride(last_kept), r = stride(last_reduced), matrix = 32;
      if (r == 1 && k != 1) votes += k == 0 ? 1 : matrix;
      if (k == 1 && r != 1) votes -= r == 0 ? 1 : matrix;
    }
  }
  return votes > 0;
}

/// What a thread has to hold in registers for each element of its share of a row, and the code that it takes.
struct Share {
  std::int64_t values = 1, code = 1;
  explicit Share(const Kernel& kernel) {
    std::set<const expr::Node*> loads;
    std::set<BufferId> results;  // of reductions, which are no elements
    const auto add = [&](Expr e) {
      std::vector<Expr> all;
      compiler::collect_loads(e, all);
      for (Expr l : all)
        if (!results.contains(static_cast<BufferId>(l->bits))) loads.insert(l.get());
      code += compiler::cost_of(e);
    };
    for (const Pass& pass : kernel.passes) {
      for (const Reduce& r : pass.reductions) add(r.value);
      for (const Reduce& r : pass.reductions) results.insert(r.result);
      for (const Store& st : pass.stores) add(st.value);
    }
    values = std::max<std::int64_t>(static_cast<std::int64_t>(loads.size()), 1);
  }
  /// How many elements it may be, by their number and by that of the values; at least one unit.
  std::int64_t units(std::int64_t elements, std::int64_t most_values, std::int64_t width) const {
    constexpr std::int64_t most_code = 1 << 13;
    return std::max<std::int64_t>(std::min({elements, most_values / values, most_code / code}) / width, 1);
  }
};

/// Rows whose elements are neighbours: a team of threads for each, where it can hold the row in registers; then it is
/// read once, whatever the passes.
Manner along_rows(const Kernel& kernel, const Capabilities& device) {
  constexpr std::uint32_t group = 128, large_team = 256, many_threads = 1 << 16;
  constexpr std::int64_t line = 32;  // elements of memory that come at once
  const std::int64_t rows = kept_count(kernel), row = reduced_count(kernel);
  const auto reduced = loops_of(kernel, true);
  Manner out;
  out.in_fours = !reduced.empty() && lies_in_fours(kernel, *reduced.back());
  const std::int64_t width = out.in_fours ? 4 : 1, units = (row + width - 1) / width;
  const Share share(kernel);
  const auto team_for = [&](std::int64_t most) {
    const std::int64_t threads = std::max((units + most - 1) / most, std::min(line / width, units));
    return static_cast<std::uint32_t>(std::bit_ceil(static_cast<std::uint64_t>(threads)));
  };
  Spread& spread = out.spread;
  // Shares are large where that spares threads to wait for each other, and where there would be too many of them.
  // Without vectors they are small: every element has an address.
  const std::int64_t largest = out.in_fours ? share.units(32, 96, width) : share.units(16, 48, width);
  if (out.in_fours) {
    spread.team = team_for(share.units(16, 64, width));
    if (spread.team > std::max(device.subgroup_size, 32u)) spread.team = team_for(share.units(16, 32, width));
  } else {
    spread.team = team_for(share.units(8, 32, width));
  }
  if (spread.team > large_team) spread.team = std::max(large_team, team_for(largest));
  spread.team = std::min(spread.team, device.workgroup_threads);
  if (spread.team * largest < units) {
    spread.team = std::min(device.workgroup_threads, large_team);
    // Few long rows: more threads for each, as long as they have several turns.
    constexpr std::int64_t all_threads = 1 << 18, turns = 16;
    while (!device.software && 2 * spread.team <= device.workgroup_threads && spread.team * rows < all_threads &&
           2 * spread.team * turns <= units)
      spread.team *= 2;
    return out;
  }
  out.in_registers = true;
  // Few rows: more threads for each.
  while (spread.team * rows < many_threads && 2 * spread.team <= units && spread.team < large_team) spread.team *= 2;
  while (spread.threads() < group && rows > many_threads / group * spread.rows) spread.rows *= 2;
  return out;
}

/// Rows that are neighbours themselves: neighbouring threads take neighbouring rows, and where there are few of them,
/// several share one.
Manner across_rows(const Kernel& kernel, const Capabilities& device) {
  constexpr std::int64_t many_threads = 1 << 17, worth_sharing = 8;
  const std::int64_t rows = kept_count(kernel), row = reduced_count(kernel);
  // Lines of memory are read whole, unless that makes fewer groups than a large GPU has cores.
  constexpr std::int64_t many_groups = 128, least = 8;
  std::int64_t side_by_side = 32;
  while (!device.software && row > 1 && side_by_side > least && rows / side_by_side < many_groups) side_by_side /= 2;
  Manner out;
  Spread& spread = out.spread;
  spread.teams_are_neighbours = false;
  spread.rows = static_cast<std::uint32_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(rows, 1, side_by_side))));
  const std::int64_t most = std::min<std::int64_t>(device.workgroup_threads, 512) / spread.rows;
  while (2 * spread.team <= most && spread.team * rows < many_threads && 2 * spread.team * worth_sharing <= row)
    spread.team *= 2;
  if (spread.team == 1) spread.rows = std::min(device.workgroup_threads, rows <= 4096 ? 64u : 256u);
  return out;
}

}  // namespace

std::int64_t kept_count(const Kernel& kernel) { return count(kernel, false); }
std::int64_t reduced_count(const Kernel& kernel) { return count(kernel, true); }

Shader kernel_shader(Program& program, const Kernel& kernel, const Surroundings& around, const Capabilities& device) {
  const std::int64_t rows = kept_count(kernel);
  const bool reduces = !loops_of(kernel, true).empty() || !kernel.passes[0].reductions.empty();
  const expr::GraphScope scope(program.graph);
  if (auto tiled = tiled_shader(program, kernel, around, device)) return std::move(*tiled);
  ShaderBuilder s(program, kernel.name, device);
  Writer& w = s.body;
  // Enough reads on the way at once to keep the memory busy.
  constexpr std::int64_t many_elements = 1 << 18, very_many = 1 << 20;
  if (!reduces && rows >= many_elements && kernel.passes.size() == 1 && kernel.passes[0].rows.empty()) {
    const std::uint32_t team = std::min(device.workgroup_threads, 256u);
    s.vectors = lies_in_fours(kernel, kernel.loops.back());
    Units units(s, loops_of(kernel, false), s.vectors);
    const int per_thread = s.vectors && rows < very_many ? 2 : 4;
    const std::int64_t groups = (units.count() + team * per_thread - 1) / (team * per_thread);
    s.enter(around, team);
    w.let("number", fmt::format("i32((group.y * groups.x + group.x) * {}u + thread)", team * per_thread));
    if (units.count() % (team * per_thread) || groups > device.groups)
      w.line(fmt::format("if (number >= {}) {{ return; }}", units.count()));
    w.keep_loads_here();
    write_elements(s, kernel, units, team, per_thread);
    return s.finish(team, grid(groups, device.groups));
  }
  Manner manner = reduces && reduces_along_rows(kernel) ? along_rows(kernel, device) : across_rows(kernel, device);
  const Spread& spread = manner.spread;
  s.vectors = manner.in_fours;
  s.enter(around, spread.threads());
  w.let("number", fmt::format("i32(group.y * groups.x + group.x) * {} + {}", spread.rows, spread.row()));
  const std::int64_t groups = (rows + spread.rows - 1) / spread.rows;
  std::string row = "number";
  if (rows % spread.rows || groups > device.groups) {
    // No thread leaves where others wait for it.
    manner.guard = "is_row";
    row = "row";
    w.let("is_row", fmt::format("number < {}", rows));
    w.let("row", fmt::format("min(number, {})", rows - 1));
    if (spread.team == 1) w.line("if (!is_row) { return; }");
  }
  bind_loops(s, loops_of(kernel, false), row);
  w.keep_loads_here();
  PassWriter(s, kernel, manner).write();
  return s.finish(spread.threads(), grid(groups, device.groups));
}

void write_kernel(ShaderBuilder& s, const Kernel& kernel, const Team& team) {
  const std::int64_t rows = kept_count(kernel), row = reduced_count(kernel);
  if (rows == 0) return;
  Writer& w = s.body;
  const int outer = w.load_level();
  const std::string i = w.new_name("at");
  if (team.threads > 1 && rows * 8 <= team.threads && row >= 64) {  // few long rows: all threads work on each
    w.open_loop(i, "0", rows);
    bind_loops(s, loops_of(kernel, false), i);
    w.keep_loads_here();
    PassWriter(s, kernel, {.spread = {.team = team.threads}, .again = true}).write();
  } else {
    std::string guard;
    if (team.threads == 1)
      w.open_loop(i, "0", rows);
    else if (rows <= team.threads) {
      // All threads compute and some store: without a branch, compilers can mix this with what is before and after.
      guard = rows < team.threads ? fmt::format("thread < {}u", rows) : "";
      w.open("");
      w.let(i, guard.empty() ? "i32(thread)" : fmt::format("min(i32(thread), {})", rows - 1));
    } else
      w.open_loop(i, "i32(thread)", rows, team.threads);
    bind_loops(s, loops_of(kernel, false), i);
    w.keep_loads_here();
    PassWriter(s, kernel, {.again = true, .guard = guard}).write();
  }
  w.close();
  w.set_load_level(outer);
}

}  // namespace cotan::gpu
