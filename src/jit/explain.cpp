// explain: what a device makes of a program, for people and for tests.
#include <cotan/debug.hpp>
#include <ostream>

#include "core/complex.hpp"
#include "core/error.hpp"
#include "lowering/pipeline.hpp"

namespace cotan {

namespace {

/// A line for each pass that changed the program.
std::string table_of(const std::vector<PassRow>& pipeline) {
  if (pipeline.empty()) return {};
  std::size_t changed = 0, width = 0;
  for (const PassRow& row : pipeline) {
    changed += row.changed;
    if (row.changed) width = std::max(width, row.name.size());
  }
  std::string out = fmt::format("passes: {} of {} changed the program\n", changed, pipeline.size());
  for (const PassRow& row : pipeline)
    if (row.changed)
      out += fmt::format("  {:<{}} {:>5} -> {:<5} {:>8.0f} us{}{}\n", row.name, width, row.equations_before,
                         row.equations_after, row.microseconds, row.difference.empty() ? "" : "  ", row.difference);
  return out;
}

}  // namespace

std::string Explanation::text() const {
  return fmt::format(
      "device {}: {} kernels, {} routines, {} loops, {} dispatches in {} submission{}\n"
      "bytes: {} at the peak ({} arguments, {} results{}, {} temporary)\n{}{}{}",
      device, kernels, routines, loops, dispatches, submissions, submissions == 1 ? "" : "s", peak_bytes,
      argument_bytes, result_bytes,
      donated_bytes ? fmt::format(", {} of them in arguments given up", donated_bytes) : "", temporary_bytes, steps,
      times, table_of(pipeline));
}
std::ostream& operator<<(std::ostream& out, const Explanation& e) { return out << e.text(); }

void clear_caches() {
  for (Backend* b : all_backends()) b->clear_caches();
}

namespace flat {

Explanation explain(const Program& program, std::string_view device, const std::vector<bool>& donated) {
  Backend& backend = device.empty() ? default_backend() : find_backend(device);
  Explanation out;
  out.device = backend.name();
  out.passes.push_back({"traced", program.str()});
  JaxprPtr jaxpr = lowering::simplify(program.jaxpr(), &out);
  if (has_complex(*jaxpr)) jaxpr = lowering::on_real_arrays(jaxpr, &out);
  const auto bytes = [](const AbstractValue& t) { return t.size() * static_cast<std::int64_t>(itemsize(t.dtype)); };
  for (const auto& t : jaxpr->input_types()) out.argument_bytes += bytes(t);
  for (const auto& t : jaxpr->output_types()) out.result_bytes += bytes(t);
  std::vector<bool> given_up(program.consts().size(), false);
  given_up.insert(given_up.end(), donated.begin(), donated.end());
  backend.explain(jaxpr, donated.empty() ? nullptr : &given_up, out);
  return out;
}

}  // namespace flat
}  // namespace cotan
