// Memory that a routine works with: its results, and what it needs while it runs.
#pragma once
#include <cstdint>
#include <string_view>

#include "backend/native/routines/routine_call.hpp"
#include "backend/native/runtime/host_memory.hpp"
#include "core/error.hpp"

namespace cotan::native {

/// nullptr where the program has no use for the result.
inline std::byte* wanted_result(const RoutineCall& call, std::size_t k) { return call.result(k); }

/// `count` elements, not initialised, aligned to cache lines.
template <class T>
class Temporary {
 public:
  Temporary(std::int64_t count, std::string_view op) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    if (bytes_ == 0) return;
    data_ = reinterpret_cast<T*>(allocate_host(bytes_));
    if (!data_)
      raise<OutOfMemoryError>("[{}] cannot allocate {} bytes of temporary memory; work in smaller pieces.", op, bytes_);
  }
  ~Temporary() {
    if (data_) release_host(reinterpret_cast<std::byte*>(data_), bytes_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace cotan::native
