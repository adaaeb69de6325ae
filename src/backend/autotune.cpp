// Whether devices may try several ways to run a program and keep the fastest.
#include <atomic>
#include <cotan/device.hpp>

#include "core/environment.hpp"

namespace cotan {

namespace {
std::atomic<bool>& tuning() {
  static std::atomic<bool> on{environment::is_on("COTAN_WEBGPU_TUNE")};
  return on;
}
}  // namespace
void autotune(bool on) { tuning() = on; }
bool autotune() { return tuning(); }

}  // namespace cotan
