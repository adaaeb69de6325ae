// The kernels of Fourier transforms for AVX-512.
#if defined(__x86_64__)
#include <immintrin.h>

#define COTAN_SIMD_TARGET [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]]
#define COTAN_SIMD_BYTES 64
#include "backend/native/routines/fft_lanes.hpp"

namespace cotan::native {
namespace {

template <class T>
struct FftSimd : VectorOf<T, 64> {
  using typename VectorOf<T, 64>::Vector;
  COTAN_SIMD_INLINE Vector multiply_add(Vector x, Vector y, Vector z) {
    if constexpr (std::is_same_v<T, float>)
      return _mm512_fmadd_ps(x, y, z);
    else
      return _mm512_fmadd_pd(x, y, z);
  }
};

}  // namespace

template <class T>
constinit const FftKernels<T> avx512_fft_kernels = make_fft_kernels<FftSimd<T>>();

template const FftKernels<float> avx512_fft_kernels<float>;
template const FftKernels<double> avx512_fft_kernels<double>;

}  // namespace cotan::native
#endif
