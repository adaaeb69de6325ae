// Every pass from the traced program to the planned one, in order: this is the file to read. Lists first; what runs
// them is below.
#include "lowering/pipeline.hpp"

#include <chrono>
#include <map>
#include <span>

#include "compiler/costs.hpp"
#include "compiler/flatten.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan::lowering {

namespace {

/// A program on its way.
struct State {
  JaxprPtr jaxpr;
  const Target* target = nullptr;  ///< none until a device asks
  bool expands_first = false;      ///< whether there was something to expand first
  JaxprPtr constants = nullptr;
  std::unique_ptr<compiler::Flat> flat = nullptr;        ///< in place of `jaxpr`, once it is there …
  std::unique_ptr<compiler::Program> program = nullptr;  ///< … and once this has steps, in place of that
};

struct Pass {
  std::string_view name, purpose;
  void (*run)(State&);
  bool (*wanted)(const State&) = [](const State&) { return true; };
};

constexpr Pass only_where(bool (*wanted)(const State&), Pass pass) {
  pass.wanted = wanted;
  return pass;
}
/// A rewrite that asks the target for nothing, as a pass.
template <JaxprPtr (*rewrite)(const JaxprPtr&)>
void apply(State& s) {
  s.jaxpr = rewrite(s.jaxpr);
}

constexpr Pass common_subexpressions{"common subexpressions", "equal equations become one",
                                     apply<eliminate_common_subexpressions>};
constexpr Pass dead_code{"dead code", "equations whose results nobody reads go", apply<eliminate_dead_code>};

// 1. When a function is traced ------------------------------------------------------------------------

constexpr Pass inline_jit{"inline jit", "calls of jitted functions become what they compute", apply<inline_calls>};

/// Again and again until nothing changes.
constexpr Pass simplification[] = {
    {"loops", "what is the same in all steps of a loop is before it, and once", apply<simplify_loops>},
    {"fold", "operations on literals are done, those that do nothing go, views of views are one view",
     apply<fold_constants_and_identities>},
    {"join pads", "a sum of arrays that zeros pad to lie side by side is a concatenation", apply<join_disjoint_pads>},
    common_subexpressions,
    dead_code,
};

// 2. When a device is asked to run it -------------------------------------------------------------------

constexpr Pass inline_calls_but_checkpoints{
    "inline calls", "calls with rules for derivatives of their own become what they compute; checkpoints stay",
    apply<inline_all_but_checkpoints>};

// Before that, where something is complex, and simplified once more --------------------------------------

constexpr Pass complex_parts{"complex parts",
                             "complex values become pairs of real ones; operands and results get an axis of size 2",
                             apply<with_real_operands>};

// 3. When the device has not compiled an equal one --------------------------------------------------------

void expand_first(State& s) {
  s.jaxpr = expand_routines(s.jaxpr, s.target->expands_first, s.target->expands_first, s.target->block);
}
void put_transforms_in_pairs(State& s) { s.jaxpr = transforms_in_pairs(s.jaxpr, s.target->in_pairs); }
void lower_rests(State& s) { s.jaxpr = lower_associative_rests(s.jaxpr, s.target->control.in_levels); }
void expand(State& s) { s.jaxpr = expand_routines(s.jaxpr, s.target->expands, s.target->expands_in_loops); }
void share_scans(State& s) { s.jaxpr = shared_scans_in_lanes(s.jaxpr, s.target->shares_scans); }
void split(State& s) {
  SplitConstants parts = split_constants(s.jaxpr);
  s.constants = std::move(parts.constants);
  s.jaxpr = std::move(parts.rest);
}
void lower_control(State& s) { s.jaxpr = lower_control_flow(s.jaxpr, s.target->control); }

void flatten(State& s);
void build(State& s);
void plan(State& s);

constexpr auto expands_first = [](const State& s) { return s.expands_first; };
constexpr auto expands_to_pairs = [](const State& s) { return s.target->in_pairs && s.expands_first; };
constexpr auto expands = [](const State& s) { return s.target->expands != nullptr; };
constexpr auto shares_scans = [](const State& s) { return s.target->shares_scans > 0; };
constexpr auto sinks_outputs = [](const State& s) { return s.target->sinks_outputs; };
constexpr auto puts_rows_in_lanes = [](const State& s) { return s.target->puts_rows_in_lanes; };
constexpr auto splits_constants = [](const State& s) { return s.target->splits_constants; };
constexpr auto in_levels = [](const State& s) { return s.target->control.in_levels; };

constexpr Pass device_passes[] = {
    {"transforms in pairs", "long Fourier transforms become a routine whose result has parts side by side",
     put_transforms_in_pairs, expands_to_pairs},
    // Where routines are plain operations (native: Fourier transforms, attention). What derivatives compute again is
    // computed once; what a checkpoint computes again is not shared, since it is still inside a call.
    {"expand first", "routines that are plain operations on this device become those", expand_first, expands_first},
    only_where(expands_first, common_subexpressions),
    only_where(expands_first, dead_code),

    {"inline checkpoints", "checkpoints become what they compute: nothing merges with it any more",
     apply<inline_all_calls>},
    // Before other rewrites of the operations inside: they may be differentiated here.
    {"associative rests", "what derivatives left of associative scans becomes scans, or chunks of chunks", lower_rests},

    // Where routines are rare and threads are many (webgpu).
    {"expand", "routines that the device has no code for become loops, gathers and elementwise operations", expand,
     expands},
    {"shared scans", "scans that lanes wait for become part of the lanes", share_scans, shares_scans},
    {"sink outputs", "what scans compute only to give it out is computed after them, for all steps at once",
     apply<sink_outputs>, sinks_outputs},
    {"rows in lanes", "chains of operations on small rows become a program for each row", apply<rows_in_lanes>,
     puts_rows_in_lanes},
    {"split constants", "what follows from no input becomes a program of its own, which runs once", split,
     splits_constants},
    {"nested associative rests", "what the first left inside of others becomes scans", lower_rests, in_levels},

    // All devices.
    {"control flow", "associative scans become loops or lanes; lanes that the device does not run become batches",
     lower_control},
    {"merge lanes", "lanes that read what other lanes give become one program with those", apply<merge_lanes>},
    {"few reads", "a gather of one element per row becomes a sum over the row", apply<few_reads_as_sums>},
    dead_code,
    {"transposed products", "a transposed product becomes the product of its operands in the other order",
     apply<fold_transposed_products>},
    {"scalars first", "what is computed of single numbers comes before arrays, whose kernels need not wait for it",
     apply<scalars_first>},

    // From here on the program is not a Jaxpr any more (src/compiler).
    {"flatten", "values get one numbering through all loops; what a loop changes in few places stays where it lies",
     flatten},
    {"fuse", "values that are computed together become kernels, what is left routines, loops and branches", build},
    {"plan memory", "values in memory get places, which they share where they do not live at the same time", plan},
};

// What runs them -----------------------------------------------------------------------------------------

void flatten(State& s) {
  s.program = std::make_unique<compiler::Program>();
  s.program->name = s.jaxpr->name;
  const expr::GraphScope scope(s.program->graph);
  s.flat = std::make_unique<compiler::Flat>(compiler::flatten(*s.jaxpr, s.target->compiler));
}
void build(State& s) {
  const expr::GraphScope scope(s.program->graph);
  compiler::build_steps(*s.flat, s.target->compiler, *s.program);
}
void plan(State& s) {
  const expr::GraphScope scope(s.program->graph);
  compiler::plan_memory(*s.program, s.target->compiler);
}

/// f(equation), of nested programs too.
template <class F>
void for_each_equation(const Jaxpr& jaxpr, F&& f) {
  for (const Equation& e : jaxpr.equations) {
    f(e);
    map_nested(e.params, [&](const JaxprPtr& j) {
      for_each_equation(*j, f);
      return j;
    });
  }
}

bool has_steps(const State& s) { return s.program && !s.program->outputs.empty(); }

/// By operation, how many equations there are; by kind, how many steps once there are any.
using Counts = std::map<std::string_view, int>;
Counts count(const State& s) {
  Counts out;
  if (has_steps(s))
    compiler::for_each_step(s.program->steps, [&](const compiler::Step& step) {
      constexpr std::string_view kinds[] = {"kernel", "routine", "loop", "choice"};
      ++out[kinds[step.index()]];
    });
  else if (s.flat)
    compiler::for_each_item(s.flat->top, [&](const compiler::Item& item) { ++out[item.equation.primitive->name]; });
  else
    for_each_equation(*s.jaxpr, [&](const Equation& e) { ++out[e.primitive->name]; });
  return out;
}
int total(const Counts& counts) {
  int n = 0;
  for (const auto& [name, k] : counts) n += k;
  return n;
}
/// "-2 transpose +1 dot_general"
std::string difference(const Counts& before, const Counts& after) {
  Counts change = after;
  for (const auto& [name, k] : before) change[name] -= k;
  std::string out;
  for (const bool gone : {true, false})
    for (const auto& [name, k] : change)
      if (k != 0 && (k < 0) == gone) out += fmt::format("{}{:+} {}", out.empty() ? "" : " ", k, name);
  return out;
}

class Runner {
 public:
  Runner(State& state, Explanation* log) : s_(state), log_(log) {}

  void run(std::span<const Pass> passes) {
    for (const Pass& pass : passes)
      if (pass.wanted(s_)) run(pass);
  }
  void run(const Pass& pass) {
    if (log_)
      run_logged(pass);
    else
      run_verified(pass);
  }

 private:
  void run_verified(const Pass& pass) {
    const JaxprPtr before = s_.jaxpr;
    pass.run(s_);
    if (s_.jaxpr != before) verify_if_enabled(*s_.jaxpr, pass.name);
  }
  void run_logged(const Pass& pass) {
    const JaxprPtr jaxpr = s_.jaxpr;
    const Counts before = count(s_);
    const bool had_steps = has_steps(s_);
    const auto start = std::chrono::steady_clock::now();
    run_verified(pass);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    const Counts after = count(s_);
    const bool changed = s_.program || !structurally_equal(*jaxpr, *s_.jaxpr);
    log_->pipeline.push_back({std::string(pass.name), std::string(pass.purpose), total(before), total(after),
                              had_steps == has_steps(s_) ? difference(before, after) : difference({}, after),
                              took.count(), changed});
    if (has_steps(s_))
      log_->passes.emplace_back(pass.name, to_string(*s_.program));
    else if (changed && !s_.program)
      log_->passes.emplace_back(pass.name, to_string(*s_.jaxpr));
  }

  State& s_;
  Explanation* const log_;
};

/// Equations and what they read, also inside nested programs.
std::size_t size_of(const Jaxpr& jaxpr) {
  std::size_t n = 0;
  for_each_equation(jaxpr, [&](const Equation& e) { n += 1 + e.inputs.size(); });
  return n;
}

/// Whether the target expands something in the program before anything else.
bool has_what_expands_first(const Jaxpr& jaxpr, const Target& target) {
  bool found = false;
  if (target.expands_first)
    for_each_equation(jaxpr, [&](const Equation& e) { found = found || target.expands_first(*e.primitive, {}, {}); });
  return found;
}

}  // namespace

namespace {

void simplify(State& state, Runner& runner) {
  // Each round can uncover more; programs settle in two or three.
  for (int round = 0; round < 4; ++round) {
    const std::size_t before = size_of(*state.jaxpr);
    runner.run(simplification);
    if (size_of(*state.jaxpr) == before) break;
  }
}

}  // namespace

JaxprPtr simplify(const JaxprPtr& jaxpr, Explanation* log) {
  State state{jaxpr};
  Runner runner(state, log);
  runner.run(inline_jit);
  simplify(state, runner);
  return state.jaxpr;
}

JaxprPtr on_real_arrays(const JaxprPtr& jaxpr, Explanation* log) {
  State state{jaxpr};
  Runner runner(state, log);
  runner.run(inline_calls_but_checkpoints);
  runner.run(complex_parts);
  simplify(state, runner);
  return state.jaxpr;
}

JaxprPtr without_calls(const JaxprPtr& jaxpr, Explanation* log) {
  State state{jaxpr};
  Runner(state, log).run(inline_calls_but_checkpoints);
  return state.jaxpr;
}

Lowered lower(const JaxprPtr& jaxpr, const Target& target, Explanation* log) {
  State state{jaxpr, &target, has_what_expands_first(*jaxpr, target)};
  Runner(state, log).run(device_passes);
  if (log) {
    const compiler::Costs costs = compiler::costs_of(*state.jaxpr);
    log->flops = costs.flops;
    log->transcendentals = costs.transcendentals;
    log->bytes_accessed = compiler::bytes_accessed(*state.program);
  }
  return {std::move(state.program), std::move(state.constants)};
}

}  // namespace cotan::lowering

namespace cotan {

Program Program::simplified() const { return {lowering::simplify(jaxpr_), consts_}; }

}  // namespace cotan
