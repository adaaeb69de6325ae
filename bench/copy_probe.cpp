// The peer "copy": memcpy that moves as many bytes as a workload must, the limit for memory-bound work; on a GPU
// (bench/run.py --gpu) a copy by a shader, which moves more per second than copies from buffer to buffer.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "device_copy.hpp"
#include "workload.hpp"

namespace bench {
namespace {

/// Threads of the run, as all peers are told.
int threads() {
  const char* text = std::getenv("COTAN_NUM_THREADS");
  return text ? std::max(1, std::atoi(text)) : 2;
}

const Register all("copy", "*", [](const Parameters& p) -> Case {
  // Half of the bytes are read, half are written.
  const auto size = static_cast<std::size_t>(p["bytes"] / 2);
  if (std::getenv("BENCH_GPU")) return {.call = copy_by_shader(size)};
  const auto from = std::make_shared<std::vector<char>>(size, 1);
  const auto to = std::make_shared<std::vector<char>>(size, 2);
  return {.call = [=, workers = static_cast<std::size_t>(threads())] {
    const auto part = [&](std::size_t i) {
      const std::size_t begin = size * i / workers, end = size * (i + 1) / workers;
      std::memcpy(to->data() + begin, from->data() + begin, end - begin);
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back(part, i);
    part(0);
  }};
});

}  // namespace
}  // namespace bench
