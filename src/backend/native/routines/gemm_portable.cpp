// The gemm kernels for any machine with 16-byte vectors (NEON, SSE2), and the choice between all of them.
#include <cmath>

#define COTAN_SIMD_TARGET
#define COTAN_SIMD_BYTES 16
#include "backend/native/routines/gemm_simd.hpp"

namespace cotan::native {
namespace {

template <class T>
struct Simd : VectorOf<T, 16> {
  using typename VectorOf<T, 16>::Vector;
  using VectorOf<T, 16>::lanes;
#if defined(__aarch64__)
  static constexpr int tile_rows = 8;  // there are 32 registers
#else
  static constexpr int tile_rows = 4;
#endif
  static constexpr bool reads_partial_vectors = false;

  static int mask(std::int64_t n) { return static_cast<int>(n); }
  static Vector load_first(const T* p, int n) {
    Vector v{};
    for (int i = 0; i < n; ++i) v[i] = p[i];
    return v;
  }
  static void store_first(T* p, int n, Vector v) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }
  static Vector multiply_add(Vector x, Vector y, Vector z) {
#if defined(__ARM_FEATURE_FMA)
    if constexpr (std::is_floating_point_v<T>) {
      for (int i = 0; i < lanes; ++i) z[i] = std::fma(x[i], y[i], z[i]);
      return z;
    }
#endif
    return x * y + z;
  }
};

}  // namespace
}  // namespace cotan::native

#include "backend/native/routines/gemm_halves.hpp"
#include "backend/native/routines/gemm_microkernels.hpp"

namespace cotan::native {

#if defined(__x86_64__)
template <class T>
extern const Kernels<T> avx512_kernels;
extern template const Kernels<float> avx512_kernels<float>;
extern template const Kernels<double> avx512_kernels<double>;
extern template const Kernels<std::uint32_t> avx512_kernels<std::uint32_t>;
extern template const Kernels<std::uint64_t> avx512_kernels<std::uint64_t>;
template <class T>
extern const Kernels<T> avx2_kernels;
extern template const Kernels<float> avx2_kernels<float>;
extern template const Kernels<double> avx2_kernels<double>;
extern template const Kernels<std::uint32_t> avx2_kernels<std::uint32_t>;
extern template const Kernels<std::uint64_t> avx2_kernels<std::uint64_t>;
extern const HalfConversions avx512_half_conversions, avx2_half_conversions;
extern const PairKernels avx512_pair_kernels;
#endif

namespace {

template <class T>
constinit const Kernels<T> portable_kernels = make_kernels<Simd<T>>();
constinit const HalfConversions portable_half_conversions = make_half_conversions();

#if defined(__x86_64__)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

template <class Table>
const Table& choose(const Table& avx512, const Table& avx2, const Table& portable) {
  return has_avx512() ? avx512 : has_avx2() ? avx2 : portable;
}
#endif

}  // namespace

template <class T>
const Kernels<T>& kernels() {
#if defined(__x86_64__)
  static const Kernels<T>& best = choose(avx512_kernels<T>, avx2_kernels<T>, portable_kernels<T>);
  return best;
#else
  return portable_kernels<T>;
#endif
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();
template const Kernels<std::uint32_t>& kernels();
template const Kernels<std::uint64_t>& kernels();

const PairKernels* pair_kernels() {
#if defined(__x86_64__)
  static const bool has = has_avx512() && __builtin_cpu_supports("avx512bf16");
  return has ? &avx512_pair_kernels : nullptr;
#else
  return nullptr;
#endif
}

const HalfConversions& half_conversions() {
#if defined(__x86_64__)
  static const HalfConversions& best =
      choose(avx512_half_conversions, avx2_half_conversions, portable_half_conversions);
  return best;
#else
  return portable_half_conversions;
#endif
}

}  // namespace cotan::native
