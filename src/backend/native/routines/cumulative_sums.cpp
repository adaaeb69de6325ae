#include "backend/native/routines/cumulative_sums.hpp"

#include "backend/native/routines/vectorized.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cotan::native {
namespace {

/// One addition after the other: the end of a line, and machines without vectors of four doubles.
template <class T>
double add_one_by_one(const T* x, T* y, std::int64_t n, double sum, bool reverse) {
  if (reverse)
    for (std::int64_t i = n; i-- > 0;) y[i] = static_cast<T>(sum += x[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(sum += x[i]);
  return sum;
}

#if defined(__x86_64__)
#define COTAN_AVX2 [[gnu::target("avx2")]]
#define COTAN_AVX2_INLINE COTAN_AVX2 [[gnu::always_inline]] inline

COTAN_AVX2_INLINE __m256d load(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
COTAN_AVX2_INLINE __m256d load(const double* p) { return _mm256_loadu_pd(p); }
COTAN_AVX2_INLINE void store(float* p, __m256d v) { _mm_storeu_ps(p, _mm256_cvtpd_ps(v)); }
COTAN_AVX2_INLINE void store(double* p, __m256d v) { _mm256_storeu_pd(p, v); }

/// Running sums within a vector: each lane adds its neighbour, then the pairs.
template <bool reverse>
COTAN_AVX2_INLINE __m256d running(__m256d v) {
  const __m256d zero = _mm256_setzero_pd();
  if constexpr (reverse) {
    v = _mm256_add_pd(v, _mm256_blend_pd(_mm256_permute4x64_pd(v, 0xf9), zero, 8));
    return _mm256_add_pd(v, _mm256_permute2f128_pd(v, v, 0x81));
  } else {
    v = _mm256_add_pd(v, _mm256_blend_pd(_mm256_permute4x64_pd(v, 0x90), zero, 1));
    return _mm256_add_pd(v, _mm256_permute2f128_pd(v, v, 0x08));
  }
}
/// The sum of a vector of running sums, in all lanes.
template <bool reverse>
COTAN_AVX2_INLINE __m256d whole(__m256d v) {
  return _mm256_permute4x64_pd(v, reverse ? 0x00 : 0xff);
}

template <bool reverse, class T>
COTAN_AVX2 double running_sum_avx2(const T* x, T* y, std::int64_t n, double sum) {
  constexpr std::int64_t lanes = 4, step = 2 * lanes;
  const std::int64_t even = n / step * step;
  __m256d before = _mm256_set1_pd(sum);
  for (std::int64_t i = 0; i < even; i += step) {
    const std::int64_t near = reverse ? n - i - lanes : i, far = reverse ? near - lanes : near + lanes;
    const __m256d a = running<reverse>(load(x + near)), b = running<reverse>(load(x + far));
    const __m256d sum_a = whole<reverse>(a), sum_b = whole<reverse>(b);
    // The sum before is added last: that addition is all that waits for the previous round.
    store(y + near, _mm256_add_pd(a, before));
    store(y + far, _mm256_add_pd(_mm256_add_pd(b, sum_a), before));
    before = _mm256_add_pd(before, _mm256_add_pd(sum_a, sum_b));
  }
  const std::int64_t rest = reverse ? 0 : even;
  return add_one_by_one(x + rest, y + rest, n - even, _mm256_cvtsd_f64(before), reverse);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

template <class T>
double running_sum_of(const T* x, T* y, std::int64_t n, double sum, bool reverse) {
#if defined(__x86_64__)
  if (has_avx2()) return reverse ? running_sum_avx2<true>(x, y, n, sum) : running_sum_avx2<false>(x, y, n, sum);
#endif
  return add_one_by_one(x, y, n, sum, reverse);
}

/// Eight sums side by side, which is vectors of any size.
template <class T>
COTAN_VECTORIZED double total_of(const T* x, std::int64_t n) {
  constexpr int lanes = 8;
  double sums[lanes] = {};
  const std::int64_t even = n / lanes * lanes;
  for (std::int64_t i = 0; i < even; i += lanes)
    for (int k = 0; k < lanes; ++k) sums[k] += x[i + k];
  double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (std::int64_t i = even; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace

double running_sum(const float* x, float* y, std::int64_t n, double sum, bool reverse) {
  return running_sum_of(x, y, n, sum, reverse);
}
double running_sum(const double* x, double* y, std::int64_t n, double sum, bool reverse) {
  return running_sum_of(x, y, n, sum, reverse);
}
double total(const float* x, std::int64_t n) { return total_of(x, n); }
double total(const double* x, std::int64_t n) { return total_of(x, n); }

}  // namespace cotan::native
