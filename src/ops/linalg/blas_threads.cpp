#include "ops/linalg/blas_threads.hpp"

#include <cblas.h>

#include <mutex>

namespace cotan::lapack {
namespace {

std::mutex mutex;
int callers_of_small = 0;
/// The setting before the first of them, which the last one restores.
int threads_before = 1;

}  // namespace

BlasThreads::BlasThreads(std::int64_t matrix_elements) : one_(matrix_elements < large_matrix) {
  if (!one_) return;
  const std::lock_guard lock(mutex);
  if (callers_of_small++ > 0) return;
  threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

BlasThreads::~BlasThreads() {
  if (!one_) return;
  const std::lock_guard lock(mutex);
  if (--callers_of_small == 0) openblas_set_num_threads(threads_before);
}

}  // namespace cotan::lapack
