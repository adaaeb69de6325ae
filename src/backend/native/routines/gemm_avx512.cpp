// The gemm kernels for AVX-512: 32 registers of 64 bytes, and masks that make partial vectors free.
#if defined(__x86_64__)
#include <immintrin.h>

#define COTAN_SIMD_TARGET [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]]
#define COTAN_SIMD_BYTES 64
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

template <class T>
struct Simd : VectorOf<T, 64> {
  using typename VectorOf<T, 64>::Vector;
  static constexpr int tile_rows = 8;
  static constexpr bool reads_partial_vectors = true;
  static constexpr bool is_32_bit = sizeof(T) == 4;
  using Mask = std::conditional_t<is_32_bit, __mmask16, __mmask8>;

  COTAN_SIMD_INLINE Mask mask(std::int64_t n) { return static_cast<Mask>((1u << n) - 1); }
  COTAN_SIMD_INLINE Vector load_first(const T* p, Mask m) {
    if constexpr (is_32_bit)
      return (Vector)_mm512_maskz_loadu_epi32(m, p);
    else
      return (Vector)_mm512_maskz_loadu_epi64(m, p);
  }
  COTAN_SIMD_INLINE void store_first(T* p, Mask m, Vector v) {
    if constexpr (is_32_bit)
      _mm512_mask_storeu_epi32(p, m, (__m512i)v);
    else
      _mm512_mask_storeu_epi64(p, m, (__m512i)v);
  }
  COTAN_SIMD_INLINE Vector multiply_add(Vector x, Vector y, Vector z) {
    if constexpr (std::is_same_v<T, float>)
      return _mm512_fmadd_ps(x, y, z);
    else if constexpr (std::is_same_v<T, double>)
      return _mm512_fmadd_pd(x, y, z);
    else
      return x * y + z;
  }
};

/// Half as wide: on some processors the instructions then take half the time.
template <class T>
struct NarrowSimd : VectorOf<T, 32> {
  using typename VectorOf<T, 32>::Vector;
  static constexpr bool reads_partial_vectors = true;
  static constexpr bool is_32_bit = sizeof(T) == 4;

  COTAN_SIMD_INLINE __mmask8 mask(std::int64_t n) { return static_cast<__mmask8>((1u << n) - 1); }
  COTAN_SIMD_INLINE Vector load_first(const T* p, __mmask8 m) {
    if constexpr (is_32_bit)
      return (Vector)_mm256_maskz_loadu_epi32(m, p);
    else
      return (Vector)_mm256_maskz_loadu_epi64(m, p);
  }
  COTAN_SIMD_INLINE void store_first(T* p, __mmask8 m, Vector v) {
    if constexpr (is_32_bit)
      _mm256_mask_storeu_epi32(p, m, (__m256i)v);
    else
      _mm256_mask_storeu_epi64(p, m, (__m256i)v);
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
constinit const Kernels<T> avx512_kernels = make_kernels<Simd<T>, NarrowSimd<T>>();

template const Kernels<float> avx512_kernels<float>;
template const Kernels<double> avx512_kernels<double>;
template const Kernels<std::uint32_t> avx512_kernels<std::uint32_t>;
template const Kernels<std::uint64_t> avx512_kernels<std::uint64_t>;

extern const HalfConversions avx512_half_conversions;
constinit const HalfConversions avx512_half_conversions = make_half_conversions();

}  // namespace cotan::native
#endif
