#include "backend/webgpu/api.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan::webgpu {

namespace {

/// Where to look, in order. Names without a directory are looked up by the system.
std::vector<std::string> candidates() {
  if (const auto chosen = environment::text("COTAN_WEBGPU_LIBRARY")) return {*chosen};
  std::vector<std::string> out{"libwebgpu_dawn.so", "libwebgpu.so"};
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&api), &here) && here.dli_fname) {
    const auto beside = std::filesystem::path(here.dli_fname).parent_path();
    out.push_back(beside / "libwebgpu_wrapper.so");
    out.push_back(beside / "cotan" / "libwebgpu_wrapper.so");
  }
#ifdef COTAN_WEBGPU_FETCHED
  out.push_back(COTAN_WEBGPU_FETCHED);
#endif
  return out;
}

Api load() {
  std::string tried;
  for (const std::string& name : candidates()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: its threads may outlive us
    if (!library) {
      tried += fmt::format("\n  {}", dlerror());
      continue;
    }
    Api out;
    std::string missing;
#define COTAN_WEBGPU_LOAD(name)                                                  \
  out.name = reinterpret_cast<decltype(out.name)>(dlsym(library, "wgpu" #name)); \
  if (!out.name) missing += " wgpu" #name;
    COTAN_WEBGPU_FUNCTIONS(COTAN_WEBGPU_LOAD)
#undef COTAN_WEBGPU_LOAD
    if (!missing.empty()) {
      tried += fmt::format("\n  {}: it lacks{}", name, missing);
      continue;
    }
    out.library = name;
    out.is_dawn = dlsym(library, "wgpuDeviceTick") != nullptr;
    return out;
  }
  raise<DeviceError>(
      "[webgpu] no WebGPU library could be loaded; run tools/setup.sh, or name one (Dawn's libwebgpu_dawn.so) in "
      "COTAN_WEBGPU_LIBRARY. Tried:{}",
      tried);
}

}  // namespace

const Api& api() {
  static const Api& loaded = *new Api(load());  // an exception leaves it to the next call
  return loaded;
}

}  // namespace cotan::webgpu
