// The kernels of Fourier transforms for any machine with 16-byte vectors (NEON, SSE2), and the choice between all of
// them.
#define COTAN_SIMD_TARGET
#define COTAN_SIMD_BYTES 16
#include "backend/native/routines/fft_lanes.hpp"

namespace cotan::native {
namespace {

template <class T>
struct FftSimd : VectorOf<T, 16> {
  using typename VectorOf<T, 16>::Vector;
  static Vector multiply_add(Vector x, Vector y, Vector z) { return x * y + z; }
};

template <class T>
constinit const FftKernels<T> portable_fft_kernels = make_fft_kernels<FftSimd<T>>();

}  // namespace

#if defined(__x86_64__)
template <class T>
extern const FftKernels<T> avx512_fft_kernels;
extern template const FftKernels<float> avx512_fft_kernels<float>;
extern template const FftKernels<double> avx512_fft_kernels<double>;
template <class T>
extern const FftKernels<T> avx2_fft_kernels;
extern template const FftKernels<float> avx2_fft_kernels<float>;
extern template const FftKernels<double> avx2_fft_kernels<double>;
#endif

template <class T>
const FftKernels<T>& fft_kernels() {
#if defined(__x86_64__)
  static const FftKernels<T>& best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                                             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
                                         ? avx512_fft_kernels<T>
                                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                         ? avx2_fft_kernels<T>
                                         : portable_fft_kernels<T>;
  return best;
#else
  return portable_fft_kernels<T>;
#endif
}

template const FftKernels<float>& fft_kernels();
template const FftKernels<double>& fft_kernels();

}  // namespace cotan::native
