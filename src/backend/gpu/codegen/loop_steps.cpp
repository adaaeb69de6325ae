// The steps of a shader that are no loops: kernels, choices, copies.
#include <algorithm>

#include "backend/gpu/codegen/loop_unroll.hpp"
#include "backend/gpu/codegen/loop_uses.hpp"
#include "backend/gpu/codegen/loop_writer.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

void LoopWriter::add(std::span<const Step> steps) {
  for (const Step& step : steps) {
    if (const auto* kernel = std::get_if<Kernel>(&step)) {
      order_.before(compiler::reads_of(step), compiler::writes_of(step));
      add_kernel(*kernel);
    } else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
      add_repeat(**repeat, false);
    } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
      add_choice(**choice);
    } else {
      raise<InternalError>("[gpu] a routine inside a shader; this is a bug in cotan.");
    }
  }
}

/// Steps under a condition that is the same in all threads.
void LoopWriter::add_if(const std::string& condition, std::span<const Step> steps) {
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

// Kernels ----------------------------------------------------------------------------------------------

bool is_written_out(const Kernel& kernel, const LoopPlan& plan, const Places& places) {
  if (is_team(plan)) return places.done_by_all(kernel);
  return plan.one_thread && kept_count(kernel) * reduced_count(kernel) <= most_unrolled && kernel.passes.size() == 1 &&
         is_short(kernel);
}
bool has_written_sums(const Kernel& element) {
  const compiler::Pass& pass = element.passes[0];
  return std::all_of(pass.reductions.begin(), pass.reductions.end(), [&](const compiler::Reduce& r) {
    return !r.position && r.op == expr::ReduceOp::sum && is_floating(r.value->dtype) && element.loops.size() <= 1 &&
           pass.stores.empty();
  });
}

void LoopWriter::add_kernel(const Kernel& kernel) {
  if (is_written_out(kernel, plan_, places_))
    write_out(kernel);
  else
    write_kernel(s_, kernel, {plan_.one_thread ? 1 : plan_.threads});
  w_.forget_loads();
}

/// Every element by itself, its indices numbers: arrays whose indices are all known are registers.
void LoopWriter::write_out(const Kernel& kernel) {
  each_element(kernel, [&](const Kernel& element) { write_element(element); });
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
void LoopWriter::write_element(const Kernel& element) {
  const compiler::Pass& pass = element.passes[0];
  s_.forget_values();
  if (!has_written_sums(element)) return write_kernel(s_, element, {1});  // more than sums: as loops
  for (const compiler::Reduce& r : pass.reductions) s_.set_value(r.result, written_sum(element, r));
  w_.forget_loads();
  // Those that read results of reductions must be written now.
  for (const auto* list : {&pass.stores, &pass.rows})
    for (const compiler::Store& st : *list) {
      const std::string at = w_.value(st.offset), v = w_.value(st.value);
      pending_.push_back({st.buffer, st.value->dtype, at, v});
    }
}
std::string LoopWriter::written_sum(const Kernel& element, const compiler::Reduce& r) {
  std::string sum;
  each_term(element, r, [&](Expr term) {
    const std::string name = w_.new_name("r");
    if (term->op == expr::Op::mul) {
      const std::string x = w_.value(term->operands[0]), y = w_.value(term->operands[1]);
      w_.let(name, sum.empty() ? fmt::format("{} * {}", x, y) : fmt::format("fma({}, {}, {})", x, y, sum));
    } else {
      const std::string x = w_.value(term);
      w_.let(name, sum.empty() ? x : fmt::format("{} + {}", sum, x));
    }
    sum = name;
  });
  return sum.empty() ? "0.0f" : sum;
}

// Choices ----------------------------------------------------------------------------------------------

/// The value of a scalar that all threads know to be the same in all.
std::string LoopWriter::agreed(BufferId b, DType dtype) {
  if (!team()) {
    const std::string name = w_.new_name("same");
    w_.let(name, s_.loaded(b, dtype, "0"));
    return name;
  }
  order_.meet_if_used();
  const std::string type = type_name(dtype), shared = "agreed_" + type;
  s_.share(shared, type);
  w_.line(fmt::format("if (thread == 0u) {{ {} = {}; }}", shared, s_.loaded(b, dtype, "0")));
  const std::string name = w_.new_name("same");
  w_.let(name, w_.dialect().uniform_load(shared));
  return name;
}

void LoopWriter::add_choice(const Choice& choice) {
  const DType dtype = buffer(choice.index).type.dtype;
  const std::string index = agreed(choice.index, dtype);
  const bool sign = is_signed_integer(dtype);
  for (std::size_t k = 0; k < choice.branches.size(); ++k) {
    const auto number = static_cast<std::int64_t>(k);
    const std::string test =
        dtype == DType::bool_
            ? (k ? index : "!" + index)
            : fmt::format("{} == {}", index, sign ? w_.dialect().signed_number(number) : fmt::format("{}u", k));
    add_if(test, choice.branches[k]);
  }
}

// Copies -----------------------------------------------------------------------------------------------

/// Opens a loop in which the threads share n elements; the number of the element.
std::string LoopWriter::open_elements(std::int64_t n) {
  const std::string i = w_.new_name("at");
  if (!team()) {
    w_.open_loop(i, 0, n);
  } else if (n <= plan_.threads) {
    w_.open(fmt::format("if (thread < {}u)", n));
    w_.let(i, "i32(thread)");
  } else {
    w_.open_loop(i, "i32(thread)", n, plan_.threads);
  }
  return i;
}

void LoopWriter::copy(BufferId to, BufferId from, BufferId like) {
  const auto& type = buffer(like).type;
  if (type.size() == 0) return;
  order_.before({from}, {to});
  const std::int64_t n = type.size();
  const bool from_own = places_.is_private(s_.root(from)), to_own = places_.is_private(s_.root(to));
  if (places_.is_spread(s_.root(from)) || places_.is_spread(s_.root(to))) {
    copy_spread(to, from, type);
  } else if (from_own || to_own) {  // every thread has it, or gets it
    for (std::int64_t k = 0; k < n; ++k) {
      const std::string at = std::to_string(k), store = s_.store(to, type.dtype, at, s_.loaded(from, type.dtype, at));
      w_.line(to_own ? store : fmt::format("if (thread == 0u) {{ {} }}", store));
    }
  } else if (!team() && n <= most_copied(found_)) {
    std::vector<std::string> values;
    for (std::int64_t k = 0; k < n; ++k) {
      values.push_back(w_.new_name("x"));
      w_.let(values.back(), s_.loaded(from, type.dtype, std::to_string(k)));
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
/// Each thread its own element.
void LoopWriter::copy_spread(BufferId to, BufferId from, const AbstractValue& type) {
  const std::int64_t n = type.size();
  const BufferId source = s_.root(from);
  const std::string element = places_.is_spread(source)
                                  ? local_name(source)
                                  : s_.loaded(from, type.dtype, fmt::format("min(i32(thread), {})", n - 1));
  const std::string store = s_.store(to, type.dtype, "i32(thread)", element);
  w_.line(places_.is_spread(s_.root(to)) || n == plan_.threads ? store
                                                               : fmt::format("if (thread < {}u) {{ {} }}", n, store));
}

void LoopWriter::copy_chosen(BufferId to, const std::string& choice, BufferId a, BufferId b, BufferId like) {
  const auto& type = buffer(like).type;
  const std::int64_t n = type.size();
  order_.before({a, b}, {});
  const auto one = [&](const std::string& at) {
    const std::string x = w_.new_name("x");
    w_.variable(x, s_.loaded(b, type.dtype, at));
    w_.line(fmt::format("if ({}) {{ {} = {}; }}", choice, x, s_.loaded(a, type.dtype, at)));
    w_.line(s_.store(to, type.dtype, at, x));
  };
  if (!team() && n <= most_scalars) {
    for (std::int64_t k = 0; k < n; ++k) one(std::to_string(k));
  } else if (n > 0) {
    one(open_elements(n));
    w_.close();
  }
  order_.note_write(to);
}

}  // namespace cotan::gpu
