// The reference back end: every primitive's own evaluation rule, one at a time. Correct before fast.
#include <unistd.h>

#include <cstdlib>

#include "core/backend.hpp"

namespace cotan {

namespace {

std::size_t physical_memory() {
  static const auto bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::byte* allocate(std::size_t bytes) override {
    constexpr std::size_t alignment = 64;
    const std::size_t rounded = (bytes + alignment) / alignment * alignment;  // never zero
    // Linux promises memory it does not have: refuse what can never fit instead of being killed later.
    if (rounded < bytes || rounded > physical_memory()) return nullptr;
    return static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  }
  void release(std::byte* data, std::size_t) override { std::free(data); }
  Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) override {
    return p.eval(p, args, params);
  }
};

}  // namespace

Backend& reference_backend() {
  static ReferenceBackend& backend = *new ReferenceBackend;  // outlives every Array, static ones too
  return backend;
}

}  // namespace cotan
