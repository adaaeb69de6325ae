#include <fmt/format.h>

#include <cotan/torch/explain.hpp>
#include <cotan/transforms.hpp>
#include <ostream>

#include "torch/graph/devices.hpp"
#include "torch/graph/runs.hpp"

namespace cotan::torch {

namespace detail {

RunReport report_of(const Runs& runs) {
  RunReport out;
  if (!runs.last) return out;
  const Compiled& c = *runs.last;
  out.number = runs.stats.runs;
  out.device = torch_name(c.device);
  out.operations = c.operations;
  out.arguments = c.arguments;
  out.results = c.results;
  out.compiled = runs.last_is_new;
  if (out.compiled) out.reason = c.reason;
  out.kept = c.kept;
  return out;
}

}  // namespace detail

std::string RunReport::text() const {
  std::string out =
      fmt::format("run {} on {}: {} operations, {} arguments, {} results, {}\n", number, device, operations, arguments,
                  results, compiled ? fmt::format("compiled: {}", reason) : "known");
  for (const std::string& line : kept) out += fmt::format("  gives {}\n", line);
  return out;
}
std::ostream& operator<<(std::ostream& out, const RunReport& report) { return out << report.text(); }

RunReport last_run() {
  detail::Runs& runs = detail::runs();
  const std::lock_guard lock(runs.mutex);
  return report_of(runs);
}

Explanation explain() {
  const std::shared_ptr<const detail::Compiled> last = [] {
    const std::lock_guard lock(detail::runs().mutex);
    return detail::runs().last;
  }();
  if (!last) throw_with_line<ValueError>("[explain] no program ran so far; read a value, or call step().");
  std::shared_ptr<const void> payload;
  const auto never = [](std::span<const Array>) -> Arrays {
    throw InternalError("[explain] the program is not among those that were compiled");
  };
  const cotan::Program program = flat::jit_program(
      *last->cache, "", never, [] { return std::shared_ptr<const void>(); }, payload, last->like,
      {.name = "step", .donate = last->donated}, [](std::size_t i) { return fmt::format("value {}", i); });
  return flat::explain(program, last->device, last->donated);
}

void log_runs(std::function<void(const RunReport&)> sink) {
  detail::Runs& runs = detail::runs();
  const std::lock_guard lock(runs.mutex);
  runs.sink = std::move(sink);
}

}  // namespace cotan::torch
