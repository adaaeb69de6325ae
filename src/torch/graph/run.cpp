// Runs what is recorded. The same recording again is a look-up and one call of a compiled program.
#include <fmt/format.h>

#include <algorithm>
#include <cotan/device.hpp>

#include "torch/graph/devices.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/runs.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch {

namespace detail {

Runs& runs() {
  static Runs& runs = *new Runs;
  return runs;
}

namespace {

std::string path(std::size_t i) { return fmt::format("value {}", i); }

/// What the program takes: known values, then numbers, then draws.
Arrays arguments_of(const Program& p, std::vector<bool>& donated) {
  Arrays out;
  for (std::size_t i = 0; i < p.arguments.size(); ++i)
    for (const Array& a : p.nodes[p.arguments[i]]->results) {
      out.push_back(a);
      donated.push_back(p.donated[i] && !is_tracing());
    }
  const auto on_device = [&](const Array& a) { return a.device().name() == p.device ? a : device_put(a, p.device); };
  if (!p.numbers.empty()) {
    const auto count = static_cast<std::int64_t>(p.numbers.size());
    if (has_doubles(p.device))
      out.push_back(on_device(Array::from_host(p.numbers, {count})));
    else
      out.push_back(on_device(Array::from_host(std::vector<float>(p.numbers.begin(), p.numbers.end()), {count})));
  }
  if (!p.draws.empty())
    out.push_back(on_device(Array::from_host(p.draws, {static_cast<std::int64_t>(p.draws.size() / 4), 4})));
  if (out.empty())
    out.push_back(on_device(Array::from_host(std::vector<float>{0})));  // programs run where their arguments are
  donated.resize(out.size());
  return out;
}

/// A tensor that has one result of several holds on to it alone from now on.
void split_results() {
  std::vector<Value> former;  // they end after the lock of storages
  for_each_storage([&](Storage& s) {
    const Value& v = s.value();
    if (!v || v.node->results.size() < 2 || v.node->has_history() || v.requires_grad()) return;
    former.push_back(v);
    Value alone = data(v.node->results[v.index], v.type());
    alone.node->requires_grad = v.node->requires_grad;  // of which another backward() says that it was freed
    alone.node->freed = v.node->freed;
    alone.node->where = v.node->where;
    s.set(std::move(alone));
  });
}

void give_results(Program& p, Arrays&& results) {
  std::size_t next = 0;
  for (const std::uint32_t i : p.outputs) {
    Node& n = *p.nodes[i];
    const std::size_t count = n.call->out.size();
    n.set_results({std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(next)),
                   std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(next + count))});
    next += count;
  }
  bool several = false;
  for (const std::uint32_t i : p.outputs) {
    Node& n = *p.nodes[i];
    several |= n.results.size() > 1;
    n.way.reset();
    if (n.is_finished()) n.release_inputs();
  }
  p.nodes.clear();
  if (several) split_results();
}

}  // namespace

void run(std::span<const Value> wanted) {
  if (modes().in_step)
    throw_with_line<ValueError>(
        "[step] a value is read inside of torch::step(), which runs as one program at its end; read it behind that.");
  Runs& all = runs();
  std::lock_guard lock(all.mutex);
  ++all.depth;
  const std::shared_ptr<void> end(nullptr, [&](void*) { --all.depth; });
  Program p = collect(wanted);
  if (p.outputs.empty()) return;
  bool known = false;
  const auto compiled = all.programs.find(p.key, known);
  std::vector<bool> donated;
  const Arrays arguments = arguments_of(p, donated);
  if (!known) all.programs.describe(*compiled, p, arguments, donated);
  // Known arrays are held by nodes, which would keep donated ones: the program's list is the one that gives them up.
  std::shared_ptr<const void> payload;
  Arrays results = flat::jit(
      *compiled->cache, "", [&](std::span<const Array> in) { return evaluate(p, in); },
      [] { return std::shared_ptr<const void>(); }, payload, arguments, {.name = "step", .donate = donated}, path);
  if (!p.traced && !std::all_of(results.begin(), results.end(), [](const Array& a) { return is_concrete(a); }))
    throw_with_line<ValueError>(
        "[torch] a tensor is read inside of a function that is traced, and depends on none of its arguments; read it "
        "before, or under ensure_compile_time_eval().");
  ++all.stats.runs;
  all.stats.compilations += !known;
  all.stats.nodes += p.nodes.size();
  all.last = compiled;
  all.last_is_new = !known;
  give_results(p, std::move(results));
  if (all.sink) all.sink(report_of(all));
}

Array array_of(const Value& value) {
  const auto lock = lock_runs();
  if (value.node->kind == Node::Kind::leaf) return array_of(value.node->inputs()[0]);
  if (!value.node->computed()) run(std::span(&value, 1));
  return value.node->results[value.index];
}

std::unique_lock<std::recursive_mutex> lock_runs() { return std::unique_lock(runs().mutex); }

}  // namespace detail

RunStats run_stats() {
  const auto lock = detail::lock_runs();
  RunStats out = detail::runs().stats;
  out.recorded = detail::nodes_recorded();
  return out;
}

namespace detail {

namespace {

/// All that is recorded and can still be read, and `more`.
void run_all(std::vector<Value> more) {
  if (modes().in_step || is_tracing()) return;  // what has no tracer in it would become one
  std::vector<Value> pending = std::move(more);
  for_each_storage([&](Storage& s) {
    const Value& v = s.value();
    if (v && !v.node->computed() && !v.node->traced) pending.push_back(v);
  });
  // One program per device.
  while (!pending.empty()) {
    const std::string device = pending.front().type()->device;
    const auto rest = std::stable_partition(pending.begin(), pending.end(),
                                            [&](const Value& v) { return v.type()->device == device; });
    run({pending.begin(), rest});
    pending.erase(pending.begin(), rest);
  }
}

}  // namespace

void catch_up(const Value& latest) {
  const auto lock = lock_runs();
  if (runs().depth > 0) return;
  try {
    run_all({latest});
  } catch (const std::exception&) {
  }
}

}  // namespace detail

detail::StepScope::StepScope() : former_(std::exchange(detail::modes().in_step, true)) {}
detail::StepScope::~StepScope() { detail::modes().in_step = former_; }
void detail::StepScope::finish() {
  detail::modes().in_step = former_;
  mark_step();
}

void mark_step() {
  const auto lock = detail::lock_runs();
  detail::run_all({});
}

}  // namespace cotan::torch
