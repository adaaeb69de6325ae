// What the native device makes of a program.
#include "backend/native/executable.hpp"
#include "core/error.hpp"

namespace cotan::native {

void explain(const JaxprPtr& jaxpr, Explanation& out) {
  const auto program = compiler::compile(jaxpr, native_target(), &out.passes);
  GeneratedText text;
  generate(*program, &text);
  out.llvm_ir = std::move(text.llvm_ir);
  out.assembly = std::move(text.assembly);
  for (const auto& step : program->steps) {
    if (const auto* kernel = std::get_if<compiler::Kernel>(&step)) {
      const std::string body = to_string(*program, *kernel);
      const ScheduledKernel scheduled = schedule_for_host(*program, *kernel);
      const auto end = body.find('\n');
      out.steps += body.substr(0, end) + "\n  " + (scheduled.unrolled ? "unrolled, " : "") +
                   describe(scheduled.kernel, scheduled.schedule) + body.substr(end);
      ++out.kernels;
    } else {
      out.steps += to_string(*program, std::get<compiler::Routine>(step));
      ++out.routines;
    }
  }
  out.dispatches = out.kernels + out.routines;
  out.temporary_bytes = static_cast<std::int64_t>(program->arena_bytes);
  out.peak_bytes = static_cast<std::int64_t>(program->peak_bytes());
}

}  // namespace cotan::native
