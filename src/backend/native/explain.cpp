// What the native device makes of a program.
#include "backend/native/executable.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

void add_lines(const std::string& text, const std::string& indent, std::string& out) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1);
    out += indent + text.substr(from, end - from + 1);
    from = end + 1;
  }
}

/// Every step and how it runs; those of loops after the loop, further to the right.
void describe_steps(compiler::Program& program, const std::vector<compiler::Step>& steps, bool in_loop,
                    const std::string& indent, Explanation& out) {
  for (const auto& step : steps) {
    if (const auto* kernel = std::get_if<compiler::Kernel>(&step)) {
      const std::string body = to_string(program, *kernel);
      const ScheduledKernel scheduled = schedule_for_host(program, *kernel, in_loop);
      const auto end = body.find('\n');
      add_lines(body.substr(0, end) + "\n  " + (scheduled.unrolled ? "unrolled, " : "") +
                    describe(scheduled.kernel, scheduled.schedule) + body.substr(end),
                indent, out.steps);
      ++out.kernels;
    } else if (const auto* routine = std::get_if<compiler::Routine>(&step)) {
      add_lines(to_string(program, *routine), indent, out.steps);
      ++out.routines;
    } else if (const auto* repeat = std::get_if<std::unique_ptr<compiler::Repeat>>(&step)) {
      ++out.loops;
      add_lines(heading_of(program, **repeat), indent, out.steps);
      describe_steps(program, (*repeat)->condition, true, indent + "    ", out);
      describe_steps(program, (*repeat)->steps, true, indent + "    ", out);
    } else {
      const compiler::Choice& choice = *std::get<std::unique_ptr<compiler::Choice>>(step);
      ++out.loops;
      for (std::size_t k = 0; k < choice.branches.size(); ++k) {
        add_lines(fmt::format("{} {} of b{}:\n", choice.name, k, choice.index), indent, out.steps);
        describe_steps(program, choice.branches[k], in_loop, indent + "    ", out);
      }
    }
  }
}

}  // namespace

void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out) {
  const auto program = lowering::lower(lowering::without_calls(jaxpr, &out), native_target(), &out).program;
  GeneratedText text = listing_of(*program);
  out.llvm_ir = std::move(text.llvm_ir);
  out.assembly = std::move(text.assembly);
  describe_steps(*program, program->steps, program->small, "", out);
  out.dispatches = out.kernels + out.routines;
  const Executable& executable = executable_of(jaxpr, backend());
  out.times = table_of(executable.times(), executable.steps(), "the host's clock");
  out.temporary_bytes = static_cast<std::int64_t>(program->arena_bytes);
  if (donated) out.donated_bytes = compiler::Donations(*program).bytes_saved(*donated);
  out.peak_bytes = static_cast<std::int64_t>(program->peak_bytes()) - out.donated_bytes;
}

}  // namespace cotan::native
