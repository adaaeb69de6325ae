// Programs as text, for people.
#include "compiler/program.hpp"
#include "core/error.hpp"

namespace cotan::compiler {

namespace {

std::string place_of(const Program& program, BufferId b) {
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(b)];
  switch (buffer.storage) {
    case Storage::input:
      return fmt::format("input {}", buffer.place);
    case Storage::output:
      return fmt::format("output {}", buffer.place);
    case Storage::arena:
      return fmt::format("arena +{}", buffer.place);
    case Storage::local:
      return "local";
    case Storage::part:
      return fmt::format("in b{} from {}", buffer.whole, to_string(buffer.start));
    case Storage::row:
      return "one row";
    case Storage::none:
      break;
  }
  return "registers";
}

std::string loops_of(const Kernel& kernel) {
  std::vector<std::string> parts;
  for (const Loop& l : kernel.loops)
    parts.push_back(fmt::format("{}{}<{}{}", l.reduced ? "reduce " : "", to_string(l.variable), l.extent,
                                l.length ? fmt::format(" in pieces of {}", l.length) : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string to_string(const Program& program, const Kernel& kernel) {
  std::string out = fmt::format("kernel {} [{}]\n", kernel.name, loops_of(kernel));
  for (std::size_t p = 0; p < kernel.passes.size(); ++p) {
    const Pass& pass = kernel.passes[p];
    const std::string indent(kernel.passes.size() > 1 ? 4 : 2, ' ');
    if (kernel.passes.size() > 1) out += fmt::format("  pass {}\n", p);
    for (const Reduce& r : pass.reductions)
      out += fmt::format("{}b{}: {} = {}{} of {}\n", indent, r.result,
                         program.buffers[static_cast<std::size_t>(r.result)].type, r.position ? "place of " : "",
                         name(r.op), to_string(r.value));
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores)
        out += fmt::format("{}b{}[{}]: {} ({}) = {}\n", indent, s.buffer, to_string(s.offset),
                           program.buffers[static_cast<std::size_t>(s.buffer)].type, place_of(program, s.buffer),
                           to_string(s.value));
  }
  return out;
}

std::string to_string(const Program& program, const Routine& routine) {
  std::vector<std::string> operands, results;
  for (const Operand& o : routine.operands)
    operands.push_back(o.buffer < 0 ? o.type.str()
                                    : fmt::format("b{}: {} ({})", o.buffer, o.type, place_of(program, o.buffer)));
  for (BufferId b : routine.results)
    results.push_back(
        fmt::format("b{}: {} ({})", b, program.buffers[static_cast<std::size_t>(b)].type, place_of(program, b)));
  return fmt::format("routine {}\n  {} <- {}\n", routine.primitive->name, fmt::join(results, ", "),
                     fmt::join(operands, ", "));
}

namespace {

std::string indented(const Program& program, const std::vector<Step>& steps) {
  std::string out, text;
  for (const Step& step : steps) text += to_string(program, step);
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1)
    out += "    " + text.substr(from, end - from + 1);
  return out;
}

}  // namespace

std::string heading_of(const Program& program, const Repeat& loop) {
  std::string out = fmt::format("{}loop {} [{}{}]{}\n", loop.parallel ? "parallel " : "", loop.name,
                                to_string(loop.index), loop.length < 0 ? "" : fmt::format("<{}", loop.length),
                                loop.unroll > 1 ? fmt::format(" unrolled {}", loop.unroll) : "");
  for (const Carried& c : loop.carries)
    out += fmt::format("  carry b{}: {} (from b{}, next b{}, at last b{}; {})\n", c.in,
                       program.buffers[static_cast<std::size_t>(c.in)].type, c.start, c.out, c.result,
                       c.in_place    ? "in place"
                       : c.spare < 0 ? "local"
                                     : "two places in turn");
  if (!loop.kept_close.empty()) out += fmt::format("  kept close: b{}\n", fmt::join(loop.kept_close, ", b"));
  if (loop.length < 0) out += fmt::format("  while b{}\n", loop.holds);
  return out;
}

namespace {

std::string text_of(const Program& program, const Repeat& loop) {
  return heading_of(program, loop) + indented(program, loop.condition) + "  do\n" + indented(program, loop.steps);
}
std::string text_of(const Program& program, const Choice& choice) {
  std::string out = fmt::format("choice {} by b{}\n", choice.name, choice.index);
  for (std::size_t b = 0; b < choice.branches.size(); ++b)
    out += fmt::format("  {}:\n{}", b, indented(program, choice.branches[b]));
  return out;
}

}  // namespace

std::string to_string(const Program& program, const Step& step) {
  return visit_step(step, Overloaded{[&](const Kernel& kernel) { return to_string(program, kernel); },
                                     [&](const Routine& routine) { return to_string(program, routine); },
                                     [&](const auto& nested) { return text_of(program, nested); }});
}

std::string to_string(const Program& program) {
  std::string out = fmt::format("program {}: {} steps, {} bytes in, {} bytes out, arena {} bytes ({} without reuse)\n",
                                program.name, program.steps.size(), program.input_bytes, program.output_bytes,
                                program.arena_bytes, program.temporary_bytes);
  for (const Step& step : program.steps) out += to_string(program, step);
  return out;
}

}  // namespace cotan::compiler
