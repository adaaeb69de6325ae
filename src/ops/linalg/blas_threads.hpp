// How many threads OpenBLAS uses. It wakes them even for matrices that take less time than waking does, and callers on
// several threads then wait for each other: a batch of 8 x 8 eigenproblems took a hundred times as long.
#pragma once
#include <cstdint>

namespace cotan::lapack {

/// From this many elements on, a matrix keeps all cores busy by itself; smaller ones are shared out among threads.
inline constexpr std::int64_t large_matrix = 200 * 200;

/// While an object for small matrices lives, on any thread, OpenBLAS stays on the thread that calls it.
class BlasThreads {
 public:
  explicit BlasThreads(std::int64_t matrix_elements);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  const bool one_;
};

}  // namespace cotan::lapack
