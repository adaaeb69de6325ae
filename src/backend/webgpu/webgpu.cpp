// The WebGPU back end: programs as WGSL, on whatever GPU the library that is loaded at run time reaches.
#include "backend/single_operation.hpp"
#include "backend/webgpu/executable.hpp"
#include "backend/webgpu/memory.hpp"
#include "control/control.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::webgpu {

namespace {

class WebGpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "webgpu"; }
  bool holds(DType dtype) const override { return is_supported(dtype); }
  void require() override { device(); }
  std::byte* allocate(std::size_t) override { return nullptr; }
  void release(std::byte*, std::size_t) override {}
  std::unique_ptr<DeviceMemory> allocate_memory(std::size_t bytes, DType dtype) override {
    return std::make_unique<Memory>(bytes, dtype);
  }
  Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) override {
    if (p.op_class == OpClass::call && params.has("jaxpr")) return run_program(params.jaxpr("jaxpr"), args, nullptr);
    const recorder::Span span("operation", p.name);
    if (&p == &cond_p) {
      const auto branch = static_cast<std::size_t>(args[0].item<std::int32_t>());
      return run_program(params.jaxprs("branches")[branch], args.subspan(1), nullptr);
    }
    if (p.casts && !is_supported(args[0].dtype())) return p.eval(p, args, params);
    return run_program(program_of(p, types_of(args), params), args, nullptr);
  }
  Arrays run_program(const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>* donated) override {
    return executable_of(jaxpr, *this).run(args, donated);
  }
  void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out) override {
    webgpu::explain(jaxpr, donated, out);
  }
  void clear_caches() override { clear_cache(); }
  void synchronize() override { device()->synchronize(); }
};

const RegisterBackend registered(10, backend);

}  // namespace

Backend& backend() {
  static WebGpuBackend& made = *new WebGpuBackend;
  return made;
}

}  // namespace cotan::webgpu
