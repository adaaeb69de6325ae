// Loops of a shader: values are handed from step to step by copying, or by two places that change roles.
#include <algorithm>

#include "backend/gpu/codegen/loop_writer.hpp"

namespace cotan::gpu {

using compiler::Carried;

void LoopWriter::add_repeat(const Repeat& loop, bool cut) {
  bring_close(loop);
  run_repeat(loop, cut);
  let_go(loop);
}

/// Those that are in two places of the loop's.
void LoopWriter::copy_carries(const Repeat& loop, BufferId Carried::* to, BufferId Carried::* from) {
  for (const Carried& c : loop.carries)
    if (!c.in_place && c.spare < 0) copy(c.*to, c.*from, c.in);
}

void LoopWriter::run_repeat(const Repeat& loop, bool cut) {
  if (cut) {  // the results hold the carries between dispatches
    w_.open(fmt::format("if ({} == 0)", w_.value(first_)));
    copy_carries(loop, &Carried::in, &Carried::start);
    w_.close();
    order_.settle();
    w_.open("else");
    copy_carries(loop, &Carried::in, &Carried::result);
    w_.close();
    order_.meet();
  } else {
    copy_carries(loop, &Carried::in, &Carried::start);
  }
  if (loop.length < 0) {
    run_while(loop);
    return;
  }
  // In one thread, carries of small arrays are handed on by copying, which costs nothing in registers.
  const bool turns =
      team() || std::any_of(loop.carries.begin(), loop.carries.end(), [](const Carried& c) { return c.spare >= 0; });
  if (loop.length > 0) turns ? run_in_turns(loop, cut) : run_copying(loop, cut);
  const bool odd = turns && !cut && loop.length % 2 == 1;
  copy_carries(loop, &Carried::result, odd ? &Carried::out : &Carried::in);
  if (cut) order_.meet_if_used();
}

void LoopWriter::run_copying(const Repeat& loop, bool cut) {
  const std::string i = w_.new_name("step");
  begin_fetching(loop, cut ? first_ : expr::integer(0));
  w_.open_loop(i, cut ? w_.value(first_) : "0", cut ? w_.value(end_) : std::to_string(loop.length));
  bind_index(loop, i);
  const int outer = w_.load_level();
  w_.keep_loads_here();
  go_on_fetching(loop);
  add(loop.steps);
  copy_carries(loop, &Carried::in, &Carried::out);  // next values become values, all at once
  w_.set_load_level(outer);
  w_.close();
  w_.forget_loads();
}

/// Two steps at a time, in which the two places of each carry change roles: nothing is copied.
void LoopWriter::run_in_turns(const Repeat& loop, bool cut) {
  order_.meet_if_used();
  begin_fetching(loop, cut ? first_ : expr::integer(0));
  const std::string i = w_.new_name("step");
  const std::string first = cut ? w_.value(first_) : "0", end = cut ? w_.value(end_) : std::to_string(loop.length);
  if (cut || loop.length >= 2) {
    w_.open(fmt::format("for ({}; {} + 1 < {}; {} += 2)", w_.dialect().variable(i, first), i, end, i));
    one_step(loop, i, false);
    const std::string next = w_.new_name("step");
    w_.let(next, fmt::format("{} + 1", i));
    one_step(loop, next, true);
    w_.close();
    w_.forget_loads();
  }
  if (loop.length % 2 == 1) add_last_odd_step(loop, cut, first, end);
}
void LoopWriter::add_last_odd_step(const Repeat& loop, bool cut, const std::string& first, const std::string& end) {
  if (cut) {  // the last dispatch alone has an odd number of steps
    w_.open(fmt::format("if (({} - {}) % 2 == 1)", end, first));
    one_step(loop, w_.value(end_ - expr::integer(1)), false);
    copy_carries(loop, &Carried::in, &Carried::out);
    order_.meet_if_used();
  } else {
    w_.open("");
    one_step(loop, std::to_string(loop.length - 1), false);
  }
  w_.close();
  w_.forget_loads();
}

void LoopWriter::one_step(const Repeat& loop, const std::string& index, bool swapped) {
  if (swapped) swap_places(loop);
  w_.open("");
  bind_index(loop, index);
  const int outer = w_.load_level();
  w_.keep_loads_here();
  go_on_fetching(loop);
  add(loop.steps);
  order_.end_step(loop);
  w_.set_load_level(outer);
  w_.close();
  if (swapped) restore_places(loop);
}
void LoopWriter::swap_places(const Repeat& loop) {
  for (const Carried& c : loop.carries)
    if (!c.in_place) {
      s_.set_alias(c.in, c.out);
      s_.set_alias(c.out, c.in);
    }
}
void LoopWriter::restore_places(const Repeat& loop) {
  for (const Carried& c : loop.carries)
    if (!c.in_place) {
      s_.clear_alias(c.in);
      s_.clear_alias(c.out);
    }
}

/// As long as the condition holds, which all threads must agree on.
void LoopWriter::run_while(const Repeat& loop) {
  order_.meet_if_used();
  const std::string i = w_.new_name("step"), odd = w_.new_name("odd");
  w_.variable(odd, "false");
  // Compilers make wrong code of barriers in loops whose end they cannot see.
  w_.open_loop(i, 0, 2147483640, 2);
  for (const bool swapped : {false, true}) {
    if (swapped) swap_places(loop);
    w_.open("");
    std::string index = i;
    if (swapped) {
      index = w_.new_name("step");
      w_.let(index, fmt::format("{} + 1", i));
    }
    bind_index(loop, index);
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
  for (const Carried& c : loop.carries)
    if (!c.in_place) copy_chosen(c.result, odd, c.out, c.in, c.in);
  order_.meet();
}

// Reading ahead ----------------------------------------------------------------------------------------

std::string LoopWriter::fetch(Expr load, const Repeat& loop, Expr step) {
  expr::Substitution map{{loop.index.get(), step}};
  const std::string at = w_.value(substitute(load->operands[0], map));
  return s_.loaded(static_cast<BufferId>(load->bits), load->dtype, at);
}
void LoopWriter::begin_fetching(const Repeat& loop, Expr first) {
  const auto at = found_.fetched.find(loop.scope);
  if (at == found_.fetched.end()) return;
  for (std::size_t k = 0; k < at->second.size(); ++k)
    w_.variable(fmt::format("ahead{}_{}", loop.scope, k), fetch(at->second[k], loop, first));
}
/// At the beginning of a step: what was fetched is there, what comes next is asked for.
void LoopWriter::go_on_fetching(const Repeat& loop) {
  const auto at = found_.fetched.find(loop.scope);
  if (at == found_.fetched.end()) return;
  const Expr next = expr::min(loop.index + expr::integer(1), expr::integer(loop.length - 1));
  for (std::size_t k = 0; k < at->second.size(); ++k) {
    const std::string now = w_.new_name("now"), ahead = fmt::format("ahead{}_{}", loop.scope, k);
    w_.let(now, ahead);
    w_.line(fmt::format("{} = {};", ahead, fetch(at->second[k], loop, next)));
    w_.set_known(at->second[k], now);
  }
}

}  // namespace cotan::gpu
