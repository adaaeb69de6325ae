// explain: what a device makes of a program, for people and for tests.
#include <cotan/debug.hpp>
#include <ostream>

#include "core/backend.hpp"
#include "core/error.hpp"
#include "passes/passes.hpp"

namespace cotan {

std::string Explanation::text() const {
  return fmt::format(
      "device {}: {} kernels, {} routines, {} loops, {} dispatches in {} submission{}\n"
      "bytes: {} at the peak ({} arguments, {} results{}, {} temporary)\n{}{}",
      device, kernels, routines, loops, dispatches, submissions, submissions == 1 ? "" : "s", peak_bytes,
      argument_bytes, result_bytes,
      donated_bytes ? fmt::format(", {} of them in arguments given up", donated_bytes) : "", temporary_bytes, steps,
      times);
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
  const JaxprPtr jaxpr = simplify(program.jaxpr());
  out.passes.push_back({"simplified", to_string(*jaxpr)});
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
