// The kernels of Fourier transforms for AVX2 with FMA.
#if defined(__x86_64__)
#include <immintrin.h>

#define COTAN_SIMD_TARGET [[gnu::target("avx2,fma")]]
#define COTAN_SIMD_BYTES 32
#include "backend/native/routines/fft_lanes.hpp"

namespace cotan::native {
namespace {

template <class T>
struct FftSimd : VectorOf<T, 32> {
  using typename VectorOf<T, 32>::Vector;
  COTAN_SIMD_INLINE Vector multiply_add(Vector x, Vector y, Vector z) {
    if constexpr (std::is_same_v<T, float>)
      return _mm256_fmadd_ps(x, y, z);
    else
      return _mm256_fmadd_pd(x, y, z);
  }
};

}  // namespace

template <class T>
constinit const FftKernels<T> avx2_fft_kernels = make_fft_kernels<FftSimd<T>>();

template const FftKernels<float> avx2_fft_kernels<float>;
template const FftKernels<double> avx2_fft_kernels<double>;

}  // namespace cotan::native
#endif
