#include "backend/gpu/explain.hpp"

#include "backend/webgpu/executable.hpp"

namespace cotan::webgpu {

void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out) {
  // From the Program, which the compiler prints, to the plan, which is what runs.
  lowering::lower(lowering::without_calls(jaxpr, &out), webgpu_target(), &out);
  const Executable& executable = executable_of(jaxpr, backend());
  if (donated) out.donated_bytes = executable.donations().bytes_saved(*donated);
  gpu::describe(executable.plan(), device()->counts().slabs, *device()->capabilities().dialect, out);
  device()->timeline().collect(true);
  out.times = gpu::table_of_shaders(executable.plan(), executable.times());
}

}  // namespace cotan::webgpu
