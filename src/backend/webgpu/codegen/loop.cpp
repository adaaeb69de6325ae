#include <algorithm>
#include <cstdlib>
#include <map>

#include "backend/webgpu/codegen/loop_order.hpp"
#include "backend/webgpu/codegen/loop_places.hpp"
#include "backend/webgpu/codegen/loop_uses.hpp"
#include "core/error.hpp"

namespace cotan::webgpu {

using compiler::Carried;
using compiler::Routine;

namespace {

/// More than this in variables costs more than it brings: an array then.
constexpr std::size_t most_scalar_bytes = 400;
/// An array of so many elements is as many variables there.
constexpr std::int64_t most_scalars = 128;

/// What is only known once a shader has been written: it is then written again.
struct Findings {
  std::set<std::string> indexed;  ///< arrays whose elements are chosen at run time
  /// By loop: what a step reads of the caller's arrays, at places that only the number of the step decides. It is
  /// fetched a step ahead, so that nobody waits for memory.
  std::map<int, std::vector<Expr>> fetched;
  std::set<BufferId> not_spread;  ///< arrays that are not always read by all threads
  bool complete = false;
};
/// Raised where that is found.
struct NotSpread {
  BufferId array;
};

class LoopWriter {
 public:
  LoopWriter(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
             const Surroundings& around, const Capabilities& device, Findings& found)
      : program_(program),
        steps_(steps),
        plan_(plan),
        device_(device),
        indexed_(found.indexed),
        found_(found),
        s_(program, name, device),
        w_(s_.body),
        order_(program, s_, !plan.one_thread && plan.threads > 1),
        places_(program, steps, plan, s_.subgroup_size, found.not_spread) {
    w_.before_load = [this](Expr load) { look_at(load); };
    s_.whole_arena = true;
    s_.enter(around, plan.threads);
    outer_indices_ = around.indices;
    few_locals_ = local_bytes(program, steps) <= most_scalar_bytes;
    for (BufferId b : locals_of(program, steps)) declare(b, fmt::format("l{}", b));
    order_.begin(steps, places_.own());
  }

  Shader write() {
    const Repeat* loop = only_loop(steps_);
    if (loop && loop->parallel) return write_lanes(*loop);
    w_.keep_loads_here();
    if (plan_.chunk) {
      take_first_and_end();
      add_repeat(*loop, true);
    } else {
      add(steps_);
    }
    return s_.finish(plan_.threads, {1, 1, 1});
  }

 private:
  Shader write_lanes(const Repeat& loop) {
    const std::string lane = w_.new_name("lane");
    if (plan_.one_thread)
      w_.line(fmt::format("let {} = i32((group.y * groups.x + group.x) * {}u + thread);", lane, plan_.threads));
    else
      w_.line(fmt::format("let {} = i32(group.y * groups.x + group.x);", lane));
    w_.line(fmt::format("if ({} >= {}) {{ return; }}", lane, loop.length));
    w_.bind(loop.index, lane);
    outer_indices_.push_back(loop.index);
    w_.keep_loads_here();
    const bool has_loops = std::any_of(loop.steps.begin(), loop.steps.end(), [](const Step& s) {
      return std::holds_alternative<std::unique_ptr<Repeat>>(s);
    });
    if (has_loops) bring_close(loop);  // read once, and not in every step
    plan_.chunk ? add_cut(loop) : add(loop.steps);
    const std::int64_t count = plan_.one_thread ? (loop.length + plan_.threads - 1) / plan_.threads : loop.length;
    return s_.finish(plan_.threads, grid(count, device_.groups));
  }

  void take_first_and_end() {
    first_ = expr::variable(std::int64_t{1} << 31);
    end_ = expr::variable(std::int64_t{1} << 31);
    s_.add_index(first_);
    s_.add_index(end_);
  }
  /// The steps of a lane whose long loop is cut: what is before it in the first dispatch, and again where only the
  /// shader has it, what is after it in the last one.
  void add_cut(const Repeat& lanes) {
    take_first_and_end();
    const std::span<const Step> steps(lanes.steps);
    const std::size_t at = cut_of_lanes(program_, lanes, plan_)->at;
    for (std::size_t k = 0; k < at; ++k) {
      if (writes_only_locals(program_, steps[k]))
        add(steps.subspan(k, 1));
      else
        add_if(fmt::format("{} == 0", w_.value(first_)), steps.subspan(k, 1));
    }
    const Repeat& loop = *std::get<std::unique_ptr<Repeat>>(steps[at]);
    add_repeat(loop, true);
    add_if(fmt::format("{} == {}", w_.value(end_), loop.length), steps.subspan(at + 1));
  }
  /// Steps under a condition that is the same in all threads.
  void add_if(const std::string& condition, std::span<const Step> steps) {
    order_.meet_if_used();
    w_.open(fmt::format("if ({})", condition));
    const int outer = w_.load_level();
    w_.keep_loads_here();
    add(steps);
    order_.meet_if_used();
    w_.set_load_level(outer);
    w_.close();
    order_.settle();
  }

  /// An array of the shader's own; in one thread, a variable for each element unless elements are chosen at run time.
  void declare(BufferId b, const std::string& name) {
    const auto& type = buffer(b).type;
    const std::int64_t n = std::max<std::int64_t>(type.size(), 1);
    if (places_.is_spread(b)) {
      w_.line(fmt::format("var {}: {};", name, wgsl_type(type.dtype)));
      s_.set_spread(b, name);
      return;
    }
    if (!plan_.one_thread && !places_.is_private(b)) {
      s_.share(name, wgsl_type(type.dtype), n);
      s_.set_array(b, name);
      return;
    }
    const bool scalars = n <= most_scalars && !indexed_.contains(name) && (places_.is_private(b) || few_locals_);
    if (scalars)
      for (std::int64_t k = 0; k < n; ++k) w_.line(fmt::format("var {}_{}: {};", name, k, wgsl_type(type.dtype)));
    else
      w_.line(fmt::format("var {}: array<{}, {}>;", name, wgsl_type(type.dtype), n));
    s_.set_array(b, name, scalars ? n : 0);
  }
  /// Small arrays that a loop only reads, next to who computes with them.
  void bring_close(const Repeat& loop) {
    for (BufferId b : loop.kept_close) {
      constexpr std::int64_t few = 8;  // fit into the registers of every thread
      const bool own = !team() || buffer(b).type.size() <= few;
      const std::string name = own ? fmt::format("close{}of{}", b, loop.scope) : fmt::format("close{}", b);
      if (s_.has_array(b) || (plan_.one_thread && (buffer(b).type.size() > most_scalars || indexed_.contains(name))))
        continue;
      const auto& type = buffer(b).type;
      // Loops one after the other have each their own: where there is no room for more, they read from memory.
      if (!own && s_.room() < ShaderBuilder::shared_bytes(type.size()) + ShaderBuilder::for_reductions(plan_.threads))
        continue;
      order_.before({b}, {});
      std::vector<std::string> values;
      if (!own) {
        // Read from memory under the buffer's own name, then called by the new one.
        const std::string at = open_elements(type.size());
        const std::string from = s_.loaded(b, type.dtype, at);
        w_.line(fmt::format("{}[{}] = {};", name, at, from));
        w_.close();
        declare(b, name);
        order_.bring_close(b);
      } else {
        for (std::int64_t k = 0; k < type.size(); ++k) {
          values.push_back(w_.new_name("x"));
          w_.line(fmt::format("let {} = {};", values.back(), s_.loaded(b, type.dtype, std::to_string(k))));
        }
        if (team()) places_.add_private(b);
        declare(b, name);
        for (std::int64_t k = 0; k < type.size(); ++k)
          w_.line(s_.store(b, type.dtype, std::to_string(k), values[static_cast<std::size_t>(k)]));
      }
    }
    w_.forget_loads();
  }
  void let_go(const Repeat& loop) {
    for (BufferId b : loop.kept_close)
      if (!buffer_is_local(b)) {
        s_.clear_array(b);
        order_.let_go(b);
        places_.remove_private(b);
      }
  }
  bool buffer_is_local(BufferId b) const { return buffer(b).storage == Storage::local; }
  /// Opens a loop in which the threads share n elements; the number of the element.
  std::string open_elements(std::int64_t n) {
    const std::string i = w_.new_name("at");
    if (!team())
      w_.open(fmt::format("for (var {} = 0; {} < {}; {}++)", i, i, n, i));
    else if (n <= plan_.threads) {
      w_.open(fmt::format("if (thread < {}u)", n));
      w_.line(fmt::format("let {} = i32(thread);", i));
    } else
      w_.open(fmt::format("for (var {} = i32(thread); {} < {}; {} += {})", i, i, n, i, plan_.threads));
    return i;
  }

  const compiler::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
  bool team() const { return !plan_.one_thread && plan_.threads > 1; }

  // Reading ahead ---------------------------------------------------------------------------------------

  /// Notes a load that could have been fetched a step ago.
  void look_at(Expr load) {
    constexpr std::size_t most_fetched = 24;
    if (load->operands.size() > 1 && places_.is_spread(s_.root(static_cast<BufferId>(load->bits))))
      throw NotSpread{s_.root(static_cast<BufferId>(load->bits))};
    if (found_.complete || loops_.empty() || load->operands.size() > 1) return;
    const auto b = static_cast<BufferId>(load->bits);
    const BufferId root = program_.root(b);
    if (root != b || s_.has_array(b) || order_.is_written(b)) return;
    const Repeat& loop = *loops_.back();
    if (loop.length < 2 || !depends_on(load->operands[0], loop.index) || !known_at_start(load->operands[0], loop))
      return;
    auto& list = found_.fetched[loop.scope];
    if (list.size() < most_fetched && std::find(list.begin(), list.end(), load) == list.end()) list.push_back(load);
  }
  /// Whether an offset is made of indices of the loops around alone.
  bool known_at_start(Expr e, const Repeat& loop) const {
    if (e->op == expr::Op::load) return false;
    if (e->op == expr::Op::variable)
      return e == loop.index || std::find(outer_indices_.begin(), outer_indices_.end(), e) != outer_indices_.end();
    return std::all_of(e->operands.begin(), e->operands.end(), [&](Expr x) { return known_at_start(x, loop); });
  }
  std::string fetch(Expr load, const Repeat& loop, Expr step) {
    expr::Substitution map{{loop.index.get(), step}};
    const std::string at = w_.value(substitute(load->operands[0], map));
    return s_.loaded(static_cast<BufferId>(load->bits), load->dtype, at);
  }
  void begin_fetching(const Repeat& loop, Expr first) {
    const auto at = found_.fetched.find(loop.scope);
    if (!found_.complete || at == found_.fetched.end()) return;
    for (std::size_t k = 0; k < at->second.size(); ++k)
      w_.line(fmt::format("var ahead{}_{} = {};", loop.scope, k, fetch(at->second[k], loop, first)));
  }
  /// At the beginning of a step: what was fetched is there, what comes next is asked for.
  void go_on_fetching(const Repeat& loop) {
    const auto at = found_.fetched.find(loop.scope);
    if (!found_.complete || at == found_.fetched.end()) return;
    const Expr next = expr::min(loop.index + expr::integer(1), expr::integer(loop.length - 1));
    for (std::size_t k = 0; k < at->second.size(); ++k) {
      const std::string now = w_.new_name("now"), ahead = fmt::format("ahead{}_{}", loop.scope, k);
      w_.line(fmt::format("let {} = {};", now, ahead));
      w_.line(fmt::format("{} = {};", ahead, fetch(at->second[k], loop, next)));
      w_.set_known(at->second[k], now);
    }
  }

  // Steps ---------------------------------------------------------------------------------------------

  void add(std::span<const Step> steps) {
    for (const Step& step : steps) {
      if (const auto* kernel = std::get_if<Kernel>(&step)) {
        order_.before(compiler::reads_of(step), compiler::writes_of(step));
        add_kernel(*kernel);
      } else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
        add_repeat(**repeat, false);
      } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
        add_choice(**choice);
      } else {
        raise<InternalError>("[webgpu] a routine inside a shader; this is a bug in cotan.");
      }
    }
  }

  void add_kernel(const Kernel& kernel) {
    if (team() && places_.done_by_all(kernel)) {
      write_out(kernel);
      w_.forget_loads();
      return;
    }
    if (plan_.one_thread && kept_count(kernel) * reduced_count(kernel) <= most_unrolled && kernel.passes.size() == 1 &&
        is_short(kernel))
      write_out(kernel);
    else
      write_kernel(s_, kernel, {plan_.one_thread ? 1 : plan_.threads});
    w_.forget_loads();
  }

  /// Every element by itself, its indices numbers: arrays whose indices are all known are registers.
  void write_out(const Kernel& kernel) {
    std::vector<compiler::Loop> kept;
    for (const compiler::Loop& l : kernel.loops)
      if (!l.reduced) kept.push_back(l);
    expr::Substitution map;
    std::vector<std::pair<const compiler::Store*, std::array<std::string, 2>>> stores;
    each_index(kept, 0, map, [&](expr::Substitution& at) {
      Kernel element = kernel;
      element.loops.clear();
      for (const compiler::Loop& l : kernel.loops)
        if (l.reduced) element.loops.push_back(l);
      for (compiler::Pass& pass : element.passes) {
        for (compiler::Reduce& r : pass.reductions) {
          r.value = fresh(r.value, at);
          if (r.position) r.position = fresh(r.position, at);
        }
        for (auto* list : {&pass.stores, &pass.rows})
          for (compiler::Store& st : *list) {
            st.offset = fresh(st.offset, at);
            st.value = fresh(st.value, at);
          }
      }
      unroll_element(element);
    });
    // All values before the first store: one element may overwrite what another reads.
    for (const auto& [b, dtype, offset, value] : pending_) {
      const std::string store = s_.store(b, dtype, offset, value);
      const bool own = !team() || places_.is_private(s_.root(b));
      w_.line(own ? store : fmt::format("if (thread == 0u) {{ {} }}", store));
    }
    pending_.clear();
    s_.forget_values();
    w_.forget_loads();
  }
  void unroll_element(const Kernel& kernel) {
    const compiler::Pass& pass = kernel.passes[0];
    s_.forget_values();
    for (const compiler::Reduce& r : pass.reductions) {
      if (r.position || r.op != expr::ReduceOp::sum || !is_floating(r.value->dtype) || kernel.loops.size() > 1 ||
          !pass.stores.empty()) {
        write_element(kernel);
        return;
      }
    }
    for (const compiler::Reduce& r : pass.reductions) {
      std::string sum;
      expr::Substitution map;
      each_index(kernel.loops, 0, map, [&](expr::Substitution& at) {
        const Expr term = fresh(r.value, at);
        if (const auto zero = expr::as_real(term); zero && *zero == 0 && !sum.empty()) return;
        const std::string name = w_.new_name("r");
        if (term->op == expr::Op::mul) {
          const std::string x = w_.value(term->operands[0]), y = w_.value(term->operands[1]);
          w_.line(sum.empty() ? fmt::format("let {} = {} * {};", name, x, y)
                              : fmt::format("let {} = fma({}, {}, {});", name, x, y, sum));
        } else {
          const std::string x = w_.value(term);
          w_.line(sum.empty() ? fmt::format("let {} = {};", name, x) : fmt::format("let {} = {} + {};", name, sum, x));
        }
        sum = name;
      });
      s_.set_value(r.result, sum.empty() ? "0.0f" : sum);
    }
    w_.forget_loads();
    // Those that read results of reductions must be written now.
    for (const auto* list : {&pass.stores, &pass.rows})
      for (const compiler::Store& st : *list) {
        const std::string at = w_.value(st.offset), v = w_.value(st.value);
        pending_.push_back({st.buffer, st.value->dtype, at, v});
      }
  }
  /// An element that is more than a sum: as loops.
  void write_element(const Kernel& kernel) { write_kernel(s_, kernel, {1}); }

  void copy(BufferId to, BufferId from, BufferId like) {
    const auto& type = buffer(like).type;
    if (type.size() == 0) return;
    order_.before({from}, {to});
    const std::int64_t n = type.size();
    if (places_.is_spread(s_.root(from)) || places_.is_spread(s_.root(to))) {  // each thread its own element
      const BufferId source = s_.root(from);
      const std::string element = places_.is_spread(source)
                                      ? fmt::format("l{}", source)
                                      : s_.loaded(from, type.dtype, fmt::format("min(i32(thread), {})", n - 1));
      const std::string store = s_.store(to, type.dtype, "i32(thread)", element);
      w_.line(places_.is_spread(s_.root(to)) || n == plan_.threads
                  ? store
                  : fmt::format("if (thread < {}u) {{ {} }}", n, store));
      w_.forget_loads();
      return;
    }
    const bool from_own = places_.is_private(s_.root(from)), to_own = places_.is_private(s_.root(to));
    if (from_own || to_own) {  // every thread has it, or gets it
      for (std::int64_t k = 0; k < n; ++k) {
        const std::string store =
            s_.store(to, type.dtype, std::to_string(k), s_.loaded(from, type.dtype, std::to_string(k)));
        w_.line(to_own ? store : fmt::format("if (thread == 0u) {{ {} }}", store));
      }
      w_.forget_loads();
      return;
    }
    const std::int64_t few = few_locals_ ? most_scalars : 16;
    if (!team() && n <= few) {
      std::vector<std::string> values;
      for (std::int64_t k = 0; k < n; ++k) {
        values.push_back(w_.new_name("x"));
        w_.line(fmt::format("let {} = {};", values.back(), s_.loaded(from, type.dtype, std::to_string(k))));
      }
      for (std::int64_t k = 0; k < n; ++k)
        w_.line(s_.store(to, type.dtype, std::to_string(k), values[static_cast<std::size_t>(k)]));
    } else {
      const std::string i = open_elements(n);
      w_.line(s_.store(to, type.dtype, i, s_.loaded(from, type.dtype, i)));
      w_.close();
    }
    w_.forget_loads();
  }

  // Loops ---------------------------------------------------------------------------------------------

  void add_repeat(const Repeat& loop, bool chunked) {
    bring_close(loop);
    run_repeat(loop, chunked);
    let_go(loop);
  }
  void run_repeat(const Repeat& loop, bool chunked) {
    if (chunked) {  // the results hold the carries between chunks
      w_.open(fmt::format("if ({} == 0)", w_.value(first_)));
      for (const Carried& c : loop.carries)
        if (!c.in_place && c.spare < 0) copy(c.in, c.start, c.in);
      w_.close();
      order_.settle();
      w_.open("else");
      for (const Carried& c : loop.carries)
        if (!c.in_place && c.spare < 0) copy(c.in, c.result, c.in);
      w_.close();
      order_.meet();
    } else {
      for (const Carried& c : loop.carries)
        if (!c.in_place && c.spare < 0) copy(c.in, c.start, c.in);
    }
    if (loop.length < 0) {
      run_while(loop);
      return;
    }
    // In one thread, carries of small arrays are handed on by copying, which costs nothing in registers.
    const bool turns =
        team() || std::any_of(loop.carries.begin(), loop.carries.end(), [](const Carried& c) { return c.spare >= 0; });
    if (loop.length > 0) turns ? run_in_turns(loop, chunked) : run_copying(loop, chunked);
    const bool odd = turns && !chunked && loop.length % 2 == 1;
    for (const Carried& c : loop.carries)
      if (!c.in_place && c.spare < 0) copy(c.result, odd ? c.out : c.in, c.in);
    if (chunked) order_.meet_if_used();
  }

  /// Whether the value alternates between two places from step to step, instead of being copied.
  static bool in_turns(const Carried& c) { return !c.in_place; }

  void run_copying(const Repeat& loop, bool chunked) {
    const std::string i = w_.new_name("step");
    begin_fetching(loop, chunked ? first_ : expr::integer(0));
    w_.open(fmt::format("for (var {} = {}; {} < {}; {}++)", i, chunked ? w_.value(first_) : "0", i,
                        chunked ? w_.value(end_) : std::to_string(loop.length), i));
    w_.bind(loop.index, i);
    const int outer = w_.load_level();
    w_.keep_loads_here();
    go_on_fetching(loop);
    loops_.push_back(&loop);
    add(loop.steps);
    loops_.pop_back();
    hand_on(loop);
    w_.set_load_level(outer);
    w_.close();
    w_.forget_loads();
  }
  /// Next values become values, all at once.
  void hand_on(const Repeat& loop) {
    for (const Carried& c : loop.carries)
      if (!c.in_place && c.spare < 0) copy(c.in, c.out, c.in);
  }

  /// Two steps at a time, in which the two places of each carry change roles: nothing is copied.
  void run_in_turns(const Repeat& loop, bool chunked) {
    order_.meet_if_used();
    begin_fetching(loop, chunked ? first_ : expr::integer(0));
    const std::string i = w_.new_name("step");
    const std::string first = chunked ? w_.value(first_) : "0",
                      end = chunked ? w_.value(end_) : std::to_string(loop.length);
    const std::int64_t pairs = loop.length / 2 * 2;
    if (chunked || pairs > 0) {
      w_.open(fmt::format("for (var {} = {}; {} + 1 < {}; {} += 2)", i, first, i, end, i));
      one_step(loop, i, false);
      const std::string next = w_.new_name("step");
      w_.line(fmt::format("let {} = {} + 1;", next, i));
      one_step(loop, next, true);
      w_.close();
      w_.forget_loads();
    }
    if (loop.length % 2 == 1) {
      if (chunked) {  // the last chunk alone has an odd number of steps
        w_.open(fmt::format("if (({} - {}) % 2 == 1)", end, first));
        one_step(loop, w_.value(end_ - expr::integer(1)), false);
        for (const Carried& c : loop.carries)
          if (!c.in_place && c.spare < 0) copy(c.in, c.out, c.in);
        order_.meet_if_used();
        w_.close();
      } else {
        w_.open("");
        one_step(loop, std::to_string(loop.length - 1), false);
        w_.close();
      }
      w_.forget_loads();
    }
  }
  void one_step(const Repeat& loop, const std::string& index, bool swapped) {
    if (swapped) swap_places(loop);
    w_.open("");
    w_.bind(loop.index, index);
    const int outer = w_.load_level();
    w_.keep_loads_here();
    go_on_fetching(loop);
    loops_.push_back(&loop);
    add(loop.steps);
    loops_.pop_back();
    order_.end_step(loop);
    w_.set_load_level(outer);
    w_.close();
    if (swapped) restore_places(loop);
  }
  void swap_places(const Repeat& loop) {
    for (const Carried& c : loop.carries)
      if (in_turns(c)) {
        s_.set_alias(c.in, c.out);
        s_.set_alias(c.out, c.in);
      }
  }
  void restore_places(const Repeat& loop) {
    for (const Carried& c : loop.carries)
      if (in_turns(c)) {
        s_.clear_alias(c.in);
        s_.clear_alias(c.out);
      }
  }

  /// As long as the condition holds, which all threads must agree on.
  void run_while(const Repeat& loop) {
    order_.meet_if_used();
    const std::string i = w_.new_name("step"), odd = w_.new_name("odd");
    w_.line(fmt::format("var {} = false;", odd));
    // Compilers make wrong code of barriers in loops whose end they cannot see.
    w_.open(fmt::format("for (var {} = 0; {} < 2147483640; {} += 2)", i, i, i));
    for (const bool swapped : {false, true}) {
      if (swapped) swap_places(loop);
      w_.open("");
      std::string index = i;
      if (swapped) {
        index = w_.new_name("step");
        w_.line(fmt::format("let {} = {} + 1;", index, i));
      }
      w_.bind(loop.index, index);
      const int outer = w_.load_level();
      w_.keep_loads_here();
      add(loop.condition);
      const std::string holds = agreed(loop.holds, DType::bool_);
      w_.line(swapped ? fmt::format("if (!{}) {{ {} = true; break; }}", holds, odd)
                      : fmt::format("if (!{}) {{ break; }}", holds));
      add(loop.steps);
      order_.end_step(loop);
      w_.set_load_level(outer);
      w_.close();
      if (swapped) restore_places(loop);
    }
    w_.close();
    order_.settle();
    // `odd` is the same in all threads, but compilers do not know: both copies are made by choosing what to read.
    for (const Carried& c : loop.carries) {
      if (!c.in_place) copy_chosen(c.result, odd, c.out, c.in, c.in);
    }
    order_.meet();
  }
  void copy_chosen(BufferId to, const std::string& choice, BufferId a, BufferId b, BufferId like) {
    const auto& type = buffer(like).type;
    const std::int64_t n = type.size();
    order_.before({a, b}, {});
    const auto one = [&](const std::string& at) {
      const std::string x = w_.new_name("x");
      w_.line(fmt::format("var {} = {};", x, s_.loaded(b, type.dtype, at)));
      w_.line(fmt::format("if ({}) {{ {} = {}; }}", choice, x, s_.loaded(a, type.dtype, at)));
      w_.line(s_.store(to, type.dtype, at, x));
    };
    constexpr std::int64_t few = 128;
    if (!team() && n <= few) {
      for (std::int64_t k = 0; k < n; ++k) one(std::to_string(k));
    } else if (n > 0) {
      one(open_elements(n));
      w_.close();
    }
    order_.note_write(to);
  }

  /// The value of a scalar that all threads know to be the same in all.
  std::string agreed(BufferId b, DType dtype) {
    if (!team()) {
      const std::string name = w_.new_name("same");
      w_.line(fmt::format("let {} = {};", name, s_.loaded(b, dtype, "0")));
      return name;
    }
    order_.meet_if_used();
    const std::string type = dtype == DType::bool_ ? "bool" : wgsl_type(dtype);
    const std::string shared = "agreed_" + type;
    s_.share(shared, type);
    w_.line(fmt::format("if (thread == 0u) {{ {} = {}; }}", shared, s_.loaded(b, dtype, "0")));
    const std::string name = w_.new_name("same");
    w_.line(fmt::format("let {} = workgroupUniformLoad(&{});", name, shared));
    return name;
  }

  void add_choice(const Choice& choice) {
    const std::string index = agreed(choice.index, buffer(choice.index).type.dtype);
    const bool logical = buffer(choice.index).type.dtype == DType::bool_;
    const bool sign = is_signed_integer(buffer(choice.index).type.dtype);
    for (std::size_t k = 0; k < choice.branches.size(); ++k) {
      const std::string test =
          logical ? (k ? index : "!" + index) : fmt::format("{} == {}{}", index, k, sign ? "i" : "u");
      add_if(test, choice.branches[k]);
    }
  }

  struct Pending {
    BufferId buffer;
    DType dtype;
    std::string offset, value;
  };
  Program& program_;
  const std::span<const Step> steps_;
  const LoopPlan plan_;
  const Capabilities& device_;
  const std::set<std::string>& indexed_;
  Findings& found_;
  std::vector<const Repeat*> loops_;  ///< of scans that are being written
  std::vector<Expr> outer_indices_;   ///< of lanes, and of loops of the host
  ShaderBuilder s_;
  Writer& w_;
  Order order_;
  bool few_locals_ = false;
  Places places_;
  std::vector<Pending> pending_;
  Expr first_, end_;
};

}  // namespace

Shader steps_shader(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
                    const Surroundings& around, const Capabilities& device) {
  const expr::GraphScope scope(program.graph);
  Findings found;
  while (true) {
    try {
      Shader shader = LoopWriter(program, steps, name, plan, around, device, found).write();
      if (found.complete || found.fetched.empty()) return shader;
      found.complete = true;
    } catch (const ShaderBuilder::NotConstant& array) {
      found.indexed.insert(array.array);
    } catch (const NotSpread& found_here) {
      found.not_spread.insert(found_here.array);
    }
  }
}

}  // namespace cotan::webgpu
