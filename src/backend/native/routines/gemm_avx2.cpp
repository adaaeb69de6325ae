// The gemm kernels for AVX2 with FMA: 16 registers of 32 bytes.
#if defined(__x86_64__)
#include <immintrin.h>

#define COTAN_SIMD_TARGET [[gnu::target("avx2,fma")]]
#define COTAN_SIMD_BYTES 32
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

template <class T>
struct Simd : VectorOf<T, 32> {
  using typename VectorOf<T, 32>::Vector;
  static constexpr int tile_rows = 4;
  static constexpr bool reads_partial_vectors = true;
  static constexpr bool is_32_bit = sizeof(T) == 4;

  COTAN_SIMD_INLINE __m256i mask(std::int64_t n) {
    if constexpr (is_32_bit)
      return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    else
      return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  COTAN_SIMD_INLINE Vector load_first(const T* p, __m256i m) {
    if constexpr (is_32_bit)
      return (Vector)_mm256_maskload_ps(reinterpret_cast<const float*>(p), m);
    else
      return (Vector)_mm256_maskload_pd(reinterpret_cast<const double*>(p), m);
  }
  COTAN_SIMD_INLINE void store_first(T* p, __m256i m, Vector v) {
    if constexpr (is_32_bit)
      _mm256_maskstore_ps(reinterpret_cast<float*>(p), m, (__m256)v);
    else
      _mm256_maskstore_pd(reinterpret_cast<double*>(p), m, (__m256d)v);
  }
  COTAN_SIMD_INLINE Vector multiply_add(Vector x, Vector y, Vector z) {
    if constexpr (std::is_same_v<T, float>)
      return _mm256_fmadd_ps(x, y, z);
    else if constexpr (std::is_same_v<T, double>)
      return _mm256_fmadd_pd(x, y, z);
    else
      return x * y + z;
  }
};

}  // namespace
}  // namespace cotan::native

#include "backend/native/routines/gemm_halves.hpp"
#include "backend/native/routines/gemm_microkernels.hpp"

namespace cotan::native {

template <class T>
constinit const Kernels<T> avx2_kernels = make_kernels<Simd<T>>();

template const Kernels<float> avx2_kernels<float>;
template const Kernels<double> avx2_kernels<double>;
template const Kernels<std::uint32_t> avx2_kernels<std::uint32_t>;
template const Kernels<std::uint64_t> avx2_kernels<std::uint64_t>;

extern const HalfConversions avx2_half_conversions;
constinit const HalfConversions avx2_half_conversions = make_half_conversions();

}  // namespace cotan::native
#endif
