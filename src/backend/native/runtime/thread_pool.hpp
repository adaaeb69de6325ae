// Data-parallel loops over one process-wide pool of threads: everything in the native back end that runs on
// more than one core goes through parallel_for.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace cotan {

/// How many threads a parallel loop may use, the caller included. At first COTAN_NUM_THREADS, else the number
/// of cores that this process may run on.
int num_threads();
/// Takes effect with the next parallel loop; `n` must be at least 1.
void set_num_threads(int n);

}  // namespace cotan

namespace cotan::native {

/// Runs f(context, chunk) for every chunk in [0, chunks) on the pool's threads and the caller, and returns
/// when all are done. Which thread runs a chunk is not defined: chunks must be independent, so that results
/// do not depend on the number of threads. While a loop has the pool, a call from inside one of its chunks or
/// from another thread runs all its chunks on the calling thread. An exception that a chunk throws is
/// rethrown here, after the chunks that were running have ended; the others may then never run. (A function
/// pointer and a context, so that generated code can call it.)
void parallel_for(std::int64_t chunks, void (*f)(void* context, std::int64_t chunk), void* context);

/// The same for a callable: parallel_for(n, [&](std::int64_t chunk) { … }). Does not allocate.
template <class F>
void parallel_for(std::int64_t chunks, F&& f) {
  using Callable = std::remove_reference_t<F>;
  parallel_for(
      chunks, [](void* context, std::int64_t chunk) { (*static_cast<Callable*>(context))(chunk); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace cotan::native
