// The native back end: whole programs compiled for this CPU; single operations by rules that are compiled already.
#include "backend/native/eager.hpp"
#include "backend/native/executable.hpp"
#include "backend/native/runtime/host_memory.hpp"
#include "core/backend.hpp"
#include "core/recorder.hpp"

namespace cotan::native {

namespace {

class NativeBackend final : public Backend {
 public:
  std::string_view name() const override { return "native"; }
  std::byte* allocate(std::size_t bytes) override { return allocate_host(bytes); }
  void release(std::byte* data, std::size_t bytes) override { release_host(data, bytes); }
  Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) override {
    if (p.op_class == OpClass::call && params.has("jaxpr")) return run_program(params.jaxpr("jaxpr"), args, nullptr);
    const recorder::Span span("operation", p.name);
    return run_eagerly(*this, p, args, params);
  }
  Arrays run_program(const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>* donated) override {
    return executable_of(jaxpr, *this).run(args, donated);
  }
  void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out) override {
    native::explain(jaxpr, donated, out);
  }
  void clear_caches() override { clear_cache(); }
};

const RegisterBackend registered(30, backend);

}  // namespace

Backend& backend() {
  static NativeBackend& made = *new NativeBackend;
  return made;
}

}  // namespace cotan::native
