// The gemm kernels for AVX512-BF16: products of pairs of bfloat16 that neighbour along k, two multiplications per lane
// and instruction, added up in f32. The tiles are those of f32; a pair takes the place of a float of A or B.
#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>

#define COTAN_SIMD_TARGET [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma")]]
#define COTAN_SIMD_BYTES 64
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

struct Pairs : VectorOf<float, 64> {
  static constexpr int tile_rows = 8;
  static constexpr bool reads_partial_vectors = true;

  COTAN_SIMD_INLINE __mmask16 mask(std::int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
  COTAN_SIMD_INLINE Vector load_first(const float* p, __mmask16 m) { return (Vector)_mm512_maskz_loadu_epi32(m, p); }
  COTAN_SIMD_INLINE void store_first(float* p, __mmask16 m, Vector v) { _mm512_mask_storeu_epi32(p, m, (__m512i)v); }
  /// Bits, whatever number they would be.
  COTAN_SIMD_INLINE Vector broadcast(float pair) { return (Vector)_mm512_set1_epi32(std::bit_cast<int>(pair)); }
  COTAN_SIMD_INLINE Vector multiply_add(Vector x, Vector y, Vector z) {
    return (Vector)_mm512_dpbf16_ps((__m512)z, (__m512bh)x, (__m512bh)y);
  }
};

/// to[i] = first[i] and second[i].
COTAN_SIMD_TARGET void interleave(const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* to,
                                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const auto m = static_cast<__mmask16>(count - i >= 16 ? 0xffff : (1u << (count - i)) - 1);
    const __m512i low = _mm512_maskz_cvtepu16_epi32(m, _mm256_maskz_loadu_epi16(m, first + i));
    const __m512i high =
        second ? _mm512_maskz_cvtepu16_epi32(m, _mm256_maskz_loadu_epi16(m, second + i)) : _mm512_setzero_si512();
    _mm512_mask_storeu_epi32(to + i, m, _mm512_or_si512(low, _mm512_maskz_slli_epi32(m, high, 16)));
  }
}

}  // namespace
}  // namespace cotan::native

#include "backend/native/routines/gemm_microkernels.hpp"

namespace cotan::native {

extern const PairKernels avx512_pair_kernels;
constinit const PairKernels avx512_pair_kernels{make_kernels<Pairs>(), interleave};

}  // namespace cotan::native
#endif
